//! Tests with a peer that breaks the protocol: the engine gives it up, and all else continues.

use oxmpi_testkit::conformance::EventLog;
use oxmpi_testkit::fabric::FabricConfig;
use oxmpi_testkit::fuzz::frames;
use oxmpi_testkit::job::Job;
use oxmpi_testkit::memory::Buffer;
use oxmpi_wire::paths::RendezvousScheme;
use oxmpi_wire::{
    EngineConfig, Envelope, Failure, Fault, Flags, Header, Kind, Mode, PathOverrides, Peer, Put,
    Rx, Slot, Source, Tag, Tx,
};
use proptest::prelude::*;

const ENVELOPE: Envelope = Envelope { context: 0, tag: 0 };

/// Sends one frame from rank 1 to rank 0 without the engine of rank 1.
fn attack(job: &mut Job, kind: Kind, flags: Flags, body: &[u8]) {
    let head = Header::new(kind, flags, body.len() as u32, ENVELOPE);
    let mut slot = job.ranks[1].tx.frame(Peer(0), &head, body.len()).unwrap();
    slot.put(body);
    slot.send();
    job.ranks[0].step(8);
}

fn fault(job: &Job) -> Option<Fault> {
    job.ranks[0].engine.fault(Peer(1))
}

#[test]
fn every_broken_rule_ends_in_a_fault_that_names_it() {
    let none = Flags::empty();
    let cases: [(Kind, Flags, &[u8]); 23] = [
        (Kind::Eager, Flags::YES, &[]),
        (Kind::Eager, Flags::all(), &[0; 8]),
        (Kind::Eager, Flags::SYNC, &[0; 7]),
        (Kind::RequestToSend, none, &[0; 47]),
        (Kind::RequestToSend, none, &[0; 49]),
        (Kind::RequestToSend, Flags::SYNC, &[0; 48]),
        (Kind::RequestToSend, Flags::PUT.union(Flags::YES), &[0; 48]),
        (Kind::ClearToSend, none, &[0; 55]),
        (Kind::ClearToSend, none, &[0; 57]),
        (Kind::ClearToSend, Flags::YES, &[0; 56]),
        (Kind::ClearToSend, none, &[0; 56]),
        (Kind::Eager, Flags::PUT, &[]),
        (Kind::Finished, Flags::YES, &[0; 8]),
        (Kind::Finished, Flags::YES, &[0xff; 8]),
        (Kind::Finished, Flags::SYNC, &[0; 8]),
        (Kind::Cancel, none, &[0; 7]),
        (Kind::Cancel, none, &[0; 9]),
        (Kind::Cancel, Flags::YES, &[0; 8]),
        (Kind::CancelReply, Flags::YES, &[0; 8]),
        (Kind::CancelReply, Flags::SYNC, &[0; 8]),
        (Kind::Flow, none, &[3, 0, 0, 0, 0, 0, 0, 0]),
        (Kind::Flow, none, &[0; 9]),
        (Kind::Transport, none, &[]),
    ];
    for (kind, flags, body) in cases {
        let mut job = Job::new(3, FabricConfig::default(), EngineConfig::default());
        let (source, room) = (Source::Peer(Peer(1)), Buffer::zeroed(8));
        let pending = job.recv(0, source, 0, Tag::Exact(7), &room);
        attack(&mut job, kind, flags, body);
        let found = fault(&job);
        assert!(
            matches!(found, Some(Fault::Protocol(_))),
            "{kind:?} {flags:?} of {} B: {found:?}",
            body.len()
        );
        let fault = found.unwrap();
        assert_eq!(job.ranks[0].tx.given_up, [(Peer(1), fault)]);
        let failure = Failure::Fault {
            peer: Peer(1),
            fault,
        };
        assert_eq!(job.wait(0, pending), Err(failure));
        let later = job.send(0, 1, ENVELOPE, Mode::Standard, Buffer::zeroed(8));
        assert_eq!(job.wait(0, later), Err(failure));
        let other = job.recv(0, Source::Peer(Peer(2)), 0, Tag::Any, &Buffer::zeroed(8));
        job.send(2, 0, ENVELOPE, Mode::Standard, Buffer::zeroed(8));
        job.wait(0, other).unwrap();
    }
}

#[test]
fn answers_without_a_request_are_refused() {
    // The first request of an engine has index and generation 0, and so the id 0.
    for (kind, flags) in [
        (Kind::Finished, Flags::YES),
        (Kind::CancelReply, Flags::YES),
    ] {
        // A receive, which waits for no answer.
        let mut job = Job::new(2, FabricConfig::default(), EngineConfig::default());
        job.recv(0, Source::Peer(Peer(1)), 0, Tag::Any, &Buffer::zeroed(8));
        attack(&mut job, kind, flags, &[0; 8]);
        assert!(fault(&job).is_some());
    }
    // The answer to a cancel that was not sent.
    let mut job = Job::new(2, FabricConfig::default(), EngineConfig::default());
    job.send(0, 1, ENVELOPE, Mode::Synchronous, Buffer::zeroed(8));
    attack(&mut job, Kind::CancelReply, Flags::YES, &[0; 8]);
    assert!(fault(&job).is_some());
    // A send to another peer.
    let mut job = Job::new(3, FabricConfig::default(), EngineConfig::default());
    job.send(0, 2, ENVELOPE, Mode::Synchronous, Buffer::zeroed(8));
    attack(&mut job, Kind::Finished, Flags::YES, &[0; 8]);
    assert!(fault(&job).is_some());
    // Finished twice.
    let mut job = Job::new(2, FabricConfig::default(), EngineConfig::default());
    let sent = job.send(0, 1, ENVELOPE, Mode::Synchronous, Buffer::zeroed(8));
    attack(&mut job, Kind::Finished, Flags::YES, &[0; 8]);
    assert_eq!(fault(&job), None);
    attack(&mut job, Kind::Finished, Flags::YES, &[0; 8]);
    assert!(fault(&job).is_some());
    job.wait(0, sent).unwrap();
}

