//! Operations of reductions (MPI 5.0, section 6.9): predefined ones, and functions of the program.

mod local;
mod object;
mod user;

use oxmpi_coll::choice::Reproducible;
use oxmpi_coll::plan::Side;
use oxmpi_core::{KindReduction, Op as Code, OperandOrder, ResolvedReduction, Widening};
use oxmpi_os::RawBytes;

pub(crate) use local::reduce_local;
pub(crate) use object::{commutative, create, create_large, free, from_int, left};

use crate::constants::*;
use crate::datatype;
use crate::error_handling::{Error, Result};
use crate::handles::Handle;
use crate::types::{Datatype, Op};
use user::UserCall;

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

/// An operation on packed elements.
pub(crate) enum Combine {
    /// A predefined one on elements.
    Predefined(KindReduction),
    /// `MPI_REPLACE`.
    Replace,
    /// `MPI_NO_OP`.
    Nothing,
    /// A function of the program.
    User(UserCall),
}

impl Combine {
    /// Combines the elements of `from` into those of `into`; `from` is the operand on `side`.
    pub(crate) fn combine(&self, from: RawBytes, into: RawBytes, side: Side) {
        match self {
            // SAFETY: the core calls operations only with parts of the call's own buffers.
            Self::Predefined(reduction) => unsafe { reduction.combine(from, into) },
            // The result is the left operand, which an accumulation brings.
            Self::Replace if side == Side::Left => into.copy_from(&from),
            // The result is the right operand, which an accumulation finds.
            Self::Nothing if side == Side::Right => into.copy_from(&from),
            Self::Replace | Self::Nothing => {}
            // SAFETY: as above.
            Self::User(call) => unsafe { call.combine(from, into, side) },
        }
    }
}

/// The operation of a handle on the elements of a datatype, as reproducible as `preference` asks.
///
/// # Errors
/// No such operation, no such datatype, or the datatype does not have the operation.
pub(crate) fn resolve(op: Op, datatype: Datatype, preference: Reproducible) -> Result<Reduction> {
    let description = datatype::description(datatype)?;
    let element = description.layout.size();
    let plain = |order, combine| Reduction {
        order,
        element,
        widening: None,
        combine,
    };
    if let Some(code) = code(op) {
        let Some(kind) = description.kind else {
            return Err(Error::new(
                MPI_ERR_OP,
                format!("{} does not exist for the datatype", code.name()),
            ));
        };
        let ResolvedReduction {
            kind: order,
            combine,
            widening,
        } = kind.resolve(code, preference)?;
        return Ok(Reduction {
            widening,
            ..plain(order, Combine::Predefined(combine))
        });
    }
    match op.address() {
        MPI_REPLACE => Ok(plain(OperandOrder::Ordered, Combine::Replace)),
        MPI_NO_OP => Ok(plain(OperandOrder::Ordered, Combine::Nothing)),
        _ => {
            let function = object::find(op)?;
            if preference == Reproducible::Ranks {
                let op = "an operation of the program's own";
                return Err(oxmpi_core::Error::Reproducible { op }.into());
            }
            let order = match function.is_commutative {
                true => OperandOrder::Commutative,
                false => OperandOrder::Ordered,
            };
            let call = UserCall::new(function, datatype, description);
            Ok(plain(order, Combine::User(call)))
        }
    }
}

/// The core's code of an operation that accumulates have.
///
/// # Errors
/// Of a function of the program, and of what is no operation.
pub(crate) fn predefined(op: Op) -> Result<Code> {
    code(op).ok_or_else(|| match object::find(op) {
        Ok(_) => {
            let why =
                "the operation is a function of the program; those of an accumulate are predefined";
            Error::new(MPI_ERR_OP, why)
        }
        Err(error) => error,
    })
}

/// The core's code of a predefined operation.
fn code(op: Op) -> Option<Code> {
    Some(match op.0.addr() {
        MPI_SUM => Code::SUM,
        MPI_MIN => Code::MIN,
        MPI_MAX => Code::MAX,
        MPI_PROD => Code::PROD,
        MPI_BAND => Code::BAND,
        MPI_BOR => Code::BOR,
        MPI_BXOR => Code::BXOR,
        MPI_LAND => Code::LAND,
        MPI_LOR => Code::LOR,
        MPI_LXOR => Code::LXOR,
        MPI_MINLOC => Code::MINLOC,
        MPI_MAXLOC => Code::MAXLOC,
        _ => return None,
    })
}
