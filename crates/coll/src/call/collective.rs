//! The collective operations of MPI.

use core::fmt;

/// A collective operation of MPI (MPI 5.0, chapters 6 and 8.6). Alltoallw is
/// [`Collective::Alltoallv`]: plans count packed bytes, and datatypes are the driver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Collective {
    /// No rank leaves before all have entered.
    Barrier,
    /// All ranks get the root's elements.
    Bcast,
    /// The root gets one block of each rank.
    Gather,
    /// Gather of blocks of any lengths, all of which only the root knows.
    Gatherv,
    /// Each rank gets a block of its own from the root.
    Scatter,
    /// Scatter of blocks of any lengths, all of which only the root knows.
    Scatterv,
    /// All ranks get one block of each rank.
    Allgather,
    /// Allgather of blocks of any lengths, which all ranks know.
    Allgatherv,
    /// Each rank gets a block of its own from each rank.
    Alltoall,
    /// Alltoall of blocks of any lengths, which the sender and the receiver know.
    Alltoallv,
    /// The root gets the reduction of all ranks' elements.
    Reduce,
    /// All ranks get the reduction of all ranks' elements.
    Allreduce,
    /// Each rank gets its own block of the reduction; blocks may have any lengths.
    ReduceScatter,
    /// Reduce-scatter of blocks of one length.
    ReduceScatterBlock,
    /// Each rank gets the reduction of the elements of all ranks up to itself.
    Scan,
    /// Each rank but the first gets the reduction of the elements of all ranks below itself.
    Exscan,
    /// Each rank gets one block of each neighbour.
    NeighborAllgather,
    /// Neighbor allgather of blocks of any lengths, which the sender and the receiver know.
    NeighborAllgatherv,
    /// Each rank gets a block of its own from each neighbour.
    NeighborAlltoall,
    /// Neighbor alltoall of blocks of any lengths, which the sender and the receiver know.
    NeighborAlltoallv,
}

impl Collective {
    /// Every collective.
    pub const ALL: [Collective; 20] = [
        Collective::Barrier,
        Collective::Bcast,
        Collective::Gather,
        Collective::Gatherv,
        Collective::Scatter,
        Collective::Scatterv,
        Collective::Allgather,
        Collective::Allgatherv,
        Collective::Alltoall,
        Collective::Alltoallv,
        Collective::Reduce,
        Collective::Allreduce,
        Collective::ReduceScatter,
        Collective::ReduceScatterBlock,
        Collective::Scan,
        Collective::Exscan,
        Collective::NeighborAllgather,
        Collective::NeighborAllgatherv,
        Collective::NeighborAlltoall,
        Collective::NeighborAlltoallv,
    ];

    /// The name in settings: MPI's, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Collective::Barrier => "barrier",
            Collective::Bcast => "bcast",
            Collective::Gather => "gather",
            Collective::Gatherv => "gatherv",
            Collective::Scatter => "scatter",
            Collective::Scatterv => "scatterv",
            Collective::Allgather => "allgather",
            Collective::Allgatherv => "allgatherv",
            Collective::Alltoall => "alltoall",
            Collective::Alltoallv => "alltoallv",
            Collective::Reduce => "reduce",
            Collective::Allreduce => "allreduce",
            Collective::ReduceScatter => "reduce_scatter",
            Collective::ReduceScatterBlock => "reduce_scatter_block",
            Collective::Scan => "scan",
            Collective::Exscan => "exscan",
            Collective::NeighborAllgather => "neighbor_allgather",
            Collective::NeighborAllgatherv => "neighbor_allgatherv",
            Collective::NeighborAlltoall => "neighbor_alltoall",
            Collective::NeighborAlltoallv => "neighbor_alltoallv",
        }
    }

    /// Whether one rank is the root.
    pub const fn has_root(self) -> bool {
        matches!(
            self,
            Collective::Bcast
                | Collective::Gather
                | Collective::Gatherv
                | Collective::Scatter
                | Collective::Scatterv
                | Collective::Reduce
        )
    }

    /// Whether elements are combined.
    pub const fn reduces(self) -> bool {
        matches!(
            self,
            Collective::Reduce
                | Collective::Allreduce
                | Collective::ReduceScatter
                | Collective::ReduceScatterBlock
                | Collective::Scan
                | Collective::Exscan
        )
    }

    /// Whether ranks exchange with their neighbours only.
    pub const fn is_neighborhood(self) -> bool {
        matches!(
            self,
            Collective::NeighborAllgather
                | Collective::NeighborAllgatherv
                | Collective::NeighborAlltoall
                | Collective::NeighborAlltoallv
        )
    }

    /// Whether every rank knows the length on which the cost depends.
    pub const fn has_known_length(self) -> bool {
        let by_pairs = matches!(
            self,
            Collective::Gatherv | Collective::Scatterv | Collective::Alltoallv
        );
        !by_pairs && !self.is_neighborhood()
    }

    /// Whether all ranks call in place if one does, because input and output have the same length.
    pub const fn is_in_place_everywhere(self) -> bool {
        matches!(self, Collective::Alltoall | Collective::Alltoallv)
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
