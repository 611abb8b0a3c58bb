//! [`Complex`]: complex numbers of C and Fortran.

use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::Op;
use super::element::{Element, Fold, missing};
use super::loops::each;
use super::op::OpCode;
use super::software_float::{Arithmetic, Half, Quad, X87};
use crate::error::Result;

/// A complex number: its real part, then its imaginary part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct Complex<T>(pub [T; 2]);

#[inline(always)]
fn sum<T: Arithmetic>(Complex([a, b]): Complex<T>, Complex([c, d]): Complex<T>) -> Complex<T> {
    Complex([a.add(c), b.add(d)])
}

#[inline(always)]
fn product<T: Arithmetic>(Complex([a, b]): Complex<T>, Complex([c, d]): Complex<T>) -> Complex<T> {
    Complex([a.mul(c).sub(b.mul(d)), a.mul(d).add(b.mul(c))])
}

macro_rules! complex {
    ($($t:ident)*) => {$(
        impl Element for Complex<$t> {
            fn fold(op: Op) -> Result<Fold<Self>> {
                Ok(match op.0 {
                    OpCode::Sum => each!(Complex<$t>, sum),
                    OpCode::Product => each!(Complex<$t>, product),
                    _ => return missing(op, concat!("Complex<", stringify!($t), ">")),
                })
            }
        }
    )*};
}

complex! { f32 f64 Half X87 Quad }

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Element for $t {
            fn fold(op: Op) -> Result<Fold<Self>> {
                Ok(match op.0 {
                    OpCode::Sum => each!($t, Arithmetic::add),
                    OpCode::Product => each!($t, Arithmetic::mul),
                    OpCode::Min => each!($t, $t::min),
                    OpCode::Max => each!($t, $t::max),
                    _ => return missing(op, stringify!($t)),
                })
            }

            fn is_exact(op: Op) -> bool {
                matches!(op.0, OpCode::Min | OpCode::Max)
            }
        }
    )*};
}

floats! { Half X87 Quad }
