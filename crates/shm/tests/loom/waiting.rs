//! Models of sleeping and waking, barriers, opened links and exits.
//!
//! Every interleaving of two or three threads with at most two preemptions. Nothing spins: a thread that finds nothing
//! goes on, and the rest is checked after the join. Words that the protocol orders are cells here, and the model checker
//! reports any race on them.

use std::sync::atomic::Ordering;

use crate::model::{Fences, Model, sleep_flag, spawn_with};
use loom::thread;
use oxmpi_shm::ring::{
    BarrierCount, CpuBoard, ExitFlag, LinkAnnouncer, OpenedLinks, Receiver, Sender, SharedWords,
    SleepFlag,
};

/// A sleeping receiver is woken for every message.
#[test]
fn no_message_is_slept_over() {
    loom::model(|| {
        let words = Model::ring(2);
        let flag = sleep_flag();
        let (mut sender, receiver) = (Sender::new(words.clone(), 2), Receiver::new(words, 2));
        let sending = spawn_with(flag.clone(), move |flag| {
            sender.try_send(0, &[1]).unwrap();
            flag.asleep(&Fences)
        });
        flag.announce(&Fences);
        let sleeps = receiver.next().is_none();
        let woken = sending.join().unwrap();
        assert!(!sleeps || woken);
    });
}

/// A sender that sleeps for want of a slot is woken when one is free.
#[test]
fn no_credit_is_slept_over() {
    loom::model(|| {
        let words = Model::ring(2);
        let flag = sleep_flag();
        let mut sender = Sender::new(words.clone(), 2);
        let mut receiver = Receiver::new(words, 2);
        sender.try_send(0, &[1]).unwrap();
        sender.try_send(1, &[2]).unwrap();
        let receiving = spawn_with(flag.clone(), move |flag| {
            let (slot, head) = receiver.next().unwrap();
            assert_eq!(head, 0);
            assert!(receiver.advance(&slot));
            flag.asleep(&Fences)
        });
        flag.announce(&Fences);
        let sleeps = !sender.room().unwrap();
        let woken = receiving.join().unwrap();
        assert!(!sleeps || woken);
    });
}

/// All ranks see after a barrier what a rank wrote before it.
#[test]
fn a_barrier_orders_writes_before_reads() {
    loom::model(|| {
        let (counts, data) = (Model::new(2, |_| true), Model::new(2, |_| true));
        let pass = |me: usize| {
            let (counts, data) = (counts.clone(), data.clone());
            move || {
                data.write(me, 7);
                BarrierCount::new(counts.clone(), me).enter(1);
                if BarrierCount::new(counts.clone(), 1 - me).entered() == 1 {
                    assert_eq!(data.read(1 - me), 7);
                }
            }
        };
        let other = thread::spawn(pass(1));
        pass(0)();
        other.join().unwrap();
    });
}

/// A rank that sleeps in a barrier is woken by one that found all others there.
#[test]
fn no_barrier_is_slept_over() {
    loom::model(|| {
        let counts = Model::new(2, |_| true);
        let flag = sleep_flag();
        let look = |flag: &SleepFlag<Model>, counts: &Model| {
            BarrierCount::new(counts.clone(), 0).entered() == 1 && flag.asleep(&Fences)
        };
        let other = spawn_with((counts.clone(), flag.clone()), move |(counts, flag)| {
            BarrierCount::new(counts.clone(), 1).enter(1);
            let over = BarrierCount::new(counts.clone(), 0).entered() == 1;
            (over, over && flag.asleep(&Fences))
        });
        BarrierCount::new(counts.clone(), 0).enter(1);
        flag.announce(&Fences);
        let sleeps = BarrierCount::new(counts.clone(), 1).entered() == 0;
        let (over, woken) = other.join().unwrap();
        // A rank that found the barrier not yet over looks again.
        let woken = woken || (!over && look(&flag, &counts));
        assert!(!sleeps || woken);
    });
}

/// A receiver that sees the counter move sees the opened link, and none is lost.
#[test]
fn every_announced_link_is_found() {
    loom::model(|| {
        let words = Model::new(3, |_| true);
        let announcing: Vec<_> = (0..2)
            .map(|sender| {
                let announcer = LinkAnnouncer::new(words.clone(), 0, 1);
                thread::spawn(move || announcer.announce(sender))
            })
            .collect();
        let mut links = OpenedLinks::new(words, 0, 1);
        let mut open = 0;
        if links.has_new() {
            links.acknowledge();
            open = (0..2).filter(|&sender| links.is_open(sender)).count();
            assert!(open > 0, "the counter moved, and no link is open");
        }
        for thread in announcing {
            thread.join().unwrap();
        }
        if open < 2 {
            assert!(links.has_new() || open == 2);
            links.acknowledge();
        }
        assert_eq!((0..2).filter(|&sender| links.is_open(sender)).count(), 2);
    });
}

/// A rank that sees the exit flag of another finds all that it published.
#[test]
fn all_messages_arrive_before_the_exit_flag() {
    loom::model(|| {
        let words = Model::ring(2);
        let exit = ExitFlag::new(Model::new(1, |_| true), 0);
        let (mut sender, mut receiver) = (Sender::new(words.clone(), 2), Receiver::new(words, 2));
        let leaving = spawn_with(exit.clone(), move |exit| {
            sender.try_send(0, &[1]).unwrap();
            sender.try_send(1, &[2]).unwrap();
            exit.leave();
        });
        if exit.left() {
            for n in 0..2 {
                let (slot, head) = receiver.next().unwrap();
                assert_eq!(head, n);
                receiver.advance(&slot);
            }
        }
        leaving.join().unwrap();
    });
}

/// A receiver changes its word on the board while a sender wakes it: in any order of their stores a sleeper
/// is woken, and the word is one that either wrote.
#[test]
fn a_rank_moves_while_it_is_woken() {
    const ME: usize = 0;
    loom::model(|| {
        let (words, ring) = (Model::new(1, |_| true), Model::ring(2));
        let (board, flag) = (
            CpuBoard::new(words.clone()),
            SleepFlag::new(words.clone(), ME),
        );
        let (mut sender, receiver) = (Sender::new(ring.clone(), 2), Receiver::new(ring, 2));
        board.set_cpu(ME, 3);
        flag.announce(&Fences);
        let sending = spawn_with(flag.clone(), move |flag| {
            // For an earlier message it finds the receiver asleep, or just awake by itself.
            if flag.asleep(&Fences) {
                flag.clear();
            }
            sender.try_send(0, &[1]).unwrap();
            flag.asleep(&Fences)
        });
        // It wakes by itself, has moved, and goes to sleep again.
        flag.clear();
        board.set_cpu(ME, 4);
        flag.announce(&Fences);
        let sleeps = receiver.next().is_none();
        let woken = sending.join().unwrap();
        // SAFETY: the model has this word.
        let word = unsafe { words.load(ME, Ordering::Relaxed) };
        let asleep = word & 1 != 0;
        assert!(!sleeps || woken || !asleep, "asleep, and not woken");
        assert!([4, 5].contains(&(word >> 32)), "on no processor: {word:x}");
    });
}
