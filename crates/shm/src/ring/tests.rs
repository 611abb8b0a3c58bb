//! Tests of the ring against a queue of the standard library, and of the ping-pong slot.

extern crate std;

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};
use std::boxed::Box;
use std::collections::VecDeque;
use std::vec::Vec;

use proptest::prelude::*;

use super::{MappedWords, PingPongSlot, Receiver, STRIDE, SendError, Sender, Storage};

proptest! {
    /// True sends, false receives. Only the ring knows when it reports freed slots, but it never withholds
    /// more than a quarter.
    #[test]
    fn a_ring_is_a_bounded_queue(steps in proptest::collection::vec(any::<bool>(), 0..400)) {
        let storage = Box::new(Storage::<8>::new());
        let (mut sender, mut receiver) = storage.pair().unwrap();
        let mut model = VecDeque::new();
        for (n, send) in (0u32..).zip(steps) {
            if send {
                let body = [u64::from(n) << 40, 1, 2, 3, 4, 5, 6];
                match sender.try_send(n, &body) {
                    Ok(()) => model.push_back((n, body)),
                    Err(refused) => {
                        prop_assert_eq!(refused, SendError::Full);
                        prop_assert!(model.len() >= 7);
                    }
                }
                prop_assert!(model.len() <= 8);
            } else {
                let got = receiver.try_recv().map(|message| (message.head, message.body));
                prop_assert_eq!(got, model.pop_front());
            }
            prop_assert_eq!(receiver.check(), Ok(()));
        }
    }
}

#[test]
fn two_threads_keep_order() {
    static RING: Storage<64> = Storage::new();
    let (mut sender, mut receiver) = RING.pair().unwrap();
    assert!(RING.pair().is_none(), "a ring has one pair");
    let last = 100_000;
    let sending = std::thread::spawn(move || {
        for n in 0..last {
            while sender.try_send(n, &[u64::from(n); 7]).is_err() {
                std::thread::yield_now();
            }
        }
    });
    for n in 0..last {
        let message = loop {
            match receiver.try_recv() {
                Some(message) => break message,
                None => std::thread::yield_now(),
            }
        };
        assert_eq!((message.head, message.body), (n, [u64::from(n); 7]));
    }
    sending.join().unwrap();
}

proptest! {
    /// A value within 32 bits is that of a message that has arrived, in every round.
    #[test]
    fn one_word_holds_sequence_and_head(rounds in 0u32..9, head in any::<u32>()) {
        let storage = Box::new(Storage::<2>::new());
        let (mut sender, mut receiver) = storage.pair().unwrap();
        for n in 0..rounds {
            sender.try_send(n, &[]).unwrap();
            receiver.try_recv().unwrap();
        }
        prop_assert!(receiver.ahead_at(&receiver.slot()) > u32::MAX.into());
        sender.try_send(head, &[]).unwrap();
        prop_assert_eq!(receiver.ahead_at(&receiver.slot()), u64::from(head));
    }
}

#[test]
fn a_short_body_leaves_the_rest_arbitrary() {
    let storage = Storage::<2>::new();
    let (mut sender, mut receiver) = storage.pair().unwrap();
    for n in 0..10u32 {
        let body: Vec<u64> = (0..u64::from(n) % 8).collect();
        sender.try_send(n, &body).unwrap();
        let message = receiver.try_recv().unwrap();
        assert_eq!(message.body[..body.len()], body);
    }
    assert_eq!(receiver.try_recv(), None);
}

/// One side of a pair with a ping-pong slot.
struct Side<'a> {
    sender: Sender<MappedWords<'a>>,
    receiver: Receiver<MappedWords<'a>>,
    sent: u32,
    received: u32,
}

impl Side<'_> {
    /// Sends. Whether the message went into the ping-pong slot; `None`: there was no room.
    fn send(&mut self, narrow: bool) -> Option<bool> {
        if !self.sender.room().unwrap() {
            return None;
        }
        let slot = if narrow && self.sender.may_ping_pong() {
            self.sender.ping_pong_slot()
        } else {
            self.sender.slot()
        };
        self.sender.set(&slot, 0, u64::from(self.sent) << 8);
        self.sender.publish(&slot, self.sent);
        self.sent += 1;
        Some(slot.is_ping_pong())
    }

    /// Receives. Whether a message arrived.
    fn receive(&mut self) -> bool {
        let Some((slot, head)) = self.receiver.next() else {
            return false;
        };
        assert_eq!(head, self.received);
        assert_eq!(self.receiver.get(&slot, 0), u64::from(head) << 8);
        self.received += 1;
        let reported = self.receiver.advance(&slot);
        if slot.is_ping_pong() {
            self.sender.gain_ping_pong();
        }
        if reported {
            self.sender.retry_ping_pong();
        }
        true
    }
}

