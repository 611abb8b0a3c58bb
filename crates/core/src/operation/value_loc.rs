//! A value with its location, for MINLOC and MAXLOC.

use std::fmt;

use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::Op;
use super::element::{Element, Fold, missing};
use super::loops::each;
use super::op::OpCode;
use super::software_float::{Half, Quad, X87};
use crate::error::Result;

/// A value with an index, for [`Op::MINLOC`] and [`Op::MAXLOC`]: which rank, or which element, has the
/// minimum or maximum (MPI 5.0, section 6.9.4).
///
/// ```
/// use oxmpi_core::{Element, Op, ValueLoc};
///
/// let mut worst = [ValueLoc::new(0.5, 0)];
/// ValueLoc::fold(Op::MAXLOC)?(&mut worst, &[ValueLoc::new(0.75, 1)]);
/// assert_eq!((worst[0].value(), worst[0].index()), (0.75, 1));
/// # Ok::<(), oxmpi_core::Error>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, FromBytes, IntoBytes, Immutable)]
#[repr(C, packed)]
pub struct ValueLoc<T, I = u64> {
    value: T,
    index: I,
}

impl<T: Copy> ValueLoc<T> {
    /// `value` at `index`.
    pub const fn new(value: T, index: u64) -> Self {
        Self { value, index }
    }
}

impl<T: Copy, I: Copy> ValueLoc<T, I> {
    /// The value.
    pub const fn value(self) -> T {
        self.value
    }

    /// The index of the value.
    pub const fn index(self) -> I {
        self.index
    }
}

impl<T: Copy + fmt::Debug, I: Copy + fmt::Debug> fmt::Debug for ValueLoc<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueLoc")
            .field("value", &self.value())
            .field("index", &self.index())
            .finish()
    }
}

/// The one whose value is ahead; of equal values the one with the lower index.
#[inline(always)]
fn first<T: Copy, I: Copy + PartialOrd>(
    one: ValueLoc<T, I>,
    other: ValueLoc<T, I>,
    ahead: impl Fn(T, T) -> bool,
) -> ValueLoc<T, I> {
    let wins = ahead(one.value, other.value);
    let loses = ahead(other.value, one.value);
    let is_one = wins | (!loses & (one.index() <= other.index()));
    // Field by field, which vectorises: a choice between pairs would be a branch.
    ValueLoc {
        value: if is_one { one.value } else { other.value },
        index: if is_one { one.index } else { other.index },
    }
}

/// For types of values, and a type of indexes: whether equal values have the same bits, and the orders of MINLOC and MAXLOC.
macro_rules! locs {
    ($($index:ident: $($t:ident)*: $exact:literal, $less:expr, $more:expr;)*) => {$($(
        impl Element for ValueLoc<$t, $index> {
            fn fold(op: Op) -> Result<Fold<Self>> {
                Ok(match op.0 {
                    OpCode::MinLoc => each!(ValueLoc<$t, $index>, |one, other| first(one, other, $less)),
                    OpCode::MaxLoc => each!(ValueLoc<$t, $index>, |one, other| first(one, other, $more)),
                    _ => return missing(op, concat!("ValueLoc<", stringify!($t), ">")),
                })
            }

            fn is_exact(_: Op) -> bool {
                $exact
            }
        }
    )*)*};
}

locs! {
    u64: u8 u16 u32 u64 i8 i16 i32 i64: true, |a, b| a < b, |a, b| a > b;
    // A NaN loses to a number.
    u64: f32 f64: false, |a, b| (a < b) | (!a.is_nan() & b.is_nan()), |a, b| (a > b) | (!a.is_nan() & b.is_nan());
    // The pairs of C, and of Fortran, where both members have one type.
    i32: i16 i32 i64: true, |a, b| a < b, |a, b| a > b;
    i32: f32 f64: false, |a, b| (a < b) | (!a.is_nan() & b.is_nan()), |a, b| (a > b) | (!a.is_nan() & b.is_nan());
    i32: Half X87 Quad: false, |a, b| a.is_below(b) | (!a.is_nan() & b.is_nan()), |a, b| b.is_below(a) | (!a.is_nan() & b.is_nan());
    f32: f32: false, |a, b| (a < b) | (!a.is_nan() & b.is_nan()), |a, b| (a > b) | (!a.is_nan() & b.is_nan());
    f64: f64: false, |a, b| (a < b) | (!a.is_nan() & b.is_nan()), |a, b| (a > b) | (!a.is_nan() & b.is_nan());
}
