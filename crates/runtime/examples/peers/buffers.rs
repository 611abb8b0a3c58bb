//! Page-aligned buffers, and the message lengths of the command line, for the programs of this folder.

use std::ops::{Deref, DerefMut};

/// Alignment of buffers.
const PAGE: usize = 4096;

/// Memory that begins at a page.
pub(crate) struct Pages<T = u8> {
    memory: Vec<T>,
    first: usize,
    length: usize,
}

impl<T: Copy + Default> Pages<T> {
    /// Allocates `length` zeroed elements.
    pub(crate) fn new(length: usize) -> Self {
        let memory = vec![T::default(); length + PAGE / size_of::<T>()];
        let first = memory.as_ptr().align_offset(PAGE);
        Self {
            memory,
            first,
            length,
        }
    }
}

impl<T> Deref for Pages<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.memory[self.first..][..self.length]
    }
}

impl<T> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory[self.first..][..self.length]
    }
}

/// The message lengths that the command line names, after `skipped` words.
pub(crate) fn lengths(skipped: usize) -> Result<Vec<usize>, std::num::ParseIntError> {
    let words = std::env::args().skip(1 + skipped);
    words.map(|word| word.parse()).collect()
}
