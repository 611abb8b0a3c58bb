//! The ring against a queue of the standard library.

extern crate std;

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};
use std::boxed::Box;
use std::collections::VecDeque;
use std::vec::Vec;

use proptest::prelude::*;

use super::{MappedWords, PingPongSlot, Receiver, STRIDE, SendError, Sender, Storage};

proptest! {
    /// True sends, false receives. Only the ring knows when it gives slots back, but it never
    /// withholds more than a quarter.
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
    /// Within 32 bits are those of messages that have come, and of those only, in every round.
    #[test]
    fn one_word_tells_sequence_and_head(rounds in 0u32..9, head in any::<u32>()) {
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
fn a_short_body_leaves_the_rest_open() {
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

/// One side of a pair with a dialogue.
struct Side<'a> {
    sender: Sender<MappedWords<'a>>,
    receiver: Receiver<MappedWords<'a>>,
    said: u32,
    heard: u32,
}

impl Side<'_> {
    /// Whether the message went into the dialogue's slot; `None`: there was no room.
    fn say(&mut self, narrow: bool) -> Option<bool> {
        if !self.sender.room().unwrap() {
            return None;
        }
        let place = if narrow && self.sender.may_ping_pong() {
            self.sender.ping_pong_slot()
        } else {
            self.sender.slot()
        };
        self.sender.set(&place, 0, u64::from(self.said) << 8);
        self.sender.publish(&place, self.said);
        self.said += 1;
        Some(place.is_ping_pong())
    }

    /// Whether a message came.
    fn hear(&mut self) -> bool {
        let Some((place, head)) = self.receiver.next() else {
            return false;
        };
        assert_eq!(head, self.heard);
        assert_eq!(self.receiver.get(&place, 0), u64::from(head) << 8);
        self.heard += 1;
        let told = self.receiver.advance(&place);
        if place.is_ping_pong() {
            self.sender.gain_ping_pong();
        }
        if told {
            self.sender.retry_ping_pong();
        }
        true
    }
}

/// Runs `test` with the two sides of a pair of rings of so many slots, and the first word of the dialogue's.
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
        said: 0,
        heard: 0,
    });
    test(sides, &slot[0]);
}

proptest! {
    /// Whatever goes through the dialogue's slot and whatever through the rings, all comes, in order.
    #[test]
    fn a_dialogue_keeps_order(
        steps in proptest::collection::vec((any::<bool>(), any::<bool>(), any::<bool>()), 0..400),
    ) {
        pair::<8>(|mut sides, _| {
            for (side, speaks, narrow) in steps {
                let side = &mut sides[usize::from(side)];
                if speaks {
                    side.say(narrow);
                } else {
                    side.hear();
                }
                assert_eq!(side.receiver.check(), Ok(()));
            }
            while sides[0].hear() || sides[1].hear() {}
            assert_eq!((sides[0].said, sides[1].said), (sides[1].heard, sides[0].heard));
        });
    }
}

#[test]
fn a_dialogue_stays_in_its_slot_and_a_stream_leaves_it() {
    pair::<64>(|[mut a, mut b], _| {
        for _ in 0..20 {
            assert_eq!(a.say(true), Some(true));
            assert!(b.hear());
            assert_eq!(b.say(true), Some(true));
            assert!(a.hear());
        }
        assert_eq!(a.say(true), Some(true));
        for _ in 0..40 {
            assert_eq!(a.say(true), Some(false));
            assert!(b.hear());
        }
        assert!(b.hear() && !b.hear());
        assert_eq!(
            b.say(true),
            Some(true),
            "it has sent nothing else meanwhile"
        );
        assert!(a.hear());
        assert_eq!(a.say(true), Some(true), "a dialogue again");
    });
}

#[test]
fn two_that_speak_at_once_leave_the_slot() {
    pair::<64>(|[mut a, mut b], _| {
        let both = |a: &mut Side<'_>, b: &mut Side<'_>| {
            let slots = [a.say(true), b.say(true)].map(Option::unwrap);
            assert!(a.hear() && b.hear());
            slots
        };
        assert_eq!(both(&mut a, &mut b), [true, false]);
        let rounds = 64;
        let in_turn = (0..rounds).filter(|_| both(&mut a, &mut b).contains(&true));
        assert!(
            in_turn.count() <= rounds / 5,
            "tried once every quarter of a ring"
        );
        // A dialogue again: within a quarter of a ring it is in its slot.
        for _ in 0..20 {
            a.say(true);
            assert!(b.hear());
            b.say(true);
            assert!(a.hear());
        }
        assert_eq!(a.say(true), Some(true));
    });
}

/// Numbers come again in the end: nothing old may lie about until then.
#[test]
fn old_messages_are_gone_before_their_numbers_come_again() {
    pair::<8>(|[mut a, mut b], word| {
        let mut rounds = 0;
        while a.sender.slots().used() < 8 || b.sender.slots().used() < 8 {
            assert!(a.say(true).is_some() && b.hear());
            assert!(b.say(true).is_some() && a.hear());
            rounds += 1;
            assert!(rounds < 8 << 12, "a ring's slots are not written");
        }
        while a.say(true) == Some(false) {
            assert!(b.hear());
            assert!(b.say(true).is_some() && a.hear());
        }
        assert!(b.hear());
        assert_ne!(word.load(Ordering::Relaxed), 0);
        for _ in 0..2 {
            assert_eq!(a.say(true), Some(false));
            assert!(b.hear());
        }
        assert_eq!(word.load(Ordering::Relaxed), 0, "read, and not answered");
    });
}
