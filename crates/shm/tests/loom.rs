//! Models of the rings and flags: every interleaving of two or three threads, two preemptions at
//! most. Nothing spins: who finds nothing goes on, and what is left is looked at after the join.
//!
//! SharedWords that the protocol orders are cells here, and the checker reports any race on them.
#![cfg(oxmpi_loom)]

mod model;

use std::sync::atomic::Ordering;

use loom::thread;
use model::{Fences, Model};
use oxmpi_shm::ring::{
    BarrierCount, BulkOffer, ClaimLost, CpuBoard, ExitFlag, FifoCounters, FifoReader, FifoWriter,
    LinkAnnouncer, OFFER_WORDS, OfferStage, OpenedLinks, OwnerProgress, PING_PONG_BUFFERS,
    PingPongBuffers, PingPongSlot, Receiver, STRIDE, Sender, SharedWords, SleepFlag,
};

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
            if let Some((place, head)) = receiver.next() {
                assert_eq!((head, receiver.get(&place, 0)), (got, u64::from(got) + 100));
                receiver.advance(&place);
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

/// A buffer that two sides write in turn: the rings' order alone carries it over, and back.
#[test]
fn a_buffer_goes_over_and_back() {
    loom::model(|| {
        let (there, back) = (Model::ring(2), Model::ring(2));
        let buffers = Model::new(PING_PONG_BUFFERS, |_| true);
        let mut side = (
            Sender::new(there.clone(), 2),
            Receiver::new(back.clone(), 2),
        );
        let mut other = (Sender::new(back, 2), Receiver::new(there, 2));
        // By the first side's count, the other one's is the reverse.
        let place = |theirs: bool, i: usize| {
            if theirs {
                PingPongBuffers::peer_index(i)
            } else {
                i
            }
        };
        let answering = thread::spawn({
            let buffers = buffers.clone();
            move || {
                let mut turns = PingPongBuffers::new();
                if let Some((slot, head)) = other.1.next() {
                    let came = PingPongBuffers::peer_index(head as usize);
                    turns.check(came).unwrap();
                    // SAFETY: the checker itself reports a race.
                    assert_eq!(unsafe { buffers.get(place(true, came)) }, 7);
                    turns.gain(came);
                    other.1.advance(&slot);
                }
                let out = turns.next().unwrap();
                // SAFETY: as above.
                unsafe { buffers.set(place(true, out), 8) };
                turns.give(out);
                other.0.try_send(out as u32, &[]).unwrap();
            }
        });
        let mut turns = PingPongBuffers::new();
        let out = turns.next().unwrap();
        // SAFETY: as above.
        unsafe { buffers.set(place(false, out), 7) };
        turns.give(out);
        side.0.try_send(out as u32, &[]).unwrap();
        if let Some((slot, head)) = side.1.next() {
            let came = PingPongBuffers::peer_index(head as usize);
            turns.check(came).unwrap();
            // SAFETY: as above.
            assert_eq!(unsafe { buffers.get(place(false, came)) }, 8);
            turns.gain(came);
            side.1.advance(&slot);
            let out = turns.next().unwrap();
            assert_eq!(out, came, "what came last is written next");
            // SAFETY: as above.
            unsafe { buffers.set(place(false, out), 9) };
        }
        answering.join().unwrap();
    });
}

/// One side of a pair of rings with a dialogue's slot.
struct Side {
    sender: Sender<Model>,
    receiver: Receiver<Model>,
    heard: u32,
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
            heard: 0,
        };
        [side(&there, &back, true), side(&back, &there, false)]
    }

    /// True if it went into the dialogue's slot.
    fn say(&mut self, what: u32) -> bool {
        let place = match self.sender.may_ping_pong() {
            true => self.sender.ping_pong_slot(),
            false => self.sender.slot(),
        };
        self.sender.set(&place, 0, u64::from(what) + 100);
        self.sender.publish(&place, what);
        place.is_ping_pong()
    }

    /// Messages say 0, 1, 2 in this order.
    fn hear(&mut self) {
        if let Some((place, head)) = self.receiver.next() {
            assert_eq!(head, self.heard);
            assert_eq!(self.receiver.get(&place, 0), u64::from(head) + 100);
            self.heard += 1;
            self.receiver.advance(&place);
            if place.is_ping_pong() {
                self.sender.gain_ping_pong();
            }
        }
    }
}

