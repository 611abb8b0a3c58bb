//! What is known of registered memory whose bytes leave.

use std::time::Instant;

use super::bulk_trials::{BulkProtocol, TransferClass};
use crate::frame::Run;

/// All registered bytes of one rank.
pub(super) type Regions<B> = oxmpi_wire::regions::Regions<B, Option<Transfer>>;

/// What is known of the bytes of a region that leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) peer: u32,
    pub(super) len: u64,
    /// What follows the region's key.
    pub(super) run: Option<Run>,
    pub(super) protocol: BulkProtocol,
    /// When it began, if something is to be learned from it.
    pub(super) start: Option<(TransferClass, Instant)>,
}
