//! Memory that a program allocates where other ranks of its host can reach it: [`Memory`].

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::slice;
use std::sync::Arc;

use oxmpi_core::{Error, Result};
use oxmpi_os::limit;
use oxmpi_shm::heap::{Heap, HeapBlock};

use crate::data::Data;

/// A slice of elements that the other ranks of this host can reach, from
/// [`World::alloc`](crate::World::alloc) (`MPI_Alloc_mem`).
///
/// It is used as any slice. A long message from or to it is a single copy without a system call. It may
/// outlive its [`World`](crate::World); dropping it gives the memory back to the system.
///
/// Where the system refuses shared memory, it is private memory, and messages use it as any other slice:
/// [`Memory::is_shared`] tells.
///
/// # Panics
/// In a forked child the shared memory is not mapped: dereferencing panics. Accessing a slice that was
/// borrowed before the fork ends the child.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// let world = oxmpi::World::init()?;
/// let mut field = world.alloc::<f64>(1000)?;
/// assert!(field.iter().all(|&x| x == 0.0));
/// field[7] = 1.5;
/// world.comm().bcast_into(&mut field, 0)?;
/// # Ok(())
/// # }
/// ```
pub struct Memory<T: Data> {
    backing: Backing<T>,
    /// Elements.
    count: usize,
}

enum Backing<T> {
    /// Memory of at least `count` elements, aligned for them.
    Shared(HeapBlock),
    Private(Vec<T>),
}

impl<T: Data> Memory<T> {
    /// `count` elements of zero bytes, from the heap if it can serve them.
    pub(crate) fn zeroed(rank: usize, heap: Option<&Arc<Heap>>, count: usize) -> Result<Self> {
        let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
        let refused = |why: String| Error::Alloc { rank, bytes, why };
        let fits = |heap: &&Arc<Heap>| {
            bytes > 0 && heap.page() >= align_of::<T>() as u64 && heap.is_reachable()
        };
        let heap = heap.filter(fits);
        let backing = if let Some(heap) = heap {
            let block = heap.allocate(bytes);
            Backing::Shared(block.map_err(|why| refused(why.to_string()))?)
        } else {
            limit::check(bytes).map_err(|why| refused(why.to_string()))?;
            let vec = T::new_vec_zeroed(count);
            Backing::Private(vec.map_err(|_| refused("the system refuses it".into()))?)
        };
        Ok(Self { backing, count })
    }

    /// Whether other ranks can reach it, so that long messages from and to it are a single copy.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        matches!(self.backing, Backing::Shared(_))
    }
}

impl<T: Data> From<Vec<T>> for Memory<T> {
    /// The memory of a vector, which other ranks do not reach by loads and stores.
    fn from(elements: Vec<T>) -> Self {
        let count = elements.len();
        Self {
            backing: Backing::Private(elements),
            count,
        }
    }
}

impl<T: Data> Deref for Memory<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.backing {
            Backing::Private(vec) => vec,
            Backing::Shared(block) => {
                let start = here::<T>(block).cast_const();
                // SAFETY: only this value uses the block, which is mapped in this process, aligned to a page
                // (`zeroed` checked that this suffices), has at least `count` elements, and holds zeroes or
                // what was written or received through this value: any bytes are a `T`. Peers map the same
                // memory, and are trusted as they are for private memory, which process_vm_writev would let
                // them write: they write only bytes that a receive has granted them, while it is under way
                // and the caller's unique borrow of this slice is held.
                unsafe { slice::from_raw_parts(start, self.count) }
            }
        }
    }
}

impl<T: Data> DerefMut for Memory<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.backing {
            Backing::Private(vec) => vec,
            // SAFETY: as in `deref`; and peers read the bytes of a send only while it is under way, when a
            // shared borrow of this slice is held, so that this unique one cannot exist.
            Backing::Shared(block) => unsafe { slice::from_raw_parts_mut(here(block), self.count) },
        }
    }
}

/// The first element of a block.
#[inline]
fn here<T>(block: &HeapBlock) -> *mut T {
    if !block.is_here() {
        forked();
    }
    block.start().cast().as_ptr()
}

#[cold]
#[inline(never)]
fn forked() -> ! {
    panic!(
        "memory of World::alloc was used in a fork of the rank that has it; it is mapped in the \
         parent only"
    )
}

impl<T: Data> fmt::Debug for Memory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("count", &self.count)
            .field("shared", &self.is_shared())
            .finish()
    }
}
