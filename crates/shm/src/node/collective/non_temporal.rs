//! Whether what a rank writes goes past the caches: learned from the time it takes.

use std::time::{Duration, Instant};

/// From so many bytes on a write may go past the caches.
pub(super) const LEAST: usize = 2 << 10;

/// Writes of so many bytes are timed.
const TIMED: usize = 4 << 10;

/// A write through the caches may take so many times as long as one past them: what went past them is
/// read back from memory.
const WORTH: u64 = 3;

/// Timed writes, of which one goes the way that is not taken.
const TRIED: u32 = 16;

/// Writes of which one is timed.
const TIMED_ONE_IN: u32 = 4;

/// A write counts as so much of what is known of its way.
const NEW: u64 = 8;

/// Picoseconds a byte of most writes at most: the system may have run another process during a longer one, which counts
/// if the one before was as long.
const LONGEST: u64 = 2_000;

/// How a rank writes cells that others read.
///
/// A line that a reader has in its cache is dear to take away: between two processors of a Zen 4 that
/// do not share a cache, 2 GB/s are written so, on two cores of one complex 7, and past the caches 30.
/// But where the readers have the same cache, since they take turns on one processor or theirs are two
/// threads of one core, 50 GB/s are written through it, and read again, while what went past it comes
/// back from memory at 12. On a Cascade Lake both ways write alike, and what stays in its caches is read
/// far sooner. Where processors lie is not told to guests, and changes; so both ways are timed now and then. What only a
/// rank on the writer's own processor reads does not ask: it stays in the cache.
#[derive(Debug)]
pub(super) struct NonTemporalTrials {
    /// Picoseconds that a byte takes through the caches, and past them; 0: not tried yet.
    times: [u64; 2],
    /// Whether the last write was long, through the caches or past them.
    long: [bool; 2],
    writes: u32,
}

impl NonTemporalTrials {
    /// Nothing is known.
    pub(super) const fn new() -> Self {
        Self {
            times: [0; 2],
            long: [false; 2],
            writes: 0,
        }
    }

    /// How the next write, of `len` bytes, goes.
    #[inline]
    pub(super) fn next(&mut self, len: usize) -> BufferStore {
        if len < LEAST {
            return BufferStore::CACHED;
        }
        let [cached, streamed] = self.times;
        let streams = cached > streamed.saturating_mul(WORTH);
        self.writes = self.writes.wrapping_add(1);
        if len < TIMED || !self.writes.is_multiple_of(TIMED_ONE_IN) {
            return BufferStore {
                streams,
                start: None,
            };
        }
        let tries = (self.writes / TIMED_ONE_IN).is_multiple_of(TRIED);
        BufferStore {
            streams: streams != tries,
            start: Some(Instant::now()),
        }
    }

    /// A write of `len` bytes has gone this way.
    #[inline]
    pub(super) fn done(&mut self, way: BufferStore, len: usize) {
        if let Some(start) = way.start {
            self.learn(way.streams, len, start.elapsed());
        }
    }

    fn learn(&mut self, streamed: bool, len: usize, time: Duration) {
        let time = time.as_nanos().saturating_mul(1000) / len.max(1) as u128;
        let time = u64::try_from(time).unwrap_or(u64::MAX).max(1);
        let known = &mut self.times[usize::from(streamed)];
        let was_long = std::mem::replace(&mut self.long[usize::from(streamed)], time > LONGEST);
        if time > LONGEST && *known > 0 && !was_long {
            return;
        }
        *known = match *known {
            0 => time,
            known => known - known / NEW + time / NEW,
        };
    }
}

/// How a write goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferStore {
    /// Past the caches.
    pub(super) streams: bool,
    /// When it began, if it is timed.
    start: Option<Instant>,
}

impl BufferStore {
    /// PayloadPath the caches.
    pub(super) const CACHED: Self = Self {
        streams: false,
        start: None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of `writes` writes, how many went past the caches, where a KiB takes so many nanoseconds through them
    /// and past them.
    fn streamed(streams: &mut NonTemporalTrials, writes: u32, times: [u64; 2]) -> u32 {
        let mut streamed = 0;
        for _ in 0..writes {
            let way = streams.next(16 << 10);
            streamed += u32::from(way.streams);
            if way.start.is_some() {
                let time = 16 * times[usize::from(way.streams)];
                streams.learn(way.streams, 16 << 10, Duration::from_nanos(time));
            }
        }
        streamed
    }

    /// Far from each other, in one complex, in one cache; on a Cascade Lake.
    const FAR: [u64; 2] = [500, 33];
    const NEAR: [u64; 2] = [143, 33];
    const SAME: [u64; 2] = [20, 33];
    const CASCADE_LAKE: [u64; 2] = [150, 180];

    #[test]
    fn the_faster_way_is_learned_and_kept() {
        let mut streams = NonTemporalTrials::new();
        assert!(streamed(&mut streams, 1000, FAR) > 960);
        streamed(&mut streams, 1000, SAME);
        assert!(streamed(&mut streams, 1000, SAME) < 20);
        streamed(&mut streams, 1000, NEAR);
        assert!(streamed(&mut streams, 1000, NEAR) > 960);
        streamed(&mut streams, 1000, CASCADE_LAKE);
        assert!(streamed(&mut streams, 1000, CASCADE_LAKE) < 20);
    }

    #[test]
    fn a_write_during_which_others_ran_changes_little() {
        let mut streams = NonTemporalTrials::new();
        streamed(&mut streams, 1000, CASCADE_LAKE);
        streams.learn(false, 16 << 10, Duration::from_millis(10));
        assert!(streamed(&mut streams, 1000, CASCADE_LAKE) < 20);
    }

    /// Every other one of its lines was read last on the writer's own processor.
    #[test]
    fn lines_that_are_dear_now_and_then_are_dear() {
        let mut streams = NonTemporalTrials::new();
        let mut streamed = 0;
        for write in 0..1000 {
            let way = streams.next(16 << 10);
            streamed += u32::from(way.streams);
            if way.start.is_some() {
                let time = if way.streams {
                    40
                } else {
                    [70, 650][write / 4 % 2]
                };
                streams.learn(way.streams, 16 << 10, Duration::from_nanos(16 * time));
            }
        }
        assert!(streamed > 900, "{streamed}");
    }

    #[test]
    fn what_is_always_dear_is_learned() {
        for dear in [0, 1] {
            let mut times = [300; 2];
            times[dear] = 5_000;
            let mut streams = NonTemporalTrials::new();
            streamed(&mut streams, 1000, times);
            let past = streamed(&mut streams, 1000, times);
            assert!(if dear == 0 { past > 900 } else { past < 100 }, "{past}");
        }
    }

    #[test]
    fn short_writes_are_not_timed() {
        let mut streams = NonTemporalTrials::new();
        for _ in 0..1000 {
            assert!(!streams.next(LEAST - 1).streams);
            assert!(streams.next(TIMED - 1).start.is_none());
        }
    }
}
