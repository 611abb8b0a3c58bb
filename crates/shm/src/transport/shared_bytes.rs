//! Bytes of shared memory, read or written once from front to back: [`SharedBytes`], [`SharedRuns`].

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use oxmpi_os::copy::{copy_from_shared, copy_nt_from_shared, copy_nt_to_shared, copy_to_shared};
use oxmpi_wire::layout::StridedRuns;
use oxmpi_wire::{Put, Take};

/// Longest piece that moves as words, in bytes.
const WORDS: usize = 48;

/// Bytes of shared memory, such as a slot's body or a larger buffer, read or written once from front to back.
/// Short pieces of a known length move as relaxed words, all others by the opaque copy: the behaviour is
/// defined whatever the other side writes meanwhile.
pub(crate) struct SharedBytes<'a> {
    at: *mut u8,
    left: usize,
    life: PhantomData<&'a AtomicU64>,
}

impl SharedBytes<'_> {
    /// `len` bytes from `at`.
    ///
    /// # Safety
    /// The range is mapped shared memory during `'a`.
    #[inline(always)]
    pub(crate) unsafe fn new(at: *mut u8, len: usize) -> Self {
        Self {
            at,
            left: len,
            life: PhantomData,
        }
    }

    /// `len` bytes from an aligned word on.
    ///
    /// # Safety
    /// As [`SharedBytes::new`], and `at` is aligned.
    #[inline(always)]
    pub(crate) unsafe fn aligned(at: *mut u64, len: usize) -> Self {
        // SAFETY: the caller guarantees it. So the compiler drops the checks of alignment.
        unsafe { std::hint::assert_unchecked(at.is_aligned()) };
        // SAFETY: as above.
        unsafe { Self::new(at.cast(), len) }
    }

    /// The first `len` bytes, without a lifetime.
    ///
    /// # Safety
    /// The range is mapped shared memory as long as the result is used.
    #[inline(always)]
    pub(super) unsafe fn detach<'a>(self, len: usize) -> SharedBytes<'a> {
        debug_assert!(len <= self.left);
        SharedBytes {
            at: self.at,
            left: len,
            life: PhantomData,
        }
    }

    /// Whether a piece of `len` bytes moves as words.
    #[inline(always)]
    fn by_words(&self, len: usize) -> bool {
        len <= WORDS && len.is_multiple_of(8) && self.at.addr().is_multiple_of(8)
    }

    /// Word `i` from here.
    ///
    /// # Safety
    /// It is within what is left, and `at` is aligned.
    #[inline(always)]
    unsafe fn word(&self, i: usize) -> &AtomicU64 {
        // SAFETY: mapped by the contract of `new`; bounds and alignment by that of this function.
        unsafe { AtomicU64::from_ptr(self.at.cast::<u64>().wrapping_add(i)) }
    }

    #[inline(always)]
    fn skip(&mut self, len: usize) {
        self.at = self.at.wrapping_add(len);
        self.left -= len;
    }

    /// Out of line, so that lengths that move as words need no call.
    #[inline(never)]
    fn take_slow(&self, to: &mut [u8]) {
        debug_assert!(to.len() <= self.left);
        // SAFETY: mapped by the contract of `new`, long enough by `take`'s check, and no slice of
        // this process overlaps the segment.
        unsafe { copy_from_shared(self.at, to) };
    }
}

impl<'a> SharedBytes<'a> {
    /// The same bytes, for copies that write by non-temporal stores.
    pub(crate) fn non_temporal(self) -> NonTemporal<'a> {
        NonTemporal(self)
    }
}

/// Bytes of shared memory; copies to and from them write by non-temporal stores, past the caches.
pub(crate) struct NonTemporal<'a>(SharedBytes<'a>);

