//! Models of the log of memory events: loom runs every interleaving (`cargo xtask loom`).

#![cfg(oxmpi_loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU64, fence};
use loom::thread;
use oxmpi_verbs::{EventLog, LogReading, LogWords, LogWriter};
use std::sync::atomic::Ordering;

struct Words(Vec<AtomicU64>);

impl LogWords for Words {
    fn len(&self) -> usize {
        self.0.len()
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

/// An empty log of `ranges` ranges.
fn log(ranges: usize) -> Arc<EventLog<Words>> {
    let words = (0..=2 * ranges).map(|_| AtomicU64::new(0));
    Arc::new(EventLog::new(Words(words.collect())))
}

/// A thread whose event the kernel has handed out finds it in the log, or finds the writer busy.
#[test]
fn an_event_is_in_the_log_when_its_thread_goes_on() {
    loom::model(|| {
        let log = log(2);
        let mut position = log.end();
        // What the kernel does: the reader of the event wakes the thread that waits.
        let taken = Arc::new(AtomicBool::new(false));
        let writing = thread::spawn({
            let (log, taken) = (log.clone(), taken.clone());
            move || {
                let mut writer = LogWriter::new();
                writer.begin(&log);
                taken.store(true, Ordering::Release);
                writer.push(&log, 5..6);
                writer.finish(&log);
            }
        });
        if taken.load(Ordering::Acquire) {
            let mut got = Vec::new();
            match log.read(&mut position, |range| got.push(range)) {
                LogReading::Busy => assert!(got.is_empty()),
                LogReading::Current => assert_eq!(got, [5..6]),
                LogReading::Overflowed => panic!("one range fits"),
            }
        }
        writing.join().unwrap();
        let mut got = Vec::new();
        assert_eq!(
            log.read(&mut position, |range| got.push(range)),
            LogReading::Current
        );
    });
}

/// A reader that the writer overtakes takes no range for what it is not, and misses none unnoticed.
#[test]
fn a_reader_that_is_overtaken_learns_it() {
    loom::model(|| {
        let log = log(1);
        let mut position = log.end();
        let writing = thread::spawn({
            let log = log.clone();
            move || {
                let mut writer = LogWriter::new();
                for range in [1..2, 3..4] {
                    writer.begin(&log);
                    writer.push(&log, range);
                    writer.finish(&log);
                }
            }
        });
        let mut known = Vec::new();
        let mut is_complete = true;
        let mut read = || {
            let mut got = Vec::new();
            match log.read(&mut position, |range| got.push(range)) {
                LogReading::Current => known.extend(got),
                LogReading::Overflowed => is_complete = false,
                LogReading::Busy => {}
            }
        };
        read();
        writing.join().unwrap();
        read();
        assert!(
            known
                .iter()
                .all(|range| *range == (1..2) || *range == (3..4)),
            "{known:?}"
        );
        assert!(!is_complete || known == [1..2, 3..4], "{known:?}");
    });
}
