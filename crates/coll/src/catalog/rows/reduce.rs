//! The rows of reductions to a root that do not know nodes.

use super::rounds::chain as chain_rounds;
use crate::call::{Collective, Needs, Parameters};
use crate::catalog::CatalogRow;
use crate::tree::{self, TreePlace, levels};
use crate::{circulant, cost, reduce};

pub(crate) const BINOMIAL: CatalogRow = CatalogRow {
    collective: Collective::Reduce,
    name: "binomial",
    about: "fewest rounds; whole vector each round",
    needs: Needs::NOTHING,
    parameters: Parameters::NONE,
    rounds: |call, _| levels(call.size).into(),
    cost: cost::reduce,
};

pub(crate) const KNOMIAL: CatalogRow = CatalogRow {
    collective: Collective::Reduce,
    name: "knomial",
    about: "few levels; whole vector in each message",
    needs: Needs::NOTHING,
    parameters: Parameters::NONE.with_radix(4),
    rounds: tree::Knomial::rounds,
    cost: cost::reduce,
};

pub(crate) const CIRCULANT: CatalogRow = CatalogRow {
    collective: Collective::Reduce,
    name: "circulant",
    about: "fewest rounds for a vector in blocks; the operation must commute",
    needs: Needs::COMMUTATIVE,
    parameters: Parameters::NONE.with_blocks(16),
    rounds: circulant::Pipeline::rounds_of,
    cost: cost::pipeline,
};

pub(crate) const FOLDED: CatalogRow = CatalogRow {
    collective: Collective::Reduce,
    name: "folded",
    about: "as circulant, but the root receives one vector directly: for short vectors and \
            powers of two; the operation must commute",
    needs: Needs {
        commutative: true,
        power_of_two: true,
        ..Needs::NOTHING
    },
    parameters: Parameters::NONE.with_blocks(1),
    rounds: reduce::Folded::rounds,
    cost: cost::reduce_folded,
};

pub(crate) const RABENSEIFNER: CatalogRow = CatalogRow {
    collective: Collective::Reduce,
    name: "rabenseifner",
    about: "each rank reduces its share: for large vectors",
    needs: Needs::NOTHING,
    parameters: Parameters::NONE,
    rounds: |call, _| 2 * u64::from(call.size.ilog2()) + u64::from(!call.size.is_power_of_two()),
    cost: cost::reduce_rabenseifner,
};

pub(crate) const CHAIN: CatalogRow = CatalogRow {
    collective: Collective::Reduce,
    name: "chain",
    about: "each rank sends each block once: for large vectors and few ranks; the operation \
            must commute",
    needs: Needs::COMMUTATIVE.with_max_size(reduce::CHAIN_MAX_SIZE),
    parameters: Parameters::NONE.with_blocks(16),
    rounds: chain_rounds,
    cost: cost::chain,
};
