//! What a rank does in an epoch of a window: [`Epoch`].

use std::marker::PhantomData;

use oxmpi_core::{AccumulateOp, Op, Result, Single, Window, WindowRange};
use oxmpi_os::RawBytes;

use super::WindowElement;
use crate::data::Data;

/// Accesses to the memory of the ranks of a window, while an epoch lasts.
///
/// `at` is the index of the first element in the target's memory. An access beyond it is an error, and changes nothing.
pub struct Epoch<'env, T: Data> {
    raw: &'env Window<Single>,
    buffers: PhantomData<Borrowed<'env, T>>,
}

/// Buffers that are read into are borrowed for `'env`, until the epoch ends, and not for less: the type is invariant.
type Borrowed<'env, T> = fn(&'env mut [T]) -> &'env mut [T];

/// The bytes of elements that a call only reads while it lasts.
fn source<T: Data>(values: &[T]) -> RawBytes {
    // SAFETY: the slice's own memory; the call has read it when it returns.
    unsafe { RawBytes::new(values.as_ptr().cast_mut().cast(), size_of_val(values)) }
}

/// The bytes of elements that an access writes.
///
/// # Safety
/// The slice is borrowed until the access has ended.
unsafe fn target<T: Data>(values: &mut [T]) -> RawBytes {
    // SAFETY: by the caller's word; any bytes are a `T`.
    unsafe { RawBytes::new(values.as_mut_ptr().cast(), size_of_val(values)) }
}

impl<'env, T: Data> Epoch<'env, T> {
    pub(super) const fn new(raw: &'env Window<Single>) -> Self {
        Self {
            raw,
            buffers: PhantomData,
        }
    }

    fn range(rank: usize, at: usize, count: usize) -> WindowRange<'static> {
        WindowRange::bytes(rank, at as u64, (count * size_of::<T>()) as u64)
    }

    /// Writes `values` to the memory of `rank` (`MPI_Put`).
    ///
    /// # Errors
    /// Beyond the target's memory; where the epoch is not one of this target; when the target is lost.
    pub fn put(&self, values: &[T], rank: usize, at: usize) -> Result<()> {
        (self.raw).put(source(values), &Self::range(rank, at, values.len()))
    }

    /// Reads memory of `rank` into `into`, which has it when the epoch ends (`MPI_Get`).
    ///
    /// # Errors
    /// As [`Epoch::put`].
    pub fn get(&self, into: &'env mut [T], rank: usize, at: usize) -> Result<()> {
        let range = Self::range(rank, at, into.len());
        // SAFETY: it is borrowed for longer than the epoch, which waits for the access.
        self.raw.get(unsafe { target(into) }, &range)
    }
}

impl<T: WindowElement> Epoch<'_, T> {
    /// Combines elements of `rank` with `values`, each atomically (`MPI_Accumulate`).
    ///
    /// # Errors
    /// As [`Epoch::put`]; where the elements do not have the operation.
    pub fn accumulate(&self, values: &[T], op: Op, rank: usize, at: usize) -> Result<()> {
        let range = Self::range(rank, at, values.len());
        let op = (T::KIND, AccumulateOp::Predefined(op));
        self.raw.accumulate(source(values), op, &range)
    }
}

/// Accesses that wait for their answers.
impl<T: WindowElement> Epoch<'_, T> {
    /// An operation on one element, and the element before, now.
    fn now(&self, rank: usize, access: impl FnOnce(RawBytes) -> Result<()>) -> Result<T> {
        let mut before = [T::new_zeroed()];
        // SAFETY: the element lives until the access has ended, or its target is lost and does not answer any more.
        let made = access(unsafe { target(&mut before) });
        // Also an access that failed midway may be answered.
        let ended = self.raw.finish(rank);
        made.and(ended).map(|()| before[0])
    }

    /// Combines one element of `rank` with `value` atomically, and gives the element before (`MPI_Fetch_and_op`).
    ///
    /// # Errors
    /// As [`Epoch::accumulate`].
    pub fn fetch(&self, value: &T, op: Op, rank: usize, at: usize) -> Result<T> {
        self.fetch_by(value, AccumulateOp::Predefined(op), rank, at)
    }

    /// Stores one element atomically, and gives the element before (`MPI_Fetch_and_op` with `MPI_REPLACE`).
    ///
    /// # Errors
    /// As [`Epoch::put`].
    pub fn swap(&self, value: &T, rank: usize, at: usize) -> Result<T> {
        self.fetch_by(value, AccumulateOp::Replace, rank, at)
    }

    /// Reads one element atomically (`MPI_Fetch_and_op` with `MPI_NO_OP`).
    ///
    /// # Errors
    /// As [`Epoch::put`].
    pub fn load(&self, rank: usize, at: usize) -> Result<T> {
        self.fetch_by(&T::new_zeroed(), AccumulateOp::NoOp, rank, at)
    }

    fn fetch_by(&self, value: &T, op: AccumulateOp, rank: usize, at: usize) -> Result<T> {
        let (range, value) = (Self::range(rank, at, 1), std::slice::from_ref(value));
        self.now(rank, |before| {
            (self.raw).get_accumulate(source(value), before, (T::KIND, op), &range)
        })
    }

    /// Stores `new` if the element is `expected`, atomically; gives the element before (`MPI_Compare_and_swap`).
    ///
    /// # Errors
    /// As [`Epoch::put`]; for elements that are no integers.
    pub fn compare_and_swap(&self, expected: T, new: T, rank: usize, at: usize) -> Result<T> {
        let (range, operands) = (Self::range(rank, at, 1), [expected, new]);
        self.now(rank, |before| {
            (self.raw).compare_and_swap(source(&operands), before, T::KIND, &range)
        })
    }
}
