//! Operations: the predefined ones on predefined datatypes.

use oxmpi_coll::choice::Reproducible;
use oxmpi_coll::plan::Side;
use oxmpi_core::{Op as Code, OperandOrder, Predefined, ResolvedReduction, Widening};
use oxmpi_os::RawBytes;

use crate::constants::MPI_ERR_OP;
use crate::datatype;
use crate::errors::{Error, Result};
use crate::handles::Handle;
use crate::types::{Datatype, Op};

/// A reduction operation on the elements of a datatype.
pub(crate) struct Reduction {
    /// What the order of operands changes.
    pub(crate) order: OperandOrder,
    /// Bytes of one element.
    pub(crate) element: u64,
    /// How to convert to the elements on which it is done, if these are others.
    pub(crate) widening: Option<Widening>,
    pub(crate) combine: Combine,
}

macro_rules! kinds {
    ($($kind:ident $type:ty = $($handle:literal)*;)*) => {
        /// A predefined operation on a type of elements.
        #[derive(Clone, Copy)]
        pub(crate) enum Combine {
            $($kind(Predefined<$type>),)*
        }

        impl Combine {
            /// Combines the elements of `from` into those of `into`.
            pub(crate) fn combine(&self, from: RawBytes, into: RawBytes, _: Side) {
                match self {
                    // SAFETY: the core calls operations only with parts of the call's own buffers.
                    $(Self::$kind(predefined) => unsafe { predefined.combine(from, into) },)*
                }
            }
        }

        /// The operation of a handle on the elements of a datatype.
        pub(crate) fn resolve(op: Op, datatype: Datatype, preference: Reproducible) -> Result<Reduction> {
            let element = datatype::size_of(datatype)?;
            let code = code(op).ok_or_else(|| Error::handle(MPI_ERR_OP, "operation", op))?;
            match datatype.address() {
                $($($handle)|* => {
                    let ResolvedReduction { kind, combine, widening } =
                        Predefined::<$type>::resolve(code, preference)?;
                    let combine = Combine::$kind(combine);
                    Ok(Reduction { order: kind, element, widening, combine })
                })*
                _ => Err(Error::new(MPI_ERR_OP, "the operation does not exist for the datatype")),
            }
        }
    };
}

kinds! {
    I8 i8 = 576 579 580;
    U8 u8 = 577 581 583 568;
    I16 i16 = 520 584;
    U16 u16 = 524 585;
    I32 i32 = 521 592 572;
    U32 u32 = 525 593;
    I64 i64 = 513 514 515 522 523 600;
    U64 u64 = 526 527 601;
    F32 f32 = 528;
    F64 f64 = 532;
}

fn code(op: Op) -> Option<Code> {
    Some(match op.0.addr() {
        33 => Code::SUM,
        34 => Code::MIN,
        35 => Code::MAX,
        36 => Code::PROD,
        40 => Code::BAND,
        41 => Code::BOR,
        42 => Code::BXOR,
        48 => Code::LAND,
        49 => Code::LOR,
        50 => Code::LXOR,
        _ => return None,
    })
}
