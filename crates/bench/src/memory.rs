//! The message buffers of a run, allocated once for its largest message.

use crate::kernels::BufferSizes;
use crate::{Buffers, OffCache};
use alloc::{vec, vec::Vec};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A page: 4 KiB, aligned to 4 KiB.
#[derive(Clone, FromBytes, IntoBytes, Immutable)]
#[repr(C, align(4096))]
struct Page([u8; 4096]);

/// Memory for the largest message of a run; both buffers start at a page.
pub struct Memory {
    out: Vec<Page>,
    into: Vec<Page>,
    counts: Vec<usize>,
    off_cache: Option<OffCache>,
}

impl core::fmt::Debug for Memory {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "Memory {{ out: {} pages, into: {} pages, counts: {}, off_cache: {:?} }}",
            self.out.len(),
            self.into.len(),
            self.counts.len(),
            self.off_cache
        )
    }
}

impl Memory {
    /// Allocates memory for messages of up to `buffer_sizes`.
    pub fn new(buffer_sizes: BufferSizes, off_cache: Option<OffCache>) -> Self {
        let pages = |length| {
            vec![Page([0; 4096]); OffCache::space_of(off_cache, length).div_ceil(size_of::<Page>())]
        };
        Memory {
            out: pages(buffer_sizes.out),
            into: pages(buffer_sizes.into),
            counts: vec![0; buffer_sizes.counts],
            off_cache,
        }
    }

    /// The bytes that messages of `buffer_sizes` need.
    pub fn bytes(buffer_sizes: BufferSizes, off_cache: Option<OffCache>) -> usize {
        let space = |length| OffCache::space_of(off_cache, length);
        space(buffer_sizes.out)
            .saturating_add(space(buffer_sizes.into))
            .saturating_add(buffer_sizes.counts * size_of::<usize>())
    }

    /// Buffers for messages of `buffer_sizes`.
    ///
    /// # Panics
    /// When `buffer_sizes` is larger than the allocated memory.
    pub fn buffers(&mut self, buffer_sizes: BufferSizes) -> Buffers<'_> {
        let (out, into) = (self.out.as_mut_bytes(), self.into.as_mut_bytes());
        let space = |length| OffCache::space_of(self.off_cache, length);
        let (out, into) = (
            &mut out[..space(buffer_sizes.out)],
            &mut into[..space(buffer_sizes.into)],
        );
        let buffers = Buffers::aligned(out, into, &mut self.counts[..buffer_sizes.counts]);
        match self.off_cache {
            Some(off_cache) => buffers.off_cache(buffer_sizes, off_cache),
            None => buffers,
        }
    }

    /// Both buffers whole, up to the end of their last page.
    pub(crate) fn slices(&mut self) -> (&mut [u8], &mut [u8]) {
        (self.out.as_mut_bytes(), self.into.as_mut_bytes())
    }
}
