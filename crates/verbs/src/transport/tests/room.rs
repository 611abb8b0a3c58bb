//! What is bounded, and who goes first where there is room for few.

use super::{HeapMemory, connected, device, pair, settle, with_queues};
use crate::fake::{self, Script};
use crate::transport::{VerbsEndpoint, VerbsOptions, VerbsTx};
use oxmpi_testkit::conformance::{EventLog, TestMemory, eager};
use oxmpi_wire::{
    Access, Atomic, Busy, Fault, Header, Local, Memory, Peer, Put, Remote, Rma, Rx, Sink, Slot,
    Take, Token, Tx,
};

const A: Peer = Peer(0);
const B: Peer = Peer(1);

/// A sink that answers each frame by one of its own, and notes whether it could.
#[derive(Default)]
struct Answering {
    answers: Vec<Result<(), Busy>>,
}

fn send(tx: &mut VerbsTx, to: Peer) -> Result<(), Busy> {
    let mut slot = tx.frame(to, &eager(1, 1), 1)?;
    slot.put(&[1]);
    slot.send();
    Ok(())
}

impl Sink<VerbsTx> for Answering {
    fn frame(&mut self, tx: &mut VerbsTx, from: Peer, _: &Header, _: &mut impl Take) {
        self.answers.push(send(tx, from));
    }

    fn done(&mut self, _: &mut VerbsTx, _: Token, _: Result<(), Fault>) {}
    fn room(&mut self, _: &mut VerbsTx, _: Peer) {}
    fn lost(&mut self, _: &mut VerbsTx, peer: Peer, why: Fault) {
        panic!("{peer:?} is lost: {why}");
    }
}

/// An answer to an atomic that waits for a credit gets the first one, also if the sink sends a frame for each that it
/// gets.
#[test]
fn answers_of_the_transport_go_before_frames() {
    let ends = connected(2, Script::GOOD, &with_queues("P,128,2,2,2"));
    let [(mut a, mut a_rx), (mut b, mut b_rx)] = ends.try_into().expect("two ends");
    let memory = [HeapMemory::new(vec![0; 16]), HeapMemory::new(vec![0; 16])];
    let region = a.register(memory[0].bytes(), Access::WRITE, B).unwrap();
    let both = Access::READ | Access::WRITE;
    let there_region = b.register(memory[1].bytes(), both, A).unwrap();
    let key = b.expose(&there_region, A);
    // B has no credit left when it gets the atomic, and A sends one back with a frame.
    assert_eq!([send(&mut b, A), send(&mut b, A)], [Ok(()), Ok(())]);
    let (remote, local) = (
        Remote {
            key: &key,
            at: 0,
            len: 8,
        },
        Local {
            region: &region,
            at: 0,
            len: 8,
        },
    );
    a.atomic(B, remote, Atomic::Add(1), local, Token(1))
        .unwrap();
    let mut sink = Answering::default();
    b_rx.poll(&mut b, 64, &mut sink);
    let mut log = EventLog::default();
    a_rx.poll(&mut a, 1, &mut log);
    assert_eq!((log.frames.len(), send(&mut a, B)), (1, Ok(())));
    b_rx.poll(&mut b, 64, &mut sink);
    assert_eq!(sink.answers, [Err(Busy)], "the credit is the answer's");
    a_rx.poll(&mut a, 64, &mut log);
    assert_eq!(log.done, [(Token(1), Ok(()))]);
}

