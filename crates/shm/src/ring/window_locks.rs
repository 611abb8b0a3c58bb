//! The locks of a window's memory, as words that all ranks of its node reach: [`WindowLocks`].
//!
//! One lock is for accesses of a program (`MPI_Win_lock`). Ranks take tickets and are served in their order, readers side by
//! side, so that a writer waits for no reader that came later. Blocks of the memory have a lock each, for accumulates: it is
//! held for as long as a block is combined.
//!
//! Source of the ticket lock for readers and writers: J. M. Mellor-Crummey and M. L. Scott, "Scalable Reader-Writer
//! Synchronization for Shared-Memory Multiprocessors", PPoPP 1991, section 2.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use super::{STRIDE, SharedWords};

/// The ticket to be taken next.
const NEXT: usize = 0;
/// The ticket from which on a writer is served.
const WRITER: usize = 1;
/// The ticket from which on a reader is served.
const READER: usize = 2;
/// The groups of 64 ranks in which ranks wait, a bit each.
const WAITING: usize = 3;
/// By group, the ranks that wait, a bit each.
const GROUPS: usize = 4;
/// The first word of the blocks' locks.
const BLOCKS: usize = STRIDE;

/// Most ranks of a node that wait for locks.
pub const MOST_WAITING: u32 = (BLOCKS - GROUPS) as u32 * u64::BITS;

/// How a rank has the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// With others that have it so.
    Shared,
    /// Alone.
    Exclusive,
}

/// The locks of one rank's memory in a window. All words are 0 at first.
#[derive(Clone, Debug)]
pub struct WindowLocks<W> {
    words: W,
}

impl<W: SharedWords> WindowLocks<W> {
    /// Words of the locks where the memory has so many blocks.
    #[must_use]
    pub const fn words(blocks: usize) -> usize {
        BLOCKS + blocks
    }

    /// The locks in these words.
    ///
    /// # Panics
    /// If there are too few for one block.
    #[must_use]
    pub fn new(words: W) -> Self {
        assert!(words.len() > BLOCKS, "room for the locks");
        Self { words }
    }

    fn load(&self, at: usize) -> u64 {
        // SAFETY: `new` checked that there are as many words.
        unsafe { self.words.load(at, Acquire) }
    }

    /// Adds 1 to a word that several ranks write.
    fn advance(&self, at: usize) {
        // SAFETY: as in `load`.
        unsafe { self.words.add(at, 1, Release) };
    }

    /// Takes the next ticket: the lock is granted in the order of tickets, and each one that is taken is
    /// [granted](WindowLocks::is_granted) and [released](WindowLocks::release), or nobody after it is served.
    #[must_use]
    pub fn ticket(&self) -> u64 {
        loop {
            let ticket = self.load(NEXT);
            // SAFETY: as in `load`.
            if unsafe { (self.words).exchange(NEXT, ticket, ticket.wrapping_add(1), Relaxed) } {
                return ticket;
            }
        }
    }

    /// Whether the holder of the ticket has the lock now. Not to be called again once it has.
    #[must_use]
    pub fn is_granted(&self, ticket: u64, kind: LockKind) -> bool {
        match kind {
            LockKind::Exclusive => self.load(WRITER) == ticket,
            LockKind::Shared => {
                let granted = self.load(READER) == ticket;
                if granted {
                    // The next one may read, too.
                    self.advance(READER);
                }
                granted
            }
        }
    }

    /// Gives the lock back, and calls `wake` for each rank that waits.
    pub fn release(&self, kind: LockKind, mut wake: impl FnMut(u32)) {
        if kind == LockKind::Exclusive {
            self.advance(READER);
        }
        self.advance(WRITER);
        // Whoever waits has noted it before it looked last, or sees the release.
        self.words.fence(SeqCst);
        for group in bits(self.take(WAITING)).filter(|&group| group < MOST_WAITING / u64::BITS) {
            let ranks = bits(self.take(GROUPS + group as usize));
            ranks.for_each(|rank| wake(group * u64::BITS + rank));
        }
    }

    /// Notes that rank `rank` of the node waits: whoever gives a lock back later wakes it. The rank looks once more
    /// afterwards. A rank from [`MOST_WAITING`] on is not noted: it has its locks to itself.
    pub fn wait(&self, rank: u32) {
        if rank < MOST_WAITING {
            let group = rank / u64::BITS;
            // The rank first: who finds its group finds it there. Who took the group's ranks before has taken the group, too,
            // and so is seen to have, here.
            self.note(GROUPS + group as usize, rank % u64::BITS);
            self.note(WAITING, group);
        }
        self.words.fence(SeqCst);
    }

    /// Sets a bit of a word.
    fn note(&self, at: usize, bit: u32) {
        loop {
            let (before, bit) = (self.load(at), 1 << bit);
            // SAFETY: as in `load`.
            let is_set = before & bit != 0
                || unsafe { (self.words).exchange(at, before, before | bit, AcqRel) };
            if is_set {
                break;
            }
        }
    }

    /// Takes all bits of a word.
    fn take(&self, at: usize) -> u64 {
        loop {
            let bits = self.load(at);
            // SAFETY: as in `load`.
            if bits == 0 || unsafe { (self.words).exchange(at, bits, 0, AcqRel) } {
                return bits;
            }
        }
    }

    /// Number of blocks.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.words.len() - BLOCKS
    }

    /// Locks a block for rank `rank` of the node.
    ///
    /// # Errors
    /// The rank that has it.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn lock_block(&self, block: usize, rank: u32) -> Result<(), u32> {
        let at = self.block(block);
        // SAFETY: `block` checked it.
        if unsafe { (self.words).exchange(at, 0, u64::from(rank) + 1, Acquire) } {
            return Ok(());
        }
        let holder = self.load(at);
        match holder.checked_sub(1) {
            Some(holder) => Err(holder as u32),
            // It was given back meanwhile.
            None => self.lock_block(block, rank),
        }
    }

    /// Gives a block back, which this rank has locked.
    ///
    /// # Panics
    /// As [`WindowLocks::lock_block`].
    pub fn unlock_block(&self, block: usize) {
        let at = self.block(block);
        // SAFETY: `block` checked it.
        unsafe { self.words.store(at, 0, Release) };
    }

    fn block(&self, block: usize) -> usize {
        assert!(block < self.blocks(), "block {block} of the memory");
        BLOCKS + block
    }
}

/// The numbers of the bits that are set.
fn bits(word: u64) -> impl Iterator<Item = u32> {
    (0..u64::BITS).filter(move |bit| word >> bit & 1 != 0)
}
