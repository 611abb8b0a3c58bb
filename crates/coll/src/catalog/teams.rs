//! The rows of what ranks of a node do together, by memory that they share: see
//! [`Together`](crate::plan::Together).

use super::{Call, Collective, Needs, Parameters, Row, Teams};
use crate::cost;
use crate::hierarchy::{TeamAllreduce, TeamBcast, TeamReduce, one_after_another};
use crate::tree::{self, Place};

/// Of a collective that ranks of a node begin or end, and leaders carry between nodes.
const ON_NODES: Row = Row {
    collective: Collective::Bcast,
    name: "team",
    about: "ranks of a node act together by memory that they share; trees between nodes",
    needs: Needs {
        teams: Teams::OnNodes,
        ..Needs::NOTHING
    },
    parameters: Parameters {
        radix: 4,
        per_node: 1,
        ..Parameters::NONE
    },
    rounds: TeamBcast::rounds,
    cost: cost::bcast_team,
};

/// Of one that all ranks do together.
const ON_ONE: Row = Row {
    collective: Collective::Allgather,
    name: "team",
    about: "all ranks are on one node, and act together by memory that they share",
    needs: Needs {
        teams: Teams::All,
        ..Needs::NOTHING
    },
    parameters: Parameters::NONE,
    rounds: |_, _| 0,
    cost: cost::team,
};

/// The rounds of a tree between nodes.
fn between(call: &Call, parameters: &Parameters) -> u64 {
    let nodes = one_after_another(call, parameters).nodes();
    tree::Knomial::most_rounds(nodes, parameters)
}

pub(super) const BCAST: Row = ON_NODES;

pub(super) const REDUCE: Row = Row {
    collective: Collective::Reduce,
    rounds: TeamReduce::rounds,
    cost: cost::reduce_team,
    ..ON_NODES
};

pub(super) const ALLREDUCE: Row = Row {
    collective: Collective::Allreduce,
    about: "ranks of a node act together by memory that they share; recursive splitting between nodes",
    needs: Needs {
        max_radix: crate::allreduce::RECURSIVE_SPLITTING_MAX_RADIX,
        ..ON_NODES.needs
    },
    rounds: TeamAllreduce::rounds,
    cost: cost::allreduce_team,
    ..ON_NODES
};

pub(super) const GATHER: Row = Row {
    collective: Collective::Gather,
    rounds: between,
    cost: cost::gather_team,
    ..ON_NODES
};

pub(super) const SCATTER: Row = Row {
    collective: Collective::Scatter,
    rounds: between,
    cost: cost::scatter_team,
    ..ON_NODES
};

pub(super) const ALLGATHER: Row = ON_ONE;

pub(super) const ALLTOALL: Row = Row {
    collective: Collective::Alltoall,
    ..ON_ONE
};

pub(super) const REDUCE_SCATTER_BLOCK: Row = Row {
    collective: Collective::ReduceScatterBlock,
    ..ON_ONE
};