/// The slot of a dialogue goes over and back, and what goes through the rings meanwhile keeps its place.
#[test]
fn a_slot_in_turn_goes_over_and_back() {
    loom::model(|| {
        let [mut a, mut b] = Side::pair();
        let answering = thread::spawn(move || {
            b.hear();
            b.say(0);
            b.hear();
            b
        });
        assert!(a.say(0));
        a.hear();
        let answered = a.sender.may_ping_pong();
        assert_eq!(a.say(1), answered);
        let mut b = answering.join().unwrap();
        for side in [&mut a, &mut b] {
            side.hear();
            side.hear();
        }
        assert_eq!((a.heard, b.heard), (1, 2));
    });
}

/// What follows a message of the dialogue's slot through the ring does not overtake it.
#[test]
fn a_stream_stays_behind_the_slot_in_turn() {
    loom::model(|| {
        let [mut a, mut b] = Side::pair();
        let sending = thread::spawn(move || {
            assert!(a.say(0));
            assert!(!a.say(1));
            assert!(!a.say(2));
        });
        (0..2).for_each(|_| b.hear());
        sending.join().unwrap();
        (0..3).for_each(|_| b.hear());
        assert_eq!(b.heard, 3);
    });
}

/// A receiver that sleeps has been rung for whatever came.
#[test]
fn no_message_is_slept_over() {
    loom::model(|| {
        let words = Model::ring(2);
        let bell = SleepFlag::new(Model::new(1, |_| true), 0);
        let (mut sender, receiver) = (Sender::new(words.clone(), 2), Receiver::new(words, 2));
        let sending = thread::spawn({
            let bell = bell.clone();
            move || {
                sender.try_send(0, &[1]).unwrap();
                bell.asleep(&Fences)
            }
        });
        bell.announce(&Fences);
        let sleeps = receiver.next().is_none();
        let rang = sending.join().unwrap();
        assert!(!sleeps || rang);
    });
}

/// A sender that sleeps for want of a slot has been rung when one is free.
#[test]
fn no_credit_is_slept_over() {
    loom::model(|| {
        let words = Model::ring(2);
        let bell = SleepFlag::new(Model::new(1, |_| true), 0);
        let mut sender = Sender::new(words.clone(), 2);
        let mut receiver = Receiver::new(words, 2);
        sender.try_send(0, &[1]).unwrap();
        sender.try_send(1, &[2]).unwrap();
        let receiving = thread::spawn({
            let bell = bell.clone();
            move || {
                let (slot, head) = receiver.next().unwrap();
                assert_eq!(head, 0);
                assert!(receiver.advance(&slot));
                bell.asleep(&Fences)
            }
        });
        bell.announce(&Fences);
        let sleeps = !sender.room().unwrap();
        let rang = receiving.join().unwrap();
        assert!(!sleeps || rang);
    });
}

/// What a rank does before a barrier is seen by all after it.
#[test]
fn a_gate_parts_before_from_after() {
    loom::model(|| {
        let (gates, data) = (Model::new(2, |_| true), Model::new(2, |_| true));
        let pass = |me: usize| {
            let (gates, data) = (gates.clone(), data.clone());
            move || {
                // SAFETY: in bounds, and the checker reports a race.
                unsafe { data.set(me, 7) };
                BarrierCount::new(gates.clone(), me).enter(1);
                if BarrierCount::new(gates.clone(), 1 - me).entered() == 1 {
                    // SAFETY: as above.
                    assert_eq!(unsafe { data.get(1 - me) }, 7);
                }
            }
        };
        let other = thread::spawn(pass(1));
        pass(0)();
        other.join().unwrap();
    });
}

