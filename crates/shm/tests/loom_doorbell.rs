//! A model of ranks that are woken by doorbells: a ring is a message of the system's, kept until it is heard.
#![cfg(oxmpi_loom)]

mod model;

use loom::sync::{Arc, Mutex};
use loom::thread;
use model::{Fences, Model};
use oxmpi_shm::ring::{Receiver, Sender, SleepFlag};

/// Rings are kept until they are heard, all at once. What came before is seen then, so a receiver that sleeps
/// again has a ring for whatever it has not seen.
#[test]
fn no_ring_is_heard_too_early() {
    loom::model(|| {
        let words = Model::ring(2);
        let bell = SleepFlag::new(Model::new(1, |_| true), 0);
        let rings = Arc::new(Mutex::new(0));
        let (mut sender, mut receiver) = (Sender::new(words.clone(), 2), Receiver::new(words, 2));
        let sending = thread::spawn({
            let (bell, rings) = (bell.clone(), rings.clone());
            move || {
                for head in 0..2 {
                    sender.try_send(head, &[1]).unwrap();
                    if bell.asleep(&Fences) {
                        bell.clear();
                        *rings.lock().unwrap() += 1;
                    }
                }
            }
        });
        let mut seen = 0;
        bell.announce(&Fences);
        if receiver.next().is_some() || *rings.lock().unwrap() > 0 {
            bell.clear();
            *rings.lock().unwrap() = 0;
            while let Some((slot, _)) = receiver.next() {
                receiver.advance(&slot);
                seen += 1;
            }
            bell.announce(&Fences);
        }
        let sleeps = receiver.next().is_none();
        sending.join().unwrap();
        assert!(!sleeps || seen == 2 || *rings.lock().unwrap() > 0);
    });
}
