//! Reduction operations.

use std::cmp::Ordering;
use std::{fmt, slice};

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
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Op(Kind);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sum,
    Product,
    Min,
    Max,
    And,
    Or,
    Xor,
}

impl Op {
    /// `a + b`; integers wrap around.
    pub const SUM: Self = Self(Kind::Sum);
    /// `a * b`; integers wrap around.
    pub const PROD: Self = Self(Kind::Product);
    /// The smaller one; a NaN loses against a number, and -0 is below 0.
    pub const MIN: Self = Self(Kind::Min);
    /// The larger one; a NaN loses against a number, and -0 is below 0.
    pub const MAX: Self = Self(Kind::Max);
    /// `a & b`; integers only.
    pub const BAND: Self = Self(Kind::And);
    /// `a | b`; integers only.
    pub const BOR: Self = Self(Kind::Or);
    /// `a ^ b`; integers only.
    pub const BXOR: Self = Self(Kind::Xor);

    /// The name as the MPI standard spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Kind::Sum => "SUM",
            Kind::Product => "PROD",
            Kind::Min => "MIN",
            Kind::Max => "MAX",
            Kind::And => "BAND",
            Kind::Or => "BOR",
            Kind::Xor => "BXOR",
        }
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
                Ok(match op.0 {
                    Kind::Sum => each!($t, a, b, a.wrapping_add(b)),
                    Kind::Product => each!($t, a, b, a.wrapping_mul(b)),
                    Kind::Min => each!($t, a, b, a.min(b)),
                    Kind::Max => each!($t, a, b, a.max(b)),
                    Kind::And => each!($t, a, b, a & b),
                    Kind::Or => each!($t, a, b, a | b),
                    Kind::Xor => each!($t, a, b, a ^ b),
                })
            }
        }
    )*};
}

/// Whether the first of two floats wins: a number against a NaN, else what is ahead in the total
/// order. Whichever is called the first, the same bits win, so ranks that combine in different
/// order agree.
const fn wins(first_is_nan: bool, second_is_nan: bool, order: Ordering) -> bool {
    if first_is_nan == second_is_nan {
        order.is_le()
    } else {
        second_is_nan
    }
}

macro_rules! floats {
    ($($t:ty)*) => {$(
        impl Element for $t {
            fn fold(op: Op) -> Result<Fold<Self>> {
                Ok(match op.0 {
                    Kind::Sum => each!($t, a, b, a + b),
                    Kind::Product => each!($t, a, b, a * b),
                    Kind::Min => each!($t, a, b, if wins(a.is_nan(), b.is_nan(), a.total_cmp(&b)) { a } else { b }),
                    Kind::Max => each!($t, a, b, if wins(a.is_nan(), b.is_nan(), b.total_cmp(&a)) { a } else { b }),
                    Kind::And | Kind::Or | Kind::Xor => {
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

    use super::{Element, Op, custom};

    #[test]
    fn elements_without_a_size_are_no_elements() {
        custom(|(), ()| unreachable!())(RawBytes::empty(), RawBytes::empty(), Side::Left);
    }

    /// `op` on two numbers, and on the two the other way round.
    fn both(op: Op, a: f64, b: f64) -> [f64; 2] {
        let fold = f64::fold(op).expect("floats have it");
        let (mut ab, mut ba) = ([a], [b]);
        fold(&mut ab, &[b]);
        fold(&mut ba, &[a]);
        [ab[0], ba[0]]
    }

    #[test]
    fn the_least_and_the_greatest_have_the_same_bits_in_either_order() {
        let strange = f64::from_bits(f64::NAN.to_bits() ^ 5);
        let values = [
            0.0,
            -0.0,
            1.5,
            -3.0,
            f64::INFINITY,
            f64::NAN,
            strange,
            -f64::NAN,
        ];
        for a in values {
            for b in values {
                for op in [Op::MIN, Op::MAX] {
                    let [ab, ba] = both(op, a, b);
                    assert_eq!(ab.to_bits(), ba.to_bits(), "{op:?} of {a} and {b}");
                }
            }
        }
        assert_eq!(both(Op::MIN, 0.0, -0.0)[0].to_bits(), (-0.0f64).to_bits());
        assert_eq!(both(Op::MAX, f64::NAN, 1.0), [1.0, 1.0]);
        assert_eq!(both(Op::MIN, 2.0, 1.0), [1.0, 1.0]);
        assert_eq!(both(Op::MAX, 2.0, 1.0), [2.0, 2.0]);
    }
}
