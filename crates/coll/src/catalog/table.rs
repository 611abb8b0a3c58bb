//! The table itself: one row for each algorithm.
//!
//! To add an algorithm write its file, with a type that is a [`Plan`](crate::plan::Plan) and has
//! `pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self`, and add its row here. The call
//! it is given satisfies the row's needs, and the parameters that the row has are not 0.

use super::rounds::{asked, chain as chain_rounds, exchanges, knomial, regathered};
use super::{Call, Collective, Needs, Parameters, Row};
use crate::digits::Digits;
use crate::plan::{Acts, Known, Plan};
use crate::tree::levels;
use crate::{
    allgather, allreduce, alltoall, barrier, bcast, circulant, cost, exscan, gather, gatherv,
    hierarchy, neighbor, reduce, reduce_scatter, scan, scatter, scatterv,
};

/// Makes [`Algorithm`], [`AnyPlan`] and what depends on them out of the rows.
macro_rules! table {
    ($($name:ident($plan:ty): $row:expr;)*) => {
        /// One algorithm for one collective.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Algorithm {
            $(#[doc = concat!("[`", stringify!($plan), "`](crate::", stringify!($plan), ").")] $name,)*
        }

        impl Algorithm {
            /// Every algorithm, in the order in which documentation and tests list them.
            pub const ALL: [Algorithm; [$(stringify!($name)),*].len()] = [$(Algorithm::$name),*];

            /// Its row in the catalog.
            pub const fn row(self) -> &'static Row {
                match self {
                    $(Algorithm::$name => const { &$row },)*
                }
            }

            /// The plan for a call that suits it.
            pub(super) fn of(self, call: &Call, parameters: &Parameters) -> AnyPlan {
                match self {
                    $(Algorithm::$name => AnyPlan::$name(<$plan>::of(call, parameters)),)*
                }
            }
        }

        /// A plan of any algorithm in the catalog: a call through it is a branch, not a pointer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "each variant is named as its algorithm")]
        pub enum AnyPlan {
            $($name($plan),)*
        }

        impl Plan for AnyPlan {
            #[inline]
            fn steps(&self) -> u32 {
                match self {
                    $(AnyPlan::$name(plan) => plan.steps(),)*
                }
            }

            fn scratch(&self, known: &Known<'_>) -> u64 {
                match self {
                    $(AnyPlan::$name(plan) => plan.scratch(known),)*
                }
            }

            #[inline]
            fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
                match self {
                    $(AnyPlan::$name(plan) => plan.step(i, known, acts),)*
                }
            }
        }
    };
}

