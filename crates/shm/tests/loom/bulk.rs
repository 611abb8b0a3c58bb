//! Models of bulk offers and FIFOs.
//!
//! Every interleaving of two or three threads with at most two preemptions. Nothing spins: a thread that finds nothing
//! goes on, and the rest is checked after the join. Words that the protocol orders are cells here, and the model checker
//! reports any race on them.

use std::sync::atomic::Ordering;

use crate::model::{Model, spawn_with};
use oxmpi_shm::ring::{
    BulkOffer, ClaimLost, FifoCounters, FifoReader, FifoWriter, OFFER_WORDS, OfferStage,
    OwnerProgress, Receiver, Sender, SharedWords,
};

/// The words of an offer, and `more` words behind it.
fn offer_words(more: usize) -> Model {
    Model::new(OFFER_WORDS + more, |at| {
        at < 4 || (8..12).contains(&at) || at >= OFFER_WORDS
    })
}

/// The offer in the first words.
fn offer_in(words: &Model) -> BulkOffer<Model> {
    BulkOffer::new(words.clone(), 0)
}

/// A FIFO with a window of one byte, a word behind the counters, filled and drained at the same time.
#[test]
fn a_fifo_moves_every_byte() {
    loom::model(|| {
        let words = Model::new(3, |_| true);
        let at = FifoCounters {
            filled: 0,
            drained: 1,
        };
        let mut fill = FifoWriter::new(words.clone(), at, 2, 1);
        let mut drain = FifoReader::new(words.clone(), at, 2, 1);
        let filling = spawn_with(words.clone(), move |words| {
            for _ in 0..3 {
                fill_one(&words, &mut fill);
            }
            fill
        });
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
        words.write(2, fill.filled() + 100);
        fill.publish(1);
    }
}

fn drain_one(words: &Model, drain: &mut FifoReader<Model>) {
    if drain.ready(9).unwrap() == 1 {
        assert_eq!(words.read(2), drain.drained() + 100);
        drain.free(1);
    }
}

/// An offer with one word behind it: the claimer reads that word, and the owner does not write it until the
/// claimer has finished.
#[test]
fn an_offer_is_claimed_or_withdrawn() {
    loom::model(|| {
        let words = offer_words(1);
        let offer = offer_in(&words);
        let claiming = spawn_with(words.clone(), |words| {
            let offer = offer_in(&words);
            let claimed = offer.claim(1, 2);
            if claimed {
                assert_eq!(words.read(OFFER_WORDS), 7);
                assert_eq!(offer.finish(1, 2), Ok(()));
            }
            claimed
        });
        words.write(OFFER_WORDS, 7);
        offer.open(1, 0);
        let withdrawn = offer.withdraw(1);
        if withdrawn || offer.stage(1) == (OfferStage::Done { protocol: 2 }) {
            words.write(OFFER_WORDS, 8);
        }
        let claimed = claiming.join().unwrap();
        assert!(!(claimed && withdrawn));
    });
}

/// A ping-pong window goes over with the end of a claim: the claimer writes it next, for the owner, which claims
/// what is in it and owns it again.
#[test]
fn a_window_changes_owner_twice() {
    const WINDOW: usize = 2 * OFFER_WORDS;
    loom::model(|| {
        let words = Model::new(WINDOW + 1, |at| {
            at % OFFER_WORDS < 4 || (8..12).contains(&(at % OFFER_WORDS)) || at == WINDOW
        });
        let offers = |words: &Model| [0, OFFER_WORDS].map(|at| BulkOffer::new(words.clone(), at));
        let answering = spawn_with(words.clone(), move |words| {
            let [came, out] = offers(&words);
            if !came.claim(1, 1) {
                return;
            }
            let mut drain = FifoReader::new(words.clone(), came.counters(), 1, 1);
            if drain.ready(1).unwrap() == 1 {
                assert_eq!(words.read(WINDOW), 7);
                drain.free(1);
                came.finish(1, 1).unwrap();
                words.write(WINDOW, 8);
                let mut fill = FifoWriter::new(words.clone(), out.counters(), 1, 1);
                fill.publish(1);
                out.open(1, 0);
            }
        });
        let [out, came] = offers(&words);
        let mut fill = FifoWriter::new(words.clone(), out.counters(), 1, 1);
        out.open(1, 0);
        words.write(WINDOW, 7);
        fill.publish(1);
        if came.claim(1, 1) {
            let mut drain = FifoReader::new(words.clone(), came.counters(), 1, 1);
            assert_eq!(drain.ready(1), Ok(1));
            assert_eq!(words.read(WINDOW), 8);
            drain.free(1);
            came.finish(1, 1).unwrap();
            words.write(WINDOW, 9);
        }
        answering.join().unwrap();
    });
}

/// A window that goes over half filled with its message needs no claim. A receiver that took all reports it and
/// writes the window next; else the owner does, after the answer.
#[test]
fn a_pushed_window_is_taken_or_returned() {
    const WINDOW: usize = OFFER_WORDS;
    const TOOK: usize = 12;
    loom::model(|| {
        let (there, back) = (Model::ring(2), Model::ring(2));
        let words = Model::new(WINDOW + 2, |at| {
            at < 4 || (8..=TOOK).contains(&at) || at >= WINDOW
        });
        let ends = |out: &Model, into: &Model| {
            let sender = Sender::new(out.clone(), 2);
            (sender, Receiver::new(into.clone(), 2))
        };
        let mut side = ends(&there, &back);
        let mut other = ends(&back, &there);
        let taking = spawn_with(words.clone(), move |words| {
            if other.1.next().is_none() {
                return;
            }
            let came = offer_in(&words);
            let drain = FifoReader::new(words.clone(), came.counters(), 2, 2);
            let mut drain = drain.begun(1).unwrap();
            while drain.ready(1).unwrap() == 1 {
                let at = WINDOW + drain.drained() as usize;
                assert_eq!(words.read(at), 7);
                drain.free(1);
            }
            came.holds(1, OfferStage::Open).unwrap();
            if drain.is_empty() {
                came.took(1);
                words.write(WINDOW, 8);
            }
            other.0.try_send(drain.is_empty().into(), &[]).unwrap();
        });
        let out = offer_in(&words);
        let mut fill = FifoWriter::new(words.clone(), out.counters(), 2, 2);
        out.open(1, 0);
        words.write(WINDOW, 7);
        fill.publish(1);
        side.0.try_send(1, &[]).unwrap();
        words.write(WINDOW + 1, 7);
        fill.publish(1);
        if let Some((_, whole)) = side.1.next() {
            assert_eq!(out.is_taken(1), whole == 1);
            if out.is_taken(1) {
                assert_eq!(words.read(WINDOW), 8);
            }
            words.write(WINDOW, 9);
        }
        taking.join().unwrap();
    });
}

/// A claimer that reads a word written after the revocation of the offer finds out when it finishes.
#[test]
fn a_revoked_offer_is_not_finished() {
    loom::model(|| {
        let words = offer_words(1);
        let offer = offer_in(&words);
        offer.open(1, 0);
        let claiming = spawn_with(words.clone(), |words| {
            let offer = offer_in(&words);
            if offer.claim(1, 2) {
                // SAFETY: the model has this word.
                let read = unsafe { words.load(OFFER_WORDS, Ordering::Relaxed) };
                let good = offer.finish(1, 2);
                assert!(good == Err(ClaimLost::Revoked) || read != 8, "{good:?}");
            }
        });
        offer.revoke(1);
        // SAFETY: the model has this word.
        unsafe { words.store(OFFER_WORDS, 8, Ordering::Relaxed) };
        claiming.join().unwrap();
    });
}

/// A claimer that sees the grant sees what was prepared for it.
#[test]
fn a_grant_publishes_what_was_prepared() {
    loom::model(|| {
        let words = offer_words(1);
        let offer = offer_in(&words);
        offer.open(1, 0);
        let claiming = spawn_with(words.clone(), |words| {
            let offer = offer_in(&words);
            assert!(offer.claim(1, 2));
            if offer.granted() == 3 {
                assert_eq!(words.read(OFFER_WORDS), 9);
            }
        });
        words.write(OFFER_WORDS, 9);
        offer.grant(3);
        claiming.join().unwrap();
    });
}

/// Both sides move pieces of one transfer: each piece once, and the claimer sees the pieces of the owner.
#[test]
fn pieces_are_shared() {
    loom::model(|| {
        let words = offer_words(2);
        let claimer = offer_in(&words);
        claimer.open(1, 0);
        assert!(claimer.claim(1, 2));
        let sharing = spawn_with(words.clone(), |words| {
            let owner = offer_in(&words);
            let mut done = 0;
            let Some([4, pieces]) = owner.joined() else {
                return 0;
            };
            assert_eq!(pieces, 2);
            while let Some(piece) = owner.take(pieces) {
                words.write(OFFER_WORDS + piece as usize, piece + 50);
                done += 1;
                owner.share(OwnerProgress::Pieces(done));
            }
            done
        });
        claimer.join([4, 2]);
        let mut mine = 0;
        let mut taken = [false; 2];
        while let Some(piece) = claimer.take(2) {
            taken[piece as usize] = true;
            mine += 1;
        }
        if claimer.shared() == OwnerProgress::Pieces(2 - mine) {
            for piece in (0..2).filter(|&piece| !taken[piece]) {
                assert_eq!(words.read(OFFER_WORDS + piece), piece as u64 + 50);
            }
        }
        assert_eq!(sharing.join().unwrap() + mine, 2);
    });
}

/// A FIFO that is taken back from an unclaimed offer is no claimer's: a later claimer is granted another, and an
/// earlier one keeps this one.
#[test]
fn a_fifo_is_reclaimed_or_kept() {
    loom::model(|| {
        let words = offer_words(1);
        let offer = offer_in(&words);
        words.write(OFFER_WORDS, 7);
        offer.open(1, 5);
        let claiming = spawn_with(words.clone(), |words| {
            let offer = offer_in(&words);
            if offer.claim(1, 2) && offer.granted() == 5 {
                assert_eq!(words.read(OFFER_WORDS), 7);
            }
        });
        if offer.withdraw(1) {
            offer.open(1, 0);
            words.write(OFFER_WORDS, 8);
        }
        claiming.join().unwrap();
    });
}

/// The FIFO of a revoked offer goes to another transfer at once: a claimer that still drains it does not count on
/// those bytes.
#[test]
fn a_revoked_fifo_brings_nothing() {
    loom::model(|| {
        // The window of one word is behind the offer.
        let words = offer_words(1);
        let offer = offer_in(&words);
        let at = offer.counters();
        let mut fill = FifoWriter::new(words.clone(), at, 1, 1);
        offer.open(1, 5);
        let claiming = spawn_with(words.clone(), move |words| {
            let offer = offer_in(&words);
            if !offer.claim(1, 2) {
                return;
            }
            let mut drain = FifoReader::new(words.clone(), at, 1, 1);
            if drain.ready(1).unwrap() == 0 {
                // Nothing arrived: the offer may still look as it was.
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
        });
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

/// The owner takes no piece after the claimer has left a shared transfer; a piece that it took before is its alone.
#[test]
fn a_claimer_that_left_gets_no_more_pieces() {
    loom::model(|| {
        // Behind the offer: two pieces, and whether the claimer has left.
        let words = offer_words(3);
        let left = OFFER_WORDS + 2;
        let claimer = offer_in(&words);
        claimer.open(1, 0);
        assert!(claimer.claim(1, 2));
        let sharing = spawn_with(words.clone(), move |words| {
            let owner = offer_in(&words);
            // SAFETY: the model has this word.
            let late = unsafe { words.load(left, Ordering::Acquire) } != 0;
            let mut pieces = 0;
            while let Some(piece) = owner.take(2) {
                assert!(!late, "a piece is written for one that has left");
                words.write(OFFER_WORDS + piece as usize, 50);
                pieces += 1;
                owner.share(OwnerProgress::Pieces(pieces));
            }
            assert_eq!(owner.take(2), None);
        });
        if let Some(piece) = claimer.take(2) {
            words.write(OFFER_WORDS + piece as usize, 60);
        }
        claimer.leave();
        assert_eq!(claimer.take(2), None);
        // SAFETY: the model has this word.
        unsafe { words.store(left, 1, Ordering::Release) };
        sharing.join().unwrap();
    });
}
