//! The accesses of epochs of all kinds: [`Accesses`].

use std::marker::PhantomData;

use oxmpi_core::{
    AccumulateOp, Error, ErrorClass, Op, PROC_NULL, Result, Threading, Window, WindowRange,
};
use oxmpi_os::RawBytes;

use super::{WindowElement, own_rank};
use crate::data::Data;

/// Accesses while an epoch lasts, of elements of any type. A place is counted in the target's units.
pub(super) struct Accesses<'env, A: Threading> {
    raw: &'env Window<A>,
    /// The only target of an epoch that locks one. Another thread may have an epoch of another target, which ends sooner.
    only: Option<usize>,
    buffers: PhantomData<Borrowed<'env>>,
}

/// Buffers that are read into are borrowed for `'env`, until the epoch ends, and not for less: the type is invariant.
type Borrowed<'env> = fn(&'env mut ()) -> &'env mut ();

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

impl<'env, A: Threading> Accesses<'env, A> {
    pub(super) const fn new(raw: &'env Window<A>, only: Option<usize>) -> Self {
        Self {
            raw,
            only,
            buffers: PhantomData,
        }
    }

    /// So many bytes of a target.
    ///
    /// # Errors
    /// When the epoch is one of another target.
    fn range(&self, rank: usize, at: u64, bytes: usize) -> Result<WindowRange<'static>> {
        match self.only {
            Some(only) if only != rank && rank != PROC_NULL => Err(Error::Window {
                rank: own_rank(self.raw),
                class: ErrorClass::RmaSync,
                why: format!("it accesses rank {rank} in an epoch that locks rank {only}"),
            }),
            _ => Ok(WindowRange::bytes(rank, at, bytes as u64)),
        }
    }

    pub(super) fn put<T: Data>(&self, values: &[T], rank: usize, at: u64) -> Result<()> {
        let range = self.range(rank, at, size_of_val(values))?;
        self.raw.put(source(values), &range)
    }

    pub(super) fn get<T: Data>(&self, into: &'env mut [T], rank: usize, at: u64) -> Result<()> {
        let range = self.range(rank, at, size_of_val(into))?;
        // SAFETY: it is borrowed for longer than the epoch, which waits for the access.
        self.raw.get(unsafe { target(into) }, &range)
    }

    pub(super) fn accumulate<T: WindowElement>(
        &self,
        values: &[T],
        op: Op,
        rank: usize,
        at: u64,
    ) -> Result<()> {
        let range = self.range(rank, at, size_of_val(values))?;
        let op = (T::KIND, AccumulateOp::Predefined(op));
        self.raw.accumulate(source(values), op, &range)
    }

    /// The element before an operation on one element, whose call waits for it.
    fn before<T: WindowElement>(access: impl FnOnce(RawBytes) -> Result<()>) -> Result<T> {
        let mut before = [T::new_zeroed()];
        // SAFETY: the element lives until the call has had its answer, or gets none any more.
        access(unsafe { target(&mut before) })?;
        Ok(before[0])
    }

    pub(super) fn fetch<T: WindowElement>(
        &self,
        value: &T,
        op: Op,
        rank: usize,
        at: u64,
    ) -> Result<T> {
        self.fetch_by(value, AccumulateOp::Predefined(op), rank, at)
    }

    pub(super) fn swap<T: WindowElement>(&self, value: &T, rank: usize, at: u64) -> Result<T> {
        self.fetch_by(value, AccumulateOp::Replace, rank, at)
    }

    pub(super) fn load<T: WindowElement>(&self, rank: usize, at: u64) -> Result<T> {
        self.fetch_by(&T::new_zeroed(), AccumulateOp::NoOp, rank, at)
    }

    fn fetch_by<T: WindowElement>(
        &self,
        value: &T,
        op: AccumulateOp,
        rank: usize,
        at: u64,
    ) -> Result<T> {
        let range = self.range(rank, at, size_of::<T>())?;
        let value = std::slice::from_ref(value);
        Self::before(|before| {
            (self.raw).fetch_accumulate(source(value), before, (T::KIND, op), &range)
        })
    }

    pub(super) fn compare_and_swap<T: WindowElement>(
        &self,
        operands: [T; 2],
        rank: usize,
        at: u64,
    ) -> Result<T> {
        let range = self.range(rank, at, size_of::<T>())?;
        Self::before(|before| {
            (self.raw).fetch_compare_and_swap(source(&operands), before, T::KIND, &range)
        })
    }
}
