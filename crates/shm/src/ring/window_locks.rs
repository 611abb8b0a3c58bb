//! The locks of a window's memory, as words that all ranks of its node reach: [`WindowLocks`].
//!
//! One lock is for accesses of a program (`MPI_Win_lock`). Ranks take tickets and are served in their order, readers side by
//! side, so that a writer waits for no reader that came later. Blocks of the memory have a lock each, for accumulates: it is
//! held for as long as a block is combined.
//!
//! Source of the ticket lock for readers and writers: J. M. Mellor-Crummey and M. L. Scott, "Scalable Reader-Writer
//! Synchronization for Shared-Memory Multiprocessors", PPoPP 1991, section 2.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use super::{STRIDE, SharedWords};

/// The ticket to be taken next.
const NEXT: usize = 0;
/// The ticket from which on a writer is served.
const WRITER: usize = 1;
/// The ticket from which on a reader is served.
const READER: usize = 2;
/// The ranks that wait, a bit each.
const WAITING: usize = 3;
/// The first word of the blocks' locks.
const BLOCKS: usize = STRIDE;

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

    /// Gives the lock back. Returns the ranks that wait, a bit each: the caller wakes them.
    #[must_use]
    pub fn release(&self, kind: LockKind) -> u64 {
        if kind == LockKind::Exclusive {
            self.advance(READER);
        }
        self.advance(WRITER);
        // Whoever waits has noted it before it looked last, or sees the release.
        self.words.fence(SeqCst);
        self.take_waiting()
    }

    /// Notes that rank `rank` of the node waits: whoever gives a lock back later wakes it. The rank looks once more
    /// afterwards. A rank from 64 on is not noted: it has its locks to itself.
    pub fn wait(&self, rank: u32) {
        if rank < u64::BITS {
            self.note_waiting(1 << rank);
        }
        self.words.fence(SeqCst);
    }

    fn note_waiting(&self, bit: u64) {
        loop {
            let waiting = self.load(WAITING);
            if waiting & bit != 0 {
                break;
            }
            // SAFETY: as in `load`.
            if unsafe { (self.words).exchange(WAITING, waiting, waiting | bit, Relaxed) } {
                break;
            }
        }
    }

    /// Takes the ranks that wait off the list.
    fn take_waiting(&self) -> u64 {
        loop {
            let waiting = self.load(WAITING);
            // SAFETY: as in `load`.
            if waiting == 0 || unsafe { (self.words).exchange(WAITING, waiting, 0, Relaxed) } {
                return waiting;
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
