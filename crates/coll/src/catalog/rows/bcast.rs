//! The rows of broadcasts that do not know nodes.

use super::rounds::{chain as chain_rounds, knomial, regathered};
use crate::call::{Collective, Needs, Parameters};
use crate::catalog::CatalogRow;
use crate::tree::{self, TreePlace, levels};
use crate::{bcast, circulant, cost};

pub(crate) const BINOMIAL: CatalogRow = Collective::Bcast
    .row("binomial", cost::bcast)
    .about("fewest rounds; whole vector each round");

pub(crate) const KNOMIAL: CatalogRow = Collective::Bcast
    .row("knomial", cost::bcast)
    .about("few levels; whole vector in each message")
    .parameters(Parameters::NONE.with_radix(4))
    .rounds(tree::KnomialPlace::rounds);

pub(crate) const CIRCULANT: CatalogRow = Collective::Bcast
    .row("circulant", cost::pipeline)
    .about("fewest rounds for a vector in blocks: for larger vectors")
    .parameters(Parameters::NONE.with_blocks(16))
    .rounds(circulant::Pipeline::rounds_of);

pub(crate) const SCATTER_ALLGATHER: CatalogRow = Collective::Bcast
    .row("scatter-allgather", cost::scatter_allgather)
    .about("twice the fewest rounds, at most two vectors sent: for large vectors")
    .rounds(|call, _| 2 * u64::from(levels(call.size)));

pub(crate) const LINEAR_LINEAR: CatalogRow = Collective::Bcast
    .row("linear-linear", cost::bcast_linear_linear)
    .about("pieces directly from the root, then from each receiver to all: for the ranks of a node")
    .needs(Needs::NOTHING.with_max_size(bcast::LINEAR_LINEAR_MAX_SIZE))
    .parameters(Parameters::NONE.with_blocks(16).with_per_node(1))
    .rounds(bcast::LinearLinear::rounds);

pub(crate) const LINEAR_ALL: CatalogRow = Collective::Bcast
    .row("linear-all", cost::bcast_linear_all)
    .about("blocks directly from the root, then from each rank to all: for the ranks of a node")
    .needs(Needs::NOTHING.with_max_size(bcast::COMPOSED_MAX_SIZE))
    .parameters(Parameters::NONE.with_window(8).with_per_node(1))
    .rounds(|call, _| 4 * u64::from(call.size - 1));

pub(crate) const LINEAR_BRUCK: CatalogRow = Collective::Bcast
    .row("linear-bruck", cost::bcast_linear_bruck)
    .about("blocks directly from the root, then fewest rounds: for large vectors")
    .parameters(Parameters::NONE.with_radix(2).with_window(8))
    .rounds(|call, parameters| u64::from(call.size - 1) + regathered(call, parameters.radix));

pub(crate) const KNOMIAL_BRUCK: CatalogRow = Collective::Bcast
    .row("knomial-bruck", cost::bcast_knomial_bruck)
    .about("blocks down a tree, then in few rounds to all: for large vectors")
    .parameters(Parameters::NONE.with_radix(2).with_gather_radix(2))
    .rounds(|call, parameters| {
        knomial(call.size, parameters.radix) + regathered(call, parameters.gather_radix)
    });

pub(crate) const LINEAR_RING: CatalogRow = Collective::Bcast
    .row("linear-ring", cost::bcast_linear_ring)
    .about("blocks directly from the root, then around a ring: for large vectors on few nodes")
    .needs(Needs::NOTHING.with_max_size(bcast::COMPOSED_MAX_SIZE))
    .parameters(Parameters::NONE.with_window(8).with_per_node(1))
    .rounds(|call, _| 4 * u64::from(call.size - 1));

pub(crate) const KNOMIAL_RING: CatalogRow = Collective::Bcast
    .row("knomial-ring", cost::bcast_knomial_ring)
    .about("blocks down a tree, then around a ring")
    .needs(Needs::NOTHING.with_max_size(bcast::COMPOSED_MAX_SIZE))
    .parameters(Parameters::NONE.with_radix(2).with_per_node(1))
    .rounds(|call, parameters| knomial(call.size, parameters.radix) + 2 * u64::from(call.size - 1));

pub(crate) const CHAIN: CatalogRow = Collective::Bcast
    .row("chain", cost::chain)
    .about("each rank sends each block to one other: for large vectors and few ranks")
    .needs(Needs::NOTHING.with_max_size(bcast::CHAIN_MAX_SIZE))
    .parameters(Parameters::NONE.with_blocks(16).with_per_node(1))
    .rounds(chain_rounds);
