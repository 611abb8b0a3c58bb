//! Models of message rings, ping-pong buffers and the ping-pong slot.
//!
//! Every interleaving of two or three threads with at most two preemptions. Nothing spins: a thread that finds nothing
//! goes on, and the rest is checked after the join. Words that the protocol orders are cells here, and the model checker
//! reports any race on them.

use crate::model::{Model, spawn_with};
use loom::thread;
use oxmpi_shm::ring::{PING_PONG_BUFFERS, PingPongBuffers, PingPongSlot, Receiver, STRIDE, Sender};

/// One message more than there are slots, with credits in between.
#[test]
fn a_ring_delivers_in_order() {
    loom::model(|| {
        let words = Model::ring(2);
        let (mut sender, mut receiver) = (Sender::new(words.clone(), 2), Receiver::new(words, 2));
        let sending = thread::spawn(move || {
            let tries = (0..4).filter(|_| {
                let next = sender.slots().used();
                sender.try_send(next, &[u64::from(next) + 100]).is_ok()
            });
            tries.count() as u32
        });
        let mut got = 0;
        let mut receive = |receiver: &mut Receiver<Model>| {
            if let Some((slot, head)) = receiver.next() {
                assert_eq!((head, receiver.get(&slot, 0)), (got, u64::from(got) + 100));
                receiver.advance(&slot);
                got += 1;
            }
        };
        for _ in 0..3 {
            receive(&mut receiver);
        }
        let sent = sending.join().unwrap();
        assert!(sent >= 2);
        for _ in 0..3 {
            receive(&mut receiver);
        }
        assert_eq!(got, sent);
    });
}

/// A buffer that both ranks of a pair write alternately: the order of the rings alone carries it over and back.
#[test]
fn a_ping_pong_buffer_changes_owner_twice() {
    loom::model(|| {
        let (there, back) = (Model::ring(2), Model::ring(2));
        let buffers = Model::new(PING_PONG_BUFFERS, |_| true);
        let mut side = (
            Sender::new(there.clone(), 2),
            Receiver::new(back.clone(), 2),
        );
        let mut other = (Sender::new(back, 2), Receiver::new(there, 2));
        // The index by the first side's count; the peer counts the other way round.
        let place = |is_peer: bool, i: usize| {
            if is_peer {
                PingPongBuffers::peer_index(i)
            } else {
                i
            }
        };
        let answering = spawn_with(buffers.clone(), move |buffers| {
            let mut owned = PingPongBuffers::new();
            if let Some((slot, head)) = other.1.next() {
                let received = PingPongBuffers::peer_index(head as usize);
                owned.check(received).unwrap();
                assert_eq!(buffers.read(place(true, received)), 7);
                owned.gain(received);
                other.1.advance(&slot);
            }
            let out = owned.next().unwrap();
            buffers.write(place(true, out), 8);
            owned.give(out);
            other.0.try_send(out as u32, &[]).unwrap();
        });
        let mut owned = PingPongBuffers::new();
        let out = owned.next().unwrap();
        buffers.write(place(false, out), 7);
        owned.give(out);
        side.0.try_send(out as u32, &[]).unwrap();
        if let Some((slot, head)) = side.1.next() {
            let received = PingPongBuffers::peer_index(head as usize);
            owned.check(received).unwrap();
            assert_eq!(buffers.read(place(false, received)), 8);
            owned.gain(received);
            side.1.advance(&slot);
            let out = owned.next().unwrap();
            assert_eq!(out, received, "the buffer read last is written next");
            buffers.write(place(false, out), 9);
        }
        answering.join().unwrap();
    });
}

/// One side of a pair of rings with a ping-pong slot.
struct Side {
    sender: Sender<Model>,
    receiver: Receiver<Model>,
    received: u32,
}

impl Side {
    fn pair() -> [Self; 2] {
        let (there, back) = (Model::ring(2), Model::ring(2));
        let slot = Model::new(STRIDE, |at| at < 2);
        let side = |out: &Model, into: &Model, first| Self {
            sender: Sender::new(out.clone(), 2)
                .with_ping_pong(PingPongSlot::new(slot.clone(), first)),
            receiver: Receiver::new(into.clone(), 2)
                .with_ping_pong(PingPongSlot::new(slot.clone(), !first)),
            received: 0,
        };
        [side(&there, &back, true), side(&back, &there, false)]
    }

    /// Sends a message. True if it went into the ping-pong slot.
    fn send(&mut self, value: u32) -> bool {
        let slot = match self.sender.may_ping_pong() {
            true => self.sender.ping_pong_slot(),
            false => self.sender.slot(),
        };
        self.sender.set(&slot, 0, u64::from(value) + 100);
        self.sender.publish(&slot, value);
        slot.is_ping_pong()
    }

    /// Receives a message, if there is one: 0, 1, 2 in this order.
    fn receive(&mut self) {
        if let Some((slot, head)) = self.receiver.next() {
            assert_eq!(head, self.received);
            assert_eq!(self.receiver.get(&slot, 0), u64::from(head) + 100);
            self.received += 1;
            self.receiver.advance(&slot);
            if slot.is_ping_pong() {
                self.sender.gain_ping_pong();
            }
        }
    }
}

/// The ping-pong slot goes over and back, and messages through the rings meanwhile keep their order.
#[test]
fn the_ping_pong_slot_changes_owner_twice() {
    loom::model(|| {
        let [mut a, mut b] = Side::pair();
        let answering = thread::spawn(move || {
            b.receive();
            b.send(0);
            b.receive();
            b
        });
        assert!(a.send(0));
        a.receive();
        let answered = a.sender.may_ping_pong();
        assert_eq!(a.send(1), answered);
        let mut b = answering.join().unwrap();
        for side in [&mut a, &mut b] {
            side.receive();
            side.receive();
        }
        assert_eq!((a.received, b.received), (1, 2));
    });
}

/// A message through the ring does not overtake the one before it in the ping-pong slot.
#[test]
fn a_stream_stays_behind_the_ping_pong_slot() {
    loom::model(|| {
        let [mut a, mut b] = Side::pair();
        let sending = thread::spawn(move || {
            assert!(a.send(0));
            assert!(!a.send(1));
            assert!(!a.send(2));
        });
        (0..2).for_each(|_| b.receive());
        sending.join().unwrap();
        (0..3).for_each(|_| b.receive());
        assert_eq!(b.received, 3);
    });
}
