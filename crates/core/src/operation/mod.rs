//! Reduction operations as the core calls them: functions on ranges of bytes that hold elements.

mod complex;
mod element;
mod exact;
mod floats;
mod kinds;
mod logical;
mod loops;
mod op;
mod resolved;
mod software_float;
#[cfg(test)]
mod tests;
mod value_loc;

use std::slice;

use oxmpi_coll::plan::Side;
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::collective_scratch::Scratch;

pub use complex::Complex;
pub use element::{Element, Fold};
pub use exact::ExactSum;
pub use kinds::{ElementKind, KindReduction};
pub use logical::{Byte, Logical};
pub use op::{Custom, Op};
pub use resolved::{OperandOrder, Predefined, ResolvedReduction};
pub use software_float::{Half, Quad, X87};
pub use value_loc::ValueLoc;

/// A reduction's operation: combines the elements of its first range into those of the second. Both ranges have
/// the same length and do not overlap; the side says on which side of the operation the first one stands.
pub type Operation<'a> = &'a dyn Fn(RawBytes, RawBytes, Side);

/// An [`Operation`] that a started collective owns.
pub struct OwnedOperation {
    function: Box<OwnedFunction>,
    by_program: bool,
}

type OwnedFunction = dyn Fn(RawBytes, RawBytes, Side) + Send;

impl OwnedOperation {
    /// A predefined operation: it neither waits nor calls this library.
    #[must_use]
    pub fn predefined(function: impl Fn(RawBytes, RawBytes, Side) + Send + 'static) -> Self {
        Self {
            function: Box::new(function),
            by_program: false,
        }
    }

    /// A function of the program. It is called while the endpoint is not held, so it may communicate itself.
    #[must_use]
    pub fn by_program(function: impl Fn(RawBytes, RawBytes, Side) + Send + 'static) -> Self {
        Self {
            function: Box::new(function),
            by_program: true,
        }
    }

    /// Combines the elements of `from` into those of `into`; `from` is the operand on `side`.
    pub(crate) fn combine(&self, from: RawBytes, into: RawBytes, side: Side) {
        (self.function)(from, into, side);
    }

    /// Whether it is a function of the program.
    pub(crate) const fn is_by_program(&self) -> bool {
        self.by_program
    }
}

/// The operation of a collective under way.
pub(crate) enum UsedOperation<'a> {
    /// The caller, which waits, keeps it.
    Lent(Option<Operation<'a>>),
    /// Its started collective owns it, and an intra-node phase takes it meanwhile.
    Owned(&'a mut Option<OwnedOperation>),
}

impl UsedOperation<'_> {
    /// The operation, if there is one and no phase has it.
    #[inline]
    pub(crate) fn get(&self) -> Option<Operation<'_>> {
        match self {
            Self::Lent(operation) => *operation,
            Self::Owned(operation) => operation
                .as_ref()
                .map(|operation| &*operation.function as Operation<'_>),
        }
    }

    pub(crate) fn take(&mut self) -> Option<OwnedOperation> {
        match self {
            Self::Lent(_) => None,
            Self::Owned(operation) => operation.take(),
        }
    }

    pub(crate) fn give_back(&mut self, used: Option<OwnedOperation>) {
        if let Self::Owned(operation) = self {
            **operation = used;
        }
    }
}

/// How elements are converted to wider ones, on which an operation is exact, and back. Both ranges of a
/// conversion hold the same number of elements, without gaps, and do not overlap.
#[derive(Clone, Copy, Debug)]
pub struct Widening {
    /// Bytes of a wide element.
    pub element: u64,
    /// Converts elements to wide ones.
    pub widen: fn(RawBytes, RawBytes),
    /// Converts wide elements back.
    pub narrow: fn(RawBytes, RawBytes),
}

/// Two ranges that hold the same number of elements, as slices.
///
/// # Safety
/// Both are this process's own memory without gaps, in buffers of `F` and of `I` or in a collective's scratch, and
/// whole numbers of these; they do not overlap, and nothing else writes to them (or, to `into`, reads)
/// while the slices live.
pub unsafe fn elements<'a, F, I>(from: RawBytes, into: RawBytes) -> (&'a [F], &'a mut [I])
where
    F: FromBytes + Immutable,
    I: FromBytes + IntoBytes,
{
    const {
        assert!(
            align_of::<F>() <= Scratch::ALIGN && align_of::<I>() <= Scratch::ALIGN,
            "elements that are reduced are aligned to 128 bytes at most"
        );
    }
    // Elements without a size have nothing to combine.
    debug_assert!(!from.has_gaps() && !into.has_gaps());
    let count = |bytes: RawBytes, size| (bytes.len() as usize).checked_div(size).unwrap_or(0);
    let (from_count, into_count) = (count(from, size_of::<F>()), count(into, size_of::<I>()));
    debug_assert_eq!(from_count, into_count);
    // SAFETY: the caller's promise, and scratch is aligned; any bytes are a valid `F`.
    let from_elements = unsafe { slice::from_raw_parts(from.start().cast(), from_count) };
    // SAFETY: as above, of `I`.
    let into_elements = unsafe { slice::from_raw_parts_mut(into.start().cast(), into_count) };
    (from_elements, into_elements)
}

/// A function of two elements as an operation on ranges of bytes.
///
/// # Safety
/// The operation is called with ranges as [`elements`] takes them: collectives of elements of `T` do so.
pub unsafe fn elementwise<T>(combine: impl Fn(T, T) -> T) -> impl Fn(RawBytes, RawBytes, Side)
where
    T: FromBytes + IntoBytes + Immutable + Copy,
{
    move |from, into, side| {
        // SAFETY: the caller's promise.
        let (from, into) = unsafe { elements::<T, T>(from, into) };
        for (into, &from) in into.iter_mut().zip(from) {
            *into = match side {
                Side::Left => combine(from, *into),
                Side::Right => combine(*into, from),
            };
        }
    }
}
