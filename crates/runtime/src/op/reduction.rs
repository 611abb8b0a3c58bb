//! Converts operations on elements to operations on ranges of bytes, as the core calls them.

use std::marker::PhantomData;

use oxmpi_coll::catalog::Call;
use oxmpi_coll::choice::Reproducible;
use oxmpi_coll::plan::Side;
use oxmpi_core::{Error, OwnedOperation, Result, Widening, elements, elementwise};
use oxmpi_os::RawBytes;

use super::{Element, ExactSum, Fold, Op};
use crate::data::Data;

/// Combines elements of type `T` in a reduction: an [`Op`], or a function by [`Op::commutative`] or
/// [`Op::ordered`]. Sealed.
pub trait Reduction<T: Data>: sealed::ResolveReduction<T> {}

impl<T: Data, R: sealed::ResolveReduction<T>> Reduction<T> for R {}

/// An operation by a function of the user, made by [`Op::commutative`] and [`Op::ordered`].
#[derive(Clone, Copy, Debug)]
pub struct Custom<F> {
    combine: F,
    commutative: bool,
}

impl<F> Custom<F> {
    pub(super) const fn new(combine: F, commutative: bool) -> Self {
        Self {
            combine,
            commutative,
        }
    }
}

#[allow(
    unnameable_types,
    reason = "the trait is sealed: callers name `Reduction`, never what is here"
)]
pub(crate) mod sealed {
    use super::{
        Data, ExactSum, Fold, PhantomData, RawBytes, Reproducible, Result, Side, Widening,
    };

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

    /// An operation on bytes.
    pub trait Combine {
        /// Combines the elements of `from` into those of `into`; `from` is the operand on `side`.
        fn combine(&self, from: RawBytes, into: RawBytes, side: Side);
    }

    /// Resolves an operation for an element type and the required reproducibility.
    pub trait ResolveReduction<T: Data> {
        /// The operation on bytes.
        type Combine: Combine;

        /// The operation on bytes, whose results are as reproducible as `preference` asks.
        ///
        /// # Errors
        /// When the type does not have the operation, or it cannot be that reproducible.
        fn resolve(self, preference: Reproducible) -> Result<ResolvedReduction<Self::Combine>>;
    }

    /// An operation that is resolved for an element type.
    #[derive(Debug)]
    pub struct ResolvedReduction<C> {
        /// What the order of operands changes.
        pub kind: OperandOrder,
        /// The operation on bytes.
        pub combine: C,
        /// How to convert to the elements on which it is done, if these are others.
        pub widening: Option<Widening>,
    }

    /// The operation of a collective that does not reduce.
    #[derive(Clone, Copy, Debug)]
    pub enum NoReduction {}

    /// A predefined operation.
    #[derive(Clone, Copy, Debug)]
    pub enum Predefined<T> {
        /// On the elements themselves.
        Elementwise(Fold<T>),
        /// On exact sums of floats.
        Exact(Fold<ExactSum>),
    }

    /// An operation by a function of the user.
    #[derive(Clone, Copy, Debug)]
    pub struct CustomCombine<T, F>(pub(in crate::op) F, pub(in crate::op) PhantomData<fn(T)>);
}

pub(crate) use sealed::{Combine, NoReduction, OperandOrder, ResolvedReduction};

impl OperandOrder {
    /// The call of a reduction by such an operation.
    pub(crate) const fn of(self, call: Call) -> Call {
        match self {
            Self::Exact => call.exactly(),
            Self::Commutative => call,
            Self::Ordered => call.with_commutative(false),
        }
    }
}

use sealed::{CustomCombine, Predefined, ResolveReduction};

/// The operation as the core calls it.
pub(crate) fn on_bytes<C: Combine>(own: C) -> impl Fn(RawBytes, RawBytes, Side) {
    move |from, into, side| own.combine(from, into, side)
}

/// The operation as the core owns it.
pub(crate) fn owned_operation<C: Combine + Send + 'static>(own: C) -> OwnedOperation {
    Box::new(on_bytes(own))
}

impl Combine for NoReduction {
    fn combine(&self, _: RawBytes, _: RawBytes, _: Side) {
        match *self {}
    }
}

impl<T: Element> ResolveReduction<T> for Op {
    type Combine = Predefined<T>;

    fn resolve(self, preference: Reproducible) -> Result<ResolvedReduction<Predefined<T>>> {
        let combine = Predefined::Elementwise(T::fold(self)?);
        let kind = match T::is_exact(self) {
            true => OperandOrder::Exact,
            false => OperandOrder::Commutative,
        };
        let (combine, widening) = match preference {
            Reproducible::Ranks if kind != OperandOrder::Exact => match T::widening(self) {
                Some(widening) => (Predefined::Exact(ExactSum::fold(self)?), Some(widening)),
                None => return Err(Error::Reproducible { op: self.name() }),
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

impl<T: Data> Combine for Predefined<T> {
    fn combine(&self, from: RawBytes, into: RawBytes, _: Side) {
        match self {
            Self::Elementwise(fold) => {
                // SAFETY: the core calls operations only with parts of the call's own buffers.
                let (from, into) = unsafe { elements::<T, T>(from, into) };
                fold(into, from);
            }
            Self::Exact(fold) => {
                // SAFETY: as above; the buffers are those of wide elements.
                let (from, into) = unsafe { elements::<ExactSum, ExactSum>(from, into) };
                fold(into, from);
            }
        }
    }
}

impl<T: Data, F: Fn(T, T) -> T> ResolveReduction<T> for Custom<F> {
    type Combine = CustomCombine<T, F>;

    fn resolve(self, preference: Reproducible) -> Result<ResolvedReduction<CustomCombine<T, F>>> {
        if preference == Reproducible::Ranks {
            let op = "an operation of the program's own";
            return Err(Error::Reproducible { op });
        }
        Ok(ResolvedReduction {
            kind: match self.commutative {
                true => OperandOrder::Commutative,
                false => OperandOrder::Ordered,
            },
            combine: CustomCombine(self.combine, PhantomData),
            widening: None,
        })
    }
}

impl<T: Data, F: Fn(T, T) -> T> Combine for CustomCombine<T, F> {
    fn combine(&self, from: RawBytes, into: RawBytes, side: Side) {
        // SAFETY: the core calls operations only with parts of the call's own buffers, of elements of `T`.
        let combine = unsafe { elementwise(&self.0) };
        combine(from, into, side);
    }
}
