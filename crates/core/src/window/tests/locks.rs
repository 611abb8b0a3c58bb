//! Locks that go with the first access: what waits for them at the target, and for how long.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use super::SUM;
use crate::bytes::{source, target};
use crate::placement::on_one_node;
use crate::test_job::job_with;
use crate::threading::sealed::EndpointAccess;
use crate::window_state::MOST_ASKED;
use crate::{Communicator, ElementKind, EndpointPolicy, LockKind, Single, Window, WindowRange};

/// Runs `rank` as each rank of a node whose windows are accessed by messages.
pub(super) fn by_messages(size: u32, rank: impl Fn(&Communicator<Single>) + Sync) {
    let policy = EndpointPolicy {
        direct_windows: false,
        ..EndpointPolicy::default()
    };
    job_with(on_one_node(size), &policy, rank);
}

fn word_of(rank: usize) -> WindowRange<'static> {
    WindowRange::bytes(rank, 0, 8)
}

/// Neither the lock nor the accesses under it wait: only their end does, for the rank that has the lock.
#[test]
fn accesses_wait_for_the_lock_at_the_target() {
    let [locked, asked] = [(); 2].map(|()| Barrier::new(2));
    by_messages(2, |comm| {
        let mut memory = [1u64];
        let window = Window::create(comm, target(&mut memory), 8).expect("a window");
        if comm.group().rank() == 0 {
            locked.wait();
            window.lock(1, LockKind::Exclusive).expect("it is asked");
            window.put(source(&[2u64]), &word_of(1)).expect("asked");
            let mut before = [0u64];
            let sum = (ElementKind::U64, SUM.1);
            window
                .get_accumulate(source(&[5u64]), target(&mut before), sum, &word_of(1))
                .expect("it is asked");
            asked.wait();
            window.unlock(1).expect("it is done");
            assert_eq!(before, [2]);
        } else {
            let own = |value: &mut [u64; 1]| {
                window.get(target(value), &word_of(1)).expect("own memory");
                value[0]
            };
            window.lock(1, LockKind::Exclusive).expect("it is free");
            locked.wait();
            asked.wait();
            (0..100).for_each(|_| window.sync().expect("progress"));
            assert_eq!(own(&mut [0]), 1, "the lock is this rank's");
            window.unlock(1).expect("it is locked");
            window.comm().barrier().expect("a barrier");
            window.lock(1, LockKind::Shared).expect("it is free");
            assert_eq!(own(&mut [0]), 7);
            window.unlock(1).expect("it is locked");
            window.free().expect("no rank fails");
            return;
        }
        window.comm().barrier().expect("a barrier");
        window.free().expect("no rank fails");
    });
}

/// An origin waits before it has asked more than a target keeps.
#[test]
fn what_waits_at_a_target_has_a_limit() {
    const LEN: usize = 5 * MOST_ASKED as usize;
    let is_locked = Barrier::new(2);
    let is_asked = AtomicBool::new(false);
    by_messages(2, |comm| {
        let mut memory = vec![0u8; LEN];
        let window = Window::create(comm, target(&mut memory), 1).expect("a window");
        if comm.group().rank() == 0 {
            is_locked.wait();
            let value = vec![3u8; LEN];
            window.lock(1, LockKind::Exclusive).expect("it is asked");
            let place = WindowRange::bytes(1, 0, LEN as u64);
            window
                .put(source(&value), &place)
                .expect("the target takes it");
            assert!(is_asked.load(Ordering::Relaxed), "it waited for the lock");
            window.unlock(1).expect("it is done");
        } else {
            window.lock(1, LockKind::Exclusive).expect("it is free");
            is_locked.wait();
            (0..1000).for_each(|_| window.sync().expect("progress"));
            is_asked.store(true, Ordering::Relaxed);
            window.unlock(1).expect("it is locked");
        }
        window.free().expect("no rank fails");
        let all = comm.group().rank() == 0 || memory.iter().all(|&byte| byte == 3);
        assert!(all, "all bytes have come");
    });
}

/// Nobody waits for a lock that a lost rank has: all that it would have allowed ends with an error that names that rank.
#[test]
fn accesses_do_not_wait_for_a_lost_holder() {
    let is_lost = Barrier::new(2);
    by_messages(3, |comm| {
        let mut memory = [1u64];
        let window = Window::create(comm, target(&mut memory), 8).expect("a window");
        let done = (crate::Source::Rank(0), crate::Tag::Is(1));
        match comm.group().rank() {
            2 => {
                window.lock(1, LockKind::Exclusive).expect("it is asked");
                window.put(source(&[2u64]), &word_of(1)).expect("asked");
                window.flush(1).expect("it has the lock");
                comm.access().leave();
                is_lost.wait();
            }
            1 => {
                // It makes progress until the others have ended.
                comm.recv(target(&mut [0u8]), done.0, done.1)
                    .expect("rank 0 lives");
            }
            _ => {
                is_lost.wait();
                for _ in 0..2 {
                    window.lock(1, LockKind::Shared).expect("it is asked");
                    let mut read = [9u64];
                    let request = window.rget(target(&mut read), &word_of(1)).expect("asked");
                    window.put(source(&[3u64]), &word_of(1)).expect("asked");
                    let error = window.flush(1).expect_err("the holder is lost");
                    assert!(error.to_string().contains("rank 2"), "{error}");
                    let _ended = window.comm().wait(request.expect("by a message"));
                    let error = window.unlock(1).expect_err("the holder is lost");
                    assert!(error.to_string().contains("rank 2"), "{error}");
                    assert_eq!(read, [9]);
                }
                comm.send(source(&[1u8]), 1, 1, crate::Mode::Standard)
                    .expect("rank 1 lives");
            }
        }
    });
}

/// Bytes that a rank reads under a lock are those of that time, also where they do not fit into its queue at once.
#[test]
fn a_long_get_is_read_under_its_lock() {
    const LEN: usize = 1 << 20;
    const ROUNDS: u64 = 20;
    let all = WindowRange::bytes(1, 0, LEN as u64);
    by_messages(2, |comm| {
        let mut memory = vec![0u64; LEN / 8];
        let window = Window::create(comm, target(&mut memory), 1).expect("a window");
        for round in 1..=ROUNDS {
            let mut words = vec![round; LEN / 8];
            if comm.group().rank() == 0 {
                window.lock(1, LockKind::Shared).expect("it is asked");
                window.get(target(&mut words), &all).expect("it is asked");
                window.unlock(1).expect("it is done");
                let first = words[0];
                assert!(words.iter().all(|&word| word == first), "torn");
            } else {
                window.lock(1, LockKind::Exclusive).expect("own memory");
                window.put(source(&words), &all).expect("own memory");
                window.unlock(1).expect("it is locked");
                window.sync().expect("progress");
            }
        }
        window.free().expect("no rank fails");
    });
}
