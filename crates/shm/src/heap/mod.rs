//! Memory that a program allocates where its peers reach it: [`Heap`], with one area for each rank.
//!
//! A message from such a buffer, or between two of them, is one plain copy by either side. Each rank maps all areas when
//! it first needs one. They are sparse: an area costs addresses until a page of it is touched, and pages that are given
//! back cost nothing again.
//!
//! The bytes of an area belong to its owner like those of a private buffer. A peer touches only those that a request
//! under way grants it, as it could do to a private buffer by process_vm_readv and process_vm_writev. Every such access
//! goes through the opaque copy.
//!
//! The areas have a memfd of their own: its size may be refused, or its pages be huge, without effect on the rings.

mod free;
mod plan;
mod rank_areas;

use std::fmt;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::vec::Vec;

use oxmpi_os::fork::ForkGuard;
use oxmpi_os::limit::{self, MemoryLimitError};
use oxmpi_os::memory::{Mapping, Memfd};

use self::free::FreePages;

pub use self::plan::{
    HeapLimits, HeapPlan, HeapPreference, HeapSize, PageKind, PagePreference, PlanReason,
};
pub use self::rank_areas::RankAreas;

/// The unit of an area's size, in bytes: a huge page.
pub const UNIT: u64 = 2 << 20;

/// Name of the memory in `/proc/PID/maps`.
const NAME: &str = "oxmpi-heap";

/// The areas of all ranks of a node, and the allocator of this rank's area.
#[derive(Debug)]
pub struct Heap {
    areas: HeapMemory,
    /// Bytes of one page.
    page: u64,
    ranks: u32,
    me: u32,
    free: Mutex<FreePages>,
    given_back: Arc<AtomicU64>,
    /// `None` inside: the system refused to map them.
    mapped: OnceLock<Option<MappedHeap>>,
}

/// The areas as this process has mapped them.
#[derive(Debug)]
struct MappedHeap {
    mapping: Mapping,
    fork: ForkGuard,
}

/// Why an allocation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AllocError {
    /// The area has no room.
    #[error(
        "{wanted} B wanted, {longest} B are free in one piece, {left} B in all of the {area} B of this \
         rank's area; shm_heap sets its size"
    )]
    Full {
        /// Bytes asked for.
        wanted: u64,
        /// Free bytes in one piece.
        longest: u64,
        /// Free bytes.
        left: u64,
        /// Bytes of the area.
        area: u64,
    },
    /// The machine or a control group has not enough memory.
    #[error(transparent)]
    Memory(#[from] MemoryLimitError),
    /// This process has not enough addresses for so many bytes: the areas of all ranks.
    #[error("{0} B of shared memory cannot be mapped; set a smaller shm_heap")]
    Unreachable(u64),
    /// The pool of huge pages has not enough pages.
    #[error(
        "{wanted} B of huge pages wanted, the system refuses: {why}; raise nr_hugepages or set \
         shm_heap_pages=auto"
    )]
    Pool {
        /// Bytes asked for.
        wanted: u64,
        /// What the system said.
        why: io::Error,
    },
}

/// The memory of all areas of a node, as one rank hands it to the others.
#[derive(Debug)]
pub(crate) struct HeapMemory {
    pub(crate) memory: Memfd,
    /// Bytes of one area.
    pub(crate) area: u64,
    pub(crate) pages: PageKind,
}

impl HeapMemory {
    /// Creates the areas of `ranks` ranks as `plan` says. `None`: the plan has none, or the system refuses.
    pub(crate) fn create(ranks: u32, plan: &HeapPlan) -> Option<Self> {
        let len = usize::try_from(u64::from(ranks) * plan.area).ok()?;
        if len == 0 {
            return None;
        }
        let pool = (plan.pages == PageKind::Pool).then(|| Memfd::create_pooled(NAME, len));
        let (memory, pages) = match pool {
            Some(Ok(memory)) => (memory, PageKind::Pool),
            Some(Err(_)) => (Memfd::create(NAME, len).ok()?, PageKind::Asked),
            None => (Memfd::create(NAME, len).ok()?, plan.pages),
        };
        Some(Self {
            memory,
            area: plan.area,
            pages,
        })
    }
}

