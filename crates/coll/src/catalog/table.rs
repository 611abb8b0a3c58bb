//! The table itself: one row for each algorithm.
//!
//! To add an algorithm write its file, with a type that is a [`Plan`](crate::plan::Plan) and has
//! `pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self`, and add its row here. The call
//! it is given satisfies the row's needs, and the parameters that the row has are not 0.

use super::{Call, Collective, Needs, Parameters, Row};
use crate::plan::{Acts, Known, Plan};
use crate::tree::levels;
use crate::{allreduce, barrier, bcast, reduce};

/// Makes [`Algorithm`], [`AnyPlan`] and what depends on them out of the rows.
macro_rules! table {
    ($($name:ident($plan:ty): $row:expr;)*) => {
        /// One algorithm for one collective.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Algorithm {
            $(#[doc = concat!("[`", stringify!($plan), "`](crate::", stringify!($plan), ").")] $name,)*
        }

        impl Algorithm {
            /// Every algorithm, in the order in which documentation and tests list them.
            pub const ALL: [Algorithm; [$(stringify!($name)),*].len()] = [$(Algorithm::$name),*];

            /// Its row in the catalog.
            pub const fn row(self) -> &'static Row {
                match self {
                    $(Algorithm::$name => const { &$row },)*
                }
            }

            /// The plan for a call that suits it.
            pub(super) fn of(self, call: &Call, parameters: &Parameters) -> AnyPlan {
                match self {
                    $(Algorithm::$name => AnyPlan::$name(<$plan>::of(call, parameters)),)*
                }
            }
        }

        /// A plan of any algorithm in the catalog: a call through it is a branch, not a pointer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "each variant is named as its algorithm")]
        pub enum AnyPlan {
            $($name($plan),)*
        }

        impl Plan for AnyPlan {
            #[inline]
            fn steps(&self) -> u32 {
                match self {
                    $(AnyPlan::$name(plan) => plan.steps(),)*
                }
            }

            fn scratch(&self, known: &Known<'_>) -> u64 {
                match self {
                    $(AnyPlan::$name(plan) => plan.scratch(known),)*
                }
            }

            #[inline]
            fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
                match self {
                    $(AnyPlan::$name(plan) => plan.step(i, known, acts),)*
                }
            }
        }
    };
}

table! {
    BarrierDissemination(barrier::Dissemination): Row {
        collective: Collective::Barrier,
        name: "dissemination",
        about: "fewest rounds for every number of ranks",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
    };
    BcastBinomial(bcast::Binomial): Row {
        collective: Collective::Bcast,
        name: "binomial",
        about: "fewest rounds; whole vector each round",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
    };
    ReduceBinomial(reduce::Binomial): Row {
        collective: Collective::Reduce,
        name: "binomial",
        about: "fewest rounds; whole vector each round",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| levels(call.size).into(),
    };
    AllreduceRecursiveDoubling(allreduce::RecursiveDoubling): Row {
        collective: Collective::Allreduce,
        name: "recursive-doubling",
        about: "few rounds; whole vector each round: for small vectors",
        needs: Needs::NOTHING,
        parameters: Parameters::NONE,
        rounds: |call, _| {
            u64::from(levels(call.size)) + u64::from(!call.size.is_power_of_two())
        },
    };
    AllreduceRing(allreduce::Ring): Row {
        collective: Collective::Allreduce,
        name: "ring",
        about: "least volume, many rounds: for large vectors; the operation must commute",
        needs: Needs {
            commutative: true,
            max_size: allreduce::RING_MAX_SIZE,
            ..Needs::NOTHING
        },
        parameters: Parameters { segment: 1 << 20, ..Parameters::NONE },
        rounds: |call, _| 2 * u64::from(call.size - 1),
    };
}

#[cfg(test)]
mod tests {
    use super::{Algorithm, AnyPlan};

    #[test]
    fn a_plan_is_small() {
        assert!(size_of::<AnyPlan>() <= 96);
    }

    #[test]
    fn names_are_unique_within_a_collective() {
        for (at, one) in Algorithm::ALL.into_iter().enumerate() {
            for other in &Algorithm::ALL[at + 1..] {
                assert!(one.collective() != other.collective() || one.name() != other.name());
            }
        }
    }
}
