//! [`RawBytes`]: an address and a layout of the user's memory, which the transports copy from and to.

use std::ptr;

use oxmpi_wire::layout::ByteRun;
use oxmpi_wire::{Atomic, Bytes, Layout, Put, Take, Width};

use crate::atomic::perform;

/// Bytes of the user's memory, with their layout.
///
/// It is a plain address and borrows nothing. The caller of [`RawBytes::new`] guarantees that the memory
/// outlives every use; all further code is safe.
#[derive(Clone, Copy, Debug)]
pub struct RawBytes {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: an address and offsets; `RawBytes::new`'s contract holds for every thread.
unsafe impl Send for RawBytes {}

impl RawBytes {
    /// `len` bytes from `start`.
    ///
    /// # Safety
    /// Until the last use of this value or a copy of it, the range is initialised memory, valid for
    /// reading; valid for writing if a receive, a get or a peer's put or atomic goes there; and nobody else
    /// writes to it (or, when it is written to, reads it), except that words on which peers perform atomics
    /// may be accessed by atomic operations. `start` may be anything if `len` is 0.
    #[must_use]
    pub const unsafe fn new(start: *mut u8, len: usize) -> Self {
        Self {
            start,
            layout: Layout::contiguous(len as u64),
        }
    }

    /// The bytes of `layout`, whose offsets count from `start`.
    ///
    /// # Safety
    /// As [`RawBytes::new`], for every byte that the layout names; none is named twice if the bytes
    /// are written.
    #[must_use]
    pub const unsafe fn with_layout(start: *mut u8, layout: Layout) -> Self {
        Self { start, layout }
    }