impl Heap {
    /// The heap of rank `me` of `ranks` in these areas.
    pub(crate) fn new(areas: HeapMemory, ranks: u32, me: u32) -> io::Result<Self> {
        let (has, area) = (areas.memory.len(), areas.area);
        let len = u64::from(ranks).checked_mul(area);
        if len != Some(has as u64) || area == 0 || !area.is_multiple_of(UNIT) || me >= ranks {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "the heap has {has} B, which is not {ranks} areas of {area} B, or there is no rank {me}"
                ),
            ));
        }
        let page = match areas.pages {
            PageKind::Pool => UNIT,
            PageKind::Asked | PageKind::Small => oxmpi_os::memory::page_size(),
        };
        Ok(Self {
            areas,
            page,
            ranks,
            me,
            free: Mutex::new(FreePages::new(area / page)),
            given_back: Arc::default(),
            mapped: OnceLock::new(),
        })
    }

    /// The descriptor of the areas' memory.
    pub(crate) fn memory(&self) -> BorrowedFd<'_> {
        self.areas.memory.as_fd()
    }

    /// The mapped areas; maps them at the first call.
    fn mapped(&self) -> Option<&MappedHeap> {
        let map = || {
            let mapping = self.areas.memory.map().ok()?;
            if self.areas.pages == PageKind::Asked {
                // If the kernel refuses huge pages, small ones do.
                let _ = mapping.ask_huge_pages();
            }
            let fork = ForkGuard::new().ok()?;
            Some(MappedHeap { mapping, fork })
        };
        self.mapped.get_or_init(map).as_ref()
    }

    /// Whether this process can map the areas: it has the addresses for them.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        self.mapped().is_some()
    }

    /// The addresses of the areas in this process; `None` if it cannot map them.
    #[must_use]
    pub fn addresses(&self) -> Option<Range<u64>> {
        let start = self.mapped()?.mapping.base().expose_provenance() as u64;
        Some(start..start + u64::from(self.ranks) * self.area())
    }

    /// How often pages of this rank were given back to the system: counted before they are allocated anew, so that whoever
    /// has registered them with a device learns of it.
    #[must_use]
    pub fn given_back(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.given_back)
    }

    /// Bytes of an area; all ranks have the same.
    #[must_use]
    pub fn area(&self) -> u64 {
        self.areas.area
    }

    /// The pages of the areas.
    #[must_use]
    pub fn pages(&self) -> PageKind {
        self.areas.pages
    }

    /// Bytes of one page, to which blocks are aligned.
    #[must_use]
    pub fn page(&self) -> u64 {
        self.page
    }

    /// Free bytes of this rank's area.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.free().left() * self.page
    }

    /// Allocates `bytes` zero bytes, at least one, in this rank's area.
    ///
    /// # Errors
    /// [`AllocError`], with the bytes that are wanted and free.
    ///
    /// # Cost
    /// Reads how much memory is left. Takes whole pages, each of which costs a page fault at its first touch:
    /// for buffers that live long.
    pub fn allocate(self: &Arc<Self>, bytes: u64) -> Result<HeapBlock, AllocError> {
        limit::check(bytes)?;
        let Some(MappedHeap { mapping, .. }) = self.mapped() else {
            return Err(AllocError::Unreachable(u64::from(self.ranks) * self.area()));
        };
        let pages = bytes.max(1).div_ceil(self.page);
        let first = {
            let mut free = self.free();
            free.take(pages).ok_or_else(|| AllocError::Full {
                wanted: bytes,
                longest: free.longest() * self.page,
                left: free.left() * self.page,
                area: self.area(),
            })?
        };
        let at = u64::from(self.me) * self.area() + first * self.page;
        let start = mapping.base().wrapping_add(at as usize);
        let block = HeapBlock {
            start: NonNull::new(start).expect("mapped memory"),
            first,
            pages,
            heap: Arc::clone(self),
        };
        if self.pages() == PageKind::Pool {
            // The kernel kills a process that touches a page that the pool lacks.
            mapping
                .populate(at as usize, block.len() as usize)
                .map_err(|why| AllocError::Pool { wanted: bytes, why })?;
        }
        Ok(block)
    }

    /// Offset in the area of `rank` of the `len` bytes from `address` on, if they lie in it.
    ///
    /// # Cost
    /// A load and some compares.
    #[inline]
    pub(crate) fn offset(&self, rank: u32, address: *const u8, len: u64) -> Option<u64> {
        // An area that is not mapped has no address.
        let base = self.mapped.get()?.as_ref()?.mapping.base();
        let start = base.addr() as u64 + self.start(rank)?;
        let offset = (address.addr() as u64).checked_sub(start)?;
        self.has(offset, len).then_some(offset)
    }

    /// The address in this process of the `len` bytes from byte `offset` of the area of `rank` on, if the
    /// area has them and this process can map it.
    ///
    /// # Cost
    /// A load and some compares; the first time, mapping all areas. With a pool a system call.
    #[inline]
    pub(crate) fn place(&self, rank: u32, offset: u64, len: u64) -> Option<*mut u8> {
        let start = self.start(rank)?;
        if !self.has(offset, len) {
            return None;
        }
        let mapping = &self.mapped()?.mapping;
        if self.pages() == PageKind::Pool {
            // A wrong offset may name pages that the pool lacks.
            let first = offset / self.page * self.page;
            let bytes = (offset + len - first).next_multiple_of(self.page);
            let at = (start + first) as usize;
            mapping.ensure(at, bytes as usize).ok()?;
        }
        Some(mapping.base().wrapping_add((start + offset) as usize))
    }

    /// Whether an area has the `len` bytes from byte `offset` on.
    #[inline]
    fn has(&self, offset: u64, len: u64) -> bool {
        offset <= self.area() && len <= self.area() - offset
    }

    /// Offset of an area in the memory of all.
    #[inline]
    fn start(&self, rank: u32) -> Option<u64> {
        (rank < self.ranks).then(|| u64::from(rank) * self.area())
    }

    fn free(&self) -> MutexGuard<'_, FreePages> {
        // Nothing panics between the allocator's steps.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Pages of this rank's area that belong to the holder; dropping the block frees them.
