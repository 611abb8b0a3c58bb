//! One call of a collective as data, the algorithms that may serve it, and their parameters: the ground on
//! which all algorithms stand.

mod algorithm;
mod collective;
mod parameters;

pub use algorithm::Algorithm;
pub use collective::Collective;
pub(crate) use parameters::setters;
pub use parameters::{Needs, Parameters, Stage};

/// No peer: what is sent to it or received from it does not travel, as with `MPI_PROC_NULL`.
pub const PROC_NULL: u32 = u32::MAX;

/// Which ranks of a group may do [intra-node operations](crate::plan::IntraNodeOp): ranks that share memory,
/// in a call whose end all of them wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SharedMemory {
    /// No ranks.
    #[default]
    None,
    /// The ranks of each node.
    OnNodes,
    /// All ranks; they are on one node.
    All,
}

/// One rank's call of a collective. The calls of all ranks are equal except for `rank`, the degrees
/// and, where only one rank's buffer is concerned, `in_place` and `count`.
///
/// Each constructor says what `count` counts. Lengths of single blocks, where they differ,
/// are in [`CallArrays`](crate::plan::CallArrays).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Call {
    /// The collective.
    pub collective: Collective,
    /// This rank's number in the group.
    pub rank: u32,
    /// Ranks in the group.
    pub size: u32,
    /// Ranks in the remote group of a call between two groups; 0 within one group. Rank `r` of the
    /// remote group is peer `size + r`.
    pub remote: u32,
    /// The root as a peer, where the collective has one, else 0. Between two groups: a peer of the
    /// remote group; at the root its own rank; at the other ranks of the root's group [`PROC_NULL`].
    pub root: u32,
    /// Elements in the vector or in one block.
    pub count: u64,
    /// Bytes of one element.
    pub element_bytes: u64,
    /// Whether the operation commutes; the same on all ranks.
    pub commutative: bool,
    /// Whether the operation is exact: it commutes, and the result has the same bits whatever the
    /// order and grouping of the operands, as with integers, and not with floating-point sums.
    pub exact: bool,
    /// Whether this rank's input is in `Out`. In reduce and gather it matters at the root only; in scatter an
    /// in-place root keeps its block in `In` and gets nothing.
    pub in_place: bool,
    /// Neighbours from which this rank receives.
    pub sources: u32,
    /// Neighbours to which this rank sends.
    pub destinations: u32,
    /// Whether the neighbours are those of a Cartesian grid, two in each dimension. The block for neighbour
    /// `2 d` then becomes the receiver's block from neighbour `2 d + 1` and vice versa (MPI 5.0, section
    /// 8.6), also where both neighbours are the same rank. In other graphs, several blocks between the same
    /// two ranks arrive in the order in which they are sent.
    pub cartesian: bool,
    /// Which ranks may do intra-node operations; the same on all ranks.
    pub shared_memory: SharedMemory,
}

setters! {
    Call:
    with_commutative(commutative: bool)
    with_in_place(in_place: bool)
    with_shared_memory(shared_memory: SharedMemory)
}

impl Call {
    const fn new(collective: Collective, rank: u32, size: u32, count: u64) -> Self {
        Call {
            collective,
            rank,
            size,
            remote: 0,
            root: 0,
            count,
            element_bytes: 1,
            commutative: true,
            exact: false,
            in_place: false,
            sources: 0,
            destinations: 0,
            cartesian: false,
            shared_memory: SharedMemory::None,
        }
    }

    const fn rooted(collective: Collective, rank: u32, size: u32, root: u32, count: u64) -> Self {
        Call {
            root,
            ..Call::new(collective, rank, size, count)
        }
    }

    const fn reducing(
        collective: Collective,
        rank: u32,
        size: u32,
        count: u64,
        element_bytes: u64,
    ) -> Self {
        Call {
            element_bytes,
            ..Call::new(collective, rank, size, count)
        }
    }

