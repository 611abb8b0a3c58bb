//! The ring against a queue of the standard library.

extern crate std;

use std::boxed::Box;
use std::collections::VecDeque;
use std::vec::Vec;

use proptest::prelude::*;

use super::{Refused, Storage};

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
                        prop_assert_eq!(refused, Refused::Full);
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
    /// Small excesses are those of messages that have come, and of those only, in every round.
    #[test]
    fn an_excess_tells_sequence_and_head(
        rounds in 0u32..9,
        head in any::<u32>(),
        least in 0u32..u32::MAX - 200,
    ) {
        let storage = Box::new(Storage::<2>::new());
        let (mut sender, mut receiver) = storage.pair().unwrap();
        for n in 0..rounds {
            sender.try_send(n, &[]).unwrap();
            receiver.try_recv().unwrap();
        }
        prop_assert!(receiver.excess_at(&receiver.place(), least) > 200);
        sender.try_send(head, &[]).unwrap();
        let excess = receiver.excess_at(&receiver.place(), least);
        match head.checked_sub(least) {
            Some(more) => prop_assert_eq!(excess, u64::from(more)),
            None => prop_assert!(excess > 200),
        }
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
