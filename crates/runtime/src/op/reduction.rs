//! Operations as the raw core calls them: on ranges of bytes that hold elements.

use std::marker::PhantomData;
use std::slice;

use oxmpi_coll::plan::Side;
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::{Element, Fold, Op};
use crate::data::Data;
use crate::error::Result;
use crate::raw::{OwnOperation, Scratch};

/// What combines elements of type `T` in a reduction: an [`Op`], or a function of your own by
/// [`Op::commutative`] or [`Op::ordered`]. Sealed.
pub trait Reduction<T: Data>: sealed::Reduces<T> {}

impl<T: Data, R: sealed::Reduces<T>> Reduction<T> for R {}

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
    use super::{Data, Fold, PhantomData, RawBytes, Result, Side};

    /// What the order of operands means to the result.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
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
    pub trait Reduces<T: Data> {
        /// The operation on bytes.
        type Combine: Combine;

        /// Its kind, and the operation on bytes.
        ///
        /// # Errors
        /// When the type does not have the operation.
        fn reduces(self) -> Result<(Kind, Self::Combine)>;
    }

    /// In place of an operation, where nothing is combined.
    #[derive(Clone, Copy, Debug)]
    pub enum Nothing {}

    /// A predefined operation.
    #[derive(Clone, Copy, Debug)]
    pub struct Predefined<T>(pub(in crate::op) Fold<T>);

    /// The caller's own operation.
    #[derive(Clone, Copy, Debug)]
    pub struct Own<T, F>(pub(in crate::op) F, pub(in crate::op) PhantomData<fn(T)>);
}

pub(crate) use sealed::{Combine, Kind, Nothing};
use sealed::{Own, Predefined, Reduces};

/// An operation as the raw core calls it.
pub(crate) fn on_bytes<C: Combine>(own: C) -> impl Fn(RawBytes, RawBytes, Side) {
    move |from, into, side| own.combine(from, into, side)
}

/// An operation as the raw core keeps it.
pub(crate) fn own_operation<C: Combine + Send + 'static>(own: C) -> OwnOperation {
    Box::new(on_bytes(own))
}

/// A function of elements as the raw core calls it.
#[cfg(test)]
pub(crate) fn custom<T: Data>(combine: impl Fn(T, T) -> T) -> impl Fn(RawBytes, RawBytes, Side) {
    on_bytes(Own(combine, PhantomData))
}

impl Combine for Nothing {
    fn combine(&self, _: RawBytes, _: RawBytes, _: Side) {
        match *self {}
    }
}

impl<T: Element> Reduces<T> for Op {
    type Combine = Predefined<T>;

    fn reduces(self) -> Result<(Kind, Predefined<T>)> {
        let kind = match T::is_exact(self) {
            true => Kind::Exact,
            false => Kind::Commutative,
        };
        Ok((kind, Predefined(T::fold(self)?)))
    }
}

impl<T: Data> Combine for Predefined<T> {
    fn combine(&self, from: RawBytes, into: RawBytes, _: Side) {
        // SAFETY: the raw core calls operations only with parts of the call's own buffers.
        let (from, into) = unsafe { elements::<T>(from, into) };
        (self.0)(into, from);
    }
}

impl<T: Data, F: Fn(T, T) -> T> Reduces<T> for Custom<F> {
    type Combine = Own<T, F>;

    fn reduces(self) -> Result<(Kind, Own<T, F>)> {
        let kind = match self.commutative {
            true => Kind::Commutative,
            false => Kind::Ordered,
        };
        Ok((kind, Own(self.combine, PhantomData)))
    }
}

impl<T: Data, F: Fn(T, T) -> T> Combine for Own<T, F> {
    fn combine(&self, from: RawBytes, into: RawBytes, side: Side) {
        // SAFETY: as in the predefined ones.
        let (from, into) = unsafe { elements::<T>(from, into) };
        for (into, &from) in into.iter_mut().zip(from) {
            *into = match side {
                Side::Left => (self.0)(from, *into),
                Side::Right => (self.0)(*into, from),
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
