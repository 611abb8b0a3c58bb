//! Moving bytes to and from the segment: [`Foreign`].

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use oxmpi_os::copy::{from_foreign, stream_to_foreign, to_foreign};
use oxmpi_wire::{Put, Take};

/// Longest body that is moved as words.
const WORDS: usize = 48;

/// A place in the segment, written once or read once from front to back: a slot's body or a larger
/// buffer. Small pieces move as relaxed words, larger ones by the opaque copy: whatever the other
/// side writes meanwhile, the behaviour is defined.
pub(super) struct Foreign<'a> {
    at: *mut u8,
    left: usize,
    life: PhantomData<&'a AtomicU64>,
}

impl Foreign<'_> {
    /// `len` bytes from `at`.
    ///
    /// # Safety
    /// The range is mapped shared memory during `'a`.
    #[inline(always)]
    pub(super) unsafe fn new(at: *mut u8, len: usize) -> Self {
        Self {
            at,
            left: len,
            life: PhantomData,
        }
    }

    /// The first `len` bytes of the same range without a lifetime.
    ///
    /// # Safety
    /// The range is mapped shared memory as long as the result is used.
    #[inline(always)]
    pub(super) unsafe fn detach<'a>(self, len: usize) -> Foreign<'a> {
        debug_assert!(len <= self.left);
        Foreign {
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

    #[inline(never)]
    fn put_slow(&mut self, bytes: &[u8]) {
        // SAFETY: mapped by the contract of `new`, long enough by `put`'s check, and no slice of
        // this process overlaps the segment.
        unsafe { to_foreign(bytes, self.at) };
    }

    #[inline(never)]
    fn take_slow(&mut self, to: &mut [u8]) {
        // SAFETY: as in `put_slow`.
        unsafe { from_foreign(self.at, to) };
    }
}

impl<'a> Foreign<'a> {
    /// The same place, written past the caches.
    pub(super) fn past_caches(self) -> PastCaches<'a> {
        PastCaches(self)
    }
}

/// A place in the segment that is written by streaming stores.
pub(super) struct PastCaches<'a>(Foreign<'a>);

impl Put for PastCaches<'_> {
    fn room(&self) -> usize {
        self.0.left
    }

    fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.0.left, "more bytes than room");
        // SAFETY: mapped by the contract of `Foreign::new`, long enough by the check, and no slice
        // of this process overlaps the segment.
        unsafe { stream_to_foreign(bytes, self.0.at) };
        self.0.skip(bytes.len());
    }
}

impl Put for Foreign<'_> {
    #[inline(always)]
    fn room(&self) -> usize {
        self.left
    }

    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.left, "more bytes than room");
        if self.by_words(bytes.len()) {
            for (i, word) in bytes.chunks_exact(8).enumerate() {
                let word = u64::from_ne_bytes(word.try_into().expect("eight bytes"));
                // SAFETY: in bounds and aligned by the checks above.
                unsafe { self.word(i) }.store(word, Ordering::Relaxed);
            }
        } else {
            self.put_slow(bytes);
        }
        self.skip(bytes.len());
    }
}

impl Take for Foreign<'_> {
    #[inline(always)]
    fn left(&self) -> usize {
        self.left
    }

    #[inline(always)]
    fn take(&mut self, to: &mut [u8]) {
        assert!(to.len() <= self.left, "more bytes than are left");
        let len = to.len();
        if self.by_words(len) {
            for (i, bytes) in to.chunks_exact_mut(8).enumerate() {
                // SAFETY: in bounds and aligned by the checks above.
                let word = unsafe { self.word(i) }.load(Ordering::Relaxed);
                bytes.copy_from_slice(&word.to_ne_bytes());
            }
        } else {
            self.take_slow(to);
        }
        self.skip(len);
    }
}
