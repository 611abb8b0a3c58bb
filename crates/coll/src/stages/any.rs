//! The plan of any algorithm of one collective, as a stage of a composed collective.

use crate::call::{Algorithm, Call, Parameters};
use crate::plan::{Plan, any_plan};
use crate::{bcast, hierarchy, reduce, scatter};

/// A plan by any algorithm of one collective.
pub(crate) trait StagePlan: Plan {
    /// One rank's plan by an algorithm of the collective; the default tree for other algorithms.
    fn of(algorithm: Algorithm, call: &Call, parameters: &Parameters) -> Self;
}

/// Makes the plan enum of one collective, with the default tree.
macro_rules! any {
    ($(#[$doc:meta])* $any:ident or $tree:ident: $($name:ident($plan:ty),)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(clippy::enum_variant_names, reason = "each variant is named as its algorithm")]
        pub(crate) enum $any {
            $($name($plan),)*
        }

        impl $any {
            #[cfg(test)]
            const ALL: &[Algorithm] = &[$(Algorithm::$name),*];
        }

        impl StagePlan for $any {
            fn of(algorithm: Algorithm, call: &Call, parameters: &Parameters) -> Self {
                match algorithm {
                    $(Algorithm::$name => $any::$name(<$plan>::of(call, parameters)),)*
                    _ => Self::of(Algorithm::$tree, call, parameters),
                }
            }
        }

        any_plan!($any: $($name),*);
    };
}

any! {
    /// A reduction.
    AnyReduce or ReduceKnomial:
    ReduceBinomial(reduce::ReduceKnomial),
    ReduceKnomial(reduce::ReduceKnomial),
    ReduceCirculant(reduce::ReduceCirculant),
    ReduceFolded(reduce::Folded),
    ReduceRabenseifner(reduce::ReduceRabenseifner),
    ReduceChain(reduce::ReduceChain),
    ReduceNodeAware(hierarchy::KnomialReduce),
    ReducePostal(hierarchy::PostalReduce),
    ReduceMultirail(hierarchy::MultirailReduce),
}

any! {
    /// A broadcast.
    AnyBcast or BcastKnomial:
    BcastBinomial(bcast::BcastKnomial),
    BcastKnomial(bcast::BcastKnomial),
    BcastCirculant(bcast::BcastCirculant),
    BcastScatterAllgather(bcast::ScatterAllgather),
    BcastLinearLinear(bcast::LinearLinear),
    BcastLinearAll(bcast::LinearAll),
    BcastLinearBruck(bcast::LinearBruck),
    BcastKnomialBruck(bcast::KnomialBruck),
    BcastLinearRing(bcast::LinearRing),
    BcastKnomialRing(bcast::KnomialRing),
    BcastChain(bcast::BcastChain),
    BcastNodeAware(hierarchy::KnomialBcast),
    BcastPostal(hierarchy::PostalBcast),
    BcastRailKnomial(hierarchy::RailKnomial),
    BcastRailChain(hierarchy::RailChain),
    BcastRailCirculant(hierarchy::RailCirculant),
    BcastMultirail(hierarchy::MultirailBcast),
}

any! {
    /// A scatter.
    AnyScatter or ScatterKnomial:
    ScatterBinomial(scatter::ScatterKnomial),
    ScatterKnomial(scatter::ScatterKnomial),
    ScatterLinear(scatter::ScatterLinear),
    ScatterNodeAware(hierarchy::KnomialScatter),
}

#[cfg(test)]
mod tests {
    use super::{AnyBcast, AnyReduce, AnyScatter};
    use crate::call::Collective;

    #[test]
    fn every_algorithm_is_there() {
        for (collective, all) in [
            (Collective::Reduce, AnyReduce::ALL),
            (Collective::Bcast, AnyBcast::ALL),
            (Collective::Scatter, AnyScatter::ALL),
        ] {
            // A stage is a call of its own, which says of no ranks that they share memory.
            let algorithms = collective.algorithms();
            let algorithms = algorithms.filter(|one| one.is_by_messages());
            assert!(algorithms.eq(all.iter().copied()));
        }
    }
}
