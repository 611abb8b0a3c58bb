//! A model of ranks that are woken by doorbells: a ring is a datagram that stays until it is read.

use crate::model::{Fences, Model, sleep_flag, spawn_with};
use loom::sync::{Arc, Mutex};
use oxmpi_shm::ring::{Receiver, Sender};

/// Rings stay until they are read, all at once. A receiver that has read them sees all that was sent before,
/// so one that sleeps again has a ring for every message that it has not seen.
#[test]
fn no_ring_is_read_too_early() {
    loom::model(|| {
        let words = Model::ring(2);
        let flag = sleep_flag();
        let rings = Arc::new(Mutex::new(0));
        let (mut sender, mut receiver) = (Sender::new(words.clone(), 2), Receiver::new(words, 2));
        let sending = spawn_with((flag.clone(), rings.clone()), move |(flag, rings)| {
            for head in 0..2 {
                sender.try_send(head, &[1]).unwrap();
                if flag.asleep(&Fences) {
                    flag.clear();
                    *rings.lock().unwrap() += 1;
                }
            }
        });
        let mut seen = 0;
        flag.announce(&Fences);
        if receiver.next().is_some() || *rings.lock().unwrap() > 0 {
            flag.clear();
            *rings.lock().unwrap() = 0;
            while let Some((slot, _)) = receiver.next() {
                receiver.advance(&slot);
                seen += 1;
            }
            flag.announce(&Fences);
        }
        let sleeps = receiver.next().is_none();
        sending.join().unwrap();
        assert!(!sleeps || seen == 2 || *rings.lock().unwrap() > 0);
    });
}
