//! Handles of operations: what names a send, a receive or a started collective until it has completed.

use oxmpi_wire::engine;

use crate::envelope::Status;

/// The engine's handle of one operation.
pub type OpenRequest = engine::Request;

/// A message that a matched probe has taken out of the queue.
pub type Claimed = engine::Message;

/// Names one operation of an endpoint until it has completed.
///
/// A struct: overlapping enum fields defeat store-to-load forwarding.
#[derive(Clone, Copy, Debug)]
pub struct RawRequest {
    /// The engine's handle; `None`: the operation had completed when it was started.
    pub open: Option<OpenRequest>,
    /// The status of an operation that had completed when it was started.
    pub(super) sent: Status,
}

impl RawRequest {
    #[inline(always)]
    pub(super) const fn of(request: OpenRequest) -> Self {
        Self {
            open: Some(request),
            sent: Status {
                source: 0,
                tag: 0,
                bytes: 0,
            },
        }
    }

    /// An operation that completed when it was started.
    pub(super) const fn completed(status: Status) -> Self {
        Self {
            open: None,
            sent: status,
        }
    }

    /// A completed send of `bytes` to rank `to`.
    #[inline(always)]
    pub(super) const fn sent(bytes: u64, to: usize, tag: u32) -> Self {
        Self {
            open: None,
            sent: Status {
                source: to,
                tag,
                bytes,
            },
        }
    }
}
