//! A user's bytes as the transports move them: [`RawBytes`].

use oxmpi_wire::{Bytes, Put, Take};

/// A contiguous range of the user's memory.
///
/// A plain address and length: it borrows nothing. Who makes it promises that the memory outlives
/// every use; what moves through it afterwards is safe code.
#[derive(Clone, Copy, Debug)]
pub struct RawBytes {
    start: *mut u8,
    len: usize,
}

// SAFETY: an address and a length; `RawBytes::new`'s contract holds for every thread.
unsafe impl Send for RawBytes {}

impl RawBytes {
    /// `len` bytes from `start`.
    ///
    /// # Safety
    /// Until the last use of this value or a copy of it, the range is initialised memory, valid for
    /// reading; valid for writing if a receive, a get or a peer's put goes there; and nobody else
    /// writes to it (or, when it is written to, reads it). `start` may be anything if `len` is 0.
    #[must_use]
    pub const unsafe fn new(start: *mut u8, len: usize) -> Self {
        Self { start, len }
    }

    /// No bytes.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            start: std::ptr::dangling_mut(),
            len: 0,
        }
    }

    /// First byte.
    #[must_use]
    pub const fn start(&self) -> *mut u8 {
        self.start
    }

    #[inline(always)]
    fn take_exact<const N: usize>(&self, at: usize, from: &mut impl Take) {
        let mut bytes = [0; N];
        from.take(&mut bytes);
        // SAFETY: `at + N` is within `len` (checked by `fill`), and the range is writable by the
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
        // SAFETY: `at + N` is within `len` (checked by `drain`), and the range is readable by the
        // contract of `new`.
        let bytes = unsafe {
            self.start
                .wrapping_add(at)
                .cast::<[u8; N]>()
                .read_unaligned()
        };
        to.put(&bytes);
    }

    #[cold]
    #[inline(never)]
    fn take_slow(&self, at: usize, len: usize, from: &mut impl Take) {
        // SAFETY: `at + len` is within `self.len` (checked by `fill`); the range is initialised,
        // writable and unshared by the contract of `new`.
        let to = unsafe { std::slice::from_raw_parts_mut(self.start.wrapping_add(at), len) };
        from.take(to);
    }

    #[cold]
    #[inline(never)]
    fn put_slow(&self, at: usize, len: usize, to: &mut impl Put) {
        // SAFETY: `at + len` is within `self.len` (checked by `drain`); the range is initialised
        // and nobody writes it meanwhile by the contract of `new`.
        let bytes = unsafe { std::slice::from_raw_parts(self.start.wrapping_add(at), len) };
        to.put(bytes);
    }
}

impl Bytes for RawBytes {
    #[inline]
    fn len(&self) -> u64 {
        self.len as u64
    }

    /// # Cost
    /// The multiples of 8 up to 48 bytes are plain moves inline; the rest is one call.
    #[inline(always)]
    fn fill(&self, at: u64, from: &mut impl Take) {
        let room = (self.len as u64).saturating_sub(at);
        let len = (from.left() as u64).min(room) as usize;
        let at = at as usize;
        match len {
            0 => {}
            8 => self.take_exact::<8>(at, from),
            16 => self.take_exact::<16>(at, from),
            24 => self.take_exact::<24>(at, from),
            32 => self.take_exact::<32>(at, from),
            40 => self.take_exact::<40>(at, from),
            48 => self.take_exact::<48>(at, from),
            _ => self.take_slow(at, len, from),
        }
    }

    /// # Cost
    /// The multiples of 8 up to 48 bytes are plain moves inline; the rest is one call.
    #[inline(always)]
    fn drain(&self, at: u64, len: usize, to: &mut impl Put) {
        assert!(
            at <= self.len as u64 && len as u64 <= self.len as u64 - at,
            "drained beyond the end of the bytes"
        );
        let at = at as usize;
        match len {
            0 => {}
            8 => self.put_exact::<8>(at, to),
            16 => self.put_exact::<16>(at, to),
            24 => self.put_exact::<24>(at, to),
            32 => self.put_exact::<32>(at, to),
            40 => self.put_exact::<40>(at, to),
            48 => self.put_exact::<48>(at, to),
            _ => self.put_slow(at, len, to),
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
                // SAFETY: the vector outlives the value and nobody else touches it.
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
    fn what_does_not_fit_stays() {
        let mut memory = [0u8; 4];
        // SAFETY: the array outlives the value and nobody else touches it.
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