/// A rank that sleeps at a gate has been rung by one that found all others there.
#[test]
fn no_barrier_is_slept_over() {
    loom::model(|| {
        let gates = Model::new(2, |_| true);
        let bell = SleepFlag::new(Model::new(1, |_| true), 0);
        let look = |bell: &SleepFlag<Model>, gates: &Model| {
            BarrierCount::new(gates.clone(), 0).entered() == 1 && bell.asleep(&Fences)
        };
        let other = thread::spawn({
            let (gates, bell) = (gates.clone(), bell.clone());
            move || {
                BarrierCount::new(gates.clone(), 1).enter(1);
                let over = BarrierCount::new(gates.clone(), 0).entered() == 1;
                (over, over && bell.asleep(&Fences))
            }
        });
        BarrierCount::new(gates.clone(), 0).enter(1);
        bell.announce(&Fences);
        let sleeps = BarrierCount::new(gates.clone(), 1).entered() == 0;
        let (over, rang) = other.join().unwrap();
        // Who found the barrier not yet over looks again.
        let rang = rang || (!over && look(&bell, &gates));
        assert!(!sleeps || rang);
    });
}

/// Who opens a link is seen by whoever sees the counter move, and none is lost.
#[test]
fn every_knock_is_answered() {
    loom::model(|| {
        let words = Model::new(3, |_| true);
        let knocking: Vec<_> = (0..2)
            .map(|who| {
                let announcer = LinkAnnouncer::new(words.clone(), 0, 1);
                thread::spawn(move || announcer.announce(who))
            })
            .collect();
        let mut doors = OpenedLinks::new(words, 0, 1);
        let mut open = 0;
        if doors.has_new() {
            doors.acknowledge();
            open = (0..2).filter(|&who| doors.is_open(who)).count();
            assert!(open > 0, "the counter moved, and no door is open");
        }
        for thread in knocking {
            thread.join().unwrap();
        }
        if open < 2 {
            assert!(doors.has_new() || open == 2);
            doors.acknowledge();
        }
        assert_eq!((0..2).filter(|&who| doors.is_open(who)).count(), 2);
    });
}

