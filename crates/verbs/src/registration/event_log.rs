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

/// The only writer of a log, which knows what it has written.
#[derive(Debug, Default)]
pub struct LogWriter {
    state: u64,
}

impl LogWriter {
    /// The writer of a log that is empty.
    #[must_use]
    pub const fn new() -> Self {
        Self { state: 0 }
    }

    /// Says that events may happen, of which the log does not know. Call it before you read events: a thread that
    /// waits until its event is read goes on after that.
    pub fn begin<W: LogWords>(&mut self, log: &EventLog<W>) {
        self.state |= 1;
        // The kernel orders this store before what the thread does next whose event is read.
        log.words.store(STATE, self.state, Ordering::Relaxed);
    }

    /// Writes a range, after [`begin`](Self::begin).
    pub fn push<W: LogWords>(&mut self, log: &EventLog<W>, range: Range<u64>) {
        let [start, end] = log.words_of(self.state >> 1);
        self.state += 2;
        // Counted first, so that a reader of the range that was here finds that it is too slow.
        log.words.store(STATE, self.state, Ordering::Relaxed);
        log.words.fence(Ordering::Release);
        log.words.store(start, range.start, Ordering::Relaxed);
        log.words.store(end, range.end, Ordering::Relaxed);
    }

    /// Says that the log has all events that happened.
    pub fn finish<W: LogWords>(&mut self, log: &EventLog<W>) {
        self.state &= !1;
        log.words.store(STATE, self.state, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_once_and_in_order() {
        let log = EventLog::new(LogMemory::<7>::new());
        let mut writer = LogWriter::new();
        let (mut one, mut other) = (log.end(), log.end());
        let mut got = Vec::new();
        writer.begin(&log);
        writer.push(&log, 1..2);
        writer.push(&log, 3..4);
        assert_eq!(
            log.read(&mut one, |range| got.push(range)),
            LogReading::Busy
        );
        writer.finish(&log);
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
        writer.begin(&log);
        writer.push(&log, 5..6);
        writer.push(&log, 7..8);
        writer.finish(&log);
        assert_eq!(log.read(&mut other, |_| ()), LogReading::Overflowed);
        assert_eq!(
            log.read(&mut other, |_| panic!("reported")),
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
