//! [`RegionPart`]: bytes of a region that are read one after the other.

use super::region::{MemoryRegion, word_at};
use oxmpi_os::copy::copy_from_shared;
use std::marker::PhantomData;

impl MemoryRegion {
    /// Copies the region's bytes, from byte `at` on, to all of `bytes`. They may be torn if a device writes them now.
    ///
    /// # Panics
    /// If they reach beyond its end.
    ///
    /// # Cost
    /// A few aligned words are loads, whose number the compiler knows if it does that of the bytes; else a call.
    #[inline]
    pub fn read(&self, at: usize, bytes: &mut [u8]) {
        RegionPart::new(self, at, bytes.len()).take(bytes);
    }
}

/// Bytes of a region, which were found to be in it, to be read from the first one on.
#[derive(Debug)]
pub(crate) struct RegionPart<'a> {
    start: *const u8,
    len: usize,
    region: PhantomData<&'a MemoryRegion>,
}

impl<'a> RegionPart<'a> {
    /// `len` bytes from byte `at` on.
    ///
    /// # Panics
    /// If they are not in the region.
    #[inline]
    pub(crate) fn new(region: &'a MemoryRegion, at: usize, len: usize) -> Self {
        Self {
            start: region.place(at, len),
            len,
            region: PhantomData,
        }
    }

    /// Bytes that are left.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Leaves the first `len` bytes only.
    ///
    /// # Panics
    /// If fewer are left.
    #[inline]
    pub(crate) fn shorten(&mut self, len: usize) {
        assert!(len <= self.len, "more than is left");
        self.len = len;
    }

    /// Copies the next bytes to all of `bytes`. They may be torn if a device writes them now.
    ///
    /// # Panics
    /// If fewer are left.
    ///
    /// # Cost
    /// A few aligned words are loads, whose number the compiler knows if it does that of the bytes; else a call.
    #[inline]
    pub(crate) fn take(&mut self, bytes: &mut [u8]) {
        assert!(bytes.len() <= self.len, "more than is left");
        let from = self.start;
        self.start = from.wrapping_add(bytes.len());
        self.len -= bytes.len();
        if let (words @ ([_] | [_, _, _]), []) = bytes.as_chunks_mut()
            && from.cast::<u64>().is_aligned()
        {
            for (word, at) in words.iter_mut().zip((0..).step_by(8)) {
                // SAFETY: the word is in the region, by `new` and the assertion; it is aligned as the first one is.
                *word = unsafe { word_at(from.wrapping_add(at)) }.to_ne_bytes();
            }
            return;
        }
        // SAFETY: the bytes are in the region, whose memory nothing borrows.
        unsafe { copy_from_shared(from, bytes) };
    }
}
