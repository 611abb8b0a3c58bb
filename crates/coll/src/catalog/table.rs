//! The table itself: one row for each algorithm.
//!
//! To add an algorithm write its file, with a type that is a [`Plan`](crate::plan::Plan) and has
//! `pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self`, and add its row here. The call
//! it is given satisfies the row's needs, and the parameters that the row has are not 0. Rows of
//! algorithms that know nodes are in [`nodes`], those by which ranks of a node act together in [`teams`], and those of several collectives in [`twins`].

use super::rounds::{chain as chain_rounds, doubled, exchanged, knomial, regathered};
use super::{Call, Collective, Needs, Parameters, Row, nodes, teams, twins};
use crate::digits::Digits;
use crate::plan::any_plan;
use crate::tree::{self, Place, levels};
use crate::{
    allgather, allreduce, alltoall, barrier, bcast, circulant, cost, direct, exscan, gather,
    gatherv, hierarchy, neighbor, reduce, reduce_scatter, scan, scatter, scatterv, stages,
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

        any_plan!(AnyPlan: $($name),*);
    };
}

/// The parameters of what reduces first and then does another collective: by which algorithms.
const fn in_stages(after: Collective) -> Parameters {
    Parameters {
        per_node: 1,
        stages: [
            Some(stages::tree(Collective::Reduce)),
            Some(stages::tree(after)),
        ],
        ..Parameters::NONE
    }
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
    BarrierNodeAware(hierarchy::Barrier): nodes::BARRIER;
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
    GatherLinear(gather::Linear): twins::gather_linear(Collective::Gather);
    GatherNodeAware(hierarchy::KnomialGather): nodes::GATHER;
    GatherTeam(hierarchy::TeamGather): teams::GATHER;
    GathervKnomial(gatherv::Knomial): Row {
        collective: Collective::Gatherv,
        name: "knomial",
        about: "short blocks through a tree, long ones straight; fewest rounds for short ones",
        needs: Needs { max_radix: direct::MAX_RADIX, ..Needs::NOTHING },
        parameters: Parameters { radix: 2, window: 8, cutoff: 16 << 10, ..Parameters::NONE },
        rounds: |call, parameters| knomial(call.size, parameters.radix),
        cost: cost::gather,
    };
    GathervLinear(gather::Linear): twins::gather_linear(Collective::Gatherv);
    GathervNodeAware(hierarchy::Gatherv): nodes::GATHERV;
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
    ScatterLinear(scatter::Linear): twins::scatter_linear(Collective::Scatter);
    ScatterNodeAware(hierarchy::KnomialScatter): nodes::SCATTER;
    ScatterTeam(hierarchy::TeamScatter): teams::SCATTER;
    ScattervKnomial(scatterv::Knomial): Row {
        collective: Collective::Scatterv,
        name: "knomial",
        about: "short blocks through a tree, long ones straight; fewest rounds for short ones",
        needs: Needs { max_radix: direct::MAX_RADIX, ..Needs::NOTHING },
        parameters: Parameters { radix: 2, window: 8, cutoff: 16 << 10, ..Parameters::NONE },
        rounds: |call, parameters| knomial(call.size, parameters.radix),
        cost: cost::scatter,
    };
    ScattervLinear(scatter::Linear): twins::scatter_linear(Collective::Scatterv);
    ScattervNodeAware(hierarchy::Scatterv): nodes::SCATTERV;
    AllgatherBruck(allgather::Bruck): twins::allgather_bruck(Collective::Allgather);
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
        about: "least volume between neighbours in half the rounds of a ring",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: exchanged,
        cost: cost::neighbor_exchange,
    };
    AllgatherRing(allgather::Ring): twins::allgather_ring(Collective::Allgather);
    AllgatherLinear(allgather::Linear): twins::allgather_linear(Collective::Allgather);
    AllgatherCirculant(allgather::Circulant): twins::allgather_circulant(Collective::Allgather);
    AllgatherLaneBruck(hierarchy::LaneBruck): nodes::ALLGATHER_LANE_BRUCK;
    AllgatherLaneRing(hierarchy::LaneRing): nodes::ALLGATHER_LANE_RING;
    AllgatherTeam(hierarchy::InTeam): teams::ALLGATHER;
    AllgatherNodeAware(hierarchy::NodeBruck): twins::allgather_node_aware(Collective::Allgather);
    AllgathervBruck(allgather::Bruck): twins::allgather_bruck(Collective::Allgatherv);
    AllgathervRing(allgather::Ring): twins::allgather_ring(Collective::Allgatherv);
    AllgathervLinear(allgather::Linear): twins::allgather_linear(Collective::Allgatherv);
    AllgathervCirculant(allgather::Circulant): twins::allgather_circulant(Collective::Allgatherv);
    AllgathervNodeAware(hierarchy::NodeBruck): twins::allgather_node_aware(Collective::Allgatherv);
    AlltoallBruck(alltoall::Bruck): Row {
        collective: Collective::Alltoall,
        name: "bruck",
        about: "fewest rounds, blocks are sent several times: for small blocks",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 2, ..Parameters::NONE },
        rounds: |call, parameters| Digits::new(call.size, parameters.radix).exchanges().into(),
        cost: cost::alltoall_bruck,
    };
    AlltoallPairwise(alltoall::Pairwise): twins::alltoall_pairwise(Collective::Alltoall);
    AlltoallLinear(alltoall::Linear): twins::alltoall_linear(Collective::Alltoall);
    AlltoallNodeAware(hierarchy::Alltoall): nodes::ALLTOALL;
    AlltoallTeam(hierarchy::InTeam): teams::ALLTOALL;
    AlltoallvPairwise(alltoall::Pairwise): twins::alltoall_pairwise(Collective::Alltoallv);
    AlltoallvLinear(alltoall::Linear): twins::alltoall_linear(Collective::Alltoallv);
    NeighborAllgatherLinear(neighbor::Linear): twins::neighbors(Collective::NeighborAllgather);
    NeighborAllgathervLinear(neighbor::Linear): twins::neighbors(Collective::NeighborAllgatherv);
    NeighborAlltoallLinear(neighbor::Linear): twins::neighbors(Collective::NeighborAlltoall);
    NeighborAlltoallvLinear(neighbor::Linear): twins::neighbors(Collective::NeighborAlltoallv);
    BcastBinomial(bcast::Knomial): Row {
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
        rounds: tree::Knomial::rounds,
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
        about: "pieces straight from the root, each from who got it to all: for the ranks of a node",
        needs: Needs { max_size: bcast::LINEAR_LINEAR_MAX_SIZE, ..Needs::NOTHING },
        parameters: Parameters { blocks: 16, per_node: 1, ..Parameters::NONE },
        rounds: bcast::LinearLinear::rounds,
        cost: cost::bcast_linear_linear,
    };
    BcastLinearAll(bcast::LinearAll): Row {
        collective: Collective::Bcast,
        name: "linear-all",
        about: "blocks straight from the root, then from each rank to all: for the ranks of a node",
        needs: Needs { max_size: bcast::COMPOSED_MAX_SIZE, ..Needs::NOTHING },
        parameters: Parameters { window: 8, per_node: 1, ..Parameters::NONE },
        rounds: |call, _| 4 * u64::from(call.size - 1),
        cost: cost::bcast_linear_all,
    };
    BcastLinearBruck(bcast::LinearBruck): Row {
        collective: Collective::Bcast,
        name: "linear-bruck",
        about: "blocks straight from the root, then fewest rounds: for large vectors",
        needs: Needs::NOTHING,
        parameters: Parameters { radix: 2, window: 8, ..Parameters::NONE },
        rounds: |call, parameters| {
            u64::from(call.size - 1) + regathered(call, parameters.radix)
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
        parameters: Parameters { radix: 2, gather_radix: 2, ..Parameters::NONE },
        rounds: |call, parameters| {
            knomial(call.size, parameters.radix) + regathered(call, parameters.gather_radix)
        },
        cost: cost::bcast_knomial_bruck,
    };
    BcastLinearNeighborExchange(bcast::LinearNeighborExchange): Row {
        collective: Collective::Bcast,
        name: "linear-neighbor-exchange",
        about: "blocks straight from the root, then between neighbours; even numbers of ranks",
        needs: Needs { even: true, max_size: bcast::COMPOSED_MAX_SIZE, ..Needs::NOTHING },
        parameters: Parameters { window: 8, per_node: 1, ..Parameters::NONE },
        rounds: |call, parameters| u64::from(call.size - 1) + 2 * exchanged(call, parameters),
        cost: cost::bcast_linear_neighbor_exchange,
    };
    BcastKnomialNeighborExchange(bcast::KnomialNeighborExchange): Row {
        collective: Collective::Bcast,
        name: "knomial-neighbor-exchange",
        about: "blocks down a tree, then between neighbours",
        needs: Needs { max_size: bcast::COMPOSED_MAX_SIZE, ..Needs::NOTHING },
        parameters: Parameters { radix: 2, ..Parameters::NONE },
        rounds: |call, parameters| knomial(call.size, parameters.radix) + 2 * exchanged(call, parameters),
        cost: cost::bcast_knomial_neighbor_exchange,
    };
    BcastLinearRing(bcast::LinearRing): Row {
        collective: Collective::Bcast,
        name: "linear-ring",
        about: "blocks straight from the root, then around a ring: for large vectors on few nodes",
        needs: Needs { max_size: bcast::COMPOSED_MAX_SIZE, ..Needs::NOTHING },
        parameters: Parameters { window: 8, per_node: 1, ..Parameters::NONE },
        rounds: |call, _| 4 * u64::from(call.size - 1),
        cost: cost::bcast_linear_ring,
    };
    BcastKnomialRing(bcast::KnomialRing): Row {
        collective: Collective::Bcast,
        name: "knomial-ring",
        about: "blocks down a tree, then around a ring",
        needs: Needs { max_size: bcast::COMPOSED_MAX_SIZE, ..Needs::NOTHING },
        parameters: Parameters { radix: 2, per_node: 1, ..Parameters::NONE },
        rounds: |call, parameters| knomial(call.size, parameters.radix) + 2 * u64::from(call.size - 1),
        cost: cost::bcast_knomial_ring,
    };
    BcastChain(bcast::Chain): Row {
        collective: Collective::Bcast,
        name: "chain",
        about: "each rank sends each block to one other: for large vectors and few ranks",
        needs: Needs { max_size: bcast::CHAIN_MAX_SIZE, ..Needs::NOTHING },
        parameters: Parameters { blocks: 16, per_node: 1, ..Parameters::NONE },
        rounds: chain_rounds,
        cost: cost::chain,
    };
    BcastNodeAware(hierarchy::KnomialBcast): nodes::BCAST;
    BcastPostal(hierarchy::PostalBcast): nodes::BCAST_POSTAL;
    BcastLaneKnomial(hierarchy::LaneKnomial): nodes::BCAST_LANE_KNOMIAL;
    BcastLaneChain(hierarchy::LaneChain): nodes::BCAST_LANE_CHAIN;
    BcastLaneCirculant(hierarchy::LaneCirculant): nodes::BCAST_LANE_CIRCULANT;
    BcastPorts(hierarchy::PortsBcast): nodes::BCAST_PORTS;
    BcastTeam(hierarchy::TeamBcast): teams::BCAST;
    ReduceBinomial(reduce::Knomial): Row {
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
        rounds: tree::Knomial::rounds,
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
    ReduceGuest(reduce::Guest): Row {
        collective: Collective::Reduce,
        name: "guest",
        about: "as circulant, but the root gets one rank's vector straight: for short vectors and \
                powers of two; the operation must commute",
        needs: Needs { commutative: true, power_of_two: true, ..Needs::NOTHING },
        parameters: Parameters { blocks: 1, ..Parameters::NONE },
        rounds: reduce::Guest::rounds,
        cost: cost::reduce_with_guest,
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
    ReduceNodeAware(hierarchy::KnomialReduce): nodes::REDUCE;
    ReducePostal(hierarchy::PostalReduce): nodes::REDUCE_POSTAL;
    ReducePorts(hierarchy::PortsReduce): nodes::REDUCE_PORTS;
    ReduceTeam(hierarchy::TeamReduce): teams::REDUCE;
    AllreduceRecursiveDoubling(allreduce::RecursiveDoubling): Row {
        collective: Collective::Allreduce,
        name: "recursive-doubling",
        about: "few rounds; whole vector each round: for small vectors",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| doubled(call.size),
        cost: cost::allreduce_doubling,
    };
    AllreduceRecursiveMultiplying(allreduce::RecursiveMultiplying): Row {
        collective: Collective::Allreduce,
        name: "recursive-multiplying",
        about: "few phases; whole vector in each message: for small vectors",
        needs: Needs {
            max_radix: allreduce::RECURSIVE_MULTIPLYING_MAX_RADIX,
            ..Needs::NOTHING
        },
        parameters: Parameters { radix: 4, ..Parameters::NONE },
        rounds: allreduce::RecursiveMultiplying::rounds,
        cost: cost::allreduce_multiplying,
    };
    AllreduceRecursiveSplitting(allreduce::RecursiveSplitting): Row {
        collective: Collective::Allreduce,
        name: "recursive-splitting",
        about: "as recursive-multiplying, and no rank is folded into another one where their number \
                is no power: for small vectors",
        needs: Needs {
            max_radix: allreduce::RECURSIVE_SPLITTING_MAX_RADIX,
            ..Needs::NOTHING
        },
        parameters: Parameters { radix: 4, ..Parameters::NONE },
        rounds: allreduce::RecursiveSplitting::rounds,
        cost: cost::allreduce_splitting,
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
        parameters: Parameters { segment: 1 << 20, blocks: 1, per_node: 1, ..Parameters::NONE },
        rounds: |call, parameters| {
            2 * u64::from(call.size - 1) * u64::from(parameters.blocks.max(1))
        },
        cost: cost::allreduce_ring,
    };
    AllreduceReduceBcast(stages::ReduceBcast): Row {
        collective: Collective::Allreduce,
        name: "reduce-bcast",
        about: "a reduction and a broadcast of the catalog: not slower than these",
        needs: Needs::NOTHING,
        parameters: in_stages(Collective::Bcast),
        rounds: stages::rounds,
        cost: cost::staged,
    };
    AllreduceNodeAware(hierarchy::KnomialAllreduce): nodes::ALLREDUCE;
    AllreducePostal(hierarchy::PostalAllreduce): nodes::ALLREDUCE_POSTAL;
    AllreduceLaneCirculant(hierarchy::GuestAllreduce): nodes::ALLREDUCE_LANE_CIRCULANT;
    AllreducePorts(hierarchy::PortsAllreduce): nodes::ALLREDUCE_PORTS;
    AllreduceTeam(hierarchy::TeamAllreduce): teams::ALLREDUCE;
    ReduceScatterCirculant(reduce_scatter::Circulant):
        twins::reduce_scatter_circulant(Collective::ReduceScatter);
    ReduceScatterHalving(reduce_scatter::Halving):
        twins::reduce_scatter_halving(Collective::ReduceScatter);
    ReduceScatterPairwise(reduce_scatter::Pairwise):
        twins::reduce_scatter_pairwise(Collective::ReduceScatter);
    ReduceScatterNodeAware(hierarchy::NodeReduceScatter):
        twins::reduce_scatter_node_aware(Collective::ReduceScatter);
    ReduceScatterBlockCirculant(reduce_scatter::Circulant):
        twins::reduce_scatter_circulant(Collective::ReduceScatterBlock);
    ReduceScatterBlockHalving(reduce_scatter::Halving):
        twins::reduce_scatter_halving(Collective::ReduceScatterBlock);
    ReduceScatterBlockPairwise(reduce_scatter::Pairwise):
        twins::reduce_scatter_pairwise(Collective::ReduceScatterBlock);
    ReduceScatterBlockReduceScatter(stages::ReduceScatter): Row {
        collective: Collective::ReduceScatterBlock,
        name: "reduce-scatter",
        about: "a reduction and a scatter of the catalog, in the order of the ranks: for short blocks",
        needs: Needs::NOTHING,
        parameters: in_stages(Collective::Scatter),
        rounds: stages::rounds,
        cost: cost::staged,
    };
    ReduceScatterBlockNodeAware(hierarchy::NodeReduceScatter):
        twins::reduce_scatter_node_aware(Collective::ReduceScatterBlock);
    ReduceScatterBlockLaneCirculant(hierarchy::LaneReduceScatter): nodes::REDUCE_SCATTER_LANE_CIRCULANT;
    ReduceScatterBlockTeam(hierarchy::InTeam): teams::REDUCE_SCATTER_BLOCK;
    ScanDoubling(scan::Doubling): Row {
        collective: Collective::Scan,
        name: "doubling",
        about: "fewest rounds; whole vector each round",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
        cost: cost::scan,
    };
    ScanNodeAware(hierarchy::Prefix): nodes::SCAN;
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
    ExscanNodeAware(hierarchy::Prefix): nodes::EXSCAN;
}
