//! Windows to which ranks attach memory as they go, and which are accessed by address: [`DynamicWindow`].

use std::mem::ManuallyDrop;

use oxmpi_core::{AccumulateOp, LockKind, Op, Result, Single, Threading, Window};
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::accesses::{Accesses, Places};
use super::{Kind, WindowElement, WindowRequest, locked, locked_all, own_rank};
use crate::comm::Comm;
use crate::data::{Data, target};
use crate::memory::Memory;
use crate::values::{Values, ValuesMut};

/// A window without memory, to which each rank attaches some when it likes; made by [`Comm::dynamic_window`].
///
/// Other ranks access it by address, which its owner sends them, under locks: the owner does nothing.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// use oxmpi::window::LockKind;
/// let world = oxmpi::World::init()?;
/// let comm = world.comm();
/// let right = (comm.rank() + 1) % comm.size();
/// let window = comm.dynamic_window()?;
/// let mut field = window.attach(comm.alloc::<f64>(100)?)?;
/// let addresses = comm.allgather(&field.address())?;
/// window.lock(right, LockKind::Exclusive, |epoch| {
///     epoch.put(&[1.5], right, addresses[right] + 8 * 7) // element 7
/// })?;
/// comm.barrier()?;
/// assert_eq!(field.with(|field| field[7])?, 1.5);
/// let field = field.detach()?; // a slice again
/// assert_eq!(field.len(), 100);
/// window.free()?;
/// # Ok(())
/// # }
/// ```
///
/// What is attached is detached, or given up, before the window is freed:
///
/// ```compile_fail
/// # fn f(window: oxmpi::window::DynamicWindow, memory: oxmpi::Memory<u8>) -> oxmpi::Result<()> {
/// let attached = window.attach(memory)?;
/// window.free()?;
/// attached.detach().map(drop)
/// # }
/// ```
pub struct DynamicWindow<A: Threading = Single> {
    raw: Window<A>,
}

impl<A: Threading> Comm<A> {
    /// A window to which ranks attach memory later (`MPI_Win_create_dynamic`). Collective.
    ///
    /// # Errors
    /// When another rank makes a window of another kind; when a rank is lost meanwhile.
    pub fn dynamic_window(&self) -> Result<DynamicWindow<A>> {
        Kind::Dynamic.agree(self, 1)?;
        let raw = Window::create_dynamic(&self.raw)?;
        Ok(DynamicWindow { raw })
    }
}

impl<A: Threading> DynamicWindow<A> {
    /// Exposes `memory` to the other ranks (`MPI_Win_attach`). Those of this host reach it by system calls, whatever memory it
    /// is.
    ///
    /// # Errors
    /// When 4,096 ranges of memory are attached; in a forked child. The memory is dropped then.
    ///
    /// # Cost
    /// Looks at all ranges that are attached.
    pub fn attach<T: Data>(&self, memory: Memory<T>) -> Result<Attached<'_, T, A>> {
        let mut memory = ManuallyDrop::new(memory);
        let bytes = target(&mut memory);
        match self.raw.attach(bytes) {
            Ok(()) => Ok(Attached {
                window: self,
                memory,
                bytes,
            }),
            Err(why) => {
                drop(ManuallyDrop::into_inner(memory));
                Err(why)
            }
        }
    }

    /// An epoch in which `body` accesses the memory of `rank`, alone or with others that have its lock so (`MPI_Win_lock`,
    /// `MPI_Win_unlock`).
    ///
    /// # Errors
    /// The error of `body`, after the epoch has ended; where an access met no attached memory; when the target, or a rank
    /// that may have the lock, is lost.
    pub fn lock<'env, R>(
        &'env self,
        rank: usize,
        kind: LockKind,
        body: impl for<'s> FnOnce(&'s DynamicEpoch<'env, A>) -> Result<R>,
    ) -> Result<R> {
        locked(&self.raw, rank, kind, || {
            body(&DynamicEpoch(Accesses::new(&self.raw, Some(rank))))
        })
    }

    /// An epoch in which `body` accesses the memory of all ranks, with others that do the same (`MPI_Win_lock_all`).
    ///
    /// # Errors
    /// As [`DynamicWindow::lock`].
    pub fn lock_all<'env, R>(
        &'env self,
        body: impl for<'s> FnOnce(&'s DynamicEpoch<'env, A>) -> Result<R>,
    ) -> Result<R> {
        locked_all(&self.raw, || {
            body(&DynamicEpoch(Accesses::new(&self.raw, None)))
        })
    }

    /// Frees the window, once all ranks have called it (`MPI_Win_free`).
    ///
    /// # Errors
    /// When a rank is lost meanwhile.
    pub fn free(self) -> Result<()> {
        self.raw.free()
    }
}

