//! The words of a rank's memory in a window, where they are: [`WindowWords`].

use std::boxed::Box;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::heap::{Heap, HeapBlock, RankAreas};
use crate::ring::{AttachedMemory, MappedWords, SharedWords, WindowLocks};

/// Bytes of memory that share the lock of a block.
const BLOCK: u64 = 4 << 10;

/// Most blocks with a lock of their own; beyond, blocks share locks.
const MOST_BLOCKS: u64 = 4096;

/// Most ranges of memory that a rank attaches to one window.
const MOST_ATTACHED: usize = 4096;

/// The length of memory that is attached later: that of all addresses.
pub const ATTACHED_LATER: u64 = i64::MAX as u64;

/// The locks of a rank's memory in a window, and where memory is attached later, what is attached now.
#[derive(Debug)]
pub struct WindowWords {
    at: NonNull<u64>,
    /// Words of the locks.
    locks: usize,
    /// Words of what is attached.
    attached: usize,
    /// Where an access was last: those that follow a list go from one range to the next.
    last: AtomicUsize,
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
    /// Words of the locks for memory of `len` bytes, and of what is attached.
    fn counts(len: u64) -> [usize; 2] {
        let blocks = len.div_ceil(BLOCK).clamp(1, MOST_BLOCKS);
        let locks = WindowLocks::<MappedWords<'_>>::words(blocks as usize);
        let attached = AttachedMemory::<MappedWords<'_>>::words(MOST_ATTACHED);
        [locks, if len == ATTACHED_LATER { attached } else { 0 }]
    }

    /// Bytes of the words of `len` bytes of memory, or of memory that is [attached later](ATTACHED_LATER).
    #[must_use]
    pub fn bytes(len: u64) -> u64 {
        8 * Self::counts(len).iter().sum::<usize>() as u64
    }

    /// Sets so many bytes of words to 0, which no rank uses.
    ///
    /// # Panics
    /// If the block has fewer.
    pub fn clear(block: &HeapBlock, bytes: u64) {
        assert!(bytes <= block.len(), "{bytes} B of {block:?}");
        // SAFETY: the block has so many bytes, aligned to a page.
        let words = unsafe { MappedWords::new(block.start().cast(), (bytes / 8) as usize) };
        for at in 0..words.len() {
            // SAFETY: below their number.
            unsafe { words.store(at, 0, Ordering::Relaxed) };
        }
    }

    fn new(at: NonNull<u64>, len: u64, memory: Keeper) -> Self {
        let [locks, attached] = Self::counts(len);
        Self {
            at,
            locks,
            attached,
            last: AtomicUsize::new(0),
            _memory: memory,
        }
    }

    /// Words that no other rank reaches.
    #[must_use]
    pub fn own(len: u64) -> Self {
        let count = Self::counts(len).iter().sum();
        let words: Box<[AtomicU64]> = (0..count).map(|_| AtomicU64::new(0)).collect();
        Self::new(NonNull::from(&*words).cast(), len, Keeper::Own(words))
    }

    /// The words of `len` bytes at this offset of a rank's area, if they are within it.
    #[must_use]
    pub fn mapped(areas: &RankAreas, rank: u32, offset: u64, len: u64) -> Option<Self> {
        let at = areas.place(rank, offset, Self::bytes(len))?;
        let at = NonNull::new(at.cast::<u64>()).filter(|at| at.is_aligned())?;
        Some(Self::new(at, len, Keeper::Heap(Arc::clone(areas.heap()))))
    }

    fn words(&self) -> MappedWords<'_> {
        // SAFETY: aligned, and mapped while this lives; all accesses are atomic.
        unsafe { MappedWords::new(self.at, self.locks + self.attached) }
    }

    /// The locks.
    #[inline]
    #[must_use]
    pub fn locks(&self) -> WindowLocks<MappedWords<'_>> {
        // SAFETY: the first words are those of the locks.
        WindowLocks::new(unsafe { self.words().part(0, self.locks) })
    }

    /// What is attached; `None` for memory that was there when the window was made.
    #[must_use]
    pub fn attached(&self) -> Option<AttachedMemory<MappedWords<'_>>> {
        // SAFETY: the words of what is attached come after those of the locks.
        let words = || unsafe { self.words().part(self.locks, self.attached) };
        (self.attached > 0).then(|| AttachedMemory::new(words()))
    }

    /// Whether the `len` bytes at this address are attached; of memory that was there when the window was made all are.
    #[must_use]
    pub fn is_attached(&self, at: u64, len: u64) -> bool {
        let Some(attached) = self.attached() else {
            return true;
        };
        // Ranges that touch are one to an access.
        let mut covered = 0;
        while covered < len {
            let last = self.last.load(Ordering::Relaxed);
            let Some((range, bytes)) = attached.find(at.wrapping_add(covered), last) else {
                return false;
            };
            self.last.store(range, Ordering::Relaxed);
            covered = covered.saturating_add(bytes);
        }
        true
    }

    /// The lock of the block of memory that has byte `at`.
    #[must_use]
    pub fn block_of(&self, at: u64) -> usize {
        let (block, blocks) = (at / BLOCK, self.locks().blocks() as u64);
        // Mostly each block has its own, and a division takes long.
        (if block < blocks {
            block
        } else {
            block % blocks
        }) as usize
    }

    /// How many bytes from `at` on are of the same block.
    #[must_use]
    pub const fn left_in_block(at: u64) -> u64 {
        BLOCK - at % BLOCK
    }
}