/// However many releases wait to be announced, a peer's request is answered.
#[test]
fn releases_that_wait_do_not_count_as_answers() {
    let ends = connected(2, Script::GOOD, &with_queues("P,128,4"));
    let [mut a, mut b] = ends.try_into().expect("two ends");
    let memory = [HeapMemory::new(vec![0; 16]), HeapMemory::new(vec![0; 16])];
    let both = Access::READ | Access::WRITE;
    let region = a.0.register(memory[0].bytes(), both, B).unwrap();
    let there_region = b.0.register(memory[1].bytes(), both, A).unwrap();
    let key = b.0.expose(&there_region, A);
    while send(&mut b.0, A).is_ok() {}
    for token in 0..200 {
        let region = b.0.register(memory[1].bytes(), Access::READ, A).unwrap();
        b.0.expose(&region, A);
        b.0.release(region, Token(token));
    }
    let (remote, local) = (
        Remote {
            key: &key,
            at: 0,
            len: 8,
        },
        Local {
            region: &region,
            at: 0,
            len: 8,
        },
    );
    a.0.atomic(B, remote, Atomic::Add(1), local, Token(999))
        .unwrap();
    let mut log = EventLog::default();
    settle(&mut [&mut b], &mut log);
    settle(&mut [&mut a, &mut b], &mut log);
    assert!(log.lost.is_empty(), "{:?}", log.lost);
    assert!(log.done.contains(&(Token(999), Ok(()))));
    // The releases did not wait: a frame was in their place.
    assert_eq!(log.done.len(), 201);
}

/// Operations that end at once are bounded as others are, and room is reported when their ends are.
#[test]
fn ends_that_nobody_polls_are_bounded() {
    let mut ends = pair(Script::GOOD);
    let [(a, _), (b, _)] = &mut ends;
    let memory = HeapMemory::new(vec![0; 16]);
    let region = a.register(memory.bytes(), Access::WRITE, B).unwrap();
    let there_region = b.register(memory.bytes(), Access::READ, A).unwrap();
    let key = b.expose(&there_region, A);
    let mut started = 0;
    loop {
        let (remote, local) = (
            Remote {
                key: &key,
                at: 0,
                len: 8,
            },
            Local {
                region: &region,
                at: 0,
                len: 7,
            },
        );
        if a.get(B, remote, local, Token(started)).is_err() {
            break;
        }
        started += 1;
        assert!(started < 10_000, "it takes any number");
    }
    let mut log = EventLog::default();
    settle(&mut [&mut ends[0]], &mut log);
    assert_eq!((log.done.len() as u64, &log.room[..]), (started, &[B][..]));
}

/// There is room again when an operation can start, not before.
#[test]
fn room_for_operations_is_not_room_for_frames() {
    let mut ends = pair(Script::GOOD);
    let [(a, _), (b, _)] = &mut ends;
    let memory = [HeapMemory::new(vec![0; 16]), HeapMemory::new(vec![0; 16])];
    let both = Access::READ | Access::WRITE;
    let region = a.register(memory[0].bytes(), both, B).unwrap();
    let there_region = b.register(memory[1].bytes(), both, A).unwrap();
    let key = b.expose(&there_region, A);
    let atomic = |a: &mut VerbsTx, flush: bool| match flush {
        true => a.flush_peer(B, Token(1)),
        false => {
            let (remote, local) = (
                Remote {
                    key: &key,
                    at: 0,
                    len: 8,
                },
                Local {
                    region: &region,
                    at: 0,
                    len: 8,
                },
            );
            a.atomic(B, remote, Atomic::Add(1), local, Token(0))
        }
    };
    let mut flush = false;
    while atomic(a, flush).is_ok() {
        // One request, which nobody answers yet, and flushes that wait for it: frames have room.
        flush = true;
    }
    assert_eq!(send(a, B), Ok(()));
    let mut log = EventLog::default();
    settle(&mut [&mut ends[0]], &mut log);
    assert!(log.room.is_empty(), "no operation can start");
    let [first, second] = &mut ends;
    settle(&mut [second, first], &mut log);
    assert_eq!(log.room, [B]);
    assert_eq!(log.done.len(), 64);
}

/// A peer that answers no request keeps frames from nobody.
#[test]
fn room_for_frames_is_not_room_for_operations() {
    let mut ends = connected(3, Script::GOOD, &with_queues("P,1000,4"));
    let c = Peer(2);
    let [a, b, end_of_c] = &mut ends[..] else {
        panic!("three ends were asked for");
    };
    let memory = [HeapMemory::new(vec![0; 16]), HeapMemory::new(vec![0; 16])];
    let both = Access::READ | Access::WRITE;
    let region = a.0.register(memory[0].bytes(), both, B).unwrap();
    let there_region = b.0.register(memory[1].bytes(), both, A).unwrap();
    let key = b.0.expose(&there_region, A);
    let atomic = |a: &mut VerbsTx| {
        let (remote, local) = (
            Remote {
                key: &key,
                at: 0,
                len: 8,
            },
            Local {
                region: &region,
                at: 0,
                len: 8,
            },
        );
        a.atomic(B, remote, Atomic::Add(1), local, Token(0))
    };
    while atomic(&mut a.0).is_ok() {}
    while send(&mut a.0, c).is_ok() {}
    let mut log = EventLog::default();
    settle(&mut [&mut *a, end_of_c], &mut log);
    assert_eq!(log.room, [c]);
    settle(&mut [b, a], &mut log);
    assert_eq!(log.room, [c, B]);
}

