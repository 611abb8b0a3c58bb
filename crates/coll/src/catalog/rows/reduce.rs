//! The rows of reductions to a root that do not know nodes.

use super::rounds::chain as chain_rounds;
use crate::call::{Collective, Needs, Parameters};
use crate::catalog::CatalogRow;
use crate::tree::{self, TreePlace};
use crate::{circulant, cost, reduce};

pub(crate) const BINOMIAL: CatalogRow = Collective::Reduce
    .row("binomial", cost::reduce)
    .about("fewest rounds; whole vector each round");

pub(crate) const KNOMIAL: CatalogRow = Collective::Reduce
    .row("knomial", cost::reduce)
    .about("few levels; whole vector in each message")
    .parameters(Parameters::NONE.with_radix(4))
    .rounds(tree::KnomialPlace::rounds);

pub(crate) const CIRCULANT: CatalogRow = Collective::Reduce
    .row("circulant", cost::pipeline)
    .about("fewest rounds for a vector in blocks; the operation must commute")
    .needs(Needs::COMMUTATIVE)
    .parameters(Parameters::NONE.with_blocks(16))
    .rounds(circulant::Pipeline::rounds_of);

pub(crate) const FOLDED: CatalogRow = Collective::Reduce
    .row("folded", cost::reduce_folded)
    .about(
        "as circulant, but the root receives one vector directly: for short vectors and powers of \
         two; the operation must commute",
    )
    .needs(Needs::COMMUTATIVE.with_power_of_two(true))
    .parameters(Parameters::NONE.with_blocks(1))
    .rounds(reduce::Folded::rounds);

pub(crate) const RABENSEIFNER: CatalogRow = Collective::Reduce
    .row("rabenseifner", cost::reduce_rabenseifner)
    .about("each rank reduces its share: for large vectors")
    .rounds(|call, _| 2 * u64::from(call.size.ilog2()) + u64::from(!call.size.is_power_of_two()));

pub(crate) const CHAIN: CatalogRow = Collective::Reduce
    .row("chain", cost::chain)
    .about(
        "each rank sends each block once: for large vectors and few ranks; the operation must \
         commute",
    )
    .needs(Needs::COMMUTATIVE.with_max_size(reduce::CHAIN_MAX_SIZE))
    .parameters(Parameters::NONE.with_blocks(16))
    .rounds(chain_rounds);