    /// No bytes.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            start: ptr::dangling_mut(),
            layout: Layout::contiguous(0),
        }
    }

    /// Whether the bytes have gaps between them.
    #[inline(always)]
    #[must_use]
    pub const fn has_gaps(&self) -> bool {
        !self.layout.is_contiguous()
    }

    /// `times` blocks of `block` bytes, the first at byte `at`, their starts `stride` bytes apart. `None`
    /// if some lie outside of these bytes, or these bytes have gaps.
    #[must_use]
    pub fn part(&self, at: u64, block: u64, stride: i64, times: u32) -> Option<Self> {
        let layout = Layout::strided(block, stride, times)?;
        let span = layout.span();
        let low = i64::try_from(at).ok()?.checked_add(span.start)?;
        let high = i64::try_from(at).ok()?.checked_add(span.end)?;
        let inside = low >= 0 && high <= self.layout.len() as i64 && self.layout.is_contiguous();
        inside.then(|| Self {
            start: self.start.wrapping_add(at as usize),
            layout,
        })
    }

    /// The `len` bytes from byte `at` on. `None` if some lie outside of these bytes, or these bytes have gaps.
    #[inline]
    #[must_use]
    pub fn range(&self, at: u64, len: u64) -> Option<Self> {
        let whole = self.layout.len();
        let inside = at <= whole && len <= whole - at && self.layout.is_contiguous();
        inside.then(|| Self {
            start: self.start.wrapping_add(at as usize),
            layout: Layout::contiguous(len),
        })
    }

    /// The packed bytes `at..at + len` as contiguous ranges, in their order.
    ///
    /// # Panics
    /// In debug builds, if some lie outside of these bytes.
    pub fn pieces(&self, at: u64, len: u64) -> impl Iterator<Item = Self> + use<> {
        let Self { start, layout } = *self;
        layout.runs(at, len).map(move |run| Self {
            start: start.wrapping_offset(run.offset as isize),
            layout: Layout::contiguous(run.len),
        })
    }

    /// Copies `from` to these bytes, as many as both have. The result for overlapping ranges is unspecified.
    #[inline]
    pub fn copy_from(&self, from: &Self) {
        let len = self.layout.len().min(from.layout.len());
        if len > self.layout.first().min(from.layout.first()) {
            return self.copy_runs(from, len);
        }
        // SAFETY: as many bytes as the first blocks have, which are valid by the contract of `new`; they may
        // overlap.
        unsafe { ptr::copy(from.start, self.start, len as usize) };
    }

    /// Copies `len` bytes of `from` to these bytes, run by run. Both have at least `len`.
    fn copy_runs(&self, from: &Self, len: u64) {
        let mut source = from.layout.runs(0, len);
        let mut ahead = ByteRun { offset: 0, len: 0 };
        for mut run in self.layout.runs(0, len) {
            while run.len > 0 {
                if ahead.len == 0 {
                    ahead = match source.next() {
                        Some(next) => next,
                        None => return,
                    };
                }
                let len = run.len.min(ahead.len);
                // SAFETY: both runs are named by their layouts, so they are valid by the contract
                // of `new`; they may overlap.
                unsafe { ptr::copy(from.at(ahead), self.at(run), len as usize) };
                for part in [&mut run, &mut ahead] {
                    part.offset += len as i64;
                    part.len -= len;
                }
            }
        }
    }

    /// The address of a run.
    const fn at(&self, run: ByteRun) -> *mut u8 {
        self.start.wrapping_offset(run.offset as isize)
    }

    /// The address that offsets count from.
    #[must_use]
    pub const fn start(&self) -> *mut u8 {
        self.start
    }

    #[inline(always)]
    fn take_exact<const N: usize>(&self, at: usize, from: &mut impl Take) {
        let bytes = from.take_exact::<N>();
        // SAFETY: `at + N` is within the first block (checked by `fill`), and the range is writable by the
        // contract of `new`.
        unsafe {
            self.start
                .wrapping_add(at)
                .cast::<[u8; N]>()
                .write_unaligned(bytes)
        };
    }

    #[inline(always)]
    fn put_exact<const N: usize>(&self, at: usize, to: &mut impl Put) {
        // SAFETY: `at + N` is within the first block (checked by `drain`), and the range is readable by the
        // contract of `new`.
        let bytes = unsafe {
            self.start
                .wrapping_add(at)
                .cast::<[u8; N]>()
                .read_unaligned()
        };
        to.put_exact(bytes);
    }

    /// Fills bytes of the first block.
    #[inline(always)]
    fn take_whole(&self, at: usize, len: usize, from: &mut impl Take) {
        // SAFETY: `at + len` is within the first block (checked by `fill`); it is initialised,
        // writable and unshared by the contract of `new`.
        let to = unsafe { std::slice::from_raw_parts_mut(self.start.wrapping_add(at), len) };
        from.take(to);
    }

    /// Drains bytes of the first block.
    #[inline(always)]
    fn put_whole(&self, at: usize, len: usize, to: &mut impl Put) {
        // SAFETY: `at + len` is within the first block (checked by `drain`); it is initialised and
        // nobody writes it meanwhile by the contract of `new`.
        let bytes = unsafe { std::slice::from_raw_parts(self.start.wrapping_add(at), len) };
        to.put(bytes);
    }

    #[cold]
    #[inline(never)]
    fn take_runs(self, at: usize, len: usize, from: &mut impl Take) {
        // If `len` is 0, `at` may be beyond the end.
        if len == 0 {
            return;
        }
        for run in self.layout.runs(at as u64, len as u64) {
            // SAFETY: the layout names the run (`fill` checked `at + len`); it is initialised,
            // writable and unshared by the contract of `new`.
            let to = unsafe { std::slice::from_raw_parts_mut(self.at(run), run.len as usize) };
            from.take(to);
        }
    }

    #[cold]
    #[inline(never)]
    fn put_runs(self, at: usize, len: usize, to: &mut impl Put) {
        for run in self.layout.runs(at as u64, len as u64) {
            // SAFETY: the layout names the run (`drain` checked `at + len`); it is initialised and
            // nobody writes it meanwhile by the contract of `new`.
            let bytes = unsafe { std::slice::from_raw_parts(self.at(run), run.len as usize) };
            to.put(bytes);
        }
    }
}

impl Bytes for RawBytes {
    #[inline]
    fn len(&self) -> u64 {
        self.layout.len()
    }

    fn address(&self) -> Option<u64> {
        self.layout
            .is_contiguous()
            .then(|| self.start.expose_provenance() as u64)
    }

    #[inline(always)]
    fn word(&self) -> Option<u64> {
        let whole = self.layout.len() == 8 && self.layout.is_contiguous();
        // SAFETY: the first eight bytes lie side by side, readable by the contract of `new`.
        whole.then(|| unsafe { self.start.cast::<u64>().read_unaligned() })
    }

    #[inline(always)]
    fn fill_word(&self, word: u64) -> bool {
        let whole = self.layout.first() >= 8;
        if whole {
            // SAFETY: the first block has eight bytes, writable by the contract of `new`.
            unsafe { self.start.cast::<u64>().write_unaligned(word) };
        }
        whole
    }

