//! Which calls of blocks of a length may go from memory to memory, where that is learned to be faster than
//! through cells ([`roads`](super::roads)).

use std::ops::RangeFrom;

use super::team::Team;

/// Bytes for each reader of which more than two ranks may read directly. With eight ranks on two Zen 4
/// processors far from each other an alltoall of 64 KiB took 1.5 times as long so, of 256 KiB 0.6 of the time and of
/// 1 MiB as long; with four a scatter of 256 KiB 1.1 times as long, and of 1 MiB 0.8 of the time. A broadcast gained
/// nothing, and an allgather in one placement of the processors only.
const EACH_ITS_OWN: RangeFrom<u64> = 256 << 10..;

/// Bytes of a gather's block that more than two ranks may write directly: with four ranks on
/// two threads of one core of a Cascade Lake 256 KiB took two thirds of the time so, and 64 KiB a tenth more.
const GATHER: RangeFrom<u64> = 256 << 10..;

/// Bytes for each of more than two ranks that may be reduced straight from the others' memory: with
/// eight ranks on two processors of a Cascade Lake 128 KiB took three quarters of the
/// time so, and 512 KiB too; with four as long as through cells.
const REDUCED: RangeFrom<u64> = 128 << 10..;

/// Bytes of which each of two ranks may read the other's directly, where both give and get.
const OF_TWO: RangeFrom<u64> = 256 << 10..;

/// Bytes that one of two ranks may read or write directly where only one gives. Through cells the other goes
/// ahead, so 256 KiB took a sixth longer directly on two threads of one core of a Cascade Lake, and 1 MiB four
/// fifths of the time.
const ONE_OF_TWO: RangeFrom<u64> = 512 << 10..;

impl Team {
    /// Whether a scatter of such blocks may be read directly.
    pub(super) fn scatters_directly(&self, block: u64) -> bool {
        self.goes_directly(block, ONE_OF_TWO, EACH_ITS_OWN)
    }

    /// Whether a gather of such blocks may be written directly.
    pub(super) fn gathers_directly(&self, block: u64) -> bool {
        self.goes_directly(block, ONE_OF_TWO, GATHER)
    }

    /// Whether an allgather of such blocks may be read directly.
    pub(super) fn allgathers_directly(&self, block: u64) -> bool {
        self.size() == 2 && self.goes_directly(block, OF_TWO, OF_TWO)
    }

    /// Whether an alltoall of such blocks, which is not in place, may be.
    pub(super) fn exchanges_directly(&self, block: u64) -> bool {
        self.goes_directly(block, OF_TWO, EACH_ITS_OWN)
    }

    /// Whether a reduction of such blocks, each for its rank, may be.
    pub(super) fn reduces_directly(&self, block: u64) -> bool {
        self.size() > 2 && self.goes_directly(block, REDUCED, REDUCED)
    }

    /// Whether blocks are long enough for two ranks or for more, and all can be reached.
    fn goes_directly(&self, block: u64, of_two: RangeFrom<u64>, of_more: RangeFrom<u64>) -> bool {
        let long = if self.size() == 2 { of_two } else { of_more };
        long.contains(&block) && self.spaces.is_some()
    }
}
