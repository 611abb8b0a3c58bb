//! The operations that a kernel over windows needs of a message-passing library (MPI 5.0, chapter 12).

use crate::Comm;
use core::ops::{DerefMut, Range};

/// A communicator whose ranks access the memory of each other: implement it beside [`Comm`] to run the parts EXT and RMA.
///
/// It has no default bodies: messages cannot access memory whose owner does nothing.
pub trait Windows: Comm {
    /// Memory that a window can be made of.
    type Memory: DerefMut<Target = [u8]>;
    /// A window of all ranks of the communicator.
    type Window: Window<Memory = Self::Memory, Error = Self::Error>;

    /// `bytes` zero bytes, where other ranks reach them best (`MPI_Alloc_mem`).
    ///
    /// # Errors
    /// What the library reports.
    fn alloc(&mut self, bytes: usize) -> Result<Self::Memory, Self::Error>;

    /// Makes a window of each rank's `memory` (`MPI_Win_create`), with room of its own, the landing, for `landing` bytes
    /// that this rank gets. Collective.
    ///
    /// # Errors
    /// What the library reports.
    fn window(&mut self, memory: Self::Memory, landing: usize)
    -> Result<Self::Window, Self::Error>;
}

/// Memory of ranks that access each other's. Places are bytes, counted from the start of a rank's memory or landing.
///
/// Accesses take place in epochs: between two fences, or while their target is locked. What they read or wrote is there
/// when a fence, a flush or the end of a lock has completed them; what is put or accumulated may be changed as soon as the
/// call returns.
pub trait Window {
    /// As [`Windows::Memory`].
    type Memory;
    /// The error of a failed call.
    type Error;

    /// Copies this rank's own memory into `into`, while it may access itself and nobody else does.
    ///
    /// # Errors
    /// What the library reports.
    fn load(&mut self, into: &mut [u8], at: usize) -> Result<(), Self::Error>;

    /// Copies `from` into this rank's own memory, as [`Window::load`] out of it.
    ///
    /// # Errors
    /// What the library reports.
    fn store(&mut self, from: &[u8], at: usize) -> Result<(), Self::Error>;

    /// What completed accesses have brought.
    ///
    /// # Errors
    /// What the library reports.
    fn landing(&mut self) -> Result<&mut [u8], Self::Error>;

    /// Writes `from` to the memory of `target` (`MPI_Put`).
    ///
    /// # Errors
    /// What the library reports.
    fn put(&mut self, from: &[u8], target: usize, at: usize) -> Result<(), Self::Error>;

    /// Reads memory of `target` into a range of the landing (`MPI_Get`).
    ///
    /// # Errors
    /// What the library reports.
    fn get(&mut self, into: Range<usize>, target: usize, at: usize) -> Result<(), Self::Error>;

    /// Adds `from` to numbers in the memory of `target` (`MPI_Accumulate`).
    ///
    /// # Errors
    /// What the library reports.
    fn accumulate_sum(&mut self, from: &[f32], target: usize, at: usize)
    -> Result<(), Self::Error>;

    /// As [`Window::accumulate_sum`], with the numbers before in the landing from byte `into` on
    /// (`MPI_Get_accumulate`).
    ///
    /// # Errors
    /// What the library reports.
    fn get_accumulate_sum(
        &mut self,
        from: &[f32],
        into: usize,
        target: usize,
        at: usize,
    ) -> Result<(), Self::Error>;

    /// As [`Window::get_accumulate_sum`], of one number (`MPI_Fetch_and_op`).
    ///
    /// # Errors
    /// What the library reports.
    fn fetch_and_add(
        &mut self,
        number: f32,
        into: usize,
        target: usize,
        at: usize,
    ) -> Result<(), Self::Error>;

    /// Stores the second number in the memory of `target` if the first is there; the number before comes into the landing
    /// from byte `into` on (`MPI_Compare_and_swap`).
    ///
    /// # Errors
    /// What the library reports.
    fn compare_and_swap(
        &mut self,
        numbers: [i32; 2],
        into: usize,
        target: usize,
        at: usize,
    ) -> Result<(), Self::Error>;

    /// Completes all accesses of all ranks; begins another epoch if it `opens` one (`MPI_Win_fence`). Collective.
    ///
    /// # Errors
    /// What the library reports.
    fn fence(&mut self, opens: bool) -> Result<(), Self::Error>;

    /// Begins accesses to `target`, side by side with other ranks' (`MPI_Win_lock`, shared).
    ///
    /// # Errors
    /// What the library reports.
    fn lock(&mut self, target: usize) -> Result<(), Self::Error>;

    /// Completes the accesses to `target` and gives its lock back (`MPI_Win_unlock`).
    ///
    /// # Errors
    /// What the library reports.
    fn unlock(&mut self, target: usize) -> Result<(), Self::Error>;

    /// As [`Window::lock`], of all ranks (`MPI_Win_lock_all`).
    ///
    /// # Errors
    /// What the library reports.
    fn lock_all(&mut self) -> Result<(), Self::Error>;

    /// Completes all accesses and gives all locks back (`MPI_Win_unlock_all`).
    ///
    /// # Errors
    /// What the library reports.
    fn unlock_all(&mut self) -> Result<(), Self::Error>;

    /// Completes the accesses to `target`, here and there (`MPI_Win_flush`).
    ///
    /// # Errors
    /// What the library reports.
    fn flush(&mut self, target: usize) -> Result<(), Self::Error>;

    /// As [`Window::flush`], here only (`MPI_Win_flush_local`).
    ///
    /// # Errors
    /// What the library reports.
    fn flush_local(&mut self, target: usize) -> Result<(), Self::Error>;

    /// As [`Window::flush`], of all targets (`MPI_Win_flush_all`).
    ///
    /// # Errors
    /// What the library reports.
    fn flush_all(&mut self) -> Result<(), Self::Error>;

    /// As [`Window::flush_local`], of all targets (`MPI_Win_flush_local_all`).
    ///
    /// # Errors
    /// What the library reports.
    fn flush_local_all(&mut self) -> Result<(), Self::Error>;

    /// Frees the window outside of epochs and gives its memory back (`MPI_Win_free`). Collective.
    ///
    /// # Errors
    /// What the library reports.
    fn free(self) -> Result<Self::Memory, Self::Error>;
}
