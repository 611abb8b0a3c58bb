//! The table of algorithms, one row each.
//!
//! To add an algorithm, write its file with a type that implements [`Plan`](crate::plan::Plan) and has
//! `pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self`; add its name to
//! [`Algorithm`] and its row here. `of` gets calls that meet the row's requirements, and parameters of
//! which those that the row has are not 0. Longer rows are in [`rows`](super::rows).

use super::CatalogRow;
use super::rows::rounds::{exchanged, knomial};
use super::rows::{allreduce, bcast, in_stages, intra_node, node_aware, reduce, several};
use crate::call::{Algorithm, Call, Collective, Needs, Parameters};
use crate::digits::Digits;
use crate::plan::{Acts, Plan, PlanInputs, any_plan};
use crate::{
    allgather, alltoall, barrier, cost, exscan, gather, gatherv, hierarchy, long_blocks, neighbor,
    reduce_scatter, scan, scatter, scatterv, stages,
};

/// The plan of any algorithm in the catalog; a call through it is a branch, not a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnyPlan(CatalogPlan);

impl Plan for AnyPlan {
    #[inline]
    fn steps(&self) -> u32 {
        self.0.steps()
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        self.0.scratch(inputs)
    }

    #[inline]
    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        self.0.step(i, inputs, acts)
    }

    fn is_rotation(&self, by: u32, other: &Self) -> bool {
        self.0.is_rotation(by, &other.0)
    }
}

/// Makes [`CatalogPlan`] and the dispatch of [`Algorithm`] out of the rows.
macro_rules! table {
    ($($name:ident($plan:ty): $row:expr;)*) => {
        impl Algorithm {
            /// The algorithm's row in the catalog.
            pub const fn row(self) -> &'static CatalogRow {
                match self {
                    $(Algorithm::$name => const { &$row },)*
                }
            }

            /// The plan for a call that suits the algorithm.
            pub(super) fn of(self, call: &Call, parameters: &Parameters) -> AnyPlan {
                match self {
                    $(Algorithm::$name => AnyPlan(CatalogPlan::$name(<$plan>::of(call, parameters))),)*
                }
            }
        }

        /// The plan of one of the algorithms.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum CatalogPlan {
            $($name($plan),)*
        }

        any_plan!(CatalogPlan: $($name),*);
    };
}

