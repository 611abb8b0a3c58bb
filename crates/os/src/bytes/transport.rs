//! [`RawBytes`] as the engine and transports use them.

use oxmpi_wire::layout::{Locate, StridedRuns};
use oxmpi_wire::{Atomic, Bytes, Put, Take, Width};

use super::RawBytes;
use crate::atomic::perform;

impl RawBytes {
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
}

impl Bytes for RawBytes {
    #[inline]
    fn len(&self) -> u64 {
        self.len
    }

    fn address(&self) -> Option<u64> {
        (!self.has_gaps()).then(|| self.start.expose_provenance() as u64)
    }

    fn strided(&self) -> Option<(u64, StridedRuns)> {
        if self.len == 0 {
            return None;
        }
        let runs = self.locate(0);
        let start = self.start.wrapping_offset(runs.offset as isize);
        let all = runs.times.saturating_mul(runs.len) >= self.len;
        all.then(|| {
            (
                start.expose_provenance() as u64,
                StridedRuns { offset: 0, ..runs },
            )
        })
    }

    #[inline(always)]
    fn word(&self) -> Option<u64> {
        let whole = self.len == 8 && !self.has_gaps();
        // SAFETY: the first eight bytes lie side by side, readable by the contract of `new`.
        whole.then(|| unsafe { self.start.cast::<u64>().read_unaligned() })
    }

    #[inline(always)]
    fn fill_word(&self, word: u64) -> bool {
        let whole = self.first >= 8;
        if whole {
            // SAFETY: the first block has eight bytes, writable by the contract of `new`.
            unsafe { self.start.cast::<u64>().write_unaligned(word) };
        }
        whole
    }

    fn atomic(&self, at: u64, width: Width, atomic: Atomic) -> Option<u64> {
        let len = width.bytes();
        if at.checked_add(len)? > self.len {
            return None;
        }
        let run = self.pieces(at, len).next()?;
        let whole = run.len == len && run.start.addr().is_multiple_of(len as usize);
        // SAFETY: the layout names the word, so it is readable and writable by the contract of `new`, which also
        // says that others access it by atomics only; it is aligned.
        whole.then(|| unsafe { perform(run.start, width, atomic) })
    }

    /// # Cost
    /// Multiples of 8 up to 48 bytes are inline moves, 8 is tested first; other lengths take one call.
    #[inline(always)]
    fn fill(&self, at: u64, from: &mut impl Take) {
        let room = self.len.saturating_sub(at);
        let len = (from.left() as u64).min(room) as usize;
        // If `len` is 0, `at` may be beyond the end.
        let whole = (at + len as u64) as i64 <= self.first;
        if !whole {
            return self.take_runs(at, len as u64, from);
        }
        let at = at as usize;
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
            at <= self.len && len as u64 <= self.len - at,
            "drained beyond the end of the bytes"
        );
        let whole = (at + len as u64) as i64 <= self.first;
        if !whole {
            return self.put_runs(at, len as u64, to);
        }
        let at = at as usize;
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
