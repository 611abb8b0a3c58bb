//! Memory that a program allocates where its peers can reach it: one area for each rank.
//!
//! A message between two such buffers, or from one, is one plain copy by whoever has the time. The
//! areas are mapped at once, by each rank when it first needs one. They are sparse: an area costs
//! addresses until a page of it is touched, and a page that is given back costs nothing again.
//!
//! Bytes of an area are their owner's as those of any private buffer are. A peer touches those that
//! a request under way has granted it, and no others: exactly what it could do to a private buffer
//! by process_vm_readv and process_vm_writev. Every such access goes through the opaque copy.
//!
//! The areas are a memfd of their own: its size may be refused, or its pages be huge, and the rings
//! stay what they are.

mod free;
mod plan;
mod rank_areas;

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::vec::Vec;

use oxmpi_os::fork::ForkGuard;
use oxmpi_os::limit::{self, TooMuch};
use oxmpi_os::memory::{Mapping, Memfd};

use self::free::FreePages;

pub use self::plan::{
    HeapLimits, HeapPlan, HeapPreference, HeapSize, PageKind, PagePreference, PlanReason,
};
pub use self::rank_areas::RankAreas;

/// What an area's size is a multiple of, in bytes: a huge page.
pub const UNIT: u64 = 2 << 20;

/// What the memory is called in `/proc/PID/maps`.
const NAME: &str = "oxmpi-heap";

/// The areas of all ranks of a node, and the allocator of this rank's own.
#[derive(Debug)]
pub struct Heap {
    areas: HeapMemory,
    /// Bytes of one page.
    page: u64,
    ranks: u32,
    me: u32,
    free: Mutex<FreePages>,
    /// `None` inside: the system refuses to map them.
    mapped: OnceLock<Option<MappedHeap>>,
}

/// The areas as this process has them.
#[derive(Debug)]
struct MappedHeap {
    mapping: Mapping,
    fork: ForkGuard,
}

/// PlanReason memory was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AllocError {
    /// The area has no room.
    #[error(
        "{wanted} B wanted, {longest} B are free in one piece, {left} B of the {area} B of this \
         rank's area in all; shm_heap sets its size"
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
    /// The machine or a control group has not so much memory.
    #[error(transparent)]
    Memory(#[from] TooMuch),
    /// This process has not the addresses for so many bytes: all areas of the node.
    #[error("{0} B of shared memory cannot be mapped; a smaller shm_heap would do")]
    Unreachable(u64),
    /// The pool of huge pages has not so many.
    #[error(
        "{wanted} B of huge pages wanted, which the system refuses: {why}; nr_hugepages sets how \
         many there are, shm_heap_pages=auto does without"
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
    /// Makes what `plan` says for `ranks` ranks. `None`: there is to be none, or the system refuses.
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
    /// The areas of `ranks` ranks, of which this is rank `me`.
    pub(crate) fn new(areas: HeapMemory, ranks: u32, me: u32) -> io::Result<Self> {
        let (has, area) = (areas.memory.len(), areas.area);
        let len = u64::from(ranks).checked_mul(area);
        if len != Some(has as u64) || area == 0 || !area.is_multiple_of(UNIT) || me >= ranks {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("areas of {area} B for {ranks} ranks, of which one is {me}, in {has} B"),
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
            mapped: OnceLock::new(),
        })
    }

    /// The descriptor of the areas' memory.
    pub(crate) fn memory(&self) -> BorrowedFd<'_> {
        self.areas.memory.as_fd()
    }

    /// The areas as this process has them; maps them the first time.
    fn mapped(&self) -> Option<&MappedHeap> {
        let map = || {
            let mapping = self.areas.memory.map().ok()?;
            if self.areas.pages == PageKind::Asked {
                // Where the preference is refused, small pages do.
                let _ = mapping.ask_huge_pages();
            }
            let fork = ForkGuard::new().ok()?;
            Some(MappedHeap { mapping, fork })
        };
        self.mapped.get_or_init(map).as_ref()
    }

    /// Whether this process can reach the areas: it has the addresses for them.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        self.mapped().is_some()
    }

    /// Bytes of this rank's area, which all ranks have alike.
    #[must_use]
    pub fn area(&self) -> u64 {
        self.areas.area
    }

    /// Of which pages the areas are.
    #[must_use]
    pub fn pages(&self) -> PageKind {
        self.areas.pages
    }

    /// Bytes of one page: what blocks are aligned to.
    #[must_use]
    pub fn page(&self) -> u64 {
        self.page
    }

    /// Free bytes of this rank's area.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.free().left() * self.page
    }

    /// Takes `bytes` zero bytes, at least one, of this rank's area.
    ///
    /// # Errors
    /// [`AllocError`] with numbers.
    ///
    /// # Cost
    /// Reads what memory the system has left. Whole pages are taken, and each costs a page fault at
    /// its first touch: this is for buffers that live long.
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
            // A touch of a page that the pool lacks would kill.
            mapping
                .populate(at as usize, block.len() as usize)
                .map_err(|why| AllocError::Pool { wanted: bytes, why })?;
        }
        Ok(block)
    }

    /// How far into the area of rank `rank` the `len` bytes from `address` on begin, if they lie
    /// within it.
    ///
    /// # Cost
    /// A load and some compares.
    #[inline]
    pub(crate) fn offset(&self, rank: u32, address: *const u8, len: u64) -> Option<u64> {
        // Where nothing was mapped, no address is in it.
        let base = self.mapped.get()?.as_ref()?.mapping.base();
        let start = base.addr() as u64 + self.start(rank)?;
        let offset = (address.addr() as u64).checked_sub(start)?;
        self.has(offset, len).then_some(offset)
    }

    /// Where the `len` bytes from byte `offset` of the area of rank `rank` on are, if it has them
    /// and this process can reach them.
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
            // A wrong offset may name pages that its owner never took, and the pool lacks.
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

    /// First byte of an area.
    #[inline]
    fn start(&self, rank: u32) -> Option<u64> {
        (rank < self.ranks).then(|| u64::from(rank) * self.area())
    }

    fn free(&self) -> MutexGuard<'_, FreePages> {
        // Nothing panics between the allocator's steps.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// PageKind of this rank's area that are its holder's alone, given back when it is dropped.
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
    /// First byte, aligned to a page. MappedHeap and writable as long as the block lives, in the
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

    /// Whether this is the process that allocated it. A forked child has nothing there.
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
        // The pages are the parent's, and a child has not got them.
        let Some(mapped) = self.mapped().filter(|_| self.is_here()) else {
            return;
        };
        let base = mapped.mapping.base();
        let (at, len) = (self.start.addr().get() - base.addr(), self.len() as usize);
        // SAFETY: the pages are this block's alone, and nobody has it any more.
        let given = unsafe { mapped.mapping.give_back(at, len) };
        if given.is_err() {
            let zeroes: Vec<u8> = std::vec![0; self.heap.page as usize];
            for page in (at..at + len).step_by(zeroes.len()) {
                // SAFETY: as above; the page is mapped, and no vector.
                unsafe { oxmpi_os::copy::to_foreign(&zeroes, base.wrapping_add(page)) };
            }
        }
        self.heap.free().give(self.first, self.pages);
    }
}

#[cfg(test)]
mod tests;
