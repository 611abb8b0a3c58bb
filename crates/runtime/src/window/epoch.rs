//! What a rank does in an epoch of a window: [`Epoch`].

use std::marker::PhantomData;

use oxmpi_core::{
    AccumulateOp, Error, ErrorClass, Op, PROC_NULL, Result, Single, Threading, Window,
};
use oxmpi_wire::Bytes;

use super::accesses::{Accesses, Places};
use super::place::Found;
use super::{Place, SharedView, WindowElement, WindowRequest, own_rank};
use crate::data::Data;
use crate::values::{Values, ValuesMut};

/// Accesses to the memory of the ranks of a window, while an epoch lasts.
///
/// Values are a slice or a [view](crate::layout) of some elements of one. A [place](Place) is the index of the first element
/// in the target's memory, or a layout of that memory. An access beyond it is an error, and changes nothing.
/// Threads may share an epoch of a window of a [`SharedComm`](crate::SharedComm): each sees its own accesses end.
///
/// ```
/// use oxmpi::layout::{Strided, View};
/// use oxmpi::window::{AccumulateOp, LockKind};
/// # fn main() -> oxmpi::Result<()> {
/// let world = oxmpi::World::init()?;
/// let comm = world.comm();
/// let right = (comm.rank() + 1) % comm.size();
/// // A matrix of 4 rows and 6 columns: a column of this rank becomes one of its neighbour's.
/// let matrix = [comm.rank() as f64; 24];
/// let column = |first| Strided { first, count: 4, block: 1, stride: 6 };
/// let window = comm.passive_window(comm.alloc::<f64>(24)?)?;
/// let mut row = [0.0; 6];
/// window.lock(right, LockKind::Exclusive, |epoch| {
///     epoch.put(&View::new(&matrix, column(5))?, right, column(0))?;
///     epoch.accumulate(&[1.5; 2], AccumulateOp::Replace, right, 4)?;
///     let row = epoch.rget(&mut row, right, 0)?.wait()?; // before the epoch ends
///     assert_eq!(*row, [comm.rank() as f64, 0.0, 0.0, 0.0, 1.5, 1.5]);
///     Ok(())
/// })?;
/// window.free()?;
/// # Ok(())
/// # }
/// ```
///
/// What a request brings is borrowed until it is waited for:
///
/// ```compile_fail
/// # fn f(window: &oxmpi::window::PassiveWindow<u64>) -> oxmpi::Result<()> {
/// let mut value = [0];
/// window.lock_all(|epoch| {
///     let request = epoch.rget(&mut value, 0, 0)?;
///     assert_eq!(value[0], 0); // it may not have come
///     request.wait().map(drop)
/// })
/// # }
/// ```
pub struct Epoch<'env, T: Data, A: Threading = Single> {
    accesses: Accesses<'env, A>,
    elements: PhantomData<fn(T) -> T>,
}

impl<'env, T: Data, A: Threading> Epoch<'env, T, A> {
    /// An epoch of all targets, or of the only one that is locked.
    pub(super) const fn new(raw: &'env Window<A>, only: Option<usize>) -> Self {
        Self {
            accesses: Accesses::new(raw, only),
            elements: PhantomData,
        }
    }

    /// Elements of a rank's memory.
    fn len_of(&self, rank: usize) -> usize {
        let (bytes, _) = self.accesses.raw().memory_of(rank);
        bytes as usize / size_of::<T>().max(1)
    }

    /// Elements of a rank that are read.
    fn read(&self, rank: usize, at: &impl Place) -> Result<Found> {
        match rank {
            PROC_NULL => Ok(Found::From(0)),
            _ => (at.find::<T>(self.len_of(rank))).map_err(|why| self.misfit(rank, why)),
        }
    }

    /// Elements of a rank that are written.
    fn written(&self, rank: usize, at: &impl Place) -> Result<Found> {
        match rank {
            PROC_NULL => Ok(Found::From(0)),
            _ => (at.find_mut::<T>(self.len_of(rank))).map_err(|why| self.misfit(rank, why)),
        }
    }

    /// The error of a layout that does not fit the memory of `target`.
    #[cold]
    fn misfit(&self, target: usize, error: Error) -> Error {
        match error {
            Error::Layout { why } => Error::Window {
                rank: own_rank(self.accesses.raw()),
                class: ErrorClass::RmaRange,
                why: format!("a layout does not fit the memory of rank {target}: {why}"),
            },
            other => other,
        }
    }

    /// Writes `values` to the memory of `rank` (`MPI_Put`).
    ///
    /// # Errors
    /// Beyond the target's memory; where the epoch is not one of this target; when the target is lost.
    pub fn put<V: Values<T> + ?Sized>(
        &self,
        values: &V,
        rank: usize,
        at: impl Place,
    ) -> Result<()> {
        let found = self.written(rank, &at)?;
        self.accesses.put(values, found.of(rank))
    }

    /// Reads memory of `rank` into `into`, which has it when the epoch ends (`MPI_Get`).
    ///
    /// # Errors
    /// As [`Epoch::put`].
    pub fn get<V: ValuesMut<T> + ?Sized>(
        &self,
        into: &'env mut V,
        rank: usize,
        at: impl Place,
    ) -> Result<()> {
        let found = self.read(rank, &at)?;
        self.accesses.get(into, found.of(rank))
    }

