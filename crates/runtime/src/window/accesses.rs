//! The accesses of epochs of all kinds: [`Accesses`].

use std::marker::PhantomData;

use oxmpi_core::{
    AccumulateOp, Error, ErrorClass, PROC_NULL, Result, Shape, Threading, Window, WindowRange,
};
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::{WindowElement, WindowRequest, own_rank};
use crate::data::{Data, source, target};
use crate::values::{LentValues, Values, ValuesMut};

/// Accesses while an epoch lasts, of elements of any type.
pub(super) struct Accesses<'env, A: Threading> {
    raw: &'env Window<A>,
    /// The only target of an epoch that locks one. Another thread may have an epoch of another target, which ends sooner.
    only: Option<usize>,
    buffers: PhantomData<Borrowed<'env>>,
}

/// Buffers that are read into are borrowed for `'env`, until the epoch ends, and not for less: the type is invariant.
type Borrowed<'env> = fn(&'env mut ()) -> &'env mut ();

/// Places of a rank, from a displacement in its units on: as many bytes as are accessed, or those of a shape.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    pub(super) rank: usize,
    pub(super) displacement: u64,
    pub(super) shape: Option<Shape<'a>>,
}

impl Places<'_> {
    /// The bytes from `displacement` on.
    pub(super) const fn from(rank: usize, displacement: u64) -> Self {
        Self {
            rank,
            displacement,
            shape: None,
        }
    }
}

impl<'env, A: Threading> Accesses<'env, A> {
    pub(super) const fn new(raw: &'env Window<A>, only: Option<usize>) -> Self {
        Self {
            raw,
            only,
            buffers: PhantomData,
        }
    }

    pub(super) const fn raw(&self) -> &'env Window<A> {
        self.raw
    }

    /// Checks that the epoch is one of this target.
    ///
    /// # Errors
    /// When it is one of another.
    pub(super) fn check(&self, rank: usize) -> Result<()> {
        match self.only {
            Some(only) if only != rank && rank != PROC_NULL => Err(Error::Window {
                rank: own_rank(self.raw),
                class: ErrorClass::RmaSync,
                why: format!("it accesses rank {rank} in an epoch that locks rank {only}"),
            }),
            _ => Ok(()),
        }
    }

    /// These places, of so many bytes.
    fn range<'p>(&self, places: Places<'p>, bytes: u64) -> Result<WindowRange<'p>> {
        let Places {
            rank,
            displacement,
            shape,
        } = places;
        self.check(rank)?;
        Ok(WindowRange {
            rank,
            displacement,
            shape: shape.unwrap_or(Shape::Bytes(bytes)),
        })
    }

    pub(super) fn put<T: Data, V: Values<T> + ?Sized>(
        &self,
        values: &V,
        to: Places<'_>,
    ) -> Result<()> {
        let bytes = values.lend().bytes;
        self.raw.put(bytes, &self.range(to, bytes.len())?)
    }

    pub(super) fn get<T: Data, V: ValuesMut<T> + ?Sized>(
        &self,
        into: &'env mut V,
        from: Places<'_>,
    ) -> Result<()> {
        // They are borrowed for longer than the epoch, which waits for the access.
        let bytes = into.lend_mut().bytes;
        self.raw.get(bytes, &self.range(from, bytes.len())?)
    }

    pub(super) fn rget<T: Data, V: ValuesMut<T> + ?Sized>(
        &self,
        into: &'env mut V,
        from: Places<'_>,
    ) -> Result<WindowRequest<'env, V::Written<'env>, A>> {
        let LentValues { bytes, held, .. } = into.lend_mut();
        let request = self.raw.rget(bytes, &self.range(from, bytes.len())?)?;
        Ok(WindowRequest::new(self.raw, from.rank, request, held))
    }

    pub(super) fn accumulate<T: WindowElement, V: Values<T> + ?Sized>(
        &self,
        values: &V,
        op: AccumulateOp,
        to: Places<'_>,
    ) -> Result<()> {
        let bytes = values.lend().bytes;
        (self.raw).accumulate(bytes, (T::KIND, op), &self.range(to, bytes.len())?)
    }

    pub(super) fn get_accumulate<T, V, W>(
        &self,
        (values, op): (&V, AccumulateOp),
        before: &'env mut W,
        to: Places<'_>,
    ) -> Result<()>
    where
        T: WindowElement,
        V: Values<T> + ?Sized,
        W: ValuesMut<T> + ?Sized,
    {
        let bytes = before.lend_mut().bytes;
        let range = self.range(to, bytes.len())?;
        (self.raw).get_accumulate(values.lend().bytes, bytes, (T::KIND, op), &range)
    }

    pub(super) fn rget_accumulate<T, V, W>(
        &self,
        (values, op): (&V, AccumulateOp),
        before: &'env mut W,
        to: Places<'_>,
    ) -> Result<WindowRequest<'env, W::Written<'env>, A>>
    where
        T: WindowElement,
        V: Values<T> + ?Sized,
        W: ValuesMut<T> + ?Sized,
    {
        let LentValues { bytes, held, .. } = before.lend_mut();
        let range = self.range(to, bytes.len())?;
        let operands = values.lend().bytes;
        let request = (self.raw).rget_accumulate(operands, bytes, (T::KIND, op), &range)?;
        Ok(WindowRequest::new(self.raw, to.rank, request, held))
    }

    /// The element before an operation on one element, whose call waits for it.
    fn before<T: WindowElement>(access: impl FnOnce(RawBytes) -> Result<()>) -> Result<T> {
        let mut before = [T::new_zeroed()];
        // The element lives until the call has had its answer, or gets none any more.
        access(target(&mut before))?;
        Ok(before[0])
    }

    pub(super) fn fetch<T: WindowElement>(
        &self,
        value: &T,
        op: AccumulateOp,
        at: Places<'_>,
    ) -> Result<T> {
        let range = self.range(at, size_of::<T>() as u64)?;
        let value = source(std::slice::from_ref(value));
        Self::before(|before| (self.raw).fetch_accumulate(value, before, (T::KIND, op), &range))
    }

    pub(super) fn compare_and_swap<T: WindowElement>(
        &self,
        operands: [T; 2],
        at: Places<'_>,
    ) -> Result<T> {
        let range = self.range(at, size_of::<T>() as u64)?;
        let operands = source(&operands);
        Self::before(|before| (self.raw).fetch_compare_and_swap(operands, before, T::KIND, &range))
    }

    pub(super) fn flush(&self, rank: usize) -> Result<()> {
        self.check(rank)?;
        self.raw.finish(rank)
    }
}
