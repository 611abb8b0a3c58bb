//! Eager rings: when they are used, what wakes a rank whose ring is written, and what goes wrong.

use super::{HeapMemory, connected, device, settle, with_queues};
use crate::fake::{self, Script};
use crate::transport::{EagerRings, PortPair, VerbsEndpoint, VerbsOptions, VerbsRx, VerbsTx};
use oxmpi_testkit::conformance::{EventLog, TestMemory, eager};
use oxmpi_testkit::memory::pattern;
use oxmpi_wire::{Busy, Fault, Peer, Put, Rx, Sleeper, Slot, Tx, WaitObjects};

const B: Peer = Peer(1);

/// Rings of four slots of 100 B after three frames.
const RINGS: EagerRings = EagerRings {
    threshold: 3,
    peers: 1,
    slots: 4,
    size: 100,
};

/// Two ends with such rings.
fn with_rings(script: Script, queues: &str) -> [(VerbsTx, VerbsRx); 2] {
    let options = VerbsOptions {
        rings: RINGS,
        ..with_queues(queues)
    };
    let ends = connected(2, script, &options);
    ends.try_into().expect("two ends were asked for")
}

fn send(tx: &mut VerbsTx, to: Peer, tag: u32, len: usize) -> Result<(), Busy> {
    let mut slot = tx.frame(to, &eager(tag, len), len)?;
    slot.put(&pattern(len, tag.into()));
    slot.send();
    Ok(())
}

/// Sends `A`'s first frames to `B`, after which it has a ring.
fn warm_up(ends: &mut [(VerbsTx, VerbsRx); 2], log: &mut EventLog) {
    for tag in 0..3 {
        assert_eq!(send(&mut ends[0].0, B, tag, 8), Ok(()));
        let [a, b] = ends;
        settle(&mut [a, b], log);
    }
}

fn assert_in_order(log: &EventLog, count: usize) {
    let tags: Vec<u32> = log
        .frames
        .iter()
        .map(|(_, head, _)| head.envelope.tag)
        .collect();
    assert_eq!(tags, (0..count as u32).collect::<Vec<_>>());
    for (_, head, body) in &log.frames {
        assert_eq!(*body, pattern(body.len(), head.envelope.tag.into()));
    }
    assert!(log.lost.is_empty(), "{:?}", log.lost);
}

/// Frames take the slots, then the queue; longer ones the queue; all are handed over in order.
#[test]
fn frames_of_a_hot_peer_take_the_ring_first() {
    for script in [
        Script::GOOD,
        Script {
            inline: 0,
            ..Script::GOOD
        },
    ] {
        let mut ends = with_rings(script, "P,200,2");
        let mut log = EventLog::default();
        let mut sent = 0;
        while send(&mut ends[0].0, B, sent, 8).is_ok() {
            sent += 1;
        }
        assert_eq!(sent, 2, "two buffers");
        let [a, b] = &mut ends;
        settle(&mut [a, b], &mut log);
        assert_eq!(send(&mut ends[0].0, B, 2, 8), Ok(()));
        let [a, b] = &mut ends;
        settle(&mut [a, b], &mut log);
        sent = 3;
        while send(&mut ends[0].0, B, sent, if sent == 4 { 150 } else { 100 }).is_ok() {
            sent += 1;
        }
        assert_eq!(sent, 3 + 4 + 2, "four slots and two buffers");
        let [a, b] = &mut ends;
        settle(&mut [a, b], &mut log);
        assert_in_order(&log, 9);
        // Slots are free again, lap after lap.
        for tag in 9..100 {
            assert_eq!(send(&mut ends[0].0, B, tag, tag as usize), Ok(()));
            let [a, b] = &mut ends;
            settle(&mut [a, b], &mut log);
        }
        assert_in_order(&log, 100);
    }
}

fn is_readable(rx: &VerbsRx) -> bool {
    let mut readable = false;
    rx.watch(&mut |fd| {
        readable |= oxmpi_os::socket::readable(&[fd], std::time::Instant::now()).is_ok();
    });
    readable
}

/// Lets `b` sleep; `a` polls, so that its device answers.
fn sleep([a, b]: &mut [(VerbsTx, VerbsRx); 2], log: &mut EventLog) {
    for _ in 0..100 {
        b.1.poll(&mut b.0, 64, log);
        a.1.poll(&mut a.0, 64, log);
        if b.1.arm() {
            return;
        }
    }
    panic!("it never sleeps");
}

/// A rank that sleeps is woken for a frame in its ring, each time, and sleeps only when its peers know.
#[test]
fn a_frame_in_a_ring_wakes_its_receiver() {
    for late in [None, Some(3)] {
        let mut ends = with_rings(
            Script {
                late,
                ..Script::GOOD
            },
            "P,200,4:S,400,4,2,1",
        );
        let mut log = EventLog::default();
        warm_up(&mut ends, &mut log);
        for tag in 3..20 {
            sleep(&mut ends, &mut log);
            assert!(!is_readable(&ends[1].1));
            assert_eq!(send(&mut ends[0].0, B, tag, 8), Ok(()));
            assert!(!is_readable(&ends[1].1), "nothing announces a write");
            for _ in 0..20 {
                let (tx, rx) = &mut ends[0];
                rx.poll(tx, 64, &mut log);
            }
            assert!(is_readable(&ends[1].1), "round {tag}, late {late:?}");
            let [a, b] = &mut ends;
            settle(&mut [a, b], &mut log);
            assert_eq!(log.frames.len() as u32, tag + 1);
        }
        assert_in_order(&log, 20);
    }
}