/// Memory of this rank that is attached to a window; made by [`DynamicWindow::attach`]. One that is dropped, unlike one that
/// is [detached](Self::detach), keeps its memory attached until the window is freed, and allocated until the process ends.
pub struct Attached<'w, T: Data, A: Threading = Single> {
    window: &'w DynamicWindow<A>,
    /// Leaked unless it is detached: another rank may write it.
    memory: ManuallyDrop<Memory<T>>,
    bytes: RawBytes,
}

impl<T: Data, A: Threading> Attached<'_, T, A> {
    /// The address of the first element, for the other ranks (`MPI_Get_address`). Those after it are at the next addresses.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.bytes.start().expose_provenance() as u64
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() as usize / size_of::<T>().max(1)
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs `body` on the elements while no other rank accesses this one's memory: under its exclusive lock.
    ///
    /// # Errors
    /// As [`DynamicWindow::lock`].
    pub fn with<R>(&mut self, body: impl FnOnce(&mut [T]) -> R) -> Result<R> {
        let (raw, memory) = (&self.window.raw, &mut self.memory);
        locked(raw, own_rank(raw), LockKind::Exclusive, || Ok(body(memory)))
    }

    /// Gives the memory back once no other rank accesses this one's memory (`MPI_Win_detach`). An access of its address is
    /// an error from then on.
    ///
    /// # Errors
    /// As [`DynamicWindow::lock`], also in an epoch of this rank; the memory stays attached then, as if this were dropped.
    pub fn detach(self) -> Result<Memory<T>> {
        let raw = &self.window.raw;
        // Whoever has a lock of this rank may be writing the memory.
        locked(raw, own_rank(raw), LockKind::Exclusive, || {
            raw.detach(self.bytes.start())
        })?;
        Ok(ManuallyDrop::into_inner(self.memory))
    }
}

/// Accesses to what the ranks of a [`DynamicWindow`] have attached, while an epoch lasts.
///
/// A place is an address of the target; elements are of any type. An access where nothing is attached is an error of the
/// access, or of the end of its epoch.
pub struct DynamicEpoch<'env, A: Threading = Single>(Accesses<'env, A>);

impl<'env, A: Threading> DynamicEpoch<'env, A> {
    /// Writes `values` to the memory of `rank` (`MPI_Put`).
    ///
    /// # Errors
    /// Where the target has attached nothing; where the epoch is not one of this target; when the target is lost.
    pub fn put<T: Data, V: Values<T> + ?Sized>(
        &self,
        values: &V,
        rank: usize,
        address: u64,
    ) -> Result<()> {
        self.0.put(values, Places::from(rank, address))
    }

    /// Reads memory of `rank` into `into`, which has it when the epoch ends (`MPI_Get`).
    ///
    /// # Errors
    /// As [`DynamicEpoch::put`].
    pub fn get<T: Data, V: ValuesMut<T> + ?Sized>(
        &self,
        into: &'env mut V,
        rank: usize,
        address: u64,
    ) -> Result<()> {
        self.0.get(into, Places::from(rank, address))
    }

