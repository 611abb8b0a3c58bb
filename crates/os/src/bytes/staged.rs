//! Bytes with gaps in and out of a transport, by way of a small buffer.
//!
//! A transport's [`Put`] and [`Take`] may cost a system call or a call of `memcpy` each, so short ranges are gathered
//! on the stack first; long ones are passed on as they are.

use oxmpi_wire::layout::Locate;
use oxmpi_wire::{Put, Take};

use super::RawBytes;

/// Length of the buffer for short messages, which are not to wait until a long one is cleared.
const SHORT: usize = 512;

/// Length of the buffer for others: a fraction of a first-level cache, so that it stays there.
const LONG: usize = 8 << 10;

/// Ranges shorter than this part of the buffer are copied into it: of 1 KiB for long messages, where cross-memory
/// attach takes as long for a range of its own as for its share of the buffer (Zen 5, November 2026).
const PART: usize = 8;

/// Most long ranges of a short message, and of others, that are passed on in one call.
const RANGES: [usize; 2] = [PART, crate::cma::MAX_RANGES];

impl RawBytes {
    #[cold]
    #[inline(never)]
    pub(super) fn put_runs(self, at: u64, len: u64, to: &mut impl Put) {
        match len <= SHORT as u64 {
            true => self.put_staged::<SHORT, { RANGES[0] }>(at, len, to),
            false => self.put_staged::<LONG, { RANGES[1] }>(at, len, to),
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn take_runs(self, at: u64, len: u64, from: &mut impl Take) {
        match len <= SHORT as u64 {
            true => self.take_staged::<SHORT, { RANGES[0] }>(at, len, from),
            false => self.take_staged::<LONG, { RANGES[1] }>(at, len, from),
        }
    }

    /// Puts the packed bytes `at..at + len`, which are there.
    fn put_staged<const N: usize, const RANGES: usize>(
        self,
        mut at: u64,
        len: u64,
        to: &mut impl Put,
    ) {
        let (end, mut stage) = (at + len, [0; N]);
        let mut ranges: [&[u8]; RANGES] = [&[]; RANGES];
        while at < end {
            let mut count = 0;
            while let Some((start, len)) = self.long_run::<N>(at, end)
                && let Some(range) = ranges.get_mut(count)
            {
                // SAFETY: the layout names the range; it is initialised and nobody writes it meanwhile by the
                // contract of `new`.
                *range = unsafe { std::slice::from_raw_parts(start, len) };
                at += len as u64;
                count += 1;
            }
            if count > 0 {
                to.put_each(&ranges[..count]);
                continue;
            }
            let stage = &mut stage[..N.min((end - at) as usize)];
            // SAFETY: the packed bytes are there by the caller's word, and the buffer is so long.
            unsafe { self.pack(at, stage.len() as u64, stage.as_mut_ptr()) };
            to.put(stage);
            at += stage.len() as u64;
        }
    }

    /// Fills the packed bytes `at..at + len`, which are there.
    fn take_staged<const N: usize, const RANGES: usize>(
        self,
        mut at: u64,
        len: u64,
        from: &mut impl Take,
    ) {
        let (end, mut stage) = (at + len, [0; N]);
        let mut ranges: [&mut [u8]; RANGES] = std::array::from_fn(|_| &mut [][..]);
        while at < end {
            let mut count = 0;
            while let Some((start, len)) = self.long_run::<N>(at, end)
                && let Some(range) = ranges.get_mut(count)
            {
                // SAFETY: the layout names the range; it is initialised, writable and unshared by the contract of
                // `new`.
                *range = unsafe { std::slice::from_raw_parts_mut(start, len) };
                at += len as u64;
                count += 1;
            }
            if count > 0 {
                from.take_each(&mut ranges[..count]);
                continue;
            }
            let stage = &mut stage[..N.min((end - at) as usize)];
            from.take(stage);
            // SAFETY: the packed bytes are there by the caller's word, and the buffer is so long.
            unsafe { self.unpack(at, stage.len() as u64, stage.as_ptr()) };
            at += stage.len() as u64;
        }
    }

    /// The address and length of the contiguous bytes from `at` on, up to `end`, if they are long enough to pass on
    /// without a copy.
    fn long_run<const N: usize>(&self, at: u64, end: u64) -> Option<(*mut u8, usize)> {
        if at == end {
            return None;
        }
        let runs = self.locate(at);
        let len = runs.len.min(end - at) as usize;
        let start = self.start.wrapping_offset(runs.offset as isize);
        (len >= N / PART).then_some((start, len))
    }
}
