//! Models of the locks of windows; see `rings.rs` for how models work.

use crate::model::{Model, spawn_with};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;
use oxmpi_shm::ring::{AttachedMemory, LockKind, NotAttached, STRIDE, WindowLocks};

type Locks = WindowLocks<Model>;

/// The word whose plain value the lock protects.
const VALUE: usize = STRIDE;

fn locks() -> (Locks, Model) {
    let words = Model::new(Locks::words(1), |at| at <= STRIDE);
    (Locks::new(words.clone()), words)
}

fn lock(locks: &Locks, kind: LockKind) {
    let ticket = locks.ticket();
    while !locks.is_granted(ticket, kind) {
        thread::yield_now();
    }
}

/// Adds to the value under the lock.
fn add(locks: &Locks, words: &Model) {
    lock(locks, LockKind::Exclusive);
    words.write(VALUE, words.read(VALUE) + 1);
    locks.release(LockKind::Exclusive, drop);
}

#[test]
fn a_writer_is_alone() {
    loom::model(|| {
        let both = locks();
        let other = spawn_with(both.clone(), |(locks, words)| add(&locks, &words));
        add(&both.0, &both.1);
        other.join().unwrap();
        lock(&both.0, LockKind::Shared);
        assert_eq!(both.1.read(VALUE), 2);
    });
}

#[test]
fn readers_see_what_a_writer_left() {
    loom::model(|| {
        let both = locks();
        let other = spawn_with(both.clone(), |(locks, words)| add(&locks, &words));
        lock(&both.0, LockKind::Shared);
        let first = both.1.read(VALUE);
        assert_eq!(both.1.read(VALUE), first, "the writer waits");
        both.0.release(LockKind::Shared, drop);
        other.join().unwrap();
    });
}

#[test]
fn tickets_are_served_in_their_order() {
    loom::model(|| {
        let (locks, _) = locks();
        let [reader, writer, later] = [(); 3].map(|()| locks.ticket());
        assert!(locks.is_granted(reader, LockKind::Shared));
        assert!(!locks.is_granted(writer, LockKind::Exclusive));
        assert!(
            !locks.is_granted(later, LockKind::Shared),
            "a writer is before it"
        );
        locks.release(LockKind::Shared, drop);
        assert!(locks.is_granted(writer, LockKind::Exclusive));
        assert!(!locks.is_granted(later, LockKind::Shared));
        locks.release(LockKind::Exclusive, drop);
        assert!(locks.is_granted(later, LockKind::Shared));
    });
}

/// Who would sleep is woken.
#[test]
fn a_release_is_not_slept_over() {
    loom::model(|| {
        let (locks, _) = locks();
        let ticket = locks.ticket();
        assert!(locks.is_granted(ticket, LockKind::Exclusive));
        let waiter = spawn_with(locks.clone(), |locks| {
            let ticket = locks.ticket();
            locks.wait(70);
            locks.is_granted(ticket, LockKind::Exclusive)
        });
        let mut woken = Vec::new();
        locks.release(LockKind::Exclusive, |rank| woken.push(rank));
        let granted = waiter.join().unwrap();
        assert!(granted || woken == [70], "{woken:?}");
    });
}

/// Ranks of one group wait while it is taken.
#[test]
fn none_of_those_who_wait_is_forgotten() {
    loom::model(|| {
        let (locks, _) = locks();
        assert!(locks.is_granted(locks.ticket(), LockKind::Exclusive));
        locks.wait(71);
        let waiter = spawn_with(locks.clone(), |locks| locks.wait(70));
        let mut woken = Vec::new();
        locks.release(LockKind::Exclusive, |rank| woken.push(rank));
        waiter.join().unwrap();
        locks.release(LockKind::Shared, |rank| woken.push(rank));
        woken.sort_unstable();
        assert_eq!(woken, [70, 71]);
    });
}

#[test]
fn a_block_is_one_ranks() {
    loom::model(|| {
        let both = locks();
        let add = |locks: &Locks, words: &Model, rank| {
            while let Err(holder) = locks.lock_block(0, rank) {
                assert_eq!(holder, 1 - rank);
                thread::yield_now();
            }
            words.write(VALUE, words.read(VALUE) + 1);
            locks.unlock_block(0);
        };
        let other = spawn_with(both.clone(), move |(locks, words)| add(&locks, &words, 1));
        add(&both.0, &both.1, 0);
        other.join().unwrap();
    });
}

type Attached = AttachedMemory<Model>;

/// A range stays found, whatever happens to the others, and a new one is found by whoever has learnt of it.
#[test]
fn a_range_is_found_beside_others_that_change() {
    loom::model(|| {
        let words = Model::new(Attached::words(2), |_| true);
        let ranges = Attached::new(words);
        ranges.attach(64, 8).unwrap();
        ranges.attach(100, 8).unwrap();
        let learnt = Arc::new(AtomicBool::new(false));
        let (other, knows) = (ranges.clone(), Arc::clone(&learnt));
        let reader = thread::spawn(move || {
            assert_eq!(other.find(104, 0), Some((1, 4)));
            if knows.load(Ordering::Acquire) {
                assert!(other.find(16, 1).is_some() && other.find(64, 0).is_none());
            }
        });
        assert!(ranges.detach(64));
        ranges.attach(16, 4).unwrap();
        learnt.store(true, Ordering::Release);
        reader.join().unwrap();
    });
}

#[test]
fn ranges_do_not_overlap() {
    loom::model(|| {
        let ranges = Attached::new(Model::new(Attached::words(2), |_| true));
        ranges.attach(64, 8).unwrap();
        assert_eq!(ranges.attach(70, 8), Err(NotAttached::Overlaps(64, 8)));
        assert_eq!(ranges.attach(60, 5), Err(NotAttached::Overlaps(64, 8)));
        ranges.attach(72, 8).unwrap();
        assert_eq!(ranges.attach(0, 8), Err(NotAttached::Full(2)));
        assert!(ranges.attach(200, 0).is_ok() && !ranges.detach(65));
        assert_eq!(ranges.find(79, 1), Some((1, 1)));
        assert!(ranges.detach(64) && ranges.find(64, 0).is_none());
        ranges.attach(0, 8).unwrap();
        assert_eq!(
            [0, 80, u64::MAX].map(|at| ranges.find(at, 0)),
            [Some((0, 8)), None, None]
        );
    });
}
