//! [`Transfer`]: what the sender notes about a registered region whose bytes leave.

use std::time::Instant;

use super::bulk_trials::{BulkProtocol, TransferClass};
use crate::frame::Push;

/// All registered regions of one rank.
pub(super) type Regions<B> = oxmpi_wire::regions::Regions<B, Option<Transfer>>;

/// A region's bytes on their way to one peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) peer: u32,
    pub(super) len: u64,
    /// The speculative push that follows the region's key.
    pub(super) push: Option<Push>,
    pub(super) protocol: BulkProtocol,
    /// When the transfer began, if its time is learned from.
    pub(super) start: Option<(TransferClass, Instant)>,
}
