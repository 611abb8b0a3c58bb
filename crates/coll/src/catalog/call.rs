//! A call of a collective, as data.

use super::Collective;

/// One collective call as one rank sees it. All ranks' calls are equal but for `rank` and, where
/// only one rank's buffer is concerned, `in_place`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Call {
    /// What is called.
    pub collective: Collective,
    /// This rank in the group.
    pub rank: u32,
    /// Ranks in the group.
    pub size: u32,
    /// The root, where the collective has one, else 0.
    pub root: u32,
    /// Elements in the vector.
    pub count: u64,
    /// Bytes of one element.
    pub element_bytes: u64,
    /// Whether the operation commutes.
    pub commutative: bool,
    /// Whether this rank's input is found in `Out`.
    pub in_place: bool,
}

impl Call {
    /// `rank`'s call of a barrier of `size` ranks.
    pub const fn barrier(rank: u32, size: u32) -> Self {
        Call {
            collective: Collective::Barrier,
            rank,
            size,
            root: 0,
            count: 0,
            element_bytes: 1,
            commutative: true,
            in_place: false,
        }
    }

    /// `rank`'s call of a broadcast of `bytes` bytes from `root`.
    pub const fn bcast(rank: u32, size: u32, root: u32, bytes: u64) -> Self {
        Call {
            collective: Collective::Bcast,
            root,
            count: bytes,
            ..Call::barrier(rank, size)
        }
    }

    /// `rank`'s call of a reduction of `count` elements of `element_bytes` bytes each to `root`, by
    /// an operation that commutes, not in place.
    pub const fn reduce(rank: u32, size: u32, root: u32, count: u64, element_bytes: u64) -> Self {
        Call {
            collective: Collective::Reduce,
            root,
            count,
            element_bytes,
            ..Call::barrier(rank, size)
        }
    }

    /// `rank`'s call of an allreduce of `count` elements of `element_bytes` bytes each, by an
    /// operation that commutes, not in place.
    pub const fn allreduce(rank: u32, size: u32, count: u64, element_bytes: u64) -> Self {
        Call {
            collective: Collective::Allreduce,
            count,
            element_bytes,
            ..Call::barrier(rank, size)
        }
    }

    /// Says whether the operation commutes. All ranks say the same.
    pub const fn with_commutative(self, commutative: bool) -> Self {
        Call {
            commutative,
            ..self
        }
    }

    /// Says whether this rank's input is found in `Out`. In a reduction this means something at the
    /// root only.
    pub const fn with_in_place(self, in_place: bool) -> Self {
        Call { in_place, ..self }
    }

    /// Bytes of the vector.
    pub const fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.element_bytes)
    }
}
