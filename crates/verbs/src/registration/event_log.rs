//! [`EventLog`]: what became of memory, from the thread that learns it to everybody who caches registrations.
//!
//! A ring of the last ranges that one thread writes and any number of others read, each from where it has stopped. It
//! never waits and never allocates: a reader that is too slow finds that it has missed something, and forgets all it
//! knows.
//!
//! ```text
//!  the writer                                    a thread that unmaps     a reader
//!  begin: "busy"                                 munmap
//!  read the event from the kernel  ----------->  returns       ------->  busy: ask again
//!  push, finish                                                           the range is void
//! ```

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// The words of an [`EventLog`]: in programs those of [`LogMemory`], in models those of the model checker.
pub trait LogWords {
    /// Number of words.
    fn len(&self) -> usize;
    /// Loads a word.
    fn load(&self, at: usize, order: Ordering) -> u64;
    /// Stores a word.
    fn store(&self, at: usize, value: u64, order: Ordering);
    /// A fence between accesses to them.
    fn fence(&self, order: Ordering);

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Words of this process.
#[derive(Debug)]
pub struct LogMemory<const LEN: usize>([AtomicU64; LEN]);

impl<const LEN: usize> LogMemory<LEN> {
    /// Words that are 0.
    #[must_use]
    pub const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; LEN])
    }
}

impl<const LEN: usize> Default for LogMemory<LEN> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const LEN: usize> LogWords for LogMemory<LEN> {
    fn len(&self) -> usize {
        LEN
    }

    fn load(&self, at: usize, order: Ordering) -> u64 {
        self.0[at].load(order)
    }

    fn store(&self, at: usize, value: u64, order: Ordering) {
        self.0[at].store(value, order);
    }

    fn fence(&self, order: Ordering) {
        fence(order);
    }
}

/// The word that counts the ranges written, or being written, in all its bits but the lowest, which says that the
/// writer is busy.
const STATE: usize = 0;

/// The last ranges of memory that have become void.
#[derive(Debug)]
pub struct EventLog<W> {
    words: W,
}

/// How far a reader has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogPosition(u64);

/// What a reader has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogReading {
    /// All ranges up to now.
    Current,
    /// Some ranges are lost, and others may be wrong: any memory may be void.
    Overflowed,
    /// The writer is reading events, of which some may have happened: ask again.
    Busy,
}

impl<W: LogWords> EventLog<W> {
    /// An empty log in `words`, which are 0: one, and two for each range.
    ///
    /// # Panics
    /// If they have no room for a range.
    pub fn new(words: W) -> Self {
        assert!(words.len() >= 3, "a word of state and a range of two");
        Self { words }
    }

    /// The number of ranges that the log holds.
    fn room(&self) -> u64 {
        (self.words.len() as u64 - 1) / 2
    }

    /// The words of range `number`.
    fn words_of(&self, number: u64) -> [usize; 2] {
        let first = 1 + 2 * (number % self.room()) as usize;
        [first, first + 1]
    }

    /// Says that events may happen, of which the log does not know. Only the writer calls it, before it reads events:
    /// a thread that waits until its event is read goes on after that.
    pub fn begin(&self) {
        let state = self.words.load(STATE, Ordering::Relaxed);
        // The kernel orders this store before what the thread does next whose event is read.
        self.words.store(STATE, state | 1, Ordering::Relaxed);
    }

    /// Writes a range. Only the writer calls it, after [`begin`](Self::begin).
    pub fn push(&self, range: Range<u64>) {
        let state = self.words.load(STATE, Ordering::Relaxed);
        let [start, end] = self.words_of(state >> 1);
        // Counted first, so that a reader of the range that was here finds that it is too slow.
        self.words.store(STATE, state + 2, Ordering::Relaxed);
        self.words.fence(Ordering::Release);
        self.words.store(start, range.start, Ordering::Relaxed);
        self.words.store(end, range.end, Ordering::Relaxed);
    }

    /// Says that the log has all events that happened. Only the writer calls it.
    pub fn finish(&self) {
        let state = self.words.load(STATE, Ordering::Relaxed);
        self.words.store(STATE, state & !1, Ordering::Release);
    }

    /// Where the log ends now: a reader that begins here knows of no memory yet.
    pub fn end(&self) -> LogPosition {
        LogPosition(self.words.load(STATE, Ordering::Relaxed) >> 1)
    }

    /// Gives the ranges since `from` to `void`, and moves `from` behind them.
    ///
    /// # Cost
    /// Two loads where there are none.
    pub fn read(&self, from: &mut LogPosition, mut void: impl FnMut(Range<u64>)) -> LogReading {
        let state = self.words.load(STATE, Ordering::Acquire);
        if state & 1 == 1 {
            return LogReading::Busy;
        }
        let (first, end) = (from.0, state >> 1);
        from.0 = end;
        if end - first > self.room() {
            return LogReading::Overflowed;
        }
        for number in first..end {
            let [start, end] = self.words_of(number);
            let [start, end] = [start, end].map(|at| self.words.load(at, Ordering::Relaxed));
            void(start..end);
        }
        // What was read is right unless the writer has begun to write over it.
        self.words.fence(Ordering::Acquire);
        let written = self.words.load(STATE, Ordering::Relaxed) >> 1;
        match written - first > self.room() {
            true => LogReading::Overflowed,
            false => LogReading::Current,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_once_and_in_order() {
        let log = EventLog::new(LogMemory::<7>::new());
        let (mut one, mut other) = (log.end(), log.end());
        let mut got = Vec::new();
        log.begin();
        log.push(1..2);
        log.push(3..4);
        assert_eq!(
            log.read(&mut one, |range| got.push(range)),
            LogReading::Busy
        );
        log.finish();
        assert_eq!(
            log.read(&mut one, |range| got.push(range)),
            LogReading::Current
        );
        assert_eq!(got, [1..2, 3..4]);
        assert_eq!(
            log.read(&mut one, |_| panic!("read before")),
            LogReading::Current
        );
        // A reader that sleeps while the ring goes round has missed something.
        log.begin();
        log.push(5..6);
        log.push(7..8);
        log.finish();
        assert_eq!(log.read(&mut other, |_| ()), LogReading::Overflowed);
        assert_eq!(
            log.read(&mut other, |_| panic!("told")),
            LogReading::Current
        );
        got.clear();
        assert_eq!(
            log.read(&mut one, |range| got.push(range)),
            LogReading::Current
        );
        assert_eq!(got, [5..6, 7..8]);
    }
}
