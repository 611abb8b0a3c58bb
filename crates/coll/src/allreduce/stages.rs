//! Any reduction and any broadcast of the catalog, as parts of an allreduce.

use crate::catalog::{Algorithm, Call, Parameters};
use crate::plan::any_plan;
use crate::{bcast, hierarchy, reduce};

/// Makes the plan of any algorithm of one collective.
macro_rules! stages {
    ($(#[$doc:meta])* $stage:ident: $($name:ident($plan:ty),)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each variant is named as its algorithm")]
        pub enum $stage {
            $($name($plan),)*
        }

        impl $stage {
            /// The plan of the algorithm, if it is one of these.
            pub(super) fn of(algorithm: Algorithm, call: &Call, parameters: &Parameters) -> Option<Self> {
                match algorithm {
                    $(Algorithm::$name => Some($stage::$name(<$plan>::of(call, parameters))),)*
                    _ => None,
                }
            }
        }

        any_plan!($stage: $($name),*);
    };
}

stages! {
    /// A reduction.
    Up:
    ReduceBinomial(reduce::Binomial),
    ReduceKnomial(reduce::Knomial),
    ReduceCirculant(reduce::Circulant),
    ReduceRabenseifner(reduce::Rabenseifner),
    ReduceChain(reduce::Chain),
    ReduceNodeAware(hierarchy::Reduce),
}

stages! {
    /// A broadcast.
    Down:
    BcastBinomial(bcast::Binomial),
    BcastKnomial(bcast::Knomial),
    BcastCirculant(bcast::Circulant),
    BcastScatterAllgather(bcast::ScatterAllgather),
    BcastLinearLinear(bcast::LinearLinear),
    BcastLinearAll(bcast::LinearAll),
    BcastLinearBruck(bcast::LinearBruck),
    BcastKnomialLinear(bcast::KnomialLinear),
    BcastKnomialBruck(bcast::KnomialBruck),
    BcastLinearNeighborExchange(bcast::LinearNeighborExchange),
    BcastKnomialNeighborExchange(bcast::KnomialNeighborExchange),
    BcastLinearRing(bcast::LinearRing),
    BcastKnomialRing(bcast::KnomialRing),
    BcastChain(bcast::Chain),
    BcastNodeAware(hierarchy::Bcast),
    BcastLaneKnomial(hierarchy::LaneKnomial),
    BcastLaneChain(hierarchy::LaneChain),
    BcastLaneCirculant(hierarchy::LaneCirculant),
}

#[cfg(test)]
mod tests {
    use super::{Down, Up};
    use crate::catalog::{Call, Collective};

    #[test]
    fn every_algorithm_is_there() {
        let (up, down) = (Call::reduce(1, 4, 0, 8, 1), Call::bcast(1, 4, 0, 8));
        for one in Collective::Reduce.algorithms() {
            assert!(Up::of(one, &up, &one.row().parameters).is_some(), "{one}");
        }
        for one in Collective::Bcast.algorithms() {
            assert!(
                Down::of(one, &down, &one.row().parameters).is_some(),
                "{one}"
            );
        }
    }
}
