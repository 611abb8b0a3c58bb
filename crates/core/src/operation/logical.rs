//! [`Logical`] and [`Byte`]: elements that have some operations of integers.

use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::Op;
use super::element::{Element, Fold, missing};
use super::loops::each;
use super::op::OpCode;
use crate::error::Result;

/// A truth value as an integer: true is not 0, and the results of operations are 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct Logical<T>(pub T);

macro_rules! logical {
    ($($t:ident)*) => {$(
        impl Element for Logical<$t> {
            fn fold(op: Op) -> Result<Fold<Self>> {
                Ok(match op.0 {
                    OpCode::LogicalAnd => each!(Logical<$t>, |a, b| Logical(((a.0 != 0) & (b.0 != 0)).into())),
                    OpCode::LogicalOr => each!(Logical<$t>, |a, b| Logical(((a.0 | b.0) != 0).into())),
                    OpCode::LogicalXor => each!(Logical<$t>, |a, b| Logical(((a.0 != 0) ^ (b.0 != 0)).into())),
                    _ => return missing(op, concat!("Logical<", stringify!($t), ">")),
                })
            }

            fn is_exact(_: Op) -> bool {
                true
            }
        }
    )*};
}

logical! { u8 u16 u32 u64 u128 }

/// Eight bits without a meaning (`MPI_BYTE`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct Byte(pub u8);

impl Element for Byte {
    fn fold(op: Op) -> Result<Fold<Self>> {
        Ok(match op.0 {
            OpCode::And => each!(Byte, |a, b| Byte(a.0 & b.0)),
            OpCode::Or => each!(Byte, |a, b| Byte(a.0 | b.0)),
            OpCode::Xor => each!(Byte, |a, b| Byte(a.0 ^ b.0)),
            _ => return missing(op, "Byte"),
        })
    }

    fn is_exact(_: Op) -> bool {
        true
    }
}