    fn atomic(&self, at: u64, width: Width, atomic: Atomic) -> Option<u64> {
        let len = width.bytes();
        if at.checked_add(len)? > self.layout.len() {
            return None;
        }
        let run = self.layout.runs(at, len).next()?;
        let word = self.at(run);
        let whole = run.len == len && word.addr().is_multiple_of(len as usize);
        // SAFETY: the layout names the word, so it is readable and writable by the contract of `new`, which also
        // says that others access it by atomics only; it is aligned.
        whole.then(|| unsafe { perform(word, width, atomic) })
    }

    /// # Cost
    /// Multiples of 8 up to 48 bytes are inline moves, 8 is tested first; other lengths take one call.
    #[inline(always)]
    fn fill(&self, at: u64, from: &mut impl Take) {
        let room = self.layout.len().saturating_sub(at);
        let len = (from.left() as u64).min(room) as usize;
        let whole = at + len as u64 <= self.layout.first();
        let at = at as usize;
        if !whole {
            return self.take_runs(at, len, from);
        }
        match len {
            8 => self.take_exact::<8>(at, from),
            0 => {}
            _ if len < 9 => self.take_whole(at, len, from),
            16 => self.take_exact::<16>(at, from),
            24 => self.take_exact::<24>(at, from),
            32 => self.take_exact::<32>(at, from),
            40 => self.take_exact::<40>(at, from),
            48 => self.take_exact::<48>(at, from),
            _ => self.take_whole(at, len, from),
        }
    }