table! {
    BarrierDissemination(barrier::Dissemination): Row {
        collective: Collective::Barrier,
        name: "dissemination",
        about: "fewest rounds for every number of ranks",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 2, ..Parameters::NONE },
        rounds: |call, parameters| Digits::new(call.size, parameters.radix).exchanges().into(),
        cost: cost::dissemination,
    };
    BarrierKnomial(barrier::Knomial): Row {
        collective: Collective::Barrier,
        name: "knomial",
        about: "up and down a tree: twice the rounds, fewest messages",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 2, ..Parameters::NONE },
        rounds: |call, parameters| 2 * knomial(call.size, parameters.radix),
        cost: cost::barrier_knomial,
    };
    BarrierNodeAware(hierarchy::Barrier): Row {
        collective: Collective::Barrier,
        name: "node-aware",
        about: "dissemination between nodes, trees inside: one rank of a node talks to others",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 4, per_node: 1, ..Parameters::NONE },
        rounds: hierarchy::Barrier::rounds,
        cost: cost::barrier_node_aware,
    };
    GatherBinomial(gather::Knomial): Row {
        collective: Collective::Gather,
        name: "binomial",
        about: "fewest rounds and least volume at the root; blocks are sent again on their way",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
        cost: cost::gather,
    };
    GatherKnomial(gather::Knomial): Row {
        collective: Collective::Gather,
        name: "knomial",
        about: "as binomial with fewer levels of more messages each",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 4, ..Parameters::NONE },
        rounds: |call, parameters| knomial(call.size, parameters.radix),
        cost: cost::gather,
    };
    GatherLinear(gather::Linear): Row {
        collective: Collective::Gather,
        name: "linear",
        about: "each block straight on its way, at the root's pace: for large blocks",
        needs: Needs::NOTHING,
        parameters: Parameters { window: 8, ..Parameters::NONE },
        rounds: |call, parameters| asked(call.size - 1, parameters.window),
        cost: cost::gather_linear,
    };
    GathervKnomial(gatherv::Knomial): Row {
        collective: Collective::Gatherv,
        name: "knomial",
        about: "short blocks through a tree, long ones straight; fewest rounds for short ones",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 2, window: 8, cutoff: 16 << 10, ..Parameters::NONE },
        rounds: |call, parameters| knomial(call.size, parameters.radix),
        cost: cost::gather,
    };
    GathervLinear(gather::Linear): Row {
        collective: Collective::Gatherv,
        name: "linear",
        about: "each block straight on its way, at the root's pace: for large blocks",
        needs: Needs::NOTHING,
        parameters: Parameters { window: 8, ..Parameters::NONE },
        rounds: |call, parameters| asked(call.size - 1, parameters.window),
        cost: cost::gather_linear,
    };
    ScatterBinomial(scatter::Knomial): Row {
        collective: Collective::Scatter,
        name: "binomial",
        about: "fewest rounds and least volume at the root; blocks are sent again on their way",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
        cost: cost::scatter,
    };
    ScatterKnomial(scatter::Knomial): Row {
        collective: Collective::Scatter,
        name: "knomial",
        about: "as binomial with fewer levels of more messages each",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 4, ..Parameters::NONE },
        rounds: |call, parameters| knomial(call.size, parameters.radix),
        cost: cost::scatter,
    };
    ScatterLinear(scatter::Linear): Row {
        collective: Collective::Scatter,
        name: "linear",
        about: "each block straight on its way, at the root's pace: for large blocks",
        needs: Needs::NOTHING,
        parameters: Parameters { window: 8, ..Parameters::NONE },
        rounds: |call, _| u64::from(call.size - 1),
        cost: cost::scatter_linear,
    };
    ScattervKnomial(scatterv::Knomial): Row {
        collective: Collective::Scatterv,
        name: "knomial",
        about: "short blocks through a tree, long ones straight; fewest rounds for short ones",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 2, window: 8, cutoff: 16 << 10, ..Parameters::NONE },
        rounds: |call, parameters| knomial(call.size, parameters.radix),
        cost: cost::scatter,
    };
    ScattervLinear(scatter::Linear): Row {
        collective: Collective::Scatterv,
        name: "linear",
        about: "each block straight on its way, at the root's pace: for large blocks",
        needs: Needs::NOTHING,
        parameters: Parameters { window: 8, ..Parameters::NONE },
        rounds: |call, _| u64::from(call.size - 1),
        cost: cost::scatter_linear,
    };
    AllgatherBruck(allgather::Bruck): Row {
        collective: Collective::Allgather,
        name: "bruck",
        about: "fewest rounds and least volume for every number of ranks",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 2, ..Parameters::NONE },
        rounds: |call, parameters| Digits::new(call.size, parameters.radix).exchanges().into(),
        cost: cost::allgather_bruck,
    };
    AllgatherRecursiveDoubling(allgather::RecursiveDoubling): Row {
        collective: Collective::Allgather,
        name: "recursive-doubling",
        about: "fewest rounds and least volume for powers of two",
        needs: Needs { power_of_two: true, ..Needs::NOTHING },
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
        cost: cost::allgather_doubling,
    };
    AllgatherNeighborExchange(allgather::NeighborExchange): Row {
        collective: Collective::Allgather,
        name: "neighbor-exchange",
        about: "least volume between neighbours in half the rounds of a ring; even numbers of ranks",
        needs: Needs { even: true, ..Needs::NOTHING },
        parameters: Parameters::NONE,
        rounds: |call, _| u64::from(call.size / 2),
        cost: cost::neighbor_exchange,
    };
    AllgatherRing(allgather::Ring): Row {
        collective: Collective::Allgather,
        name: "ring",
        about: "least volume between neighbours, many rounds: for large blocks",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| u64::from(call.size - 1),
        cost: cost::ring,
    };
    AllgatherLinear(allgather::Linear): Row {
        collective: Collective::Allgather,
        name: "linear",
        about: "each block straight on its way, nothing waits: for large blocks",
        needs: Needs::NOTHING,
        parameters: Parameters { window: 8, ..Parameters::NONE },
        rounds: |call, _| u64::from(call.size - 1),
        cost: cost::linear,
    };
    AllgatherCirculant(allgather::Circulant): Row {
        collective: Collective::Allgather,
        name: "circulant",
        about: "fewest rounds and least volume for every number of ranks",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
        cost: cost::allgather_circulant,
    };
    AllgatherLaneBruck(hierarchy::LaneBruck): Row {
        collective: Collective::Allgather,
        name: "lane-bruck",
        about: "bruck between nodes by all ranks of a node, then inside: for short blocks",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 2, per_node: 1, ..Parameters::NONE },
        rounds: hierarchy::LaneBruck::rounds,
        cost: cost::lane_bruck,
    };
    AllgatherLaneRing(hierarchy::LaneRing): Row {
        collective: Collective::Allgather,
        name: "lane-ring",
        about: "rings between nodes by all ranks of a node, then inside: for large blocks",
        needs: Needs::NOTHING,
        parameters: Parameters { per_node: 1, ..Parameters::NONE },
        rounds: hierarchy::LaneRing::rounds,
        cost: cost::lane_ring,
    };
    AllgathervBruck(allgather::Bruck): Row {
        collective: Collective::Allgatherv,
        name: "bruck",
        about: "fewest rounds and least volume for every number of ranks",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 2, ..Parameters::NONE },
        rounds: |call, parameters| Digits::new(call.size, parameters.radix).exchanges().into(),
        cost: cost::allgather_bruck,
    };
    AllgathervRing(allgather::Ring): Row {
        collective: Collective::Allgatherv,
        name: "ring",
        about: "least volume between neighbours, many rounds: for large blocks",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| u64::from(call.size - 1),
        cost: cost::ring,
    };
    AllgathervLinear(allgather::Linear): Row {
        collective: Collective::Allgatherv,
        name: "linear",
        about: "each block straight on its way, nothing waits: for large blocks",
        needs: Needs::NOTHING,
        parameters: Parameters { window: 8, ..Parameters::NONE },
        rounds: |call, _| u64::from(call.size - 1),
        cost: cost::linear,
    };
    AllgathervCirculant(allgather::Circulant): Row {
        collective: Collective::Allgatherv,
        name: "circulant",
        about: "fewest rounds and least volume for every number of ranks",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
        cost: cost::allgather_circulant,
    };
    AlltoallBruck(alltoall::Bruck): Row {
        collective: Collective::Alltoall,
        name: "bruck",
        about: "fewest rounds, blocks are sent several times: for small blocks",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 2, ..Parameters::NONE },
        rounds: |call, parameters| Digits::new(call.size, parameters.radix).exchanges().into(),
        cost: cost::alltoall_bruck,
    };
    AlltoallPairwise(alltoall::Pairwise): Row {
        collective: Collective::Alltoall,
        name: "pairwise",
        about: "least volume, one exchange at a time: for large blocks",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| exchanges(call),
        cost: cost::alltoall_pairwise,
    };
    AlltoallLinear(alltoall::Linear): Row {
        collective: Collective::Alltoall,
        name: "linear",
        about: "least volume, a window of exchanges at a time",
        needs: Needs::NOTHING,
        parameters: Parameters { window: 8, ..Parameters::NONE },
        rounds: |call, _| u64::from(call.size - 1) * (1 + u64::from(call.in_place)),
        cost: cost::alltoall_linear,
    };
    AlltoallNodeAware(hierarchy::Alltoall): Row {
        collective: Collective::Alltoall,
        name: "node-aware",
        about: "one message from node to node, shared out to the ranks of both: for short blocks",
        needs: Needs { apart: true, ..Needs::NOTHING },
        parameters: Parameters { per_node: 1, ..Parameters::NONE },
        rounds: hierarchy::Alltoall::rounds,
        cost: cost::alltoall_node_aware,
    };
    AlltoallvPairwise(alltoall::Pairwise): Row {
        collective: Collective::Alltoallv,
        name: "pairwise",
        about: "least volume, one exchange at a time: for large blocks",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| exchanges(call),
        cost: cost::alltoall_pairwise,
    };
    AlltoallvLinear(alltoall::Linear): Row {
        collective: Collective::Alltoallv,
        name: "linear",
        about: "least volume, a window of exchanges at a time",
        needs: Needs::NOTHING,
        parameters: Parameters { window: 8, ..Parameters::NONE },
        rounds: |call, _| u64::from(call.size - 1) * (1 + u64::from(call.in_place)),
        cost: cost::alltoall_linear,
    };

    NeighborAllgatherLinear(neighbor::Linear): Row {
        collective: Collective::NeighborAllgather,
        name: "linear",
        about: "a message for each neighbour, a window of them at a time",
        needs: Needs::NOTHING,
        parameters: Parameters { window: 16, ..Parameters::NONE },
        rounds: |call, _| u64::from(call.sources) + u64::from(call.destinations),
        cost: cost::neighbors,
    };
    NeighborAllgathervLinear(neighbor::Linear): Row {
        collective: Collective::NeighborAllgatherv,
        name: "linear",
        about: "a message for each neighbour, a window of them at a time",
        needs: Needs::NOTHING,
        parameters: Parameters { window: 16, ..Parameters::NONE },
        rounds: |call, _| u64::from(call.sources) + u64::from(call.destinations),
        cost: cost::neighbors,
    };
    NeighborAlltoallLinear(neighbor::Linear): Row {
        collective: Collective::NeighborAlltoall,
        name: "linear",
        about: "a message for each neighbour, a window of them at a time",
        needs: Needs::NOTHING,
        parameters: Parameters { window: 16, ..Parameters::NONE },
        rounds: |call, _| u64::from(call.sources) + u64::from(call.destinations),
        cost: cost::neighbors,
    };
    NeighborAlltoallvLinear(neighbor::Linear): Row {
        collective: Collective::NeighborAlltoallv,
        name: "linear",
        about: "a message for each neighbour, a window of them at a time",
        needs: Needs::NOTHING,
        parameters: Parameters { window: 16, ..Parameters::NONE },
        rounds: |call, _| u64::from(call.sources) + u64::from(call.destinations),
        cost: cost::neighbors,
    };
    BcastBinomial(bcast::Binomial): Row {
        collective: Collective::Bcast,
        name: "binomial",
        about: "fewest rounds; whole vector each round",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
        cost: cost::bcast,
    };
    BcastKnomial(bcast::Knomial): Row {
        collective: Collective::Bcast,
        name: "knomial",
        about: "few levels; whole vector in each message",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 4, ..Parameters::NONE },
        rounds: bcast::Knomial::rounds,
        cost: cost::bcast,
    };
    BcastCirculant(bcast::Circulant): Row {
        collective: Collective::Bcast,
        name: "circulant",
        about: "fewest rounds for a vector in blocks: for larger vectors",
        needs: Needs::NOTHING,
        parameters: Parameters { blocks: 16, ..Parameters::NONE },
        rounds: circulant::Pipeline::rounds_of,
        cost: cost::pipeline,
    };
    BcastScatterAllgather(bcast::ScatterAllgather): Row {
        collective: Collective::Bcast,
        name: "scatter-allgather",
        about: "twice the fewest rounds, at most two vectors sent: for large vectors",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| 2 * u64::from(levels(call.size)),
        cost: cost::scatter_allgather,
    };
    BcastLinearLinear(bcast::LinearLinear): Row {
        collective: Collective::Bcast,
        name: "linear-linear",
        about: "blocks straight from the root, then from each rank to all: for the ranks of a node",
        needs: Needs { max_size: bcast::COMPOSED_MAX_SIZE, ..Needs::NOTHING },
        parameters: Parameters { window: 8, ..Parameters::NONE },
        rounds: |call, _| 3 * u64::from(call.size - 1),
        cost: cost::bcast_linear_linear,
    };
    BcastLinearBruck(bcast::LinearBruck): Row {
        collective: Collective::Bcast,
        name: "linear-bruck",
        about: "blocks straight from the root, then fewest rounds: for large vectors",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 2, window: 8, ..Parameters::NONE },
        rounds: |call, parameters| {
            u64::from(call.size - 1) + regathered(call, parameters)
        },
        cost: cost::bcast_linear_bruck,
    };
    BcastKnomialLinear(bcast::KnomialLinear): Row {
        collective: Collective::Bcast,
        name: "knomial-linear",
        about: "blocks down a tree, then from each rank to all: for the ranks of a node",
        needs: Needs { max_size: bcast::COMPOSED_MAX_SIZE, ..Needs::NOTHING },
        parameters: Parameters { radix: 2, window: 8, ..Parameters::NONE },
        rounds: |call, parameters| knomial(call.size, parameters.radix) + 2 * u64::from(call.size - 1),
        cost: cost::bcast_knomial_linear,
    };
    BcastKnomialBruck(bcast::KnomialBruck): Row {
        collective: Collective::Bcast,
        name: "knomial-bruck",
        about: "blocks down a tree, then in few rounds to all: for large vectors",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 2, ..Parameters::NONE },
        rounds: |call, parameters| {
            knomial(call.size, parameters.radix) + regathered(call, parameters)
        },
        cost: cost::bcast_knomial_bruck,
    };
    BcastChain(bcast::Chain): Row {
        collective: Collective::Bcast,
        name: "chain",
        about: "each rank sends each block to one other: for large vectors and few ranks",
        needs: Needs { max_size: bcast::CHAIN_MAX_SIZE, ..Needs::NOTHING },
        parameters: Parameters { blocks: 16, ..Parameters::NONE },
        rounds: chain_rounds,
        cost: cost::chain,
    };
    BcastNodeAware(hierarchy::Bcast): Row {
        collective: Collective::Bcast,
        name: "node-aware",
        about: "the vector enters each node once; trees between nodes and inside",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 4, per_node: 1, ..Parameters::NONE },
        rounds: hierarchy::Bcast::rounds,
        cost: cost::bcast_node_aware,
    };
    ReduceBinomial(reduce::Binomial): Row {
        collective: Collective::Reduce,
        name: "binomial",
        about: "fewest rounds; whole vector each round",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
        cost: cost::reduce,
    };
    ReduceKnomial(reduce::Knomial): Row {
        collective: Collective::Reduce,
        name: "knomial",
        about: "few levels; whole vector in each message",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 4, ..Parameters::NONE },
        rounds: bcast::Knomial::rounds,
        cost: cost::reduce,
    };
    ReduceCirculant(reduce::Circulant): Row {
        collective: Collective::Reduce,
        name: "circulant",
        about: "fewest rounds for a vector in blocks; the operation must commute",
        needs: Needs { commutative: true, ..Needs::NOTHING },
        parameters: Parameters { blocks: 16, ..Parameters::NONE },
        rounds: circulant::Pipeline::rounds_of,
        cost: cost::pipeline,
    };
    ReduceRabenseifner(reduce::Rabenseifner): Row {
        collective: Collective::Reduce,
        name: "rabenseifner",
        about: "each rank reduces its share: for large vectors",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| {
            2 * u64::from(call.size.ilog2()) + u64::from(!call.size.is_power_of_two())
        },
        cost: cost::reduce_rabenseifner,
    };
    ReduceChain(reduce::Chain): Row {
        collective: Collective::Reduce,
        name: "chain",
        about: "each rank sends each block once: for large vectors and few ranks; the operation \
                must commute",
        needs: Needs {
            commutative: true,
            max_size: reduce::CHAIN_MAX_SIZE,
            ..Needs::NOTHING
        },
        parameters: Parameters { blocks: 16, ..Parameters::NONE },
        rounds: chain_rounds,
        cost: cost::chain,
    };
    ReduceNodeAware(hierarchy::Reduce): Row {
        collective: Collective::Reduce,
        name: "node-aware",
        about: "one vector leaves each node; trees inside and between nodes",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 4, per_node: 1, ..Parameters::NONE },
        rounds: hierarchy::Reduce::rounds,
        cost: cost::reduce_node_aware,
    };
    AllreduceRecursiveDoubling(allreduce::RecursiveDoubling): Row {
        collective: Collective::Allreduce,
        name: "recursive-doubling",
        about: "few rounds; whole vector each round: for small vectors",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| {
            u64::from(levels(call.size)) + u64::from(!call.size.is_power_of_two())
        },
        cost: cost::allreduce_doubling,
    };
    AllreduceRecursiveMultiplying(allreduce::RecursiveMultiplying): Row {
        collective: Collective::Allreduce,
        name: "recursive-multiplying",
        about: "few phases; whole vector in each message: for small vectors",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 4, ..Parameters::NONE },
        rounds: allreduce::RecursiveMultiplying::rounds,
        cost: cost::allreduce_multiplying,
    };
    AllreduceGatherReduce(allreduce::GatherReduce): Row {
        collective: Collective::Allreduce,
        name: "gather-reduce",
        about: "fewest rounds for every operation; each rank reduces all: for few ranks and small \
                vectors",
        needs: Needs { max_size: allreduce::GATHER_REDUCE_MAX_SIZE, ..Needs::NOTHING },
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
        cost: cost::allreduce_gather_reduce,
    };
    AllreduceCensus(allreduce::Census): Row {
        collective: Collective::Allreduce,
        name: "census",
        about: "fewest rounds for every number of ranks; whole vector each round; the operation \
                must be exact",
        needs: Needs { exact: true, ..Needs::NOTHING },
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
        cost: cost::census,
    };
    AllreduceCirculant(allreduce::Circulant): Row {
        collective: Collective::Allreduce,
        name: "circulant",
        about: "least volume in few rounds for every number of ranks; the operation must commute",
        needs: Needs { commutative: true, ..Needs::NOTHING },
        parameters: Parameters::NONE,
        rounds: |call, _| 2 * u64::from(levels(call.size)),
        cost: cost::allreduce_circulant,
    };
    AllreduceRabenseifner(allreduce::Rabenseifner): Row {
        collective: Collective::Allreduce,
        name: "rabenseifner",
        about: "little volume in few rounds, in the order of the ranks: for large vectors",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| {
            2 * u64::from(call.size.ilog2()) + 2 * u64::from(!call.size.is_power_of_two())
        },
        cost: cost::allreduce_rabenseifner,
    };
    AllreduceRing(allreduce::Ring): Row {
        collective: Collective::Allreduce,
        name: "ring",
        about: "least volume, many rounds: for large vectors; the operation must commute",
        needs: Needs {
            commutative: true,
            max_size: allreduce::RING_MAX_SIZE,
            ..Needs::NOTHING
        },
        parameters: Parameters { segment: 1 << 20, ..Parameters::NONE },
        rounds: |call, _| 2 * u64::from(call.size - 1),
        cost: cost::allreduce_ring,
    };
    AllreduceKnomial(allreduce::Knomial): Row {
        collective: Collective::Allreduce,
        name: "knomial",
        about: "up a tree and down again: fewest messages",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 4, ..Parameters::NONE },
        rounds: |call, parameters| 2 * bcast::Knomial::rounds(call, parameters),
        cost: cost::allreduce_knomial,
    };
    AllreduceChain(allreduce::Chain): Row {
        collective: Collective::Allreduce,
        name: "chain",
        about: "up a chain and down again, block by block: for large vectors and few ranks; the \
                operation must commute",
        needs: Needs {
            commutative: true,
            max_size: reduce::CHAIN_MAX_SIZE,
            ..Needs::NOTHING
        },
        parameters: Parameters { blocks: 16, ..Parameters::NONE },
        rounds: |call, parameters| 2 * chain_rounds(call, parameters),
        cost: cost::allreduce_chain,
    };
    AllreduceChainLinear(allreduce::ChainLinear): Row {
        collective: Collective::Allreduce,
        name: "chain-linear",
        about: "blocks up a chain, and one for each rank straight back to all: for the ranks \
                of a node; the operation must commute",
        needs: Needs { commutative: true, max_size: bcast::COMPOSED_MAX_SIZE, ..Needs::NOTHING },
        parameters: Parameters { blocks: 16, window: 8, ..Parameters::NONE },
        rounds: |call, parameters| {
            chain_rounds(call, parameters) + 3 * u64::from(call.size - 1)
        },
        cost: cost::allreduce_chain_linear,
    };
    AllreduceChainBruck(allreduce::ChainBruck): Row {
        collective: Collective::Allreduce,
        name: "chain-bruck",
        about: "blocks up a chain, and one for each rank in few rounds back to all; the \
                operation must commute",
        needs: Needs { commutative: true, max_size: reduce::CHAIN_MAX_SIZE, ..Needs::NOTHING },
        parameters: Parameters { radix: 2, blocks: 16, ..Parameters::NONE },
        rounds: |call, parameters| {
            chain_rounds(call, parameters)
                + knomial(call.size, parameters.radix)
                + regathered(call, parameters)
        },
        cost: cost::allreduce_chain_bruck,
    };
    AllreduceCirculantLinear(allreduce::CirculantLinear): Row {
        collective: Collective::Allreduce,
        name: "circulant-linear",
        about: "blocks in fewest rounds, and one for each rank straight back to all: for the \
                ranks of a node; the operation must commute",
        needs: Needs { commutative: true, max_size: bcast::COMPOSED_MAX_SIZE, ..Needs::NOTHING },
        parameters: Parameters { blocks: 16, window: 8, ..Parameters::NONE },
        rounds: |call, parameters| {
            circulant::Pipeline::rounds_of(call, parameters) + 3 * u64::from(call.size - 1)
        },
        cost: cost::allreduce_circulant_linear,
    };
    AllreduceCirculantBruck(allreduce::CirculantBruck): Row {
        collective: Collective::Allreduce,
        name: "circulant-bruck",
        about: "blocks in fewest rounds, and one for each rank in few rounds back to all; the \
                operation must commute",
        needs: Needs { commutative: true, ..Needs::NOTHING },
        parameters: Parameters { radix: 2, blocks: 16, ..Parameters::NONE },
        rounds: |call, parameters| {
            circulant::Pipeline::rounds_of(call, parameters)
                + knomial(call.size, parameters.radix)
                + regathered(call, parameters)
        },
        cost: cost::allreduce_circulant_bruck,
    };
    AllreduceNodeAware(hierarchy::Allreduce): Row {
        collective: Collective::Allreduce,
        name: "node-aware",
        about: "one rank of a node talks to others, by recursive doubling; trees inside: for small \
                vectors",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 4, per_node: 1, ..Parameters::NONE },
        rounds: hierarchy::Allreduce::rounds,
        cost: cost::allreduce_node_aware,
    };
    ReduceScatterCirculant(reduce_scatter::Circulant): Row {
        collective: Collective::ReduceScatter,
        name: "circulant",
        about: "fewest rounds and, for equal blocks, least volume; the operation must commute",
        needs: Needs { commutative: true, ..Needs::NOTHING },
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
        cost: cost::reduce_scatter_circulant,
    };
    ReduceScatterHalving(reduce_scatter::Halving): Row {
        collective: Collective::ReduceScatter,
        name: "halving",
        about: "fewest rounds and least volume for powers of two; the operation must commute",
        needs: Needs {
            commutative: true,
            power_of_two: true,
            ..Needs::NOTHING
        },
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
        cost: cost::reduce_scatter_halving,
    };
    ReduceScatterPairwise(reduce_scatter::Pairwise): Row {
        collective: Collective::ReduceScatter,
        name: "pairwise",
        about: "least volume, many rounds, in the order of the ranks",
        needs: Needs { max_size: reduce_scatter::PAIRWISE_MAX_SIZE, ..Needs::NOTHING },
        parameters: Parameters::NONE,
        rounds: |call, _| u64::from(call.size - 1),
        cost: cost::reduce_scatter_pairwise,
    };
    ReduceScatterBlockCirculant(reduce_scatter::Circulant): Row {
        collective: Collective::ReduceScatterBlock,
        name: "circulant",
        about: "fewest rounds and least volume; the operation must commute",
        needs: Needs { commutative: true, ..Needs::NOTHING },
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
        cost: cost::reduce_scatter_circulant,
    };
    ReduceScatterBlockHalving(reduce_scatter::Halving): Row {
        collective: Collective::ReduceScatterBlock,
        name: "halving",
        about: "fewest rounds and least volume for powers of two; the operation must commute",
        needs: Needs {
            commutative: true,
            power_of_two: true,
            ..Needs::NOTHING
        },
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
        cost: cost::reduce_scatter_halving,
    };
    ReduceScatterBlockPairwise(reduce_scatter::Pairwise): Row {
        collective: Collective::ReduceScatterBlock,
        name: "pairwise",
        about: "least volume, many rounds, in the order of the ranks",
        needs: Needs { max_size: reduce_scatter::PAIRWISE_MAX_SIZE, ..Needs::NOTHING },
        parameters: Parameters::NONE,
        rounds: |call, _| u64::from(call.size - 1),
        cost: cost::reduce_scatter_pairwise,
    };
    ScanDoubling(scan::Doubling): Row {
        collective: Collective::Scan,
        name: "doubling",
        about: "fewest rounds; whole vector each round",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
        cost: cost::scan,
    };
    ExscanDoubling123(exscan::Doubling123): Row {
        collective: Collective::Exscan,
        name: "123-doubling",
        about: "fewest rounds; whole vector each round",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| exscan::Doubling123::rounds(call.size).into(),
        cost: cost::exscan_doubling,
    };
    ExscanShift(exscan::Shift): Row {
        collective: Collective::Exscan,
        name: "shift",
        about: "sometimes one more round, no extra operation; whole vector each round",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| exscan::Shift::rounds(call.size).into(),
        cost: cost::exscan_shift,
    };
}
