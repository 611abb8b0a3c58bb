//! Reduction operations.

use std::slice;

use oxmpi_coll::plan::Side;
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use crate::data::Data;
use crate::error::{Error, Result};
use crate::raw::Scratch;

/// A predefined operation, as `MPI_SUM` and its kin (MPI 5.0, section 6.9.2).
///
/// All of them are commutative. For an operation of your own see
/// [`Comm::allreduce_by`](crate::Comm::allreduce_by).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Op {
    /// `a + b`; integers wrap around.
    Sum,
    /// `a * b`; integers wrap around.
    Product,
    /// The smaller one; a NaN loses against a number.
    Min,
    /// The larger one; a NaN loses against a number.
    Max,
    /// `a & b`; integers only.
    And,
    /// `a | b`; integers only.
    Or,
    /// `a ^ b`; integers only.
    Xor,
}

impl Op {
    /// [`Op::Sum`].
    pub const SUM: Self = Self::Sum;
    /// [`Op::Product`].
    pub const PROD: Self = Self::Product;
    /// [`Op::Min`].
    pub const MIN: Self = Self::Min;
    /// [`Op::Max`].
    pub const MAX: Self = Self::Max;
    /// [`Op::And`].
    pub const BAND: Self = Self::And;
    /// [`Op::Or`].
    pub const BOR: Self = Self::Or;
    /// [`Op::Xor`].
    pub const BXOR: Self = Self::Xor;

    /// The name as the MPI standard spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "SUM",
            Self::Product => "PROD",
            Self::Min => "MIN",
            Self::Max => "MAX",
            Self::And => "BAND",
            Self::Or => "BOR",
            Self::Xor => "BXOR",
        }
    }
}

/// `into[i] = into[i] op from[i]` for two slices of the same length.
pub type Fold<T> = fn(into: &mut [T], from: &[T]);

/// An element that predefined operations know.
pub trait Element: Data {
    /// The loop that applies `op`, chosen once and vectorised by the compiler.
    ///
    /// # Errors
    /// [`Error::Operation`] when the type does not have the operation.
    fn fold(op: Op) -> Result<Fold<Self>>;
}

/// A loop over both slices, as a plain function.
macro_rules! each {
    ($t:ty, $a:ident, $b:ident, $result:expr) => {{
        let fold: Fold<$t> = |into, from| {
            for ($a, &$b) in into.iter_mut().zip(from) {
                *$a = {
                    let $a = *$a;
                    $result
                };
            }
        };
        fold
    }};
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Element for $t {
            fn fold(op: Op) -> Result<Fold<Self>> {
                Ok(match op {
                    Op::Sum => each!($t, a, b, a.wrapping_add(b)),
                    Op::Product => each!($t, a, b, a.wrapping_mul(b)),
                    Op::Min => each!($t, a, b, a.min(b)),
                    Op::Max => each!($t, a, b, a.max(b)),
                    Op::And => each!($t, a, b, a & b),
                    Op::Or => each!($t, a, b, a | b),
                    Op::Xor => each!($t, a, b, a ^ b),
                })
            }
        }
    )*};
}

macro_rules! floats {
    ($($t:ty)*) => {$(
        impl Element for $t {
            fn fold(op: Op) -> Result<Fold<Self>> {
                Ok(match op {
                    Op::Sum => each!($t, a, b, a + b),
                    Op::Product => each!($t, a, b, a * b),
                    Op::Min => each!($t, a, b, a.min(b)),
                    Op::Max => each!($t, a, b, a.max(b)),
                    Op::And | Op::Or | Op::Xor => {
                        return Err(Error::Operation {
                            op: op.name(),
                            element: stringify!($t),
                        });
                    }
                })
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
floats!(f32 f64);

/// `fold` as the raw core calls it: on ranges of bytes that hold elements of `T`. The predefined
/// operations commute, so the side does not matter.
pub(crate) fn operation<T: Element>(fold: Fold<T>) -> impl Fn(RawBytes, RawBytes, Side) {
    move |from, into, _side| {
        // SAFETY: the raw core calls operations only with parts of the call's own buffers.
        let (from, into) = unsafe { elements::<T>(from, into) };
        fold(into, from);
    }
}

/// An operation of the caller's own, as the raw core calls it: `into = combine(left, right)`.
pub(crate) fn custom<T: Data>(combine: impl Fn(T, T) -> T) -> impl Fn(RawBytes, RawBytes, Side) {
    move |from, into, side| {
        // SAFETY: as in `operation`.
        let (from, into) = unsafe { elements::<T>(from, into) };
        for (into, &from) in into.iter_mut().zip(from) {
            *into = match side {
                Side::Left => combine(from, *into),
                Side::Right => combine(*into, from),
            };
        }
    }
}

/// The operands of a reduction as slices.
///
/// # Safety
/// Both ranges are this process's own memory, in buffers of `T` or in a collective's scratch, and
/// whole numbers of `T`; they do not overlap, and nothing else writes to them (or, to `into`, reads)
/// while the slices live.
unsafe fn elements<'a, T: Data>(from: RawBytes, into: RawBytes) -> (&'a [T], &'a mut [T]) {
    const {
        assert!(
            align_of::<T>() <= Scratch::ALIGN,
            "elements that are reduced are aligned to 128 bytes at most"
        );
    }
    debug_assert_eq!(from.len(), into.len());
    // Of elements without a size there is nothing to combine.
    let count = |bytes: RawBytes| {
        (bytes.len() as usize)
            .checked_div(size_of::<T>())
            .unwrap_or(0)
    };
    // SAFETY: the caller's promise, and scratch is aligned; any bytes are a valid `T`.
    let from_elements = unsafe { slice::from_raw_parts(from.start().cast(), count(from)) };
    // SAFETY: as above.
    let into_elements = unsafe { slice::from_raw_parts_mut(into.start().cast(), count(into)) };
    (from_elements, into_elements)
}

#[cfg(test)]
mod tests {
    use oxmpi_coll::plan::Side;
    use oxmpi_os::RawBytes;

    use super::custom;

    #[test]
    fn elements_without_a_size_are_no_elements() {
        custom(|(), ()| unreachable!())(RawBytes::empty(), RawBytes::empty(), Side::Left);
    }
}
