//! Predefined operations for an element type, as reproducible as is asked for.

use oxmpi_coll::catalog::Call;
use oxmpi_coll::choice::Reproducible;
use oxmpi_os::RawBytes;

use super::{Element, ExactSum, Fold, Op, Widening, elements};
use crate::data::Data;
use crate::error::{Error, Result};

/// What the order of operands changes in the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandOrder {
    /// Nothing: the result has the same bits in any order and grouping.
    Exact,
    /// At most the rounding.
    Commutative,
    /// The result.
    Ordered,
}

impl OperandOrder {
    /// The call of a reduction by such an operation.
    #[must_use]
    pub const fn of(self, call: Call) -> Call {
        match self {
            Self::Exact => call.exactly(),
            Self::Commutative => call,
            Self::Ordered => call.with_commutative(false),
        }
    }
}

/// An operation that is resolved for an element type.
#[derive(Clone, Copy, Debug)]
pub struct ResolvedReduction<C> {
    /// What the order of operands changes.
    pub kind: OperandOrder,
    /// The operation on bytes.
    pub combine: C,
    /// How to convert to the elements on which it is done, if these are others.
    pub widening: Option<Widening>,
}

/// A predefined operation on elements of `T`.
#[derive(Clone, Copy, Debug)]
pub enum Predefined<T> {
    /// On the elements themselves.
    Elementwise(Fold<T>),
    /// On exact sums of floats.
    Exact(Fold<ExactSum>),
}

impl<T: Element> Predefined<T> {
    /// `op` on elements of `T`, with results as reproducible as `preference` asks.
    ///
    /// # Errors
    /// [`Error::Operation`] when the type does not have the operation, [`Error::Reproducible`] when it cannot be
    /// that reproducible.
    pub fn resolve(op: Op, preference: Reproducible) -> Result<ResolvedReduction<Self>> {
        let combine = Self::Elementwise(T::fold(op)?);
        let kind = match T::is_exact(op) {
            true => OperandOrder::Exact,
            false => OperandOrder::Commutative,
        };
        let (combine, widening) = match preference {
            Reproducible::Ranks if kind != OperandOrder::Exact => match T::widening(op) {
                Some(widening) => (Self::Exact(ExactSum::fold(op)?), Some(widening)),
                None => return Err(Error::Reproducible { op: op.name() }),
            },
            _ => (combine, None),
        };
        let kind = widening.map_or(kind, |_| OperandOrder::Exact);
        Ok(ResolvedReduction {
            kind,
            combine,
            widening,
        })
    }
}

impl<T: Data> Predefined<T> {
    /// Combines the elements of `from` into those of `into`.
    ///
    /// # Safety
    /// As [`elements`] asks, of `T`, or of [`ExactSum`] where the reduction is widened.
    pub unsafe fn combine(&self, from: RawBytes, into: RawBytes) {
        match self {
            Self::Elementwise(fold) => {
                // SAFETY: the caller's promise.
                let (from, into) = unsafe { elements::<T, T>(from, into) };
                fold(into, from);
            }
            Self::Exact(fold) => {
                // SAFETY: as above.
                let (from, into) = unsafe { elements::<ExactSum, ExactSum>(from, into) };
                fold(into, from);
            }
        }
    }
}
