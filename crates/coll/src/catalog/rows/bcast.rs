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
    parameters: Parameters::NONE.with_radix(4),
    rounds: tree::Knomial::rounds,
    cost: cost::bcast,
};

pub(crate) const CIRCULANT: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "circulant",
    about: "fewest rounds for a vector in blocks: for larger vectors",
    needs: Needs::NOTHING,
    parameters: Parameters::NONE.with_blocks(16),
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
    about: "pieces directly from the root, then from each receiver to all: for the ranks of a node",
    needs: Needs::NOTHING.with_max_size(bcast::LINEAR_LINEAR_MAX_SIZE),
    parameters: Parameters::NONE.with_blocks(16).with_per_node(1),
    rounds: bcast::LinearLinear::rounds,
    cost: cost::bcast_linear_linear,
};

pub(crate) const LINEAR_ALL: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "linear-all",
    about: "blocks directly from the root, then from each rank to all: for the ranks of a node",
    needs: Needs::NOTHING.with_max_size(bcast::COMPOSED_MAX_SIZE),
    parameters: Parameters::NONE.with_window(8).with_per_node(1),
    rounds: |call, _| 4 * u64::from(call.size - 1),
    cost: cost::bcast_linear_all,
};

pub(crate) const LINEAR_BRUCK: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "linear-bruck",
    about: "blocks directly from the root, then fewest rounds: for large vectors",
    needs: Needs::NOTHING,
    parameters: Parameters::NONE.with_radix(2).with_window(8),
    rounds: |call, parameters| u64::from(call.size - 1) + regathered(call, parameters.radix),
    cost: cost::bcast_linear_bruck,
};

pub(crate) const KNOMIAL_LINEAR: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "knomial-linear",
    about: "blocks down a tree, then from each rank to all: for the ranks of a node",
    needs: Needs::NOTHING.with_max_size(bcast::COMPOSED_MAX_SIZE),
    parameters: Parameters::NONE.with_radix(2).with_window(8),
    rounds: |call, parameters| knomial(call.size, parameters.radix) + 2 * u64::from(call.size - 1),
    cost: cost::bcast_knomial_linear,
};

pub(crate) const KNOMIAL_BRUCK: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "knomial-bruck",
    about: "blocks down a tree, then in few rounds to all: for large vectors",
    needs: Needs::NOTHING,
    parameters: Parameters::NONE.with_radix(2).with_gather_radix(2),
    rounds: |call, parameters| {
        knomial(call.size, parameters.radix) + regathered(call, parameters.gather_radix)
    },
    cost: cost::bcast_knomial_bruck,
};

pub(crate) const LINEAR_NEIGHBOR_EXCHANGE: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "linear-neighbor-exchange",
    about: "blocks directly from the root, then between neighbours; even numbers of ranks",
    needs: Needs {
        even: true,
        max_size: bcast::COMPOSED_MAX_SIZE,
        ..Needs::NOTHING
    },
    parameters: Parameters::NONE.with_window(8).with_per_node(1),
    rounds: |call, parameters| u64::from(call.size - 1) + 2 * exchanged(call, parameters),
    cost: cost::bcast_linear_neighbor_exchange,
};

pub(crate) const KNOMIAL_NEIGHBOR_EXCHANGE: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "knomial-neighbor-exchange",
    about: "blocks down a tree, then between neighbours",
    needs: Needs::NOTHING.with_max_size(bcast::COMPOSED_MAX_SIZE),
    parameters: Parameters::NONE.with_radix(2),
    rounds: |call, parameters| {
        knomial(call.size, parameters.radix) + 2 * exchanged(call, parameters)
    },
    cost: cost::bcast_knomial_neighbor_exchange,
};

pub(crate) const LINEAR_RING: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "linear-ring",
    about: "blocks directly from the root, then around a ring: for large vectors on few nodes",
    needs: Needs::NOTHING.with_max_size(bcast::COMPOSED_MAX_SIZE),
    parameters: Parameters::NONE.with_window(8).with_per_node(1),
    rounds: |call, _| 4 * u64::from(call.size - 1),
    cost: cost::bcast_linear_ring,
};

pub(crate) const KNOMIAL_RING: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "knomial-ring",
    about: "blocks down a tree, then around a ring",
    needs: Needs::NOTHING.with_max_size(bcast::COMPOSED_MAX_SIZE),
    parameters: Parameters::NONE.with_radix(2).with_per_node(1),
    rounds: |call, parameters| knomial(call.size, parameters.radix) + 2 * u64::from(call.size - 1),
    cost: cost::bcast_knomial_ring,
};

pub(crate) const CHAIN: CatalogRow = CatalogRow {
    collective: Collective::Bcast,
    name: "chain",
    about: "each rank sends each block to one other: for large vectors and few ranks",
    needs: Needs::NOTHING.with_max_size(bcast::CHAIN_MAX_SIZE),
    parameters: Parameters::NONE.with_blocks(16).with_per_node(1),
    rounds: chain_rounds,
    cost: cost::chain,
};