/// The body of a clear-to-send to the first request, for `room` bytes at the peer's first region.
fn clear(room: u64) -> Vec<u8> {
    let mut body = vec![0; 56];
    body[16..24].copy_from_slice(&room.to_le_bytes());
    body
}

const PUT: EngineConfig = EngineConfig {
    overrides: PathOverrides {
        rendezvous: RendezvousScheme::Put,
        chunk: Some(100),
        ..PathOverrides::eager(512)
    },
    unexpected_bytes: 1 << 20,
    unexpected_bytes_total: 1 << 20,
    unexpected_messages: 100,
};

#[test]
fn a_clear_to_send_is_accepted_once_for_a_put_only() {
    let none = Flags::empty();
    // For a receive, for a message of path R0, and for another length.
    let got = EngineConfig {
        overrides: PathOverrides::eager(512),
        ..PUT
    };
    for (rules, room) in [(got, 600), (PUT, 0), (PUT, 601), (PUT, u64::MAX)] {
        let mut job = Job::new(2, FabricConfig::default(), rules);
        job.send(0, 1, ENVELOPE, Mode::Standard, Buffer::zeroed(600));
        attack(&mut job, Kind::ClearToSend, none, &clear(room));
        assert!(fault(&job).is_some(), "{room}");
        job.until(|job| job.fabric.regions() == 0);
    }
    let mut job = Job::new(2, FabricConfig::default(), PUT);
    job.recv(0, Source::Any, 0, Tag::Any, &Buffer::zeroed(600));
    attack(&mut job, Kind::ClearToSend, none, &clear(600));
    assert!(fault(&job).is_some());
    // Twice.
    let slow = FabricConfig {
        delay: 50,
        ..FabricConfig::default()
    };
    let mut job = Job::new(2, slow, PUT);
    job.send(0, 1, ENVELOPE, Mode::Standard, Buffer::zeroed(600));
    for _ in 0..2 {
        attack(&mut job, Kind::ClearToSend, none, &clear(1));
    }
    job.settle();
    assert!(fault(&job).is_some());
}

#[test]
fn a_put_that_fails_ends_both_sides() {
    // To a region that does not exist: the sender gets an error.
    let mut job = Job::new(2, FabricConfig::default(), PUT);
    let sent = job.send(0, 1, ENVELOPE, Mode::Standard, Buffer::zeroed(600));
    attack(&mut job, Kind::ClearToSend, Flags::empty(), &clear(600));
    assert!(matches!(
        job.wait(0, sent),
        Err(Failure::Fault {
            peer: Peer(1),
            fault: Fault::NOT_REGISTERED
        })
    ));
    job.until(|job| job.fabric.regions() == 0);
    assert_eq!(
        job.ranks[0].tx.moves.puts, 4,
        "none is started after a failure"
    );
    // The sender reports the failure: the receive fails.
    let mut job = Job::new(2, FabricConfig::default(), PUT);
    let got = job.recv(0, Source::Any, 0, Tag::Any, &Buffer::zeroed(600));
    let mut offer = vec![0; 48];
    offer[..8].copy_from_slice(&600u64.to_le_bytes());
    attack(&mut job, Kind::RequestToSend, Flags::PUT, &offer);
    attack(&mut job, Kind::Finished, Flags::empty(), &[0; 8]);
    assert!(matches!(
        job.wait(0, got),
        Err(Failure::Fault {
            peer: Peer(1),
            fault: Fault::Refused(_)
        })
    ));
    job.until(|job| job.fabric.regions() == 0);
    assert_eq!(fault(&job), None);
}

#[test]
fn a_peer_that_accepts_no_answers_is_refused_in_the_end() {
    let mut job = Job::new(2, FabricConfig::default(), EngineConfig::default());
    let mut asked = 0;
    while fault(&job).is_none() {
        attack(&mut job, Kind::Cancel, Flags::empty(), &[0; 8]);
        asked += 1;
        assert!(asked < 1_000_000, "answers pile up without bound");
    }
}

#[test]
fn a_peer_that_accepts_its_answers_is_never_refused() {
    let mut job = Job::new(2, FabricConfig::default(), EngineConfig::default());
    for _ in 0..200_000 {
        attack(&mut job, Kind::Cancel, Flags::empty(), &[0; 8]);
        let rank = &mut job.ranks[1];
        rank.rx.poll(&mut rank.tx, 8, &mut EventLog::default());
    }
    assert_eq!(fault(&job), None);
}

#[test]
fn a_peer_that_does_not_stop_is_refused_in_the_end() {
    let rules = EngineConfig {
        unexpected_messages: 10,
        ..EngineConfig::default()
    };
    let mut job = Job::new(2, FabricConfig::default(), rules);
    let mut sent = 0;
    while fault(&job).is_none() {
        attack(&mut job, Kind::Eager, Flags::empty(), &[]);
        sent += 1;
        assert!(sent < 1_000_000, "messages pile up without bound");
    }
}

proptest! {
    #[test]
    fn any_frames_leave_no_operation_and_no_region(data in prop::collection::vec(any::<u8>(), 0..600)) {
        frames(&data);
    }
}
