//! Memory that a program allocates where its peers can reach it: one area for each rank.
//!
//! A message between two such buffers, or from one, is one plain copy by whoever has the time: all
//! areas are mapped everywhere from the start. They are sparse, so that an area costs addresses
//! until a page of it is touched, and a page that is given back costs nothing again.
//!
//! Bytes of an area are their owner's as those of any private buffer are. A peer touches those that
//! a request under way has granted it, and no others: exactly what it could do to a private buffer
//! by process_vm_readv and process_vm_writev. Every such access goes through the opaque copy.
//!
//! The areas are a memfd of their own: its size may be refused, or its pages be huge, and the rings
//! stay what they are.

mod free;
mod plan;

use std::fmt;
use std::io;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

use oxmpi_os::fork::ForkGuard;
use oxmpi_os::limit::{self, TooMuch};
use oxmpi_os::memory::{Mapping, Memfd};

use self::free::FreePages;

pub use self::plan::{Facts, Pages, PagesWish, Plan, Size, Why, Wish};

/// What an area's size is a multiple of, in bytes: a huge page.
pub const UNIT: u64 = 2 << 20;

/// What the memory is called in `/proc/PID/maps`.
const NAME: &str = "oxmpi-heap";

/// The areas of all ranks of a node, mapped, and the allocator of this rank's own.
#[derive(Debug)]
pub struct Heap {
    mapping: Mapping,
    /// Bytes of one area.
    area: u64,
    /// Bytes of one page.
    page: u64,
    pages: Pages,
    ranks: u32,
    me: u32,
    free: Mutex<FreePages>,
    fork: ForkGuard,
}

/// Why memory was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
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
pub(crate) struct Areas {
    pub(crate) memory: Memfd,
    /// Bytes of one area.
    pub(crate) area: u64,
    pub(crate) pages: Pages,
}