    /// As [`Epoch::get`], with a request that gives `into` back as soon as it has the elements (`MPI_Rget`).
    ///
    /// # Errors
    /// As [`Epoch::put`].
    pub fn rget<V: ValuesMut<T> + ?Sized>(
        &self,
        into: &'env mut V,
        rank: usize,
        at: impl Place,
    ) -> Result<WindowRequest<'env, V::Written<'env>, A>> {
        let found = self.read(rank, &at)?;
        self.accesses.rget(into, found.of(rank))
    }

    /// Completes this rank's accesses to `rank` so far, here and there (`MPI_Win_flush`).
    ///
    /// # Errors
    /// Where the epoch is not one of this target; when the target is lost.
    pub fn flush(&self, rank: usize) -> Result<()> {
        self.accesses.flush(rank)
    }

    /// This rank's own memory, which other ranks may access at the same time.
    ///
    /// # Errors
    /// Where the epoch is not one of this rank; for elements of 2, 4 or 8 bytes that are not aligned to as many; in a forked
    /// child.
    pub fn local(&self) -> Result<SharedView<'_, T>> {
        let raw = self.accesses.raw();
        let me = own_rank(raw);
        self.accesses.check(me)?;
        super::check(raw)?;
        let memory = raw.memory();
        let count = memory.len() as usize / size_of::<T>().max(1);
        // SAFETY: the window keeps its memory for longer than the epoch, in which nobody has a slice of it; ranks and engines
        // access it by atomic instructions and opaque copies.
        let view = unsafe { SharedView::new(memory.start().cast(), count) };
        view.ok_or_else(|| Error::Window {
            rank: me,
            class: ErrorClass::RmaShared,
            why: format!(
                "its elements of {} B are not aligned to be accessed whole",
                size_of::<T>()
            ),
        })
    }
}

impl<'env, T: WindowElement, A: Threading> Epoch<'env, T, A> {
    /// Combines elements of `rank` with `values`, each atomically, by an [`Op`] or by [`AccumulateOp::Replace`]
    /// (`MPI_Accumulate`).
    ///
    /// # Errors
    /// As [`Epoch::put`]; where the elements do not have the operation.
    pub fn accumulate<V: Values<T> + ?Sized>(
        &self,
        values: &V,
        op: impl Into<AccumulateOp>,
        rank: usize,
        at: impl Place,
    ) -> Result<()> {
        let found = self.written(rank, &at)?;
        self.accesses.accumulate(values, op.into(), found.of(rank))
    }

    /// As [`Epoch::accumulate`], with the elements before in `before` when the epoch ends (`MPI_Get_accumulate`). With
    /// [`AccumulateOp::NoOp`] it reads elements, each atomically, and takes no values.
    ///
    /// # Errors
    /// As [`Epoch::accumulate`]; where `values` and `before` differ in length.
    pub fn get_accumulate<V: Values<T> + ?Sized, W: ValuesMut<T> + ?Sized>(
        &self,
        values: &V,
        before: &'env mut W,
        op: impl Into<AccumulateOp>,
        rank: usize,
        at: impl Place,
    ) -> Result<()> {
        let found = self.written(rank, &at)?;
        (self.accesses).get_accumulate((values, op.into()), before, found.of(rank))
    }

    /// As [`Epoch::get_accumulate`], with a request that gives `before` back as soon as it has the elements
    /// (`MPI_Rget_accumulate`).
    ///
    /// # Errors
    /// As [`Epoch::get_accumulate`].
    pub fn rget_accumulate<V: Values<T> + ?Sized, W: ValuesMut<T> + ?Sized>(
        &self,
        values: &V,
        before: &'env mut W,
        op: impl Into<AccumulateOp>,
        rank: usize,
        at: impl Place,
    ) -> Result<WindowRequest<'env, W::Written<'env>, A>> {
        let found = self.written(rank, &at)?;
        (self.accesses).rget_accumulate((values, op.into()), before, found.of(rank))
    }
}

/// Accesses that wait for their answers.
impl<T: WindowElement, A: Threading> Epoch<'_, T, A> {
    /// Combines one element of `rank` with `value` atomically, and gives the element before (`MPI_Fetch_and_op`).
    ///
    /// # Errors
    /// As [`Epoch::accumulate`].
    pub fn fetch(&self, value: &T, op: Op, rank: usize, at: usize) -> Result<T> {
        let place = Places::from(rank, at as u64);
        self.accesses.fetch(value, op.into(), place)
    }

    /// Stores one element atomically, and gives the element before (`MPI_Fetch_and_op` with `MPI_REPLACE`).
    ///
    /// # Errors
    /// As [`Epoch::put`].
    pub fn swap(&self, value: &T, rank: usize, at: usize) -> Result<T> {
        let place = Places::from(rank, at as u64);
        self.accesses.fetch(value, AccumulateOp::Replace, place)
    }

    /// Reads one element atomically (`MPI_Fetch_and_op` with `MPI_NO_OP`).
    ///
    /// # Errors
    /// As [`Epoch::put`].
    pub fn load(&self, rank: usize, at: usize) -> Result<T> {
        let place = Places::from(rank, at as u64);
        (self.accesses).fetch(&T::new_zeroed(), AccumulateOp::NoOp, place)
    }

    /// Stores `new` if the element is `expected`, atomically; gives the element before (`MPI_Compare_and_swap`).
    ///
    /// # Errors
    /// As [`Epoch::put`]; for elements that are no integers.
    pub fn compare_and_swap(&self, expected: T, new: T, rank: usize, at: usize) -> Result<T> {
        let place = Places::from(rank, at as u64);
        self.accesses.compare_and_swap([expected, new], place)
    }
}
