//! Which ways a call of blocks of a length has: through cells, or from memory to memory.

use std::ops::RangeFrom;

use super::team::Team;

/// Bytes for each reader of which more than two ranks read directly. With eight ranks on two Zen 4
/// processors an alltoall of 64 KiB took a quarter of the time so and of 1 MiB half, a scatter of 64 KiB
/// two thirds with four or eight, and of 256 KiB half with four; but a scatter of 1 MiB up to twice as
/// long. The other collectives gained nothing, or in one placement of the processors only.
const ALLTOALL: RangeFrom<u64> = 64 << 10..;
const SCATTER: RangeFrom<u64> = 64 << 10..;

/// Bytes of a scatter's block from which on it is learned whether that is faster: four ranks on
/// two threads of one core of a Cascade Lake spent half of the time so on 1 MiB.
const SCATTER_LEARNED: u64 = 512 << 10;

/// Bytes of a gather's block that more than two ranks may write directly, where that is learned to be faster:
/// those four spent two thirds of the time so on 256 KiB, and a tenth more on 64 KiB.
const GATHER: RangeFrom<u64> = 256 << 10..;

/// Bytes for each of more than two ranks that may be reduced straight from the others' memory, where that is
/// learned to be faster: with eight ranks on two processors of a Cascade Lake 128 KiB took three quarters of the
/// time so, and 512 KiB too; with four as long as through cells.
const REDUCED: RangeFrom<u64> = 128 << 10..;

/// Bytes of which each of two ranks may read the other's directly, where both give and get.
const OF_TWO: RangeFrom<u64> = 256 << 10..;

/// Bytes that one of two ranks may read or write directly where only one gives. Through cells the other goes
/// ahead, so 256 KiB took a sixth longer directly on two threads of one core of a Cascade Lake, and 1 MiB four
/// fifths of the time.
const ONE_OF_TWO: RangeFrom<u64> = 512 << 10..;

/// Which ways a call has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ways {
    /// In and out of cells.
    Cells,
    /// From the other's memory.
    Memory,
    /// Either, as [learned](super::roads).
    Learned,
}

impl Team {
    /// Which ways a scatter of such blocks has.
    pub(super) fn scatters(&self, block: u64) -> Ways {
        let long = if self.size() == 2 {
            ONE_OF_TWO
        } else {
            SCATTER
        };
        match long.contains(&block) && self.spaces.is_some() {
            false => Ways::Cells,
            true if block < SCATTER_LEARNED => Ways::Memory,
            true => Ways::Learned,
        }
    }

    /// Whether a gather of such blocks may be written directly.
    pub(super) fn gathers_directly(&self, block: u64) -> bool {
        let long = if self.size() == 2 { ONE_OF_TWO } else { GATHER };
        long.contains(&block) && self.spaces.is_some()
    }

    /// Whether an allgather of such blocks may be.
    pub(super) fn allgathers_directly(&self, block: u64) -> bool {
        self.size() == 2 && OF_TWO.contains(&block) && self.spaces.is_some()
    }

    /// Whether an alltoall of such blocks is, or of two ranks may be, which is not in place.
    pub(super) fn exchanges_directly(&self, block: u64) -> bool {
        let long = if self.size() == 2 { OF_TWO } else { ALLTOALL };
        long.contains(&block) && self.spaces.is_some()
    }

    /// Whether a reduction of such blocks, each for its rank, may be.
    pub(super) fn reduces_directly(&self, block: u64) -> bool {
        self.size() > 2 && REDUCED.contains(&block) && self.spaces.is_some()
    }
}
