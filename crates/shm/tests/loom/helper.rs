//! Models of the latch of an endpoint, and of the signal that wakes its helper thread.
//!
//! What the latch guards is a cell here, and the model checker reports any race on it.

use std::sync::atomic::Ordering;

use loom::thread;
use oxmpi_shm::ring::{Latch, SharedWords, SleepPlace, WorkSignal};

use crate::model::{Model, spawn_with};

/// The latch of an offered endpoint, and the endpoint that it guards: a counter.
fn offered() -> (Latch<Model>, Model) {
    let latch = Latch::new(Model::new(1, |_| true));
    latch.offer();
    (latch, Model::new(1, |_| true))
}

/// Adds one to the endpoint's counter, which the caller has.
fn add(counter: &Model) {
    counter.write(0, counter.read(0) + 1);
}

/// Passes of the helper, as many of two as it gets.
fn help((latch, counter): (Latch<Model>, Model)) -> u64 {
    let mut passes = 0;
    for _ in 0..2 {
        if latch.take() {
            add(&counter);
            passes += 1;
            latch.give_back();
        }
    }
    passes
}

/// An offered endpoint goes to the helper or to the next call, never to both, also during a pass.
#[test]
fn a_call_takes_an_offered_endpoint_back() {
    loom::model(|| {
        let shared = offered();
        let helping = spawn_with(shared.clone(), help);
        let (latch, counter) = shared;
        latch.lend(thread::yield_now);
        add(&counter);
        assert!(!latch.is_wanted() && !latch.take(), "this call has it");
        add(&counter);
        let passes = helping.join().unwrap();
        assert_eq!(counter.read(0), 2 + passes);
    });
}

/// A call that does not wait leaves the endpoint to a pass.
#[test]
fn a_call_may_leave_an_endpoint_to_a_pass() {
    loom::model(|| {
        let shared = offered();
        let helping = spawn_with(shared.clone(), help);
        let (latch, counter) = shared;
        let taken = latch.try_lend();
        if taken {
            add(&counter);
            latch.offer();
        }
        let passes = helping.join().unwrap();
        assert!(latch.try_lend());
        assert_eq!(counter.read(0), u64::from(taken) + passes);
    });
}

/// A call offers again what it took back, and the helper finds what the call has written.
#[test]
fn an_endpoint_is_offered_again() {
    loom::model(|| {
        let latch = Latch::new(Model::new(1, |_| true));
        let shared = (latch, Model::new(1, |_| true));
        let helping = spawn_with(shared.clone(), help);
        let (latch, counter) = shared;
        add(&counter);
        latch.offer();
        latch.lend(thread::yield_now);
        add(&counter);
        latch.offer();
        let passes = helping.join().unwrap();
        latch.lend(thread::yield_now);
        assert_eq!(counter.read(0), 2 + passes);
    });
}

/// The helper leaves an endpoint alone that has been left, and its memory may go.
#[test]
fn the_helper_takes_no_endpoint_that_was_left() {
    loom::model(|| {
        let shared = offered();
        let helping = spawn_with(shared.clone(), help);
        let (latch, counter) = shared;
        latch.lend(thread::yield_now);
        counter.write(0, 0);
        helping.join().unwrap();
        assert!(!latch.take());
    });
}

/// In a forked child, where the system has wiped the word, nothing is offered, in whatever state the parent was: no call
/// waits for a helper, which is not there.
#[test]
fn nothing_is_offered_in_a_forked_child() {
    loom::model(|| {
        let word = Model::new(1, |_| true);
        let latch = Latch::new(word.clone());
        latch.offer();
        assert!(latch.take());
        // SAFETY: the model has this word.
        unsafe { word.store(0, 0, Ordering::Relaxed) };
        assert!(!latch.is_wanted() && !latch.take() && !latch.try_lend());
    });
}

/// A helper sleeps over nothing that is announced, wherever it sleeps.
#[test]
fn no_work_is_slept_over() {
    for place in [SleepPlace::Signal, SleepPlace::Doorbell] {
        loom::model(move || {
            let signal = WorkSignal::new(Model::new(1, |_| true));
            let work = Model::new(2, |_| true);
            let announcing = spawn_with((signal.clone(), work.clone()), |(signal, work)| {
                // SAFETY: the model has this word.
                unsafe { work.store(0, 1, Ordering::Relaxed) };
                signal.announce()
            });
            let seen = signal.wake();
            // SAFETY: as above.
            let found = unsafe { work.load(0, Ordering::Relaxed) } != 0;
            let sleeps = signal.sleep(seen, place).is_some();
            let woken = announcing.join().unwrap();
            assert!(found || !sleeps || woken == Some(place));
            if let Some(at) = woken {
                assert!(sleeps && at == place);
            }
            // Awake again, it finds the work.
            let _ = signal.wake();
            // SAFETY: as above.
            assert_eq!(unsafe { work.load(0, Ordering::Relaxed) }, 1);
        });
    }
}

/// Whoever wakes a helper is the only one to do so, and what was published before an announcement is found.
#[test]
fn one_of_two_announcements_wakes() {
    loom::model(|| {
        let signal = WorkSignal::new(Model::new(1, |_| true));
        let seen = signal.wake();
        assert!(signal.sleep(seen, SleepPlace::Signal).is_some());
        let work = Model::new(1, |_| true);
        let announcing = spawn_with((signal.clone(), work.clone()), |(signal, work)| {
            work.write(0, 7);
            signal.announce()
        });
        let mine = signal.announce();
        let seen = signal.wake();
        if seen == seen_after(2) {
            assert_eq!(work.read(0), 7);
        }
        let other = announcing.join().unwrap();
        assert!(mine.is_some() != other.is_some());
        assert_eq!(signal.wake(), seen_after(2));
    });
}

/// The value of the word, awake, after so many announcements.
fn seen_after(count: u64) -> u64 {
    let signal = WorkSignal::new(Model::new(1, |_| true));
    for _ in 0..count {
        let _ = signal.announce();
    }
    signal.wake()
}
