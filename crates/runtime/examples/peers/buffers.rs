//! The buffers of the programs of this folder: of the lengths that are asked, at a page.

use std::ops::{Deref, DerefMut};

/// Alignment of buffers.
const PAGE: usize = 4096;

/// Memory that begins at a page.
pub(crate) struct Pages {
    memory: Vec<u8>,
    first: usize,
    bytes: usize,
}

impl Pages {
    /// Zeros.
    pub(crate) fn new(bytes: usize) -> Self {
        let memory = vec![0; bytes + PAGE];
        let first = memory.as_ptr().align_offset(PAGE);
        Self {
            memory,
            first,
            bytes,
        }
    }
}

impl Deref for Pages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.first..][..self.bytes]
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.first..][..self.bytes]
    }
}

/// The message lengths that the command line names, after `skipped` words.
pub(crate) fn lengths(skipped: usize) -> Result<Vec<usize>, std::num::ParseIntError> {
    let words = std::env::args().skip(1 + skipped);
    words.map(|word| word.parse()).collect()
}
