//! The elements of predefined operations: integers, and the trait of all.

use super::loops::each;
use super::op::OpCode;
use super::{Op, Widening};
use crate::data::Data;
use crate::error::{Error, Result};

/// `into[i] = into[i] op from[i]` for two slices of the same length.
pub type Fold<T> = fn(into: &mut [T], from: &[T]);

/// An element that has predefined operations: a number, or a [`ValueLoc`](super::ValueLoc).
pub trait Element: Data {
    /// The loop that applies `op` to two slices.
    ///
    /// # Errors
    /// [`Error::Operation`] when the type does not have the operation.
    fn fold(op: Op) -> Result<Fold<Self>>;

    /// Whether the result of `op` has the same bits in any order and grouping of the operands, as for
    /// integers, and not for floating-point sums.
    fn is_exact(op: Op) -> bool {
        let _ = op;
        false
    }

    /// How to convert to elements on which `op` is exact.
    #[doc(hidden)]
    fn widening(op: Op) -> Option<Widening> {
        let _ = op;
        None
    }
}

/// The error of an operation that the type does not have.
pub(super) const fn missing<F>(op: Op, element: &'static str) -> Result<F> {
    Err(Error::Operation {
        op: op.name(),
        element,
    })
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Element for $t {
            fn fold(op: Op) -> Result<Fold<Self>> {
                Ok(match op.0 {
                    OpCode::Sum => each!($t, $t::wrapping_add),
                    OpCode::Product => each!($t, $t::wrapping_mul),
                    OpCode::Min => each!($t, Ord::min),
                    OpCode::Max => each!($t, Ord::max),
                    OpCode::And => each!($t, |a, b| a & b),
                    OpCode::Or => each!($t, |a, b| a | b),
                    OpCode::Xor => each!($t, |a, b| a ^ b),
                    OpCode::LogicalAnd => each!($t, |a, b| ((a != 0) & (b != 0)).into()),
                    OpCode::LogicalOr => each!($t, |a, b| ((a | b) != 0).into()),
                    OpCode::LogicalXor => each!($t, |a, b| ((a != 0) ^ (b != 0)).into()),
                    OpCode::MinLoc | OpCode::MaxLoc => return missing(op, stringify!($t)),
                })
            }

            fn is_exact(_: Op) -> bool {
                true
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
