//! The rows of allreduces that do not know nodes.

use super::in_stages;
use super::rounds::doubled;
use crate::call::{Collective, Needs, Parameters};
use crate::catalog::CatalogRow;
use crate::tree::levels;
use crate::{allreduce, cost, stages};

pub(crate) const RECURSIVE_DOUBLING: CatalogRow = Collective::Allreduce
    .row("recursive-doubling", cost::allreduce_doubling)
    .about("few rounds; whole vector each round: for small vectors")
    .rounds(|call, _| doubled(call.size));

pub(crate) const RECURSIVE_MULTIPLYING: CatalogRow = Collective::Allreduce
    .row("recursive-multiplying", cost::allreduce_multiplying)
    .about("few phases; whole vector in each message: for small vectors")
    .needs(Needs::NOTHING.with_max_radix(allreduce::RECURSIVE_MULTIPLYING_MAX_RADIX))
    .parameters(Parameters::NONE.with_radix(4))
    .rounds(allreduce::RecursiveMultiplying::rounds);

pub(crate) const RECURSIVE_SPLITTING: CatalogRow = Collective::Allreduce
    .row("recursive-splitting", cost::allreduce_splitting)
    .about(
        "as recursive-multiplying, and no rank is folded into another one where their number is \
         no power: for small vectors",
    )
    .needs(Needs::NOTHING.with_max_radix(allreduce::RECURSIVE_SPLITTING_MAX_RADIX))
    .parameters(Parameters::NONE.with_radix(4))
    .rounds(allreduce::RecursiveSplitting::rounds);

pub(crate) const GATHER_REDUCE: CatalogRow = Collective::Allreduce
    .row("gather-reduce", cost::allreduce_gather_reduce)
    .about(
        "fewest rounds for every operation; each rank reduces all: for few ranks and small vectors",
    )
    .needs(Needs::NOTHING.with_max_size(allreduce::GATHER_REDUCE_MAX_SIZE));

pub(crate) const CENSUS: CatalogRow = Collective::Allreduce
    .row("census", cost::census)
    .about(
        "fewest rounds for every number of ranks; whole vector each round; the operation must be \
         exact",
    )
    .needs(Needs {
        exact: true,
        ..Needs::NOTHING
    });

pub(crate) const CIRCULANT: CatalogRow = Collective::Allreduce
    .row("circulant", cost::allreduce_circulant)
    .about("least volume in few rounds for every number of ranks; the operation must commute")
    .needs(Needs::COMMUTATIVE)
    .rounds(|call, _| 2 * u64::from(levels(call.size)));

pub(crate) const RABENSEIFNER: CatalogRow = Collective::Allreduce
    .row("rabenseifner", cost::allreduce_rabenseifner)
    .about("little volume in few rounds, in rank order: for large vectors")
    .rounds(|call, _| {
        2 * u64::from(call.size.ilog2()) + 2 * u64::from(!call.size.is_power_of_two())
    });

pub(crate) const RING: CatalogRow = Collective::Allreduce
    .row("ring", cost::allreduce_ring)
    .about("least volume, many rounds: for large vectors; the operation must commute")
    .needs(Needs::COMMUTATIVE.with_max_size(allreduce::RING_MAX_SIZE))
    .parameters(
        Parameters::NONE
            .with_segment(1 << 20)
            .with_blocks(1)
            .with_per_node(1),
    )
    .rounds(|call, parameters| 2 * u64::from(call.size - 1) * u64::from(parameters.blocks.max(1)));

pub(crate) const REDUCE_BCAST: CatalogRow = Collective::Allreduce
    .row("reduce-bcast", cost::staged)
    .about("a reduction and a broadcast of the catalog: not slower than these")
    .parameters(in_stages(Collective::Bcast))
    .rounds(stages::rounds);
