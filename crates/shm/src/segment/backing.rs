//! The memory that a segment is mapped from: [`Backing`].

use std::io;

use oxmpi_os::memory::{Mapping, Memfd};

/// Bytes of a page.
pub(crate) const PAGE: usize = 4096;

/// The memory of a segment.
#[derive(Debug)]
pub(crate) enum Backing {
    /// A memfd that several processes map.
    Shared(Memfd),
    /// So many private bytes, for a rank alone: it needs nothing that the system could refuse to share. Each
    /// part is a mapping of its own, so none may be mapped twice.
    Own(usize),
}

impl Backing {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Shared(memory) => memory.len(),
            Self::Own(len) => *len,
        }
    }

    /// Maps `len` bytes from byte `at` on.
    pub(crate) fn map_part(&self, at: usize, len: usize) -> io::Result<Mapping> {
        match self {
            Self::Shared(memory) => memory.map_part(at, len),
            Self::Own(_) => Mapping::own(len),
        }
    }
}