table! {
    BarrierDissemination(barrier::Dissemination): Collective::Barrier
        .row("dissemination", cost::dissemination)
        .about("fewest rounds for every number of ranks")
        .parameters(Parameters::NONE.with_radix(2))
        .rounds(|call, parameters| Digits::new(call.size, parameters.radix).exchanges().into());
    BarrierKnomial(barrier::BarrierKnomial): Collective::Barrier
        .row("knomial", cost::barrier_knomial)
        .about("up and down a tree: twice the rounds, fewest messages")
        .parameters(Parameters::NONE.with_radix(2))
        .rounds(|call, parameters| 2 * knomial(call.size, parameters.radix));
    BarrierNodeAware(hierarchy::NodeAwareBarrier): node_aware::BARRIER;
    GatherBinomial(gather::GatherKnomial): Collective::Gather
        .row("binomial", cost::gather)
        .about("fewest rounds and least volume at the root; blocks are sent again on their way");
    GatherKnomial(gather::GatherKnomial): Collective::Gather
        .row("knomial", cost::gather)
        .about("as binomial with fewer levels of more messages each")
        .parameters(Parameters::NONE.with_radix(4))
        .rounds(|call, parameters| knomial(call.size, parameters.radix));
    GatherLinear(gather::GatherLinear): several::gather_linear(Collective::Gather);
    GatherNodeAware(hierarchy::KnomialGather): node_aware::GATHER;
    GatherIntraNode(hierarchy::IntraNodeGather): intra_node::GATHER;
    GathervKnomial(gatherv::GathervKnomial): Collective::Gatherv
        .row("knomial", cost::gather)
        .about("short blocks through a tree, long ones directly; fewest rounds for short ones")
        .needs(Needs::NOTHING.with_max_radix(long_blocks::MAX_RADIX))
        .parameters(Parameters::NONE.with_radix(2).with_window(8).with_cutoff(16 << 10))
        .rounds(|call, parameters| knomial(call.size, parameters.radix));
    GathervLinear(gather::GatherLinear): several::gather_linear(Collective::Gatherv);
    GathervNodeAware(hierarchy::NodeAwareGatherv): node_aware::GATHERV;
    ScatterBinomial(scatter::ScatterKnomial): Collective::Scatter
        .row("binomial", cost::scatter)
        .about("fewest rounds and least volume at the root; blocks are sent again on their way");
    ScatterKnomial(scatter::ScatterKnomial): Collective::Scatter
        .row("knomial", cost::scatter)
        .about("as binomial with fewer levels of more messages each")
        .parameters(Parameters::NONE.with_radix(4))
        .rounds(|call, parameters| knomial(call.size, parameters.radix));
    ScatterLinear(scatter::ScatterLinear): several::scatter_linear(Collective::Scatter);
    ScatterNodeAware(hierarchy::KnomialScatter): node_aware::SCATTER;
    ScatterIntraNode(hierarchy::IntraNodeScatter): intra_node::SCATTER;
    ScattervKnomial(scatterv::ScattervKnomial): Collective::Scatterv
        .row("knomial", cost::scatter)
        .about("short blocks through a tree, long ones directly; fewest rounds for short ones")
        .needs(Needs::NOTHING.with_max_radix(long_blocks::MAX_RADIX))
        .parameters(Parameters::NONE.with_radix(2).with_window(8).with_cutoff(16 << 10))
        .rounds(|call, parameters| knomial(call.size, parameters.radix));
    ScattervLinear(scatter::ScatterLinear): several::scatter_linear(Collective::Scatterv);
    ScattervNodeAware(hierarchy::NodeAwareScatterv): node_aware::SCATTERV;
    AllgatherBruck(allgather::AllgatherBruck): several::allgather_bruck(Collective::Allgather);
    AllgatherRecursiveDoubling(allgather::AllgatherDoubling): Collective::Allgather
        .row("recursive-doubling", cost::allgather_doubling)
        .about("fewest rounds and least volume for powers of two")
        .needs(Needs::NOTHING.with_power_of_two(true));
    AllgatherNeighborExchange(allgather::NeighborExchange): Collective::Allgather
        .row("neighbor-exchange", cost::neighbor_exchange)
        .about("least volume between neighbours in half the rounds of a ring")
        .rounds(exchanged);
    AllgatherRing(allgather::AllgatherRing): several::allgather_ring(Collective::Allgather);
    AllgatherLinear(allgather::AllgatherLinear): several::allgather_linear(Collective::Allgather);
    AllgatherCirculant(allgather::AllgatherCirculant): several::allgather_circulant(Collective::Allgather);
    AllgatherRailBruck(hierarchy::RailBruck): node_aware::ALLGATHER_RAIL_BRUCK;
    AllgatherRailRing(hierarchy::RailRing): node_aware::ALLGATHER_RAIL_RING;
    AllgatherIntraNode(hierarchy::IntraNode): intra_node::ALLGATHER;
    AllgatherNodeAware(hierarchy::NodeBruck): several::allgather_node_aware(Collective::Allgather);
    AllgathervBruck(allgather::AllgatherBruck): several::allgather_bruck(Collective::Allgatherv);
    AllgathervRing(allgather::AllgatherRing): several::allgather_ring(Collective::Allgatherv);
    AllgathervLinear(allgather::AllgatherLinear): several::allgather_linear(Collective::Allgatherv);
    AllgathervCirculant(allgather::AllgatherCirculant): several::allgather_circulant(Collective::Allgatherv);
    AllgathervNodeAware(hierarchy::NodeBruck): several::allgather_node_aware(Collective::Allgatherv);
    AlltoallBruck(alltoall::AlltoallBruck): Collective::Alltoall
        .row("bruck", cost::alltoall_bruck)
        .about("fewest rounds, blocks are sent several times: for small blocks")
        .parameters(Parameters::NONE.with_radix(2))
        .rounds(|call, parameters| Digits::new(call.size, parameters.radix).exchanges().into());
    AlltoallPairwise(alltoall::AlltoallPairwise): several::alltoall_pairwise(Collective::Alltoall);
    AlltoallLinear(alltoall::AlltoallLinear): several::alltoall_linear(Collective::Alltoall);
    AlltoallNodeAware(hierarchy::NodeAwareAlltoall): node_aware::ALLTOALL;
    AlltoallIntraNode(hierarchy::IntraNode): intra_node::ALLTOALL;
    AlltoallvPairwise(alltoall::AlltoallPairwise): several::alltoall_pairwise(Collective::Alltoallv);
    AlltoallvLinear(alltoall::AlltoallLinear): several::alltoall_linear(Collective::Alltoallv);
    NeighborAllgatherLinear(neighbor::NeighborLinear): several::neighbors(Collective::NeighborAllgather);
    NeighborAllgathervLinear(neighbor::NeighborLinear): several::neighbors(Collective::NeighborAllgatherv);
    NeighborAlltoallLinear(neighbor::NeighborLinear): several::neighbors(Collective::NeighborAlltoall);
    NeighborAlltoallvLinear(neighbor::NeighborLinear): several::neighbors(Collective::NeighborAlltoallv);
    BcastBinomial(crate::bcast::BcastKnomial): bcast::BINOMIAL;
    BcastKnomial(crate::bcast::BcastKnomial): bcast::KNOMIAL;
    BcastCirculant(crate::bcast::BcastCirculant): bcast::CIRCULANT;
    BcastScatterAllgather(crate::bcast::ScatterAllgather): bcast::SCATTER_ALLGATHER;
    BcastLinearLinear(crate::bcast::LinearLinear): bcast::LINEAR_LINEAR;
    BcastLinearAll(crate::bcast::LinearAll): bcast::LINEAR_ALL;
    BcastLinearBruck(crate::bcast::LinearBruck): bcast::LINEAR_BRUCK;
    BcastKnomialBruck(crate::bcast::KnomialBruck): bcast::KNOMIAL_BRUCK;
    BcastLinearRing(crate::bcast::LinearRing): bcast::LINEAR_RING;
    BcastKnomialRing(crate::bcast::KnomialRing): bcast::KNOMIAL_RING;
    BcastChain(crate::bcast::BcastChain): bcast::CHAIN;
    BcastNodeAware(hierarchy::KnomialBcast): node_aware::BCAST;
    BcastPostal(hierarchy::PostalBcast): node_aware::BCAST_POSTAL;
    BcastRailKnomial(hierarchy::RailKnomial): node_aware::BCAST_RAIL_KNOMIAL;
    BcastRailChain(hierarchy::RailChain): node_aware::BCAST_RAIL_CHAIN;
    BcastRailCirculant(hierarchy::RailCirculant): node_aware::BCAST_RAIL_CIRCULANT;
    BcastMultirail(hierarchy::MultirailBcast): node_aware::BCAST_MULTIRAIL;
    BcastIntraNode(hierarchy::IntraNodeBcast): intra_node::BCAST;
    ReduceBinomial(crate::reduce::ReduceKnomial): reduce::BINOMIAL;
    ReduceKnomial(crate::reduce::ReduceKnomial): reduce::KNOMIAL;
    ReduceCirculant(crate::reduce::ReduceCirculant): reduce::CIRCULANT;
    ReduceFolded(crate::reduce::Folded): reduce::FOLDED;
    ReduceRabenseifner(crate::reduce::ReduceRabenseifner): reduce::RABENSEIFNER;
    ReduceChain(crate::reduce::ReduceChain): reduce::CHAIN;
    ReduceNodeAware(hierarchy::KnomialReduce): node_aware::REDUCE;
    ReducePostal(hierarchy::PostalReduce): node_aware::REDUCE_POSTAL;
    ReduceMultirail(hierarchy::MultirailReduce): node_aware::REDUCE_MULTIRAIL;
    ReduceIntraNode(hierarchy::IntraNodeReduce): intra_node::REDUCE;
    AllreduceRecursiveDoubling(crate::allreduce::AllreduceDoubling): allreduce::RECURSIVE_DOUBLING;
    AllreduceRecursiveMultiplying(crate::allreduce::RecursiveMultiplying): allreduce::RECURSIVE_MULTIPLYING;
    AllreduceRecursiveSplitting(crate::allreduce::RecursiveSplitting): allreduce::RECURSIVE_SPLITTING;
    AllreduceGatherReduce(crate::allreduce::GatherReduce): allreduce::GATHER_REDUCE;
    AllreduceCensus(crate::allreduce::Census): allreduce::CENSUS;
    AllreduceCirculant(crate::allreduce::AllreduceCirculant): allreduce::CIRCULANT;
    AllreduceRabenseifner(crate::allreduce::AllreduceRabenseifner): allreduce::RABENSEIFNER;
    AllreduceRing(crate::allreduce::AllreduceRing): allreduce::RING;
    AllreduceReduceBcast(stages::ReduceBcast): allreduce::REDUCE_BCAST;
    AllreduceNodeAware(hierarchy::KnomialAllreduce): node_aware::ALLREDUCE;
    AllreducePostal(hierarchy::PostalAllreduce): node_aware::ALLREDUCE_POSTAL;
    AllreduceRailCirculant(hierarchy::FoldedAllreduce): node_aware::ALLREDUCE_RAIL_CIRCULANT;
    AllreduceMultirail(hierarchy::MultirailAllreduce): node_aware::ALLREDUCE_MULTIRAIL;
    AllreduceIntraNode(hierarchy::IntraNodeAllreduce): intra_node::ALLREDUCE;
    ReduceScatterCirculant(reduce_scatter::ReduceScatterCirculant):
        several::reduce_scatter_circulant(Collective::ReduceScatter);
    ReduceScatterHalving(reduce_scatter::ReduceScatterHalving):
        several::reduce_scatter_halving(Collective::ReduceScatter);
    ReduceScatterPairwise(reduce_scatter::ReduceScatterPairwise):
        several::reduce_scatter_pairwise(Collective::ReduceScatter);
    ReduceScatterNodeAware(hierarchy::NodeReduceScatter):
        several::reduce_scatter_node_aware(Collective::ReduceScatter);
    ReduceScatterBlockCirculant(reduce_scatter::ReduceScatterCirculant):
        several::reduce_scatter_circulant(Collective::ReduceScatterBlock);
    ReduceScatterBlockHalving(reduce_scatter::ReduceScatterHalving):
        several::reduce_scatter_halving(Collective::ReduceScatterBlock);
    ReduceScatterBlockPairwise(reduce_scatter::ReduceScatterPairwise):
        several::reduce_scatter_pairwise(Collective::ReduceScatterBlock);
    ReduceScatterBlockReduceScatter(stages::ReduceScatter): Collective::ReduceScatterBlock
        .row("reduce-scatter", cost::staged)
        .about("a reduction and a scatter of the catalog, in rank order: for short blocks")
        .parameters(in_stages(Collective::Scatter))
        .rounds(stages::rounds);
    ReduceScatterBlockNodeAware(hierarchy::NodeReduceScatter):
        several::reduce_scatter_node_aware(Collective::ReduceScatterBlock);
    ReduceScatterBlockRailCirculant(hierarchy::RailReduceScatter): node_aware::REDUCE_SCATTER_RAIL_CIRCULANT;
    ReduceScatterBlockIntraNode(hierarchy::IntraNode): intra_node::REDUCE_SCATTER_BLOCK;
    ScanDoubling(scan::Doubling): Collective::Scan
        .row("doubling", cost::scan)
        .about("fewest rounds; whole vector each round");
    ScanNodeAware(hierarchy::Prefix): node_aware::SCAN;
    ExscanDoubling123(exscan::Doubling123): Collective::Exscan
        .row("123-doubling", cost::exscan_doubling)
        .about("fewest rounds; whole vector each round")
        .rounds(|call, _| exscan::Doubling123::rounds(call.size).into());
    ExscanShift(exscan::Shift): Collective::Exscan
        .row("shift", cost::exscan_shift)
        .about("sometimes one more round, no extra operation; whole vector each round")
        .rounds(|call, _| exscan::Shift::rounds(call.size).into());
    ExscanNodeAware(hierarchy::Prefix): node_aware::EXSCAN;
}
