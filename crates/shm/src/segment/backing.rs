//! The memory that a segment is mapped from: [`Backing`].

use std::io;

use oxmpi_os::memory::{Mapping, Memfd};

/// Bytes of a page.
pub(crate) const PAGE: usize = 4096;

/// What a segment is made of.
#[derive(Debug)]
pub(crate) enum Backing {
    /// Memory that several processes map.
    Shared(Memfd),
    /// So many bytes of this process's own, for a rank alone, which needs nothing that the system could refuse
    /// to share. Each part is a mapping for itself, so none is mapped twice.
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