impl Put for NonTemporal<'_> {
    fn room(&self) -> usize {
        self.0.left
    }

    fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.0.left, "more bytes than room");
        // SAFETY: mapped by the contract of `SharedBytes::new`, long enough by the check, and no slice
        // of this process overlaps the segment.
        unsafe { copy_nt_to_shared(bytes, self.0.at) };
        self.0.skip(bytes.len());
    }
}

impl Take for NonTemporal<'_> {
    fn left(&self) -> usize {
        self.0.left
    }

    fn take(&mut self, to: &mut [u8]) {
        assert!(to.len() <= self.0.left, "more bytes than are left");
        // SAFETY: as in `put`.
        unsafe { copy_nt_from_shared(self.0.at, to) };
        self.0.skip(to.len());
    }
}

/// Ranges of shared memory at equal distances, read once from front to back.
pub(crate) struct SharedRuns {
    /// Where the offsets of `runs` count from.
    first: *mut u8,
    runs: StridedRuns,
    at: u64,
    left: usize,
}

impl SharedRuns {
    /// The `len` bytes of `runs` from byte `at` on.
    ///
    /// # Safety
    /// Their ranges are mapped shared memory as long as the result is used.
    pub(crate) unsafe fn new(first: *mut u8, runs: StridedRuns, at: u64, len: usize) -> Self {
        let left = len;
        Self {
            first,
            runs,
            at,
            left,
        }
    }
}

impl Take for SharedRuns {
    fn left(&self) -> usize {
        self.left
    }

    fn take(&mut self, to: &mut [u8]) {
        assert!(to.len() <= self.left, "more bytes than are left");
        let (first, end) = (self.first, self.at + to.len() as u64);
        self.left -= to.len();
        let mut rest = to;
        self.runs.visit(self.at, end, &mut |runs| {
            let mut from = first.wrapping_offset(runs.offset as isize);
            for _ in 0..runs.times {
                let to = rest.split_off_mut(..runs.len as usize);
                let to = to.expect("as many bytes as are visited");
                // SAFETY: within the ranges, which are mapped by the contract of `new`; no slice of this process
                // overlaps the segment.
                unsafe { copy_from_shared(from, to) };
                from = from.wrapping_offset(runs.stride as isize);
            }
        });
        self.at = end;
    }
}

impl Put for SharedBytes<'_> {
    #[inline(always)]
    fn room(&self) -> usize {
        self.left
    }

    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.left, "more bytes than room");
        // SAFETY: mapped by the contract of `new`, long enough by the check, and no slice of this
        // process overlaps the segment.
        unsafe { copy_to_shared(bytes, self.at) };
        self.skip(bytes.len());
    }

    #[inline(always)]
    fn put_exact<const N: usize>(&mut self, bytes: [u8; N]) {
        if !self.by_words(N) {
            return self.put(&bytes);
        }
        assert!(N <= self.left, "more bytes than room");
        for (i, word) in bytes.as_chunks().0.iter().enumerate() {
            // SAFETY: in bounds and aligned by the checks above.
            unsafe { self.word(i) }.store(u64::from_ne_bytes(*word), Ordering::Relaxed);
        }
        self.skip(N);
    }
}

impl Take for SharedBytes<'_> {
    #[inline(always)]
    fn left(&self) -> usize {
        self.left
    }

    #[inline(always)]
    fn take(&mut self, to: &mut [u8]) {
        assert!(to.len() <= self.left, "more bytes than are left");
        self.take_slow(to);
        self.skip(to.len());
    }

    #[inline(always)]
    fn take_exact<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        if !self.by_words(N) {
            self.take(&mut bytes);
            return bytes;
        }
        assert!(N <= self.left, "more bytes than are left");
        for (i, to) in bytes.as_chunks_mut().0.iter_mut().enumerate() {
            // SAFETY: in bounds and aligned by the checks above.
            *to = unsafe { self.word(i) }
                .load(Ordering::Relaxed)
                .to_ne_bytes();
        }
        self.skip(N);
        bytes
    }
}
