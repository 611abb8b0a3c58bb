//! Plans whose type is known at run time only.

/// Makes an enum of plans a plan: it forwards to the plan of its variant. A call is a branch, not a pointer.
macro_rules! any_plan {
    ($any:ident: $($variant:ident),* $(,)?) => {
        impl $crate::plan::Plan for $any {
            #[inline]
            fn steps(&self) -> u32 {
                match self {
                    $($any::$variant(plan) => plan.steps(),)*
                }
            }

            fn scratch(&self, inputs: &$crate::plan::PlanInputs<'_>) -> u64 {
                match self {
                    $($any::$variant(plan) => plan.scratch(inputs),)*
                }
            }

            #[inline]
            fn step(
                &self,
                i: u32,
                inputs: &$crate::plan::PlanInputs<'_>,
                acts: &mut $crate::plan::Acts,
            ) -> Option<u32> {
                match self {
                    $($any::$variant(plan) => plan.step(i, inputs, acts),)*
                }
            }

            fn is_rotation(&self, by: u32, other: &Self) -> bool {
                match (self, other) {
                    $(($any::$variant(one), $any::$variant(other)) => one.is_rotation(by, other),)*
                    _ => false,
                }
            }
        }
    };
}

pub(crate) use any_plan;
