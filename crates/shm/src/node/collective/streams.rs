//! Whether what a rank writes goes past the caches: learned from the time it takes.

use std::time::Instant;

/// From so many bytes on a write may go past the caches.
pub(super) const LEAST: usize = 2 << 10;

/// Writes of so many bytes are timed.
const TIMED: usize = 4 << 10;

/// Bytes in a nanosecond, from which on a write through the caches is fast.
const FAST: u128 = 10;

/// Writes past the caches between two that are tried through them.
const TRIED: u32 = 64;

/// Writes through the caches of which one is timed.
const LOOKED: u32 = 4;

/// How a rank writes cells that others read.
///
/// A line that a reader has in its cache is dear to take away: between two processors of a Zen 4 that
/// do not share a cache, 2 GB/s are written so, on two cores of one complex 7, and past the caches 30.
/// But where the readers have the same cache, since they take turns on one processor or theirs are two
/// threads of one core, 50 GB/s are written through it, and read again, while what went past it comes
/// back from memory at 12. Where processors lie is not told to guests, and changes; so now and then a
/// write is tried through the caches, and where that is fast, so are the next ones.
#[derive(Debug)]
pub(super) struct Streams {
    /// Whether writes go past the caches now.
    streams: bool,
    /// Writes until the next one that is timed.
    left: u32,
}

impl Streams {
    /// Past the caches at first.
    pub(super) const fn new() -> Self {
        Self {
            streams: true,
            left: TRIED,
        }
    }

    /// How the next write, of `len` bytes, goes.
    #[inline]
    pub(super) fn next(&mut self, len: usize) -> Way {
        if len < LEAST {
            return Way::Cached;
        }
        self.left = self.left.saturating_sub(1);
        if self.left == 0 && len >= TIMED {
            Way::Tried(Instant::now())
        } else if self.streams {
            Way::Streamed
        } else {
            Way::Cached
        }
    }

    /// A write of `len` bytes has been [tried](Way::Tried) through the caches.
    pub(super) fn tried(&mut self, start: Instant, len: usize) {
        self.learn(start.elapsed().as_nanos(), len);
    }

    fn learn(&mut self, nanoseconds: u128, len: usize) {
        self.streams = (len as u128) < nanoseconds * FAST;
        self.left = if self.streams { TRIED } else { LOOKED };
    }
}

/// How a write goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// Through the caches.
    Cached,
    /// So, and timed from now on.
    Tried(Instant),
    /// Past the caches.
    Streamed,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of `writes` writes, how many went past the caches, where through them so many bytes go in a
    /// nanosecond.
    fn streamed(streams: &mut Streams, writes: u32, speed: u128) -> u32 {
        let mut streamed = 0;
        for _ in 0..writes {
            match streams.next(16 << 10) {
                Way::Streamed => streamed += 1,
                Way::Tried(_) => streams.learn((16 << 10) / speed, 16 << 10),
                Way::Cached => {}
            }
        }
        streamed
    }

    #[test]
    fn the_faster_way_is_learned_and_kept() {
        let mut streams = Streams::new();
        assert!(streamed(&mut streams, 1000, 2) > 980);
        streamed(&mut streams, 2 * TRIED, 50);
        assert_eq!(streamed(&mut streams, 1000, 50), 0);
        streamed(&mut streams, 2 * LOOKED, 2);
        assert!(streamed(&mut streams, 1000, 7) > 980);
    }

    #[test]
    fn short_writes_are_not_timed() {
        let mut streams = Streams::new();
        for _ in 0..1000 {
            assert!(matches!(streams.next(LEAST - 1), Way::Cached));
            assert!(!matches!(streams.next(TIMED - 1), Way::Tried(_)));
        }
    }
}
