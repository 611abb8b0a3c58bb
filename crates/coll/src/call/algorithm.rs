//! The names of all algorithms.

/// Makes the enum of the algorithms, and the list of all of them.
macro_rules! algorithms {
    ($($name:ident)*) => {
        /// One algorithm of one collective: the collective's name, then the algorithm's.
        ///
        /// [`Algorithm::row`] is what the catalog says about it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "each variant is named after its collective and algorithm")]
        pub enum Algorithm {
            $($name,)*
        }

        impl Algorithm {
            /// Every algorithm, in the order in which documentation and tests list them.
            pub const ALL: [Algorithm; [$(stringify!($name)),*].len()] = [$(Algorithm::$name),*];
        }
    };
}

algorithms! {
    BarrierDissemination BarrierKnomial BarrierNodeAware GatherBinomial GatherKnomial GatherLinear
    GatherNodeAware GatherIntraNode GathervKnomial GathervLinear GathervNodeAware ScatterBinomial
    ScatterKnomial ScatterLinear ScatterNodeAware ScatterIntraNode ScattervKnomial ScattervLinear
    ScattervNodeAware AllgatherBruck AllgatherRecursiveDoubling AllgatherNeighborExchange
    AllgatherRing AllgatherLinear AllgatherCirculant AllgatherRailBruck AllgatherRailRing
    AllgatherIntraNode AllgatherNodeAware AllgathervBruck AllgathervRing AllgathervLinear
    AllgathervCirculant AllgathervNodeAware AlltoallBruck AlltoallPairwise AlltoallLinear
    AlltoallNodeAware AlltoallIntraNode AlltoallvPairwise AlltoallvLinear NeighborAllgatherLinear
    NeighborAllgathervLinear NeighborAlltoallLinear NeighborAlltoallvLinear BcastBinomial
    BcastKnomial BcastCirculant BcastScatterAllgather BcastLinearLinear BcastLinearAll
    BcastLinearBruck BcastKnomialBruck BcastLinearRing BcastKnomialRing BcastChain BcastNodeAware
    BcastPostal BcastRailKnomial BcastRailChain BcastRailCirculant BcastMultirail BcastIntraNode
    ReduceBinomial ReduceKnomial ReduceCirculant ReduceFolded ReduceRabenseifner ReduceChain
    ReduceNodeAware ReducePostal ReduceMultirail ReduceIntraNode AllreduceRecursiveDoubling
    AllreduceRecursiveMultiplying AllreduceRecursiveSplitting AllreduceGatherReduce AllreduceCensus
    AllreduceCirculant AllreduceRabenseifner AllreduceRing AllreduceReduceBcast AllreduceNodeAware
    AllreducePostal AllreduceRailCirculant AllreduceMultirail AllreduceIntraNode
    ReduceScatterCirculant ReduceScatterHalving ReduceScatterPairwise ReduceScatterNodeAware
    ReduceScatterBlockCirculant ReduceScatterBlockHalving ReduceScatterBlockPairwise
    ReduceScatterBlockReduceScatter ReduceScatterBlockNodeAware ReduceScatterBlockRailCirculant
    ReduceScatterBlockIntraNode ScanDoubling ScanNodeAware ExscanDoubling123 ExscanShift
    ExscanNodeAware
}