/// A device that takes no request, or gives no completions, loses the peers that it reaches.
#[test]
fn a_device_that_refuses_loses_its_peers() {
    let refused = Fault::Refused("the device takes no request");
    for (call, frames, why) in [
        ("post_send", 1, refused),
        // A credit message is refused, and a receive.
        ("post_send", 0, refused),
        ("post_recv", 0, refused),
        (
            "poll_cq",
            1,
            Fault::Refused("the device gives no completions"),
        ),
    ] {
        let mut ends = pair(Script::GOOD);
        let [(a, _), (b, _)] = &mut ends;
        while frames == 0 && send(b, A).is_ok() {}
        fake::fail(call, -22);
        if frames == 1 {
            assert_eq!(send(a, B), Ok(()));
        }
        let mut log = EventLog::default();
        settle(&mut [&mut ends[0]], &mut log);
        assert_eq!(log.lost, [(B, why)], "{call}");
        fake::start();
    }
}

/// A credit message waits, as frames do, while the completions of as many messages as there are buffers are late.
#[test]
fn a_credit_message_waits_for_a_buffer() {
    let script = Script {
        inline: 0,
        late: Some(1),
        ..Script::GOOD
    };
    let ends = connected(2, script, &with_queues("P,128,1,1,1,1"));
    let [mut a, mut b] = ends.try_into().expect("two ends");
    let mut log = EventLog::default();
    for round in 1..200 {
        // A's buffers are two: it sends as often as it can, while it owes B a credit for each frame.
        let (mut sent, frames) = (false, log.frames.len());
        while log.frames.len() < frames + 2 {
            sent |= !sent && send(&mut b.0, A).is_ok();
            let answered = send(&mut a.0, B).is_ok();
            b.1.poll(&mut b.0, 1, &mut log);
            a.1.poll(&mut a.0, 1, &mut log);
            assert!(
                log.lost.is_empty(),
                "round {round}, answered {answered}: {:?}",
                log.lost
            );
        }
    }
}

/// A device whose completion queues are too short for all peers is refused at once, and not when one too many is used.
#[test]
fn a_device_for_fewer_peers_is_refused() {
    // 64 operations, 16 frames of a ring, and the buffers of both directions.
    let context = device(Script {
        max_cqe: 1000,
        ..Script::GOOD
    });
    let open = |peers| VerbsEndpoint::open(&context, peers, with_queues("P,128,4,2,2,2"));
    assert!(open(10).is_ok());
    let why = open(11)
        .expect_err("1000 entries are not enough")
        .to_string();
    assert!(why.contains("fake0") && why.contains("10 peers"), "{why}");
    assert_eq!(fake::registered(), 0);
}

/// A short frame is no longer than a frame, and there is one also where nothing is granted inline.
#[test]
fn the_short_path_reaches_as_far_as_the_device_grants() {
    for (granted, asked, queues, short) in [
        (0, 128, "P,4096", 64),
        (40, 128, "P,4096", 64),
        (256, 128, "P,4096", 104),
        (1000, 1000, "P,4096", 232),
        (256, 256, "P,128", 128),
    ] {
        let context = device(Script {
            inline: granted,
            ..Script::GOOD
        });
        let options = VerbsOptions {
            inline: asked,
            ..with_queues(queues)
        };
        let (tx, _) = VerbsEndpoint::open(&context, 1, options)
            .unwrap()
            .into_halves();
        assert_eq!(tx.limits(A).short, short, "{granted} of {asked} B granted");
    }
}
