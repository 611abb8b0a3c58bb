//! Windows: memory that ranks access without its owner's help (MPI 5.0, chapter 12).
//!
//! A window owns the memory of its rank. Whose turn it is to access it, the type says:
//! - an [`ActiveWindow`] is accessed in epochs that its owner takes part in, and is the owner's slice between them;
//! - a [`PassiveWindow`] may be accessed at any time by whoever has its lock, its owner as well.
//!
//! ```
//! use oxmpi::{Op, World};
//!
//! fn main() -> oxmpi::Result<()> {
//!     let world = World::init()?;
//!     let comm = world.comm();
//!     let right = (comm.rank() + 1) % comm.size();
//!
//!     // Each rank writes its number to its right neighbour.
//!     let mut window = comm.active_window(world.alloc::<u64>(8)?)?;
//!     window.fence(|epoch| epoch.put(&[comm.rank() as u64], right, 3))?;
//!     let left = (comm.rank() + comm.size() - 1) % comm.size();
//!     assert_eq!(window.local()[3], left as u64);
//!     window.free()?;
//!
//!     // A counter that all ranks take numbers from.
//!     let counter = comm.passive_window(world.alloc::<u64>(1)?)?;
//!     let mine = counter.lock_all(|epoch| epoch.fetch(&1, Op::SUM, 0, 0))?;
//!     assert!(mine < comm.size() as u64);
//!     counter.free()?;
//!     Ok(())
//! }
//! ```

mod active;
mod bytes;
mod element;
mod epoch;
mod passive;

use std::mem::ManuallyDrop;

use oxmpi_core::{Error, ErrorClass, Result, Single, Window};
use oxmpi_os::RawBytes;

pub use active::ActiveWindow;
pub use bytes::ByteWindow;
pub use element::WindowElement;
pub use epoch::Epoch;
pub use oxmpi_core::LockKind;
pub use passive::PassiveWindow;

use crate::comm::Comm;
use crate::data::Data;
use crate::memory::Memory;

impl Comm {
    /// A window of each rank's `memory`, for epochs in which its owner takes part (`MPI_Win_create`). Collective. Memory of
    /// [`World::alloc`](crate::World::alloc) is the fastest: ranks of its host write and read it themselves.
    ///
    /// # Errors
    /// When another rank makes a window of another kind; when a rank is lost meanwhile.
    pub fn active_window<T: Data>(&self, memory: Memory<T>) -> Result<ActiveWindow<T>> {
        WindowOf::new(self, memory, Kind::Active).map(ActiveWindow::new)
    }

    /// A window of each rank's `memory`, for epochs of locks, in which its owner does nothing (`MPI_Win_create`). Collective.
    ///
    /// # Errors
    /// As [`Comm::active_window`].
    pub fn passive_window<T: Data>(&self, memory: Memory<T>) -> Result<PassiveWindow<T>> {
        WindowOf::new(self, memory, Kind::Passive).map(PassiveWindow::new)
    }
}

/// Who takes part in the epochs of a window: all ranks mean the same, or a slice would be written behind its owner's back.
#[derive(Clone, Copy)]
enum Kind {
    Active = 1,
    Passive = 2,
    Bytes = 3,
}

impl Kind {
    /// Checks that all ranks make a window of this kind.
    fn agree(self, comm: &Comm) -> Result<()> {
        let mut kinds = [1u64 << self as u32];
        comm.raw.allreduce_in_place(&mut kinds, |a, b| a | b)?;
        match kinds[0] == 1 << self as u32 {
            true => Ok(()),
            false => Err(Error::Window {
                rank: comm.rank(),
                class: ErrorClass::Window,
                why: "the ranks make windows of different kinds: active, passive or of bytes"
                    .into(),
            }),
        }
    }
}

/// A window, and the memory that it owns.
struct WindowOf<T: Data> {
    raw: Window<Single>,
    /// Leaked unless the window is freed: until all ranks have done so, one of them may write it.
    memory: ManuallyDrop<Memory<T>>,
}

impl<T: Data> WindowOf<T> {
    fn new(comm: &Comm, memory: Memory<T>, kind: Kind) -> Result<Self> {
        kind.agree(comm)?;
        let mut memory = ManuallyDrop::new(memory);
        let slice: &mut [T] = &mut memory;
        // SAFETY: the memory is this window's, and lives until all ranks have freed it.
        let bytes = unsafe { RawBytes::new(slice.as_mut_ptr().cast(), size_of_val(slice)) };
        let raw = Window::create(&comm.raw, bytes, size_of::<T>().max(1) as u64)?;
        Ok(Self { raw, memory })
    }

    fn free(self) -> Result<Memory<T>> {
        self.raw.free()?;
        Ok(ManuallyDrop::into_inner(self.memory))
    }
}
