//! Operations as the raw core calls them: on ranges of bytes that hold elements.

use std::marker::PhantomData;
use std::slice;

use oxmpi_coll::catalog::Call;
use oxmpi_coll::choice::Reproducible;
use oxmpi_coll::plan::Side;
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::exact::Summand;
use super::{Element, ExactSum, Fold, Op};
use crate::data::Data;
use crate::error::{Error, Result};
use crate::raw::{OwnedOperation, Scratch};

/// What combines elements of type `T` in a reduction: an [`Op`], or a function of your own by
/// [`Op::commutative`] or [`Op::ordered`]. Sealed.
pub trait Reduction<T: Data>: sealed::ResolveReduction<T> {}

impl<T: Data, R: sealed::ResolveReduction<T>> Reduction<T> for R {}

/// An operation of the caller's own, made by [`Op::commutative`] and [`Op::ordered`].
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
    use super::{Data, ExactSum, Fold, PhantomData, RawBytes, Reproducible, Result, Side};

    /// What the order of operands means to the result.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OperandOrder {
        /// Nothing: it has the same bits in any order and grouping.
        Exact,
        /// At most other rounding.
        Commutative,
        /// It is another result.
        Ordered,
    }

    /// An operation on bytes.
    pub trait Combine {
        /// Combines the elements of `from` into those of `into`, `from` standing on that side.
        fn combine(&self, from: RawBytes, into: RawBytes, side: Side);
    }

    /// What the face makes of an operation.
    pub trait ResolveReduction<T: Data> {
        /// The operation on bytes.
        type Combine: Combine;

        /// What is to be done where results are to be reproducible so far.
        ///
        /// # Errors
        /// When the type does not have the operation, or it cannot be so reproducible.
        fn resolve(self, preference: Reproducible) -> Result<ResolvedReduction<Self::Combine>>;
    }

    /// An operation as the raw core needs it.
    #[derive(Debug)]
    pub struct ResolvedReduction<C> {
        /// Its kind.
        pub kind: OperandOrder,
        /// The operation on bytes.
        pub combine: C,
        /// On which elements it is done, if not on those that are given.
        pub widening: Option<Widening>,
    }

    /// How elements become wider ones, of which an operation is exact, and these become elements
    /// again. The ranges hold as many elements and do not overlap.
    #[derive(Clone, Copy, Debug)]
    pub struct Widening {
        /// Bytes of a wide element.
        pub element: u64,
        /// From elements to wide ones.
        pub widen: fn(RawBytes, RawBytes),
        /// From wide elements to those that are given.
        pub narrow: fn(RawBytes, RawBytes),
    }

    /// In place of an operation, where nothing is combined.
    #[derive(Clone, Copy, Debug)]
    pub enum NoReduction {}

    /// A predefined operation.
    #[derive(Clone, Copy, Debug)]
    pub enum Predefined<T> {
        /// On the elements themselves.
        Elementwise(Fold<T>),
        /// The exact sum of floats.
        Exact(Fold<ExactSum>),
    }

    /// The caller's own operation.
    #[derive(Clone, Copy, Debug)]
    pub struct CustomCombine<T, F>(pub(in crate::op) F, pub(in crate::op) PhantomData<fn(T)>);
}

pub(crate) use sealed::{Combine, NoReduction, OperandOrder, ResolvedReduction, Widening};

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

/// An operation as the raw core calls it.
pub(crate) fn on_bytes<C: Combine>(own: C) -> impl Fn(RawBytes, RawBytes, Side) {
    move |from, into, side| own.combine(from, into, side)
}

/// An operation as the raw core keeps it.
pub(crate) fn owned_operation<C: Combine + Send + 'static>(own: C) -> OwnedOperation {
    Box::new(on_bytes(own))
}

/// A function of elements as the raw core calls it.
#[cfg(test)]
pub(crate) fn custom<T: Data>(combine: impl Fn(T, T) -> T) -> impl Fn(RawBytes, RawBytes, Side) {
    on_bytes(CustomCombine(combine, PhantomData))
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
                // SAFETY: the raw core calls operations only with parts of the call's own buffers.
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
        // SAFETY: as in the predefined ones.
        let (from, into) = unsafe { elements::<T, T>(from, into) };
        for (into, &from) in into.iter_mut().zip(from) {
            *into = match side {
                Side::Left => (self.0)(from, *into),
                Side::Right => (self.0)(*into, from),
            };
        }
    }
}

impl Widening {
    /// Of floats to their exact sums.
    pub(super) fn of<T: Summand>() -> Self {
        Self {
            element: size_of::<ExactSum>() as u64,
            widen: |from, into| convert(from, into, T::exact),
            narrow: |from, into| convert(from, into, T::rounded),
        }
    }
}

/// Makes elements of other ones.
fn convert<F: Data, I: Data>(from: RawBytes, into: RawBytes, each: fn(F) -> I) {
    // SAFETY: the raw core converts between the call's own buffers and rooms that it has made for
    // as many wide elements.
    let (from, into) = unsafe { elements::<F, I>(from, into) };
    for (into, &from) in into.iter_mut().zip(from) {
        *into = each(from);
    }
}

/// Two ranges that hold as many elements, as slices.
///
/// # Safety
/// Both are this process's own memory, in buffers of `F` and of `I` or in a collective's scratch, and
/// whole numbers of these; they do not overlap, and nothing else writes to them (or, to `into`, reads)
/// while the slices live.
unsafe fn elements<'a, F: Data, I: Data>(from: RawBytes, into: RawBytes) -> (&'a [F], &'a mut [I]) {
    const {
        assert!(
            align_of::<F>() <= Scratch::ALIGN && align_of::<I>() <= Scratch::ALIGN,
            "elements that are reduced are aligned to 128 bytes at most"
        );
    }
    // Of elements without a size there is nothing to combine.
    let count = |bytes: RawBytes, size| (bytes.len() as usize).checked_div(size).unwrap_or(0);
    let (from_count, into_count) = (count(from, size_of::<F>()), count(into, size_of::<I>()));
    debug_assert_eq!(from_count, into_count);
    // SAFETY: the caller's promise, and scratch is aligned; any bytes are a valid `F`.
    let from_elements = unsafe { slice::from_raw_parts(from.start().cast(), from_count) };
    // SAFETY: as above, of `I`.
    let into_elements = unsafe { slice::from_raw_parts_mut(into.start().cast(), into_count) };
    (from_elements, into_elements)
}