    /// # Cost
    /// Multiples of 8 up to 48 bytes are inline moves, 8 is tested first; other lengths take one call.
    #[inline(always)]
    fn drain(&self, at: u64, len: usize, to: &mut impl Put) {
        assert!(
            at <= self.layout.len() && len as u64 <= self.layout.len() - at,
            "drained beyond the end of the bytes"
        );
        let whole = at + len as u64 <= self.layout.first();
        let at = at as usize;
        if !whole {
            return self.put_runs(at, len, to);
        }
        match len {
            8 => self.put_exact::<8>(at, to),
            0 => {}
            _ if len < 9 => self.put_whole(at, len, to),
            16 => self.put_exact::<16>(at, to),
            24 => self.put_exact::<24>(at, to),
            32 => self.put_exact::<32>(at, to),
            40 => self.put_exact::<40>(at, to),
            48 => self.put_exact::<48>(at, to),
            _ => self.put_whole(at, len, to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pipe(Vec<u8>);

    impl Put for Pipe {
        fn room(&self) -> usize {
            usize::MAX
        }
        fn put(&mut self, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }
    }

    impl Take for Pipe {
        fn left(&self) -> usize {
            self.0.len()
        }
        fn take(&mut self, to: &mut [u8]) {
            to.copy_from_slice(&self.0[..to.len()]);
            self.0.drain(..to.len());
        }
    }

    #[test]
    fn every_small_length_at_every_offset() {
        let source: Vec<u8> = (1..=80).collect();
        for len in 0..=64usize {
            for at in 0..=16usize {
                let mut memory = source.clone();
                // SAFETY: the vector outlives the value and no other code accesses it.
                let bytes = unsafe { RawBytes::new(memory.as_mut_ptr(), memory.len()) };
                let mut pipe = Pipe(Vec::new());
                bytes.drain(at as u64, len, &mut pipe);
                assert_eq!(pipe.0, source[at..at + len]);
                pipe.0.reverse();
                bytes.fill(at as u64, &mut pipe);
                let mut expected = source.clone();
                expected[at..at + len].reverse();
                assert_eq!(memory, expected);
            }
        }
    }

    #[test]
    fn a_word_is_eight_bytes_side_by_side() {
        let mut memory = *b"abcdefghijklmnop";
        let start = memory.as_mut_ptr();
        let gaps = Layout::strided(4, 8, 2).unwrap();
        for (layout, reads, fills) in [
            (Layout::contiguous(8), true, true),
            (Layout::contiguous(9), false, true),
            (Layout::contiguous(7), false, false),
            (gaps, false, false),
            (Layout::strided(8, 12, 1).unwrap(), true, true),
        ] {
            // SAFETY: the array outlives the value and no other code accesses it.
            let bytes = unsafe { RawBytes::with_layout(start.wrapping_add(1), layout) };
            let here = u64::from_ne_bytes(memory[1..9].try_into().unwrap());
            assert_eq!(bytes.word(), reads.then_some(here), "{layout:?}");
            assert_eq!(bytes.fill_word(!here), fills, "{layout:?}");
            let after = if fills { !here } else { here };
            assert_eq!(memory[1..9], after.to_ne_bytes(), "{layout:?}");
            assert_eq!((memory[0], &memory[9..]), (b'a', &b"jklmnop"[..]));
        }
    }

    #[test]
    fn an_atomic_needs_an_aligned_word() {
        let mut memory = [7u64, 8, 9];
        let start: *mut u8 = memory.as_mut_ptr().cast();
        let gaps = Layout::strided(4, 8, 4).unwrap();
        for (layout, first, at, width, old) in [
            (Layout::contiguous(24), 0, 8, Width::Bits64, Some(8)),
            (Layout::contiguous(24), 0, 16, Width::Bits64, Some(9)),
            (Layout::contiguous(24), 0, 17, Width::Bits64, None),
            (Layout::contiguous(24), 0, 12, Width::Bits64, None),
            (Layout::contiguous(16), 4, 4, Width::Bits64, Some(8)),
            (Layout::contiguous(16), 4, 0, Width::Bits64, None),
            (Layout::contiguous(24), 0, u64::MAX, Width::Bits64, None),
            (gaps, 0, 4, Width::Bits32, Some(8)),
            (gaps, 0, 0, Width::Bits64, None),
        ] {
            // SAFETY: the array outlives the value and no other code accesses it.
            let bytes = unsafe { RawBytes::with_layout(start.wrapping_add(first), layout) };
            let found = bytes.atomic(at, width, Atomic::Add(0));
            let old = old.filter(|_| cfg!(target_endian = "little"));
            assert_eq!(found, old, "{layout:?} {at}");
        }
    }

    #[test]
    fn gaps_are_left_alone() {
        let mut memory: Vec<u8> = (0..40).collect();
        let layout = Layout::strided(4, 10, 4).unwrap();
        // SAFETY: the vector outlives the value and no other code accesses it.
        let column = unsafe { RawBytes::with_layout(memory.as_mut_ptr(), layout) };
        let mut pipe = Pipe(Vec::new());
        column.drain(2, 12, &mut pipe);
        assert_eq!(pipe.0, [2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31]);
        pipe.0 = vec![99; 8];
        column.fill(0, &mut pipe);
        assert_eq!(
            memory[..16],
            [99, 99, 99, 99, 4, 5, 6, 7, 8, 9, 99, 99, 99, 99, 14, 15]
        );
    }

    #[test]
    fn parts_and_copies() {
        let mut memory: Vec<u8> = (0..24).collect();
        // SAFETY: the vector outlives the value and no other code accesses it.
        let all = unsafe { RawBytes::new(memory.as_mut_ptr(), 24) };
        let odd = all.part(1, 1, 2, 4).unwrap();
        let far = all.part(20, 2, -6, 2).unwrap();
        assert!(all.part(20, 2, 6, 2).is_none() && all.part(0, 1, -1, 2).is_none());
        far.copy_from(&odd);
        assert_eq!(
            (memory[20], memory[21], memory[14], memory[15]),
            (1, 3, 5, 7)
        );
    }

    #[test]
    fn pieces_have_no_gaps() {
        let mut memory: Vec<u8> = (0..40).collect();
        let layout = Layout::strided(4, 10, 4).unwrap();
        // SAFETY: the vector outlives the value and no other code accesses it.
        let column = unsafe { RawBytes::with_layout(memory.as_mut_ptr(), layout) };
        let first = memory.as_ptr();
        let pieces = column.pieces(2, 9).map(|piece| {
            assert!(piece.address().is_some());
            (piece.start().addr() - first.addr(), piece.len())
        });
        assert_eq!(pieces.collect::<Vec<_>>(), [(2, 2), (10, 4), (20, 3)]);
    }

    #[test]
    fn what_does_not_fit_stays() {
        let mut memory = [0u8; 4];
        // SAFETY: the array outlives the value and no other code accesses it.
        let bytes = unsafe { RawBytes::new(memory.as_mut_ptr(), memory.len()) };
        let mut pipe = Pipe(vec![1, 2, 3, 4, 5, 6]);
        bytes.fill(1, &mut pipe);
        assert_eq!((memory, pipe.left()), ([0, 1, 2, 3], 3));
        let mut pipe = Pipe(vec![1]);
        bytes.fill(9, &mut pipe);
        assert_eq!(pipe.left(), 1);
    }

    #[test]
    #[should_panic(expected = "beyond the end")]
    fn draining_too_much_panics() {
        RawBytes::empty().drain(0, 1, &mut Pipe(Vec::new()));
    }
}