/// Who sees that a rank has left finds all that it published.
#[test]
fn what_was_sent_is_there_before_the_exit() {
    loom::model(|| {
        let words = Model::ring(2);
        let exit = ExitFlag::new(Model::new(1, |_| true), 0);
        let (mut sender, mut receiver) = (Sender::new(words.clone(), 2), Receiver::new(words, 2));
        let leaving = thread::spawn({
            let exit = exit.clone();
            move || {
                sender.try_send(0, &[1]).unwrap();
                sender.try_send(1, &[2]).unwrap();
                exit.leave();
            }
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

/// Bytes of a pipe's window of one, as words behind the counters, filled and drained while the
/// other side does its part.
#[test]
fn a_pipe_hands_over_every_byte() {
    loom::model(|| {
        let words = Model::new(3, |_| true);
        let at = FifoCounters {
            filled: 0,
            drained: 1,
        };
        let mut fill = FifoWriter::new(words.clone(), at, 2, 1);
        let mut drain = FifoReader::new(words.clone(), at, 2, 1);
        let filling = {
            let words = words.clone();
            thread::spawn(move || {
                for _ in 0..3 {
                    fill_one(&words, &mut fill);
                }
                fill
            })
        };
        for _ in 0..2 {
            drain_one(&words, &mut drain);
        }
        let mut fill = filling.join().unwrap();
        for _ in 0..2 {
            drain_one(&words, &mut drain);
            fill_one(&words, &mut fill);
        }
        drain_one(&words, &mut drain);
        assert!(fill.is_full() && drain.is_empty());
    });
}

fn fill_one(words: &Model, fill: &mut FifoWriter<Model>) {
    if fill.room(1).unwrap() == 1 {
        // SAFETY: the model has this word.
        unsafe { words.set(2, fill.filled() + 100) };
        fill.publish(1);
    }
}

fn drain_one(words: &Model, drain: &mut FifoReader<Model>) {
    if drain.ready(9).unwrap() == 1 {
        // SAFETY: the model has this word.
        assert_eq!(unsafe { words.get(2) }, drain.drained() + 100);
        drain.free(1);
    }
}

/// An offer with one word behind it: who claims it reads that word, and nobody writes it until the
/// claimer is done.
#[test]
fn an_offer_is_claimed_or_withdrawn() {
    loom::model(|| {
        let words = Model::new(OFFER_WORDS + 1, |at| {
            at < 4 || (8..12).contains(&at) || at == OFFER_WORDS
        });
        let offer = BulkOffer::new(words.clone(), 0);
        let claiming = {
            let words = words.clone();
            thread::spawn(move || {
                let offer = BulkOffer::new(words.clone(), 0);
                let claimed = offer.claim(1, 2);
                if claimed {
                    // SAFETY: the model has this word.
                    assert_eq!(unsafe { words.get(OFFER_WORDS) }, 7);
                    assert_eq!(offer.finish(1, 2), Ok(()));
                }
                claimed
            })
        };
        // SAFETY: the model has this word.
        unsafe { words.set(OFFER_WORDS, 7) };
        offer.open(1, 0);
        let withdrawn = offer.withdraw(1);
        if withdrawn || offer.look(1) == (OfferStage::Done { protocol: 2 }) {
            // SAFETY: the model has this word.
            unsafe { words.set(OFFER_WORDS, 8) };
        }
        let claimed = claiming.join().unwrap();
        assert!(!(claimed && withdrawn));
    });
}

/// A window that two sides write in turn goes over with the end of a claim: the claimer writes it
/// next, for the owner, who claims what is in it and has it again.
#[test]
fn a_window_goes_over_and_back() {
    const FIFO_LEN: usize = 2 * OFFER_WORDS;
    loom::model(|| {
        let words = Model::new(FIFO_LEN + 1, |at| {
            at % OFFER_WORDS < 4 || (8..12).contains(&(at % OFFER_WORDS)) || at == FIFO_LEN
        });
        let answering = thread::spawn({
            let words = words.clone();
            move || {
                let (came, out) = (
                    BulkOffer::new(words.clone(), 0),
                    BulkOffer::new(words.clone(), OFFER_WORDS),
                );
                if !came.claim(1, 1) {
                    return;
                }
                let mut drain = FifoReader::new(words.clone(), came.counters(), 1, 1);
                if drain.ready(1).unwrap() == 1 {
                    // SAFETY: the checker itself reports a race.
                    assert_eq!(unsafe { words.get(FIFO_LEN) }, 7);
                    drain.free(1);
                    came.finish(1, 1).unwrap();
                    // SAFETY: as above.
                    unsafe { words.set(FIFO_LEN, 8) };
                    let mut fill = FifoWriter::new(words.clone(), out.counters(), 1, 1);
                    fill.publish(1);
                    out.open(1, 0);
                }
            }
        });
        let (out, came) = (
            BulkOffer::new(words.clone(), 0),
            BulkOffer::new(words.clone(), OFFER_WORDS),
        );
        let mut fill = FifoWriter::new(words.clone(), out.counters(), 1, 1);
        out.open(1, 0);
        // SAFETY: as above.
        unsafe { words.set(FIFO_LEN, 7) };
        fill.publish(1);
        if came.claim(1, 1) {
            let mut drain = FifoReader::new(words.clone(), came.counters(), 1, 1);
            assert_eq!(drain.ready(1), Ok(1));
            // SAFETY: as above.
            assert_eq!(unsafe { words.get(FIFO_LEN) }, 8);
            drain.free(1);
            came.finish(1, 1).unwrap();
            // SAFETY: as above.
            unsafe { words.set(FIFO_LEN, 9) };
        }
        answering.join().unwrap();
    });
}

/// A window that goes over with the message that tells of it, half filled, needs no claim. Who took all
/// says so and writes it next; else the owner does, once the answer has come.
#[test]
fn a_pushed_window_is_taken_or_comes_back() {
    const FIFO_LEN: usize = OFFER_WORDS;
    const TOOK: usize = 12;
    loom::model(|| {
        let (there, back) = (Model::ring(2), Model::ring(2));
        let words = Model::new(FIFO_LEN + 2, |at| {
            at < 4 || (8..=TOOK).contains(&at) || at >= FIFO_LEN
        });
        let mut side = (
            Sender::new(there.clone(), 2),
            Receiver::new(back.clone(), 2),
        );
        let mut other = (Sender::new(back, 2), Receiver::new(there, 2));
        let taking = thread::spawn({
            let words = words.clone();
            move || {
                if other.1.next().is_none() {
                    return;
                }
                let came = BulkOffer::new(words.clone(), 0);
                let drain = FifoReader::new(words.clone(), came.counters(), 2, 2);
                let mut drain = drain.begun(1).unwrap();
                while drain.ready(1).unwrap() == 1 {
                    let at = FIFO_LEN + drain.drained() as usize;
                    // SAFETY: the checker itself reports a race.
                    assert_eq!(unsafe { words.get(at) }, 7);
                    drain.free(1);
                }
                came.holds(1, OfferStage::Open).unwrap();
                if drain.is_empty() {
                    came.took(1);
                    // SAFETY: as above.
                    unsafe { words.set(FIFO_LEN, 8) };
                }
                other.0.try_send(drain.is_empty().into(), &[]).unwrap();
            }
        });
        let out = BulkOffer::new(words.clone(), 0);
        let mut fill = FifoWriter::new(words.clone(), out.counters(), 2, 2);
        out.open(1, 0);
        // SAFETY: as above.
        unsafe { words.set(FIFO_LEN, 7) };
        fill.publish(1);
        side.0.try_send(1, &[]).unwrap();
        // SAFETY: as above.
        unsafe { words.set(FIFO_LEN + 1, 7) };
        fill.publish(1);
        if let Some((_, whole)) = side.1.next() {
            assert_eq!(out.is_taken(1), whole == 1);
            if out.is_taken(1) {
                // SAFETY: as above.
                assert_eq!(unsafe { words.get(FIFO_LEN) }, 8);
            }
            // SAFETY: as above.
            unsafe { words.set(FIFO_LEN, 9) };
        }
        taking.join().unwrap();
    });
}

/// Who reads a word that was written after its offer was revoked finds out when it finishes.
#[test]
fn a_revoked_offer_is_not_finished() {
    loom::model(|| {
        let words = Model::new(OFFER_WORDS + 1, |at| {
            at < 4 || (8..12).contains(&at) || at == OFFER_WORDS
        });
        let offer = BulkOffer::new(words.clone(), 0);
        offer.open(1, 0);
        let claiming = {
            let words = words.clone();
            thread::spawn(move || {
                let offer = BulkOffer::new(words.clone(), 0);
                if offer.claim(1, 2) {
                    // SAFETY: the model has this word.
                    let read = unsafe { words.load(OFFER_WORDS, Ordering::Relaxed) };
                    let good = offer.finish(1, 2);
                    assert!(good == Err(ClaimLost::Revoked) || read != 8, "{good:?}");
                }
            })
        };
        offer.revoke(1);
        // SAFETY: the model has this word.
        unsafe { words.store(OFFER_WORDS, 8, Ordering::Relaxed) };
        claiming.join().unwrap();
    });
}

/// What is granted after the claim is seen with all that was prepared for it.
#[test]
fn a_grant_brings_what_it_names() {
    loom::model(|| {
        let words = Model::new(OFFER_WORDS + 1, |at| {
            at < 4 || (8..12).contains(&at) || at == OFFER_WORDS
        });
        let offer = BulkOffer::new(words.clone(), 0);
        offer.open(1, 0);
        let claiming = {
            let words = words.clone();
            thread::spawn(move || {
                let offer = BulkOffer::new(words.clone(), 0);
                assert!(offer.claim(1, 2));
                if offer.granted() == 3 {
                    // SAFETY: the model has this word.
                    assert_eq!(unsafe { words.get(OFFER_WORDS) }, 9);
                }
            })
        };
        // SAFETY: the model has this word.
        unsafe { words.set(OFFER_WORDS, 9) };
        offer.grant(3);
        claiming.join().unwrap();
    });
}

/// Two sides take pieces of one transfer: each piece once, and the claimer sees what the owner did.
#[test]
fn pieces_are_shared() {
    loom::model(|| {
        let words = Model::new(OFFER_WORDS + 2, |at| {
            at < 4 || (8..12).contains(&at) || at >= OFFER_WORDS
        });
        let claimer = BulkOffer::new(words.clone(), 0);
        claimer.open(1, 0);
        assert!(claimer.claim(1, 2));
        let sharing = {
            let words = words.clone();
            thread::spawn(move || {
                let owner = BulkOffer::new(words.clone(), 0);
                let mut done = 0;
                let Some([4, pieces]) = owner.joined() else {
                    return 0;
                };
                assert_eq!(pieces, 2);
                while let Some(piece) = owner.take(pieces) {
                    // SAFETY: the model has this word.
                    unsafe { words.set(OFFER_WORDS + piece as usize, piece + 50) };
                    done += 1;
                    owner.share(OwnerProgress::Pieces(done));
                }
                done
            })
        };
        claimer.join([4, 2]);
        let mut mine = 0;
        let mut taken = [false; 2];
        while let Some(piece) = claimer.take(2) {
            taken[piece as usize] = true;
            mine += 1;
        }
        if claimer.shared() == OwnerProgress::Pieces(2 - mine) {
            for piece in (0..2).filter(|&piece| !taken[piece]) {
                // SAFETY: the model has this word.
                assert_eq!(unsafe { words.get(OFFER_WORDS + piece) }, piece as u64 + 50);
            }
        }
        assert_eq!(sharing.join().unwrap() + mine, 2);
    });
}

/// A pipe that is taken back from an offer nobody has claimed is no claimer's: who claims the offer
/// later is granted another, and who claimed it before keeps this one.
#[test]
fn a_pipe_is_reclaimed_or_kept() {
    loom::model(|| {
        let words = Model::new(OFFER_WORDS + 1, |at| {
            at < 4 || (8..12).contains(&at) || at == OFFER_WORDS
        });
        let offer = BulkOffer::new(words.clone(), 0);
        // SAFETY: the model has this word.
        unsafe { words.set(OFFER_WORDS, 7) };
        offer.open(1, 5);
        let claiming = {
            let words = words.clone();
            thread::spawn(move || {
                let offer = BulkOffer::new(words.clone(), 0);
                if offer.claim(1, 2) && offer.granted() == 5 {
                    // SAFETY: the model has this word.
                    assert_eq!(unsafe { words.get(OFFER_WORDS) }, 7);
                }
            })
        };
        if offer.withdraw(1) {
            offer.open(1, 0);
            // SAFETY: the model has this word.
            unsafe { words.set(OFFER_WORDS, 8) };
        }
        claiming.join().unwrap();
    });
}

/// The pipe of an offer that was revoked goes to another transfer at once: who still drains it, not
/// knowing that it was given up, takes nothing of that for its message.
#[test]
fn a_revoked_pipe_brings_nothing() {
    loom::model(|| {
        // The window of one word is behind the offer.
        let words = Model::new(OFFER_WORDS + 1, |at| {
            at < 4 || (8..12).contains(&at) || at == OFFER_WORDS
        });
        let offer = BulkOffer::new(words.clone(), 0);
        let at = offer.counters();
        let mut fill = FifoWriter::new(words.clone(), at, 1, 1);
        offer.open(1, 5);
        let claiming = {
            let words = words.clone();
            thread::spawn(move || {
                let offer = BulkOffer::new(words.clone(), 0);
                if !offer.claim(1, 2) {
                    return;
                }
                let mut drain = FifoReader::new(words.clone(), at, 1, 1);
                if drain.ready(1).unwrap() == 0 {
                    // Nothing came: who looks may still find the offer as it was.
                    let holds = offer.holds(1, OfferStage::Claimed { protocol: 2 });
                    assert!(
                        matches!(holds, Ok(()) | Err(ClaimLost::Revoked)),
                        "{holds:?}"
                    );
                    return;
                }
                // SAFETY: the model has this word.
                let read = unsafe { words.load(OFFER_WORDS, Ordering::Relaxed) };
                drain.free(1);
                match offer.finish(1, 2) {
                    Ok(()) => assert_eq!(read, 7),
                    void => assert_eq!(void, Err(ClaimLost::Revoked)),
                }
            })
        };
        // SAFETY: the model has this word.
        unsafe { words.store(OFFER_WORDS, 7, Ordering::Relaxed) };
        fill.publish(1);
        offer.revoke(1);
        // SAFETY: the model has this word.
        unsafe { words.store(OFFER_WORDS, 8, Ordering::Relaxed) };
        claiming.join().unwrap();
        assert!(!offer.claim(1, 2), "it stays closed");
    });
}

/// Behind a claimer that has left a shared transfer, the owner takes nothing more; what it took
/// before is one piece, which nobody else has.
#[test]
fn who_has_left_is_served_no_more() {
    loom::model(|| {
        let words = Model::new(OFFER_WORDS + 3, |at| {
            at < 4 || (8..12).contains(&at) || at >= OFFER_WORDS
        });
        // Behind the offer: two pieces, and whether the claimer has left.
        let left = OFFER_WORDS + 2;
        let claimer = BulkOffer::new(words.clone(), 0);
        claimer.open(1, 0);
        assert!(claimer.claim(1, 2));
        let sharing = {
            let words = words.clone();
            thread::spawn(move || {
                let owner = BulkOffer::new(words.clone(), 0);
                // SAFETY: the model has this word.
                let late = unsafe { words.load(left, Ordering::Acquire) } != 0;
                let mut pieces = 0;
                while let Some(piece) = owner.take(2) {
                    assert!(!late, "a piece is written for one that has left");
                    // SAFETY: the model has this word.
                    unsafe { words.set(OFFER_WORDS + piece as usize, 50) };
                    pieces += 1;
                    owner.share(OwnerProgress::Pieces(pieces));
                }
                assert_eq!(owner.take(2), None);
            })
        };
        if let Some(piece) = claimer.take(2) {
            // SAFETY: the model has this word.
            unsafe { words.set(OFFER_WORDS + piece as usize, 60) };
        }
        claimer.leave();
        assert_eq!(claimer.take(2), None);
        // SAFETY: the model has this word.
        unsafe { words.store(left, 1, Ordering::Release) };
        sharing.join().unwrap();
    });
}

/// The receiver's own word on the board, while a sender wakes it: however their stores fall, a
/// sleeper has been rung, and the word says nothing that neither wrote.
#[test]
fn a_rank_moves_while_it_is_rung() {
    const ME: usize = 0;
    loom::model(|| {
        let (words, ring) = (Model::new(1, |_| true), Model::ring(2));
        let (board, bell) = (
            CpuBoard::new(words.clone()),
            SleepFlag::new(words.clone(), ME),
        );
        let (mut sender, receiver) = (Sender::new(ring.clone(), 2), Receiver::new(ring, 2));
        board.set_cpu(ME, 3);
        bell.announce(&Fences);
        let sending = thread::spawn({
            let bell = bell.clone();
            move || {
                // For an earlier message it finds the receiver asleep, or just awake by itself.
                if bell.asleep(&Fences) {
                    bell.clear();
                }
                sender.try_send(0, &[1]).unwrap();
                bell.asleep(&Fences)
            }
        });
        // It wakes by itself, has moved, and goes to sleep again.
        bell.clear();
        board.set_cpu(ME, 4);
        bell.announce(&Fences);
        let sleeps = receiver.next().is_none();
        let rang = sending.join().unwrap();
        // SAFETY: the model has this word.
        let word = unsafe { words.load(ME, Ordering::Relaxed) };
        let asleep = word & 1 != 0;
        assert!(!sleeps || rang || !asleep, "asleep, and nobody rang");
        assert!([4, 5].contains(&(word >> 32)), "on no processor: {word:x}");
    });
}
