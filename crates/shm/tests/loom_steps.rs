//! Models of the steps of collectives, as those of rings in `loom.rs`.
#![cfg(oxmpi_loom)]

mod model;

use std::sync::atomic::Ordering;

use loom::thread;
use model::{Fences, Model};
use oxmpi_shm::ring::{Bell, Miss, STRIDE, Steps, Words};

/// Slots of a model: the fewest.
const SLOTS: usize = 2;

type Slots = Steps<Model, SLOTS>;

const MARK: u16 = 77;

/// One rank's slots, with one word of payload each.
fn slots() -> Slots {
    Slots::new(Model::new(Slots::WORDS, |at| {
        at % STRIDE < 2 && at <= SLOTS * STRIDE
    }))
}

/// Writes and publishes a step.
fn write(slots: &Slots, step: u64) {
    // SAFETY: the model has this word, and the checker reports a race.
    unsafe { slots.words().set(Slots::payload(step), step + 10) };
    slots.publish(step, MARK);
}

/// Reads a step, if it is there.
fn read(slots: &Slots, step: u64) -> bool {
    let come = slots.look(step, MARK);
    if come.is_ok() {
        // SAFETY: as above.
        let payload = unsafe { slots.words().get(Slots::payload(step)) };
        assert_eq!(payload, step + 10);
    }
    assert!(matches!(come, Ok(()) | Err(Miss::Early)), "{come:?}");
    come.is_ok()
}

/// A slot is read whole, and written again only when all have read it.
#[test]
fn a_slot_is_written_when_it_was_read() {
    loom::model(|| {
        let (writer, reader) = (slots(), slots());
        let reading = {
            let (writer, reader) = (writer.clone(), reader.clone());
            thread::spawn(move || {
                for step in 1..=3 {
                    if !read(&writer, step) {
                        return;
                    }
                    assert!(reader.finish(step), "a small ring tells every step");
                }
            })
        };
        for step in 1..=3 {
            let finished = reader.finished(step - 1).unwrap();
            if Slots::is_free(step, finished) {
                write(&writer, step);
            }
        }
        reading.join().unwrap();
    });
}

/// What each of two ranks writes in a step is there for who sees it published, on both sides.
#[test]
fn an_exchange_parts_before_from_after() {
    loom::model(|| {
        let both = [slots(), slots()];
        let other = thread::spawn({
            let both = both.clone();
            move || {
                write(&both[1], 1);
                read(&both[0], 1);
            }
        });
        write(&both[0], 1);
        read(&both[1], 1);
        other.join().unwrap();
        assert!(read(&both[1], 1));
    });
}

/// What is read elsewhere counts only if the step that told of it was not taken back.
#[test]
fn what_is_written_over_was_withdrawn() {
    loom::model(|| {
        let (owner, memory) = (slots(), Model::new(1, |_| true));
        // SAFETY: the model has this word.
        unsafe { memory.store(0, 10, Ordering::Relaxed) };
        owner.publish(1, MARK);
        let failing = thread::spawn({
            let (owner, memory) = (owner.clone(), memory.clone());
            move || {
                owner.withdraw(1);
                // SAFETY: as above.
                unsafe { memory.store(0, 11, Ordering::Relaxed) };
            }
        });
        if owner.look(1, MARK).is_ok() {
            // SAFETY: as above.
            let read = unsafe { memory.load(0, Ordering::Relaxed) };
            assert!(read == 10 || !owner.is_kept(1, MARK));
        }
        failing.join().unwrap();
    });
}

/// What others write counts no more once the step that told of it was taken back, and who had entered before is
/// done.
#[test]
fn nobody_writes_what_was_withdrawn() {
    loom::model(|| {
        let (owner, writer, memory) = (slots(), slots(), Model::new(1, |_| true));
        owner.publish(1, MARK);
        let writing = thread::spawn({
            let (owner, writer, memory) = (owner.clone(), writer.clone(), memory.clone());
            move || {
                writer.enter(1, MARK);
                if owner.is_kept(1, MARK) {
                    // SAFETY: the model has this word, and the checker reports a race.
                    unsafe { memory.set(0, 10) };
                }
                writer.publish(2, MARK);
            }
        });
        owner.withdraw(1);
        while writer.look(1, MARK).is_ok() && writer.look(2, MARK).is_err() {
            thread::yield_now();
        }
        // SAFETY: as above.
        unsafe { memory.set(0, 11) };
        writing.join().unwrap();
    });
}

/// A rank that sleeps until another one publishes has been rung by that one.
#[test]
fn no_step_is_slept_over() {
    loom::model(|| {
        let root = slots();
        let bell = Bell::new(Model::new(1, |_| true), 0);
        let publishing = thread::spawn({
            let (root, bell) = (root.clone(), bell.clone());
            move || {
                root.publish(1, MARK);
                bell.asleep(&Fences)
            }
        });
        bell.announce(&Fences);
        let sleeps = root.look(1, MARK).is_err();
        let rang = publishing.join().unwrap();
        assert!(!sleeps || rang);
    });
}

/// A rank that sleeps until another one has finished a step has been rung by that one.
#[test]
fn no_room_is_slept_over() {
    loom::model(|| {
        let reader = slots();
        let bell = Bell::new(Model::new(1, |_| true), 0);
        let finishing = thread::spawn({
            let (reader, bell) = (reader.clone(), bell.clone());
            move || reader.finish(1) && bell.asleep(&Fences)
        });
        bell.announce(&Fences);
        let sleeps = reader.finished(0) != Ok(1);
        let rang = finishing.join().unwrap();
        assert!(!sleeps || rang);
    });
}