pub struct HeapBlock {
    start: NonNull<u8>,
    first: u64,
    pages: u64,
    heap: Arc<Heap>,
}

// SAFETY: the address of pages that belong to no thread; the block never dereferences it, and its
// heap, which keeps them mapped, is `Send`.
unsafe impl Send for HeapBlock {}
// SAFETY: as above; shared use gives copies of the address only.
unsafe impl Sync for HeapBlock {}

impl HeapBlock {
    /// First byte, aligned to a page. The block's memory is mapped and writable while the block lives, in the
    /// process that allocated it: see [`HeapBlock::is_here`].
    #[inline]
    #[must_use]
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Bytes from [`HeapBlock::start`] on: whole pages.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.pages * self.heap.page
    }

    /// Whether there are no bytes: never.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages == 0
    }

    /// Whether this is the process that allocated the block. A forked child has no memory there.
    ///
    /// # Cost
    /// Some loads and compares.
    #[inline]
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.mapped().is_some_and(|mapped| !mapped.fork.forked())
    }

    #[inline]
    fn mapped(&self) -> Option<&MappedHeap> {
        self.heap.mapped.get()?.as_ref()
    }
}

impl fmt::Debug for HeapBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HeapBlock({} B at {:?})", self.len(), self.start)
    }
}

impl Drop for HeapBlock {
    fn drop(&mut self) {
        // The pages are the parent's; a child has not mapped them.
        let Some(mapped) = self.mapped().filter(|_| self.is_here()) else {
            return;
        };
        let base = mapped.mapping.base();
        let (at, len) = (self.start.addr().get() - base.addr(), self.len() as usize);
        // SAFETY: the pages are this block's alone, and nothing refers to them any more.
        let given = unsafe { mapped.mapping.give_back(at, len) };
        if given.is_err() {
            let zeroes: Vec<u8> = std::vec![0; self.heap.page as usize];
            for page in (at..at + len).step_by(zeroes.len()) {
                // SAFETY: as above; the page is mapped, and no vector.
                unsafe { oxmpi_os::copy::copy_to_shared(&zeroes, base.wrapping_add(page)) };
            }
        }
        // The release: who sees the pages allocated anew sees the count.
        self.heap.given_back.fetch_add(1, Ordering::Release);
        self.heap.free().give(self.first, self.pages);
    }
}

#[cfg(test)]
mod tests;
