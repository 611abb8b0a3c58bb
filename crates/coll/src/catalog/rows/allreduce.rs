//! The rows of allreduces that do not know nodes.

use super::in_stages;
use super::rounds::doubled;
use crate::call::{Collective, Needs, Parameters};
use crate::catalog::CatalogRow;
use crate::tree::levels;
use crate::{allreduce, cost, stages};

pub(crate) const RECURSIVE_DOUBLING: CatalogRow = CatalogRow {
    collective: Collective::Allreduce,
    name: "recursive-doubling",
    about: "few rounds; whole vector each round: for small vectors",
    needs: Needs::NOTHING,
    parameters: Parameters::NONE,
    rounds: |call, _| doubled(call.size),
    cost: cost::allreduce_doubling,
};

pub(crate) const RECURSIVE_MULTIPLYING: CatalogRow = CatalogRow {
    collective: Collective::Allreduce,
    name: "recursive-multiplying",
    about: "few phases; whole vector in each message: for small vectors",
    needs: Needs::NOTHING.with_max_radix(allreduce::RECURSIVE_MULTIPLYING_MAX_RADIX),
    parameters: Parameters::NONE.with_radix(4),
    rounds: allreduce::RecursiveMultiplying::rounds,
    cost: cost::allreduce_multiplying,
};

pub(crate) const RECURSIVE_SPLITTING: CatalogRow = CatalogRow {
    collective: Collective::Allreduce,
    name: "recursive-splitting",
    about: "as recursive-multiplying, and no rank is folded into another one where their number \
            is no power: for small vectors",
    needs: Needs::NOTHING.with_max_radix(allreduce::RECURSIVE_SPLITTING_MAX_RADIX),
    parameters: Parameters::NONE.with_radix(4),
    rounds: allreduce::RecursiveSplitting::rounds,
    cost: cost::allreduce_splitting,
};

pub(crate) const GATHER_REDUCE: CatalogRow = CatalogRow {
    collective: Collective::Allreduce,
    name: "gather-reduce",
    about: "fewest rounds for every operation; each rank reduces all: for few ranks and small \
            vectors",
    needs: Needs::NOTHING.with_max_size(allreduce::GATHER_REDUCE_MAX_SIZE),
    parameters: Parameters::NONE,
    rounds: |call, _| levels(call.size).into(),
    cost: cost::allreduce_gather_reduce,
};

pub(crate) const CENSUS: CatalogRow = CatalogRow {
    collective: Collective::Allreduce,
    name: "census",
    about: "fewest rounds for every number of ranks; whole vector each round; the operation \
            must be exact",
    needs: Needs {
        exact: true,
        ..Needs::NOTHING
    },
    parameters: Parameters::NONE,
    rounds: |call, _| levels(call.size).into(),
    cost: cost::census,
};

pub(crate) const CIRCULANT: CatalogRow = CatalogRow {
    collective: Collective::Allreduce,
    name: "circulant",
    about: "least volume in few rounds for every number of ranks; the operation must commute",
    needs: Needs::COMMUTATIVE,
    parameters: Parameters::NONE,
    rounds: |call, _| 2 * u64::from(levels(call.size)),
    cost: cost::allreduce_circulant,
};

pub(crate) const RABENSEIFNER: CatalogRow = CatalogRow {
    collective: Collective::Allreduce,
    name: "rabenseifner",
    about: "little volume in few rounds, in rank order: for large vectors",
    needs: Needs::NOTHING,
    parameters: Parameters::NONE,
    rounds: |call, _| {
        2 * u64::from(call.size.ilog2()) + 2 * u64::from(!call.size.is_power_of_two())
    },
    cost: cost::allreduce_rabenseifner,
};

pub(crate) const RING: CatalogRow = CatalogRow {
    collective: Collective::Allreduce,
    name: "ring",
    about: "least volume, many rounds: for large vectors; the operation must commute",
    needs: Needs::COMMUTATIVE.with_max_size(allreduce::RING_MAX_SIZE),
    parameters: Parameters {
        segment: 1 << 20,
        blocks: 1,
        per_node: 1,
        ..Parameters::NONE
    },
    rounds: |call, parameters| 2 * u64::from(call.size - 1) * u64::from(parameters.blocks.max(1)),
    cost: cost::allreduce_ring,
};

pub(crate) const REDUCE_BCAST: CatalogRow = CatalogRow {
    collective: Collective::Allreduce,
    name: "reduce-bcast",
    about: "a reduction and a broadcast of the catalog: not slower than these",
    needs: Needs::NOTHING,
    parameters: in_stages(Collective::Bcast),
    rounds: stages::rounds,
    cost: cost::staged,
};
