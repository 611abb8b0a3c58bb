//! Whether a rank writes bounce buffers past the caches, learned from the time of its writes: [`NonTemporalTrials`].

use std::time::{Duration, Instant};

use oxmpi_wire::trials::{Estimate, Policy, Schedule, per_byte};

use super::catalog::BUFFERS_NT;

/// A cached write may take this many times as long as a non-temporal one, whose bytes the reader fetches from memory.
const WORTH: u64 = 3;

/// One in this many timed writes tries the other kind of write.
const TRIED_ONE_IN: u64 = 16;

/// One in this many writes is timed.
const TIMED_ONE_IN: u64 = 4;

/// A sample counts as one part in eight.
const AVERAGE: Policy = Policy::Average {
    first: 1,
    weight: 8,
    clamp: u64::MAX,
};

/// Picoseconds a byte above which a sample counts only if the one before was as long: the system may have run another
/// process meanwhile.
const LONGEST: u64 = 2_000;

/// Units of cost in a nanosecond: costs are picoseconds per byte.
const UNIT: u64 = 1_000;

/// The costs of cached and of non-temporal writes to buffers that other ranks read.
///
/// Writing a line that a reader has cached is expensive: between two Zen 4 processors without a common cache 2 GB/s, on two
/// cores of one complex 7, non-temporal 30. Where reader and writer share a cache, cached writes reach 50 GB/s, and
/// non-temporal bytes come back from memory at 12. On Cascade Lake both write alike, and cached bytes are read far sooner.
/// Virtual machines do not know where processors lie, and that changes; so both ways are timed now and then. A buffer that
/// only a rank on the writer's own processor reads is always written through the cache.
#[derive(Debug)]
pub(super) struct NonTemporalTrials {
    /// Picoseconds a byte, cached and non-temporal.
    costs: [Estimate; 2],
    /// Whether the last sample was above [`LONGEST`], cached and non-temporal.
    was_long: [bool; 2],
    schedule: Schedule,
}

impl NonTemporalTrials {
    /// No write yet.
    pub(super) const fn new() -> Self {
        Self {
            costs: [Estimate::NEW; 2],
            was_long: [false; 2],
            schedule: Schedule::NEW,
        }
    }

    /// How the next write, of `len` bytes, goes.
    #[inline]
    pub(super) fn next(&mut self, len: usize) -> BufferStore {
        if len < BUFFERS_NT.from {
            return BufferStore::CACHED;
        }
        let [cached, non_temporal] = [self.costs[0].cost(), self.costs[1].cost()];
        let non_temporal = cached > non_temporal.saturating_mul(WORTH);
        match self.schedule.count(TIMED_ONE_IN) {
            Some(sample) if len >= BUFFERS_NT.timed_from => BufferStore {
                non_temporal: non_temporal != sample.is_multiple_of(TRIED_ONE_IN),
                start: Some(Instant::now()),
            },
            _ => BufferStore {
                non_temporal,
                start: None,
            },
        }
    }

    /// Ends a write of `len` bytes, and learns from its time if it was timed.
    #[inline]
    pub(super) fn done(&mut self, store: BufferStore, len: usize) {
        if let Some(start) = store.start {
            self.learn(store.non_temporal, len, start.elapsed());
        }
    }

    fn learn(&mut self, non_temporal: bool, len: usize, time: Duration) {
        let cost = per_byte(time, len as u64, UNIT);
        let known = &mut self.costs[usize::from(non_temporal)];
        let was_long = &mut self.was_long[usize::from(non_temporal)];
        let was_long = std::mem::replace(was_long, cost > LONGEST);
        if cost <= LONGEST || known.cost() == 0 || was_long {
            known.learn(AVERAGE, cost);
        }
    }
}

/// How a write goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferStore {
    /// Whether it bypasses the caches.
    pub(super) non_temporal: bool,
    /// When it began, if it is timed.
    start: Option<Instant>,
}

impl BufferStore {
    /// A write through the caches, not timed.
    pub(super) const CACHED: Self = Self {
        non_temporal: false,
        start: None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of `writes` writes, how many were non-temporal, where a KiB takes `times` nanoseconds cached and non-temporal.
    fn non_temporal(trials: &mut NonTemporalTrials, writes: u32, times: [u64; 2]) -> u32 {
        let mut count = 0;
        for _ in 0..writes {
            let store = trials.next(16 << 10);
            count += u32::from(store.non_temporal);
            if store.start.is_some() {
                let time = 16 * times[usize::from(store.non_temporal)];
                trials.learn(store.non_temporal, 16 << 10, Duration::from_nanos(time));
            }
        }
        count
    }

    /// Far processors, cores of one complex, one cache; Cascade Lake.
    const FAR: [u64; 2] = [500, 33];
    const NEAR: [u64; 2] = [143, 33];
    const SAME: [u64; 2] = [20, 33];
    const CASCADE_LAKE: [u64; 2] = [150, 180];

    #[test]
    fn the_faster_copy_is_learned_and_kept() {
        let mut trials = NonTemporalTrials::new();
        assert!(non_temporal(&mut trials, 1000, FAR) > 960);
        non_temporal(&mut trials, 1000, SAME);
        assert!(non_temporal(&mut trials, 1000, SAME) < 20);
        non_temporal(&mut trials, 1000, NEAR);
        assert!(non_temporal(&mut trials, 1000, NEAR) > 960);
        non_temporal(&mut trials, 1000, CASCADE_LAKE);
        assert!(non_temporal(&mut trials, 1000, CASCADE_LAKE) < 20);
    }

    #[test]
    fn a_write_during_which_others_ran_changes_little() {
        let mut trials = NonTemporalTrials::new();
        non_temporal(&mut trials, 1000, CASCADE_LAKE);
        trials.learn(false, 16 << 10, Duration::from_millis(10));
        assert!(non_temporal(&mut trials, 1000, CASCADE_LAKE) < 20);
    }

    /// Every other timed write finds its lines on the writer's own processor.
    #[test]
    fn writes_that_are_slow_now_and_then_count_as_slow() {
        let mut trials = NonTemporalTrials::new();
        let mut count = 0;
        for write in 0..1000 {
            let store = trials.next(16 << 10);
            count += u32::from(store.non_temporal);
            if store.start.is_some() {
                let time = if store.non_temporal {
                    40
                } else {
                    [70, 650][write / 4 % 2]
                };
                trials.learn(
                    store.non_temporal,
                    16 << 10,
                    Duration::from_nanos(16 * time),
                );
            }
        }
        assert!(count > 900, "{count}");
    }

    #[test]
    fn a_copy_that_is_always_slow_is_learned() {
        for slow in [0, 1] {
            let mut times = [300; 2];
            times[slow] = 5_000;
            let mut trials = NonTemporalTrials::new();
            non_temporal(&mut trials, 1000, times);
            let count = non_temporal(&mut trials, 1000, times);
            assert!(if slow == 0 { count > 900 } else { count < 100 }, "{count}");
        }
    }

    #[test]
    fn short_writes_are_not_timed() {
        let mut trials = NonTemporalTrials::new();
        for _ in 0..1000 {
            assert!(!trials.next(BUFFERS_NT.from - 1).non_temporal);
            assert!(trials.next(BUFFERS_NT.timed_from - 1).start.is_none());
        }
    }
}
