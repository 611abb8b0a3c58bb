//! Which calls may go from memory to memory, where that is learned to be faster than through cells
//! ([`roads`](super::protocol_trials)).

use super::group::NodeGroup;

/// Bytes of a block from which on it may be faster, on some processors: on an Emerald Rapids two ranks took 0.55 of
/// the time for a broadcast of 64 KiB and 0.62 for an alltoall, and sixteen 0.36 for a scatter. Between two processors of a
/// Zen 4 that share a cache such a broadcast takes three times as long, which trials find out. Shorter blocks gain
/// little anywhere, as the kernel must be asked.
const LONG: u64 = 64 << 10;

impl NodeGroup {
    /// Whether a broadcast of so many bytes may be read directly. With more ranks all would read the root's memory,
    /// page by page: four took 1.6 times as long so on an Emerald Rapids, and sixteen six times.
    #[inline]
    pub(super) fn may_bcast_by_cma(&self, len: u64) -> bool {
        self.may_use_cma(len) && self.size() == 2
    }

    /// Whether a reduction of such blocks, each for its rank, may be read directly: with eight ranks on two processors of
    /// a Cascade Lake 128 KiB took three quarters of the time so, and with four as long as through cells.
    pub(super) fn may_reduce_by_cma(&self, block: u64) -> bool {
        self.may_use_cma(block) && self.size() > 2
    }

    /// Whether blocks of so many bytes may be read from the others' memory, or written to the root's: they are long,
    /// and all can be reached.
    #[inline]
    pub(super) fn may_use_cma(&self, block: u64) -> bool {
        block >= LONG && self.spaces.is_some()
    }
}