    /// As [`DynamicEpoch::get`], with a request that gives `into` back as soon as it has the elements (`MPI_Rget`).
    ///
    /// # Errors
    /// As [`DynamicEpoch::put`].
    pub fn rget<T: Data, V: ValuesMut<T> + ?Sized>(
        &self,
        into: &'env mut V,
        rank: usize,
        address: u64,
    ) -> Result<WindowRequest<'env, V::Written<'env>, A>> {
        self.0.rget(into, Places::from(rank, address))
    }

    /// Completes this rank's accesses to `rank` so far, here and there (`MPI_Win_flush`).
    ///
    /// # Errors
    /// Where an access met no attached memory; where the epoch is not one of this target; when the target is lost.
    pub fn flush(&self, rank: usize) -> Result<()> {
        self.0.flush(rank)
    }

    /// Combines elements of `rank` with `values`, each atomically, by an [`Op`] or by [`AccumulateOp::Replace`]
    /// (`MPI_Accumulate`).
    ///
    /// # Errors
    /// As [`DynamicEpoch::put`]; where the elements do not have the operation.
    pub fn accumulate<T: WindowElement, V: Values<T> + ?Sized>(
        &self,
        values: &V,
        op: impl Into<AccumulateOp>,
        rank: usize,
        address: u64,
    ) -> Result<()> {
        self.0
            .accumulate(values, op.into(), Places::from(rank, address))
    }

    /// As [`DynamicEpoch::accumulate`], with the elements before in `before` when the epoch ends (`MPI_Get_accumulate`).
    ///
    /// # Errors
    /// As [`DynamicEpoch::accumulate`]; where `values` and `before` differ in length.
    pub fn get_accumulate<T, V, W>(
        &self,
        values: &V,
        before: &'env mut W,
        op: impl Into<AccumulateOp>,
        rank: usize,
        address: u64,
    ) -> Result<()>
    where
        T: WindowElement,
        V: Values<T> + ?Sized,
        W: ValuesMut<T> + ?Sized,
    {
        let place = Places::from(rank, address);
        self.0.get_accumulate((values, op.into()), before, place)
    }

    /// Combines one element of `rank` with `value` atomically, and gives the element before (`MPI_Fetch_and_op`).
    ///
    /// # Errors
    /// As [`DynamicEpoch::accumulate`].
    pub fn fetch<T: WindowElement>(
        &self,
        value: &T,
        op: Op,
        rank: usize,
        address: u64,
    ) -> Result<T> {
        self.0.fetch(value, op.into(), Places::from(rank, address))
    }

    /// Stores one element atomically, and gives the element before (`MPI_Fetch_and_op` with `MPI_REPLACE`).
    ///
    /// # Errors
    /// As [`DynamicEpoch::put`].
    pub fn swap<T: WindowElement>(&self, value: &T, rank: usize, address: u64) -> Result<T> {
        let place = Places::from(rank, address);
        self.0.fetch(value, AccumulateOp::Replace, place)
    }

    /// Reads one element atomically (`MPI_Fetch_and_op` with `MPI_NO_OP`).
    ///
    /// # Errors
    /// As [`DynamicEpoch::put`].
    pub fn load<T: WindowElement>(&self, rank: usize, address: u64) -> Result<T> {
        let place = Places::from(rank, address);
        (self.0).fetch(&T::new_zeroed(), AccumulateOp::NoOp, place)
    }

    /// Stores `new` if the element is `expected`, atomically; gives the element before (`MPI_Compare_and_swap`).
    ///
    /// # Errors
    /// As [`DynamicEpoch::put`]; for elements that are no integers.
    pub fn compare_and_swap<T: WindowElement>(
        &self,
        expected: T,
        new: T,
        rank: usize,
        address: u64,
    ) -> Result<T> {
        let place = Places::from(rank, address);
        self.0.compare_and_swap([expected, new], place)
    }
}
