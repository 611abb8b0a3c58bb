//! The rows of broadcasts that do not know nodes.

use super::rounds::{chain as chain_rounds, exchanged, knomial, regathered};
use crate::call::{Collective, Needs, Parameters};
use crate::catalog::CatalogRow;
use crate::tree::{self, TreePlace, levels};
use crate::{bcast, circulant, cost};

pub(crate) const BINOMIAL: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "binomial",
    about: "fewest rounds; whole vector each round",
    needs: Needs::NOTHING,
    parameters: Parameters::NONE,
    rounds: |call, _| levels(call.size).into(),
    cost: cost::bcast,
};

pub(crate) const KNOMIAL: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "knomial",
    about: "few levels; whole vector in each message",
    needs: Needs::NOTHING,
    parameters: Parameters {
        radix: 4,
        ..Parameters::NONE
    },
    rounds: tree::Knomial::rounds,
    cost: cost::bcast,
};

pub(crate) const CIRCULANT: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "circulant",
    about: "fewest rounds for a vector in blocks: for larger vectors",
    needs: Needs::NOTHING,
    parameters: Parameters {
        blocks: 16,
        ..Parameters::NONE
    },
    rounds: circulant::Pipeline::rounds_of,
    cost: cost::pipeline,
};

pub(crate) const SCATTER_ALLGATHER: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "scatter-allgather",
    about: "twice the fewest rounds, at most two vectors sent: for large vectors",
    needs: Needs::NOTHING,
    parameters: Parameters::NONE,
    rounds: |call, _| 2 * u64::from(levels(call.size)),
    cost: cost::scatter_allgather,
};

pub(crate) const LINEAR_LINEAR: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "linear-linear",
    about: "pieces straight from the root, each from who got it to all: for the ranks of a node",
    needs: Needs {
        max_size: bcast::LINEAR_LINEAR_MAX_SIZE,
        ..Needs::NOTHING
    },
    parameters: Parameters {
        blocks: 16,
        per_node: 1,
        ..Parameters::NONE
    },
    rounds: bcast::LinearLinear::rounds,
    cost: cost::bcast_linear_linear,
};

pub(crate) const LINEAR_ALL: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "linear-all",
    about: "blocks straight from the root, then from each rank to all: for the ranks of a node",
    needs: Needs {
        max_size: bcast::COMPOSED_MAX_SIZE,
        ..Needs::NOTHING
    },
    parameters: Parameters {
        window: 8,
        per_node: 1,
        ..Parameters::NONE
    },
    rounds: |call, _| 4 * u64::from(call.size - 1),
    cost: cost::bcast_linear_all,
};

pub(crate) const LINEAR_BRUCK: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "linear-bruck",
    about: "blocks straight from the root, then fewest rounds: for large vectors",
    needs: Needs::NOTHING,
    parameters: Parameters {
        radix: 2,
        window: 8,
        ..Parameters::NONE
    },
    rounds: |call, parameters| u64::from(call.size - 1) + regathered(call, parameters.radix),
    cost: cost::bcast_linear_bruck,
};

pub(crate) const KNOMIAL_LINEAR: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "knomial-linear",
    about: "blocks down a tree, then from each rank to all: for the ranks of a node",
    needs: Needs {
        max_size: bcast::COMPOSED_MAX_SIZE,
        ..Needs::NOTHING
    },
    parameters: Parameters {
        radix: 2,
        window: 8,
        ..Parameters::NONE
    },
    rounds: |call, parameters| knomial(call.size, parameters.radix) + 2 * u64::from(call.size - 1),
    cost: cost::bcast_knomial_linear,
};

pub(crate) const KNOMIAL_BRUCK: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "knomial-bruck",
    about: "blocks down a tree, then in few rounds to all: for large vectors",
    needs: Needs::NOTHING,
    parameters: Parameters {
        radix: 2,
        gather_radix: 2,
        ..Parameters::NONE
    },
    rounds: |call, parameters| {
        knomial(call.size, parameters.radix) + regathered(call, parameters.gather_radix)
    },
    cost: cost::bcast_knomial_bruck,
};

pub(crate) const LINEAR_NEIGHBOR_EXCHANGE: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "linear-neighbor-exchange",
    about: "blocks straight from the root, then between neighbours; even numbers of ranks",
    needs: Needs {
        even: true,
        max_size: bcast::COMPOSED_MAX_SIZE,
        ..Needs::NOTHING
    },
    parameters: Parameters {
        window: 8,
        per_node: 1,
        ..Parameters::NONE
    },
    rounds: |call, parameters| u64::from(call.size - 1) + 2 * exchanged(call, parameters),
    cost: cost::bcast_linear_neighbor_exchange,
};

pub(crate) const KNOMIAL_NEIGHBOR_EXCHANGE: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "knomial-neighbor-exchange",
    about: "blocks down a tree, then between neighbours",
    needs: Needs {
        max_size: bcast::COMPOSED_MAX_SIZE,
        ..Needs::NOTHING
    },
    parameters: Parameters {
        radix: 2,
        ..Parameters::NONE
    },
    rounds: |call, parameters| {
        knomial(call.size, parameters.radix) + 2 * exchanged(call, parameters)
    },
    cost: cost::bcast_knomial_neighbor_exchange,
};

pub(crate) const LINEAR_RING: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "linear-ring",
    about: "blocks straight from the root, then around a ring: for large vectors on few nodes",
    needs: Needs {
        max_size: bcast::COMPOSED_MAX_SIZE,
        ..Needs::NOTHING
    },
    parameters: Parameters {
        window: 8,
        per_node: 1,
        ..Parameters::NONE
    },
    rounds: |call, _| 4 * u64::from(call.size - 1),
    cost: cost::bcast_linear_ring,
};

pub(crate) const KNOMIAL_RING: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "knomial-ring",
    about: "blocks down a tree, then around a ring",
    needs: Needs {
        max_size: bcast::COMPOSED_MAX_SIZE,
        ..Needs::NOTHING
    },
    parameters: Parameters {
        radix: 2,
        per_node: 1,
        ..Parameters::NONE
    },
    rounds: |call, parameters| knomial(call.size, parameters.radix) + 2 * u64::from(call.size - 1),
    cost: cost::bcast_knomial_ring,
};

pub(crate) const CHAIN: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "chain",
    about: "each rank sends each block to one other: for large vectors and few ranks",
    needs: Needs {
        max_size: bcast::CHAIN_MAX_SIZE,
        ..Needs::NOTHING
    },
    parameters: Parameters {
        blocks: 16,
        per_node: 1,
        ..Parameters::NONE
    },
    rounds: chain_rounds,
    cost: cost::chain,
};
