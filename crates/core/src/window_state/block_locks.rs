//! The locks of blocks of memory that an accumulate changes: [`BlockLocks`].

use oxmpi_shm::window::WindowWords;

/// Most bytes of a target that one accumulate by a message changes.
pub(crate) const MOST_ACCUMULATED: u64 = 32 << 10;

/// Most blocks of so many bytes.
const MOST_BLOCKS: usize = 16;

/// The locks of blocks that an accumulate changes, until this is dropped.
pub(crate) struct BlockLocks<'a> {
    words: &'a WindowWords,
    blocks: [usize; MOST_BLOCKS],
    locked: usize,
}

impl<'a> BlockLocks<'a> {
    /// Locks all blocks of the `len` bytes from `at` on, at most [`MOST_ACCUMULATED`], for rank `me` of the node, or none.
    pub(crate) fn try_all(words: &'a WindowWords, at: u64, len: u64, me: u32) -> Option<Self> {
        let mut locked = Self {
            words,
            blocks: [0; MOST_BLOCKS],
            locked: 0,
        };
        let (locks, mut next) = (words.locks(), at);
        while next < at + len {
            let block = words.block_of(next);
            next += WindowWords::left_in_block(next);
            // Blocks that share a lock share it.
            if locked.blocks[..locked.locked].contains(&block) {
                continue;
            }
            let place = locked.blocks.get_mut(locked.locked)?;
            locks.lock_block(block, me).ok()?;
            *place = block;
            locked.locked += 1;
        }
        Some(locked)
    }
}

impl Drop for BlockLocks<'_> {
    fn drop(&mut self) {
        for &block in &self.blocks[..self.locked] {
            self.words.locks().unlock_block(block);
        }
    }
}