/// Runs `test` with the two sides of a pair of rings of `SLOTS` slots, and the first word of the ping-pong
/// slot.
fn pair<const SLOTS: usize>(test: impl FnOnce([Side<'_>; 2], &AtomicU64)) {
    let rings = [const { Storage::<SLOTS>::new() }; 2];
    let slot = [const { AtomicU64::new(0) }; STRIDE];
    // SAFETY: atomics that outlive the sides.
    let words = unsafe { MappedWords::new(NonNull::from(&slot).cast(), STRIDE) };
    let [(a, from_a), (b, from_b)] = rings.each_ref().map(|ring| ring.pair().unwrap());
    let ends = [(a, from_b, true), (b, from_a, false)];
    let sides = ends.map(|(sender, receiver, first)| Side {
        sender: sender.with_ping_pong(PingPongSlot::new(words, first)),
        receiver: receiver.with_ping_pong(PingPongSlot::new(words, !first)),
        sent: 0,
        received: 0,
    });
    test(sides, &slot[0]);
}

proptest! {
    /// Messages through the ping-pong slot and through the rings all arrive, in order.
    #[test]
    fn a_ping_pong_slot_keeps_order(
        steps in proptest::collection::vec((any::<bool>(), any::<bool>(), any::<bool>()), 0..400),
    ) {
        pair::<8>(|mut sides, _| {
            for (side, sends, narrow) in steps {
                let side = &mut sides[usize::from(side)];
                if sends {
                    side.send(narrow);
                } else {
                    side.receive();
                }
                assert_eq!(side.receiver.check(), Ok(()));
            }
            while sides[0].receive() || sides[1].receive() {}
            assert_eq!((sides[0].sent, sides[1].sent), (sides[1].received, sides[0].received));
        });
    }
}

#[test]
fn an_exchange_stays_in_the_slot_and_a_stream_leaves_it() {
    pair::<64>(|[mut a, mut b], _| {
        for _ in 0..20 {
            assert_eq!(a.send(true), Some(true));
            assert!(b.receive());
            assert_eq!(b.send(true), Some(true));
            assert!(a.receive());
        }
        assert_eq!(a.send(true), Some(true));
        for _ in 0..40 {
            assert_eq!(a.send(true), Some(false));
            assert!(b.receive());
        }
        assert!(b.receive() && !b.receive());
        assert_eq!(
            b.send(true),
            Some(true),
            "it has sent nothing else meanwhile"
        );
        assert!(a.receive());
        assert_eq!(a.send(true), Some(true), "an exchange again");
    });
}

#[test]
fn two_that_send_at_once_leave_the_slot() {
    pair::<64>(|[mut a, mut b], _| {
        let both = |a: &mut Side<'_>, b: &mut Side<'_>| {
            let slots = [a.send(true), b.send(true)].map(Option::unwrap);
            assert!(a.receive() && b.receive());
            slots
        };
        assert_eq!(both(&mut a, &mut b), [true, false]);
        let rounds = 64;
        let in_slot = (0..rounds).filter(|_| both(&mut a, &mut b).contains(&true));
        assert!(
            in_slot.count() <= rounds / 5,
            "tried once every quarter of a ring"
        );
        // An exchange again: within a quarter of a ring it is in its slot.
        for _ in 0..20 {
            a.send(true);
            assert!(b.receive());
            b.send(true);
            assert!(a.receive());
        }
        assert_eq!(a.send(true), Some(true));
    });
}

/// Numbers repeat in the end: no old message may be left by then.
#[test]
fn old_messages_are_gone_before_their_numbers_come_again() {
    pair::<8>(|[mut a, mut b], word| {
        let mut rounds = 0;
        while a.sender.slots().used() < 8 || b.sender.slots().used() < 8 {
            assert!(a.send(true).is_some() && b.receive());
            assert!(b.send(true).is_some() && a.receive());
            rounds += 1;
            assert!(rounds < 8 << 12, "a ring's slots are not written");
        }
        while a.send(true) == Some(false) {
            assert!(b.receive());
            assert!(b.send(true).is_some() && a.receive());
        }
        assert!(b.receive());
        assert_ne!(word.load(Ordering::Relaxed), 0);
        for _ in 0..2 {
            assert_eq!(a.send(true), Some(false));
            assert!(b.receive());
        }
        assert_eq!(word.load(Ordering::Relaxed), 0, "read, and not answered");
    });
}