    const fn neighbor(collective: Collective, rank: u32, size: u32, degrees: [u32; 2]) -> Self {
        Call {
            sources: degrees[0],
            destinations: degrees[1],
            ..Call::new(collective, rank, size, 0)
        }
    }

    /// `rank`'s call of a barrier of `size` ranks.
    pub const fn barrier(rank: u32, size: u32) -> Self {
        Call::new(Collective::Barrier, rank, size, 0)
    }

    /// `rank`'s call of a broadcast of `bytes` bytes from `root`.
    pub const fn bcast(rank: u32, size: u32, root: u32, bytes: u64) -> Self {
        Call::rooted(Collective::Bcast, rank, size, root, bytes)
    }

    /// `rank`'s call of a gather to `root`, blocks having `bytes` bytes.
    pub const fn gather(rank: u32, size: u32, root: u32, bytes: u64) -> Self {
        Call::rooted(Collective::Gather, rank, size, root, bytes)
    }

    /// `rank`'s call of a gatherv to `root`; this rank's block has `bytes` bytes. The root is given
    /// all lengths as [`CallArrays::recvs`](crate::plan::CallArrays::recvs).
    pub const fn gatherv(rank: u32, size: u32, root: u32, bytes: u64) -> Self {
        Call::rooted(Collective::Gatherv, rank, size, root, bytes)
    }

    /// `rank`'s call of a scatter from `root`, blocks having `bytes` bytes.
    pub const fn scatter(rank: u32, size: u32, root: u32, bytes: u64) -> Self {
        Call::rooted(Collective::Scatter, rank, size, root, bytes)
    }

    /// `rank`'s call of a scatterv from `root`; this rank's block has `bytes` bytes. The root is
    /// given all lengths as [`CallArrays::sends`](crate::plan::CallArrays::sends).
    pub const fn scatterv(rank: u32, size: u32, root: u32, bytes: u64) -> Self {
        Call::rooted(Collective::Scatterv, rank, size, root, bytes)
    }

    /// `rank`'s call of an allgather, blocks having `bytes` bytes.
    pub const fn allgather(rank: u32, size: u32, bytes: u64) -> Self {
        Call::new(Collective::Allgather, rank, size, bytes)
    }

    /// `rank`'s call of an allgatherv; all blocks together have `bytes` bytes. Every rank is given
    /// all lengths as [`CallArrays::recvs`](crate::plan::CallArrays::recvs).
    pub const fn allgatherv(rank: u32, size: u32, bytes: u64) -> Self {
        Call::new(Collective::Allgatherv, rank, size, bytes)
    }

    /// `rank`'s call of an alltoall, blocks having `bytes` bytes.
    pub const fn alltoall(rank: u32, size: u32, bytes: u64) -> Self {
        Call::new(Collective::Alltoall, rank, size, bytes)
    }

    /// `rank`'s call of an alltoallv or alltoallw. Every rank is given the lengths of its own
    /// blocks as [`CallArrays::sends`](crate::plan::CallArrays::sends) and
    /// [`CallArrays::recvs`](crate::plan::CallArrays::recvs); `count` is 0.
    pub const fn alltoallv(rank: u32, size: u32) -> Self {
        Call::new(Collective::Alltoallv, rank, size, 0)
    }

    /// `rank`'s call of a reduction of `count` elements of `element_bytes` bytes each to `root`, by
    /// an operation that commutes, not in place.
    pub const fn reduce(rank: u32, size: u32, root: u32, count: u64, element_bytes: u64) -> Self {
        Call {
            element_bytes,
            ..Call::rooted(Collective::Reduce, rank, size, root, count)
        }
    }

    /// `rank`'s call of an allreduce of `count` elements of `element_bytes` bytes each, by an
    /// operation that commutes, not in place.
    pub const fn allreduce(rank: u32, size: u32, count: u64, element_bytes: u64) -> Self {
        Call::reducing(Collective::Allreduce, rank, size, count, element_bytes)
    }