/// A frame that was written before its sender knew of the sleep keeps the receiver awake.
#[test]
fn a_frame_before_the_sleep_keeps_its_receiver_awake() {
    let mut ends = with_rings(Script::GOOD, "P,200,4");
    let mut log = EventLog::default();
    warm_up(&mut ends, &mut log);
    sleep(&mut ends, &mut log);
    assert_eq!(send(&mut ends[0].0, B, 3, 8), Ok(()));
    assert!(!ends[1].1.arm(), "a frame is in the ring");
    let [a, b] = &mut ends;
    settle(&mut [a, b], &mut log);
    assert_in_order(&log, 4);
}

/// Without memory for a ring, or for what its sender needs, frames go by queues.
#[test]
fn a_ring_that_is_not_registered_is_done_without() {
    // Each end registers its receives and its sends; then come the ring and its sender's copies.
    for failing in [5, 6] {
        let script = Script {
            failing_registration: Some(failing),
            ..Script::GOOD
        };
        let mut ends = with_rings(script, "P,200,2");
        let mut log = EventLog::default();
        warm_up(&mut ends, &mut log);
        let mut sent = 3;
        while send(&mut ends[0].0, B, sent, 8).is_ok() {
            sent += 1;
        }
        assert_eq!(sent, 3 + 2, "no slots");
        let [a, b] = &mut ends;
        settle(&mut [a, b], &mut log);
        assert_in_order(&log, 5);
    }
}

/// Whatever a device grants inline, a short frame of any length goes to a ring whole.
#[test]
fn short_frames_of_any_length_fit_a_ring() {
    for more_inline in [0, 8, 60] {
        let script = Script {
            more_inline,
            ..Script::GOOD
        };
        let options = VerbsOptions {
            rings: EagerRings { size: 250, ..RINGS },
            inline: 256,
            ..with_queues("P,300,4")
        };
        let ends = connected(2, script, &options);
        let mut ends: [(VerbsTx, VerbsRx); 2] = ends.try_into().expect("two ends");
        let mut log = EventLog::default();
        warm_up(&mut ends, &mut log);
        for (tag, len) in (3..).zip(200..=ends[0].0.limits(B).short as usize) {
            let body = HeapMemory::new(pattern(len, u64::from(tag)));
            let sent = ends[0].0.short(B, &eager(tag, len), &body.bytes());
            assert_eq!(sent, Ok(()), "{len} B");
            let [a, b] = &mut ends;
            settle(&mut [a, b], &mut log);
        }
        assert_in_order(&log, 3 + 33);
    }
}

/// A peer's ring has any number of slots: no more frames are in flight than there is room for, and none go there
/// where this rank has no rings.
#[test]
fn a_longer_ring_than_this_rank_has_is_filled_as_far_as_its_own() {
    for (slots, expected) in [(0, 2), (2, 2 + 2)] {
        let context = device(Script::GOOD);
        let open = |slots| {
            let rings = EagerRings { slots, ..RINGS };
            let queues = with_queues("P,200,2");
            VerbsEndpoint::open(&context, 2, VerbsOptions { rings, ..queues }).expect("an endpoint")
        };
        let mut ends = [open(slots), open(256)];
        let here = ends[0].offer(B).expect("a pair");
        let there = ends[1].offer(Peer(0)).expect("a pair");
        ends[0]
            .connect(B, &PortPair::first(&there))
            .expect("a connection");
        ends[1]
            .connect(Peer(0), &PortPair::first(&here))
            .expect("a connection");
        let mut ends = ends.map(VerbsEndpoint::into_halves);
        let mut log = EventLog::default();
        warm_up(&mut ends, &mut log);
        let mut sent = 3;
        while send(&mut ends[0].0, B, sent, 8).is_ok() && sent < 300 {
            sent += 1;
        }
        assert_eq!(sent, 3 + expected, "{slots} slots");
        let [a, b] = &mut ends;
        settle(&mut [a, b], &mut log);
        assert_in_order(&log, sent as usize);
    }
}

/// The memory of a ring stays as long as a word may be written from it, also if the ring's peer is lost.
#[test]
fn a_ring_stays_until_its_words_are_written() {
    let script = Script {
        inline: 0,
        late: Some(3),
        ..Script::GOOD
    };
    let mut ends = with_rings(script, "X,200,16,8,4");
    let mut log = EventLog::default();
    warm_up(&mut ends, &mut log);
    // Half of the ring is free again: the receiver says so by a word.
    for tag in 3..5 {
        assert_eq!(send(&mut ends[0].0, B, tag, 8), Ok(()));
    }
    let (tx, rx) = &mut ends[1];
    while log.frames.len() < 5 {
        rx.poll(tx, 64, &mut log);
    }
    assert!(!tx.words_arrived(0), "a word is in flight");
    tx.give_up(Peer(0), Fault::PeerDead);
    let before = fake::registered();
    while !tx.words_arrived(0) {
        assert_eq!(fake::registered(), before);
        rx.poll(tx, 64, &mut log);
    }
    rx.poll(tx, 64, &mut log);
    assert_eq!(fake::registered(), before - 1);
}
