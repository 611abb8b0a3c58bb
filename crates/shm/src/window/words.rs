//! The locks of a rank's memory in a window, where they are: [`WindowWords`].

use std::boxed::Box;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::heap::{Heap, RankAreas};
use crate::ring::{MappedWords, WindowLocks};

/// Bytes of memory that share the lock of a block.
const BLOCK: u64 = 4 << 10;

/// Most blocks with a lock of their own; beyond, blocks share locks.
const MOST_BLOCKS: u64 = 4096;

/// The locks of a rank's memory in a window.
#[derive(Debug)]
pub struct WindowWords {
    at: NonNull<u64>,
    len: usize,
    /// What keeps the words.
    _memory: Keeper,
}

/// What keeps the words mapped.
#[derive(Debug)]
#[expect(dead_code, reason = "it is kept, not used")]
enum Keeper {
    Heap(Arc<Heap>),
    Own(Box<[AtomicU64]>),
}

// SAFETY: the words are only accessed by atomic operations, and live as long as this.
unsafe impl Send for WindowWords {}
// SAFETY: as above.
unsafe impl Sync for WindowWords {}

impl WindowWords {
    /// Locks for memory of `len` bytes.
    fn count(len: u64) -> usize {
        let blocks = len.div_ceil(BLOCK).clamp(1, MOST_BLOCKS);
        WindowLocks::<MappedWords<'_>>::words(blocks as usize)
    }

    /// Bytes of the locks of `len` bytes of memory.
    #[must_use]
    pub fn bytes(len: u64) -> u64 {
        8 * Self::count(len) as u64
    }

    /// Locks that no other rank reaches.
    #[must_use]
    pub fn own(len: u64) -> Self {
        let words: Box<[AtomicU64]> = (0..Self::count(len)).map(|_| AtomicU64::new(0)).collect();
        let at = NonNull::from(&*words).cast();
        Self {
            at,
            len: words.len(),
            _memory: Keeper::Own(words),
        }
    }

    /// The locks of `len` bytes at this offset of a rank's area, if they are within it.
    #[must_use]
    pub fn mapped(areas: &RankAreas, rank: u32, offset: u64, len: u64) -> Option<Self> {
        let at = areas.place(rank, offset, Self::bytes(len))?;
        let at = NonNull::new(at.cast::<u64>()).filter(|at| at.is_aligned())?;
        Some(Self {
            at,
            len: Self::count(len),
            _memory: Keeper::Heap(Arc::clone(areas.heap())),
        })
    }

    /// The locks.
    #[inline]
    #[must_use]
    pub fn locks(&self) -> WindowLocks<MappedWords<'_>> {
        // SAFETY: aligned, and mapped while this lives; all accesses are atomic.
        WindowLocks::new(unsafe { MappedWords::new(self.at, self.len) })
    }

    /// The lock of the block of memory that has byte `at`.
    #[must_use]
    pub fn block_of(&self, at: u64) -> usize {
        (at / BLOCK % self.locks().blocks() as u64) as usize
    }

    /// How many bytes from `at` on are of the same block.
    #[must_use]
    pub const fn left_in_block(at: u64) -> u64 {
        BLOCK - at % BLOCK
    }
}