    /// `rank`'s call of a reduce_scatter; all blocks together have `count` elements. Every rank is
    /// given all lengths as [`CallArrays::sends`](crate::plan::CallArrays::sends).
    pub const fn reduce_scatter(rank: u32, size: u32, count: u64, element_bytes: u64) -> Self {
        Call::reducing(Collective::ReduceScatter, rank, size, count, element_bytes)
    }

    /// `rank`'s call of a reduce_scatter_block, blocks having `count` elements.
    pub const fn reduce_scatter_block(
        rank: u32,
        size: u32,
        count: u64,
        element_bytes: u64,
    ) -> Self {
        let collective = Collective::ReduceScatterBlock;
        Call::reducing(collective, rank, size, count, element_bytes)
    }

    /// `rank`'s call of a scan of `count` elements of `element_bytes` bytes each.
    pub const fn scan(rank: u32, size: u32, count: u64, element_bytes: u64) -> Self {
        Call::reducing(Collective::Scan, rank, size, count, element_bytes)
    }

    /// `rank`'s call of an exscan of `count` elements of `element_bytes` bytes each.
    pub const fn exscan(rank: u32, size: u32, count: u64, element_bytes: u64) -> Self {
        Call::reducing(Collective::Exscan, rank, size, count, element_bytes)
    }

    /// `rank`'s call of a neighbor_allgather with `degrees` sources and destinations and blocks of `bytes`
    /// bytes. [`CallArrays`](crate::plan::CallArrays) names the neighbours, here and below.
    pub const fn neighbor_allgather(rank: u32, size: u32, degrees: [u32; 2], bytes: u64) -> Self {
        Call {
            count: bytes,
            ..Call::neighbor(Collective::NeighborAllgather, rank, size, degrees)
        }
    }

    /// `rank`'s call of a neighbor_allgatherv with `degrees` sources and destinations; this rank's
    /// block has `bytes` bytes. The caller gives the lengths of the blocks it receives.
    pub const fn neighbor_allgatherv(rank: u32, size: u32, degrees: [u32; 2], bytes: u64) -> Self {
        Call {
            count: bytes,
            ..Call::neighbor(Collective::NeighborAllgatherv, rank, size, degrees)
        }
    }

    /// `rank`'s call of a neighbor_alltoall with `degrees` sources and destinations and blocks of
    /// `bytes` bytes.
    pub const fn neighbor_alltoall(rank: u32, size: u32, degrees: [u32; 2], bytes: u64) -> Self {
        Call {
            count: bytes,
            ..Call::neighbor(Collective::NeighborAlltoall, rank, size, degrees)
        }
    }

    /// `rank`'s call of a neighbor_alltoallv or neighbor_alltoallw with `degrees` sources and destinations.
    /// The caller gives the lengths of the blocks it sends and receives; `count` is 0.
    pub const fn neighbor_alltoallv(rank: u32, size: u32, degrees: [u32; 2]) -> Self {
        Call::neighbor(Collective::NeighborAlltoallv, rank, size, degrees)
    }

    /// Marks the operation as [exact](Call::exact); the same on all ranks.
    pub const fn exactly(self) -> Self {
        Call {
            commutative: true,
            exact: true,
            ..self
        }
    }

    /// Makes it a call between two groups, with `remote` ranks in the other group. A collective with a root
    /// goes from or to one group only: see [`Call::root`].
    pub const fn with_remote_group(self, remote: u32) -> Self {
        Call { remote, ..self }
    }

    /// Marks the neighbours as those of a Cartesian grid.
    pub const fn on_grid(self) -> Self {
        Call {
            cartesian: true,
            ..self
        }
    }

    /// This rank counted from the root around the ring of ranks: 0 at the root.
    pub const fn from_root(&self) -> u32 {
        if self.rank >= self.root {
            self.rank - self.root
        } else {
            self.rank + (self.size - self.root)
        }
    }

    /// Bytes of the vector or block.
    pub const fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.element_bytes)
    }
}
