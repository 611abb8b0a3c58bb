//! Models of the steps of collectives; see `rings.rs` for how models work.

use std::sync::atomic::Ordering;

use crate::model::{Fences, Model, sleep_flag, spawn_with};
use loom::thread;
use oxmpi_shm::ring::{STRIDE, SharedWords, StepAbsent, StepSlots};

/// Slots of a rank in the models: the fewest.
const SLOTS: usize = 2;

type Slots = StepSlots<Model, SLOTS>;

const MARK: u16 = 77;

/// The slots of one rank, with one word of payload each.
fn slots() -> Slots {
    Slots::new(Model::new(Slots::WORDS, |at| {
        at % STRIDE < 2 && at <= SLOTS * STRIDE
    }))
}

/// Writes and publishes a step.
fn write(slots: &Slots, step: u64) {
    write_in(slots, Slots::slot(step), step);
}

/// Writes and publishes a step in this slot.
fn write_in(slots: &Slots, slot: usize, step: u64) {
    slots.words().write(Slots::payload(slot), step + 10);
    slots.publish(slot, step, MARK);
}

/// Publishes a step.
fn publish(slots: &Slots, step: u64) {
    slots.publish(Slots::slot(step), step, MARK);
}

/// Polls for a step.
fn poll(slots: &Slots, step: u64) -> Result<(), StepAbsent> {
    slots.poll(Slots::slot(step), step, MARK)
}

/// Reads a step, if it is there.
fn read(slots: &Slots, step: u64) -> bool {
    read_in(slots, Slots::slot(step), step)
}

/// Reads a step in this slot, if it is there.
fn read_in(slots: &Slots, slot: usize, step: u64) -> bool {
    let come = slots.poll(slot, step, MARK);
    if come.is_ok() {
        let payload = slots.words().read(Slots::payload(slot));
        assert_eq!(payload, step + 10);
    }
    assert!(matches!(come, Ok(()) | Err(StepAbsent::Early)), "{come:?}");
    come.is_ok()
}

/// A slot is read whole, and written again only when all have read it.
#[test]
fn a_slot_is_written_after_it_was_read() {
    loom::model(|| {
        let (writer, reader) = (slots(), slots());
        let reading = spawn_with((writer.clone(), reader.clone()), move |(writer, reader)| {
            for step in 1..=3 {
                if !read(&writer, step) {
                    return;
                }
                assert!(reader.finish(step), "a small ring reports every step");
            }
        });
        for step in 1..=3 {
            let finished = reader.finished(step - 1).unwrap();
            if Slots::is_free(step, finished) {
                write(&writer, step);
            }
        }
        reading.join().unwrap();
    });
}

/// A rank that sees the other's step published sees what it wrote.
#[test]
fn an_exchange_orders_writes_before_reads() {
    loom::model(|| {
        let both = [slots(), slots()];
        let other = spawn_with(both.clone(), move |both| {
            write(&both[1], 1);
            read(&both[0], 1);
        });
        write(&both[0], 1);
        read(&both[1], 1);
        other.join().unwrap();
        assert!(read(&both[1], 1));
    });
}

/// Two ranks write two slots alternately: each the one that it has read.
#[test]
fn a_read_slot_is_written_next() {
    const STEPS: u64 = 3;
    let run = |slots: &Slots, me: u64| {
        for step in 1..=STEPS {
            let [mine, other] = [me + step, me + step + 1].map(|slot| slot as usize % SLOTS);
            write_in(slots, mine, step);
            if !read_in(slots, other, step) {
                return;
            }
        }
    };
    loom::model(move || {
        let slots = slots();
        let other = spawn_with(slots.clone(), move |slots| run(&slots, 1));
        run(&slots, 0);
        other.join().unwrap();
    });
}

/// Two ranks answer each other in one slot.
#[test]
fn an_answer_is_written_where_the_question_was() {
    loom::model(|| {
        let slots = slots();
        let answering = spawn_with(slots.clone(), move |slots| {
            if read_in(&slots, 0, 1) {
                write_in(&slots, 0, 2);
            }
        });
        write_in(&slots, 0, 1);
        if slots.poll(0, 2, MARK).is_ok() {
            read_in(&slots, 0, 2);
            write_in(&slots, 0, 3);
        }
        answering.join().unwrap();
    });
}

/// A peer that writes alternately, far ahead or until it fails, is not mistaken for one in another call.
#[test]
fn an_alternating_writer_is_in_the_same_call() {
    let mark = Slots::ping_pong_mark(MARK, 1);
    let run = |fails| {
        loom::model(move || {
            let both = [slots(), slots()];
            let writing = spawn_with(both.clone(), move |[first, second]| {
                second.publish(1, 1, mark);
                first.publish(0, 2, mark);
                if fails {
                    second.withdraw(1, 1, mark);
                }
            });
            let [first, second] = &both;
            let come = Slots::poll_ping_pong([first, second], (1, 1), 1, mark);
            assert!(matches!(come, Ok(()) | Err(StepAbsent::Early)), "{come:?}");
            writing.join().unwrap();
        });
    };
    [false, true].into_iter().for_each(run);
}