impl Areas {
    /// Makes what `plan` says for `ranks` ranks. `None`: there is to be none, or the system refuses.
    pub(crate) fn create(ranks: u32, plan: &Plan) -> Option<Self> {
        let len = usize::try_from(u64::from(ranks) * plan.area).ok()?;
        if len == 0 {
            return None;
        }
        let pool = (plan.pages == Pages::Pool).then(|| Memfd::create_pooled(NAME, len));
        let (memory, pages) = match pool {
            Some(Ok(memory)) => (memory, Pages::Pool),
            Some(Err(_)) => (Memfd::create(NAME, len).ok()?, Pages::Asked),
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
    /// Maps the areas of `ranks` ranks, of which this is rank `me`.
    pub(crate) fn map(areas: &Areas, ranks: u32, me: u32) -> io::Result<Self> {
        let (memory, area, pages) = (&areas.memory, areas.area, areas.pages);
        let len = u64::from(ranks).checked_mul(area);
        if len != Some(memory.len() as u64) || area == 0 || !area.is_multiple_of(UNIT) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("areas of {area} B for {ranks} ranks in {} B", memory.len()),
            ));
        }
        let mapping = memory.map()?;
        let page = match pages {
            Pages::Pool => UNIT,
            Pages::Asked | Pages::Small => oxmpi_os::memory::page_size(),
        };
        if pages == Pages::Asked {
            // Where the wish is refused, small pages do.
            let _ = mapping.ask_huge_pages();
        }
        Ok(Self {
            mapping,
            area,
            page,
            pages,
            ranks,
            me,
            free: Mutex::new(FreePages::new(area / page)),
            fork: ForkGuard::new()?,
        })
    }

    /// Bytes of this rank's area, which all ranks have alike.
    #[must_use]
    pub fn area(&self) -> u64 {
        self.area
    }

    /// Of which pages the areas are.
    #[must_use]
    pub fn pages(&self) -> Pages {
        self.pages
    }

    /// Free bytes of this rank's area.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.free().left() * self.page
    }

    /// Takes `bytes` zero bytes, at least one, of this rank's area.
    ///
    /// # Errors
    /// [`Refusal`] with numbers.
    ///
    /// # Cost
    /// Reads what memory the system has left. Whole pages are taken, and each costs a page fault at
    /// its first touch: this is for buffers that live long.
    pub fn allocate(self: &Arc<Self>, bytes: u64) -> Result<Block, Refusal> {
        limit::check(bytes)?;
        let pages = bytes.max(1).div_ceil(self.page);
        let first = {
            let mut free = self.free();
            free.take(pages).ok_or_else(|| Refusal::Full {
                wanted: bytes,
                longest: free.longest() * self.page,
                left: free.left() * self.page,
                area: self.area,
            })?
        };
        let block = Block {
            heap: Arc::clone(self),
            first,
            pages,
        };
        if self.pages == Pages::Pool {
            // A touch of a page that the pool lacks would kill.
            let len = (pages * self.page) as usize;
            self.mapping
                .populate(block.at(), len)
                .map_err(|why| Refusal::Pool { wanted: bytes, why })?;
        }
        Ok(block)
    }

    /// How far into the area of rank `rank` the `len` bytes from `address` on begin, if they lie
    /// within it.
    ///
    /// # Cost
    /// Two compares.
    #[inline]
    pub(crate) fn offset(&self, rank: u32, address: *const u8, len: u64) -> Option<u64> {
        let start = self.mapping.base().addr() + self.start(rank)? as usize;
        let offset = address.addr().checked_sub(start)? as u64;
        (offset <= self.area && len <= self.area - offset).then_some(offset)
    }

    /// Where the `len` bytes from byte `offset` of the area of rank `rank` on are, if it has them.
    ///
    /// # Cost
    /// Two compares.
    #[inline]
    pub(crate) fn place(&self, rank: u32, offset: u64, len: u64) -> Option<*mut u8> {
        let start = self.start(rank)?;
        let inside = offset <= self.area && len <= self.area - offset;
        inside.then(|| self.mapping.base().wrapping_add((start + offset) as usize))
    }

    /// First byte of an area.
    #[inline]
    fn start(&self, rank: u32) -> Option<u64> {
        (rank < self.ranks).then(|| u64::from(rank) * self.area)
    }

    fn free(&self) -> MutexGuard<'_, FreePages> {
        // Nothing panics between the allocator's steps.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Pages of this rank's area that are its holder's alone, given back when it is dropped.
pub struct Block {
    heap: Arc<Heap>,
    first: u64,
    pages: u64,
}

impl Block {
    /// First byte, aligned to a page. Mapped and writable as long as the block lives, in the
    /// process that allocated it: see [`Block::is_here`].
    #[must_use]
    pub fn start(&self) -> NonNull<u8> {
        let start = self.heap.mapping.base().wrapping_add(self.at());
        NonNull::new(start).expect("mapped memory")
    }

    /// Bytes from [`Block::start`] on: whole pages.
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
    /// A load and a compare.
    #[inline]
    #[must_use]
    pub fn is_here(&self) -> bool {
        !self.heap.fork.forked()
    }

    /// Its first byte in the mapping.
    fn at(&self) -> usize {
        let start = self
            .heap
            .start(self.heap.me)
            .expect("the own area is mapped");
        (start + self.first * self.heap.page) as usize
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Block({} B at {:?})", self.len(), self.start())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // The pages are the parent's, and the child has not got them.
        if !self.is_here() {
            return;
        }
        let (at, len) = (self.at(), self.len() as usize);
        // SAFETY: the pages are this block's alone, and nobody has it any more.
        let given = unsafe { self.heap.mapping.give_back(at, len) };
        if given.is_err() {
            let zeroes: Vec<u8> = std::vec![0; self.heap.page as usize];
            for page in (at..at + len).step_by(zeroes.len()) {
                let to = self.heap.mapping.base().wrapping_add(page);
                // SAFETY: as above; the page is mapped, and no vector.
                unsafe { oxmpi_os::copy::to_foreign(&zeroes, to) };
            }
        }
        self.heap.free().give(self.first, self.pages);
    }
}

#[cfg(test)]
mod tests;
