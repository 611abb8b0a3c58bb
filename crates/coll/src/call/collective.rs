//! The collective operations of MPI.

use core::fmt;

/// Makes [`Collective`], the list of its values, and their names.
macro_rules! collectives {
    ($($(#[$doc:meta])* $variant:ident: $name:literal,)*) => {
        /// A collective operation of MPI (MPI 5.0, chapters 6 and 8.6). Alltoallw is
        /// [`Collective::Alltoallv`]: plans count packed bytes, and datatypes are the driver's.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Collective {
            $($(#[$doc])* $variant,)*
        }

        impl Collective {
            /// Every collective.
            pub const ALL: [Collective; [$($name),*].len()] = [$(Collective::$variant),*];

            /// The name in settings: MPI's, in lower case.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Collective::$variant => $name,)*
                }
            }
        }
    };
}

collectives! {
    /// No rank leaves before all have entered.
    Barrier: "barrier",
    /// All ranks get the root's elements.
    Bcast: "bcast",
    /// The root gets one block of each rank.
    Gather: "gather",
    /// Gather of blocks of any lengths, all of which only the root knows.
    Gatherv: "gatherv",
    /// Each rank gets a block of its own from the root.
    Scatter: "scatter",
    /// Scatter of blocks of any lengths, all of which only the root knows.
    Scatterv: "scatterv",
    /// All ranks get one block of each rank.
    Allgather: "allgather",
    /// Allgather of blocks of any lengths, which all ranks know.
    Allgatherv: "allgatherv",
    /// Each rank gets a block of its own from each rank.
    Alltoall: "alltoall",
    /// Alltoall of blocks of any lengths, which the sender and the receiver know.
    Alltoallv: "alltoallv",
    /// The root gets the reduction of all ranks' elements.
    Reduce: "reduce",
    /// All ranks get the reduction of all ranks' elements.
    Allreduce: "allreduce",
    /// Each rank gets its own block of the reduction; blocks may have any lengths.
    ReduceScatter: "reduce_scatter",
    /// Reduce-scatter of blocks of one length.
    ReduceScatterBlock: "reduce_scatter_block",
    /// Each rank gets the reduction of the elements of all ranks up to itself.
    Scan: "scan",
    /// Each rank but the first gets the reduction of the elements of all ranks below itself.
    Exscan: "exscan",
    /// Each rank gets one block of each neighbour.
    NeighborAllgather: "neighbor_allgather",
    /// Neighbor allgather of blocks of any lengths, which the sender and the receiver know.
    NeighborAllgatherv: "neighbor_allgatherv",
    /// Each rank gets a block of its own from each neighbour.
    NeighborAlltoall: "neighbor_alltoall",
    /// Neighbor alltoall of blocks of any lengths, which the sender and the receiver know.
    NeighborAlltoallv: "neighbor_alltoallv",
}

impl Collective {
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

    /// Whether the caller gives the length of each block, which the blocks of all ranks need not have in
    /// common; neighbourhood collectives aside.
    pub const fn has_unequal_blocks(self) -> bool {
        matches!(
            self,
            Collective::Gatherv
                | Collective::Scatterv
                | Collective::Allgatherv
                | Collective::Alltoallv
                | Collective::ReduceScatter
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
