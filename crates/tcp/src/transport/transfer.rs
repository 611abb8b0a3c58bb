//! [`Transfer`]: the sender's record of a region whose bytes it sends to a peer.

use std::time::Instant;

use super::bulk_trials::{KernelCopy, TransferClass};
use crate::frame::Push;

/// All registered regions of one rank.
pub(super) type Regions<B> = oxmpi_wire::regions::Regions<B, Option<Transfer>>;

/// The transfer of a region's bytes to one peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) peer: u32,
    pub(super) len: u64,
    /// The speculative push that follows the region's key.
    pub(super) push: Option<Push>,
    pub(super) protocol: KernelCopy,
    /// The class and the start of a transfer whose time is measured.
    pub(super) start: Option<(TransferClass, Instant)>,
}
