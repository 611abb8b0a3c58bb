//! Predefined operations on floats.
//!
//! Minimum and maximum have the same bits in either order of their operands, as ranks that combine in
//! different orders must agree.

use super::element::{Element, Fold, missing};
use super::exact::widening;
use super::loops::each;
use super::op::OpCode;
use super::{Op, Widening};
use crate::error::Result;

/// A NaN loses to a number, -0 is below 0, and two NaNs give the bits of both. Without branches, so that
/// loops are vectorised.
macro_rules! float {
    ($t:ident, $bits:ident) => {
        pub(super) mod $t {
            const SIGN: $bits = 1 << ($bits::BITS - 1);

            #[inline(always)]
            pub(in crate::operation) fn min(a: $t, b: $t) -> $t {
                let (a_wins, b_wins) = ((a < b) | b.is_nan(), (b < a) | a.is_nan());
                // Where neither wins they are equal, and have the same bits except for the sign of zero;
                // where both win they are NaNs.
                let of_a = if a_wins | !b_wins { a.to_bits() } else { 0 };
                let of_b = if b_wins | !a_wins { b.to_bits() } else { 0 };
                $t::from_bits(of_a | of_b)
            }

            #[inline(always)]
            pub(in crate::operation) fn max(a: $t, b: $t) -> $t {
                let turned = |x: $t| $t::from_bits(x.to_bits() ^ SIGN);
                turned(min(turned(a), turned(b)))
            }
        }
    };
}

mod bits {
    float!(f32, u32);
    float!(f64, u64);
}

macro_rules! elements {
    ($($t:ident)*) => {$(
        impl Element for $t {
            fn fold(op: Op) -> Result<Fold<Self>> {
                Ok(match op.0 {
                    OpCode::Sum => each!($t, |a, b| a + b),
                    OpCode::Product => each!($t, |a, b| a * b),
                    OpCode::Min => each!($t, bits::$t::min),
                    OpCode::Max => each!($t, bits::$t::max),
                    _ => return missing(op, stringify!($t)),
                })
            }

            fn is_exact(op: Op) -> bool {
                matches!(op.0, OpCode::Min | OpCode::Max)
            }

            fn widening(op: Op) -> Option<Widening> {
                (op.0 == OpCode::Sum).then(widening::<$t>)
            }
        }
    )*};
}

elements!(f32 f64);