/// A read of shown memory counts only if the step that showed it was not withdrawn.
#[test]
fn a_read_of_withdrawn_memory_does_not_count() {
    loom::model(|| {
        let (owner, memory) = (slots(), Model::new(1, |_| true));
        // SAFETY: the model has this word.
        unsafe { memory.store(0, 10, Ordering::Relaxed) };
        publish(&owner, 1);
        let failing = spawn_with((owner.clone(), memory.clone()), move |(owner, memory)| {
            owner.withdraw(Slots::slot(1), 1, MARK);
            // SAFETY: as above.
            unsafe { memory.store(0, 11, Ordering::Relaxed) };
        });
        if poll(&owner, 1).is_ok() {
            // SAFETY: as above.
            let read = unsafe { memory.load(0, Ordering::Relaxed) };
            assert!(read == 10 || !owner.is_kept(Slots::slot(1), 1, MARK));
        }
        failing.join().unwrap();
    });
}

/// Others write no more after the withdrawal, once those that entered before are done.
#[test]
fn no_rank_writes_withdrawn_memory() {
    loom::model(|| {
        let all = (slots(), slots(), Model::new(1, |_| true));
        let (owner, writer, memory) = all.clone();
        publish(&owner, 1);
        let writing = spawn_with(all, move |(owner, writer, memory)| {
            writer.enter(Slots::slot(1), 1, MARK);
            if owner.is_kept(Slots::slot(1), 1, MARK) {
                memory.write(0, 10);
            }
            publish(&writer, 2);
        });
        owner.withdraw(Slots::slot(1), 1, MARK);
        while poll(&writer, 1).is_ok() && poll(&writer, 2).is_err() {
            thread::yield_now();
        }
        memory.write(0, 11);
        writing.join().unwrap();
    });
}

/// The same where the writer reports in the slot that showed it where to write.
#[test]
fn a_later_step_is_not_withdrawn() {
    const SHOWN: usize = 0;
    const ENTERED: usize = 1;
    loom::model(|| {
        let (slots, memory) = (slots(), Model::new(1, |_| true));
        slots.publish(SHOWN, 1, MARK);
        let writing = spawn_with((slots.clone(), memory.clone()), move |(slots, memory)| {
            slots.enter(ENTERED, 1, MARK);
            if slots.is_kept(SHOWN, 1, MARK) {
                memory.write(0, 10);
            }
            slots.publish(SHOWN, 2, MARK);
        });
        slots.withdraw(SHOWN, 1, MARK);
        let writes = slots.poll(ENTERED, 1, MARK).is_ok();
        if !writes || slots.poll(SHOWN, 2, MARK).is_ok() {
            memory.write(0, 11);
        }
        // The checker does not know that the exchange in `withdraw` leaves a later step alone.
        writing.join().unwrap();
    });
}

/// A rank that sleeps until another one publishes a step is woken by it.
#[test]
fn no_step_is_slept_over() {
    loom::model(|| {
        let root = slots();
        let flag = sleep_flag();
        let publishing = spawn_with((root.clone(), flag.clone()), move |(root, flag)| {
            publish(&root, 1);
            flag.asleep(&Fences)
        });
        flag.announce(&Fences);
        let sleeps = poll(&root, 1).is_err();
        let woken = publishing.join().unwrap();
        assert!(!sleeps || woken);
    });
}

/// A rank with pending calls in two groups, which sleeps in a third wait, is woken by a step of either.
#[test]
fn no_step_of_several_groups_is_slept_over() {
    loom::model(|| {
        let groups = [slots(), slots()];
        let flag = sleep_flag();
        let publishing = groups.clone().map(|group| {
            spawn_with((group, flag.clone()), move |(group, flag)| {
                publish(&group, 1);
                flag.asleep(&Fences)
            })
        });
        flag.announce(&Fences);
        let come = groups.map(|group| poll(&group, 1).is_ok());
        let woken = publishing.map(|publishing| publishing.join().unwrap());
        for (come, woken) in come.into_iter().zip(woken) {
            assert!(come || woken, "slept over a step");
        }
    });
}

/// A rank that sleeps until another one has finished a step is woken by it.
#[test]
fn no_room_is_slept_over() {
    loom::model(|| {
        let reader = slots();
        let flag = sleep_flag();
        let finishing = spawn_with((reader.clone(), flag.clone()), move |(reader, flag)| {
            reader.finish(1) && flag.asleep(&Fences)
        });
        flag.announce(&Fences);
        let sleeps = reader.finished(0) != Ok(1);
        let woken = finishing.join().unwrap();
        assert!(!sleeps || woken);
    });
}
