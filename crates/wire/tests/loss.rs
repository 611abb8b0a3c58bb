//! Tests of lost peers: which operations fail, which continue, and which messages can still be received.

use oxmpi_testkit::fabric::FabricConfig;
use oxmpi_testkit::job::{Job, Rank};
use oxmpi_testkit::memory::{Buffer, pattern};
use oxmpi_wire::paths::RendezvousScheme;
use oxmpi_wire::{
    EngineConfig, Envelope, Failure, Fault, Mode, Outcome, PathOverrides, Peer, Request, Sink,
    Source, Tag,
};

const ENVELOPE: Envelope = Envelope { context: 3, tag: 9 };
const DEAD: Peer = Peer(1);
const ENDED: Outcome = Err(Failure::Fault {
    peer: DEAD,
    fault: Fault::PeerDead,
});

fn recv(job: &mut Job, source: Source, room: &Buffer) -> Request {
    job.recv(0, source, 3, Tag::Any, room)
}

fn job_with_a_death(before: impl FnOnce(&mut Job)) -> Job {
    let mut job = Job::new(3, FabricConfig::default(), EngineConfig::default());
    before(&mut job);
    job.fabric.kill(DEAD);
    job.until(|job| job.ranks[0].engine.fault(DEAD).is_some());
    job
}

#[test]
fn operations_with_the_dead_peer_fail_and_others_continue() {
    let mut requests = Vec::new();
    let (room, long) = (Buffer::zeroed(8), Buffer::zeroed(50_000));
    let mut other = None;
    let mut job = job_with_a_death(|job| {
        other = Some(recv(job, Source::Peer(Peer(2)), &room));
        requests.push(recv(job, Source::Peer(DEAD), &room));
        requests.push(recv(job, Source::Any, &room));
        requests.push(job.send(0, 1, ENVELOPE, Mode::Synchronous, room.clone()));
        requests.push(job.send(0, 1, ENVELOPE, Mode::Standard, long));
    });
    for request in requests {
        assert_eq!(job.wait(0, request), ENDED);
    }
    let other = other.unwrap();
    assert!(!job.ranks[0].engine.is_done(other));
    job.send(2, 0, ENVELOPE, Mode::Standard, Buffer::pattern(8, 1));
    job.wait(0, other).unwrap();
    job.until(|job| job.fabric.regions() == 0);
}

#[test]
fn later_operations_with_the_dead_peer_fail_at_once() {
    let mut job = job_with_a_death(|_| ());
    let room = Buffer::zeroed(8);
    let requests = [
        recv(&mut job, Source::Peer(DEAD), &room),
        recv(&mut job, Source::Any, &room),
        job.send(0, 1, ENVELOPE, Mode::Standard, room.clone()),
    ];
    let Rank { tx, engine, .. } = &mut job.ranks[0];
    for request in requests {
        assert_eq!(engine.test(request), Some(ENDED));
    }
    assert!(engine.try_short(tx, DEAD, ENVELOPE, &room).is_err());
    assert_eq!(
        tx.below[&DEAD.0], 0,
        "the transport sends it nothing, either"
    );
    assert!(!engine.is_fast_path_open(Source::Peer(DEAD)));
    assert_eq!(engine.probe(Source::Any, 3, Tag::Any), Some(ENDED));
}

/// A peer that has left does not affect receives from any source.
#[test]
fn a_peer_that_left_ends_only_receives_from_itself() {
    for fault in [Fault::Left, Fault::Gone] {
        let mut job = Job::new(3, FabricConfig::default(), EngineConfig::default());
        let (room, any_room) = (Buffer::zeroed(8), Buffer::zeroed(8));
        let named = recv(&mut job, Source::Peer(DEAD), &room);
        let any = recv(&mut job, Source::Any, &any_room);
        let rank = &mut job.ranks[0];
        rank.engine.lost(&mut rank.tx, DEAD, fault);
        let ended = Err(Failure::Fault { peer: DEAD, fault });
        assert_eq!(job.wait(0, named), ended);
        job.settle();
        assert!(!job.ranks[0].engine.is_done(any));
        job.send(2, 0, ENVELOPE, Mode::Standard, Buffer::pattern(8, 1));
        assert_eq!(job.wait(0, any).unwrap().source, Peer(2));
        assert_eq!(any_room.to_vec(), pattern(8, 1));
    }
}

/// No answer to the dead peer waits for room.
#[test]
fn whole_messages_can_still_be_received() {
    for mode in [Mode::Standard, Mode::Synchronous] {
        let mut job = job_with_a_death(|job| {
            job.send(1, 0, ENVELOPE, mode, Buffer::pattern(8, 1));
            job.send(1, 0, ENVELOPE, mode, Buffer::pattern(50_000, 2));
            job.settle();
        });
        let room = Buffer::zeroed(8);
        let whole = recv(&mut job, Source::Peer(DEAD), &room);
        assert_eq!(job.wait(0, whole).unwrap().source, DEAD, "{mode:?}");
        assert_eq!(room.to_vec(), pattern(8, 1));
        let offered = recv(&mut job, Source::Peer(DEAD), &room);
        assert_eq!(job.wait(0, offered), ENDED);
        assert!(!job.ranks[0].engine.has_waiting(), "{mode:?}");
    }
}

#[test]
fn an_acknowledged_loss_lets_any_source_wait_for_the_others() {
    let mut job = job_with_a_death(|_| ());
    job.ranks[0].engine.acknowledge(DEAD);
    let room = Buffer::zeroed(8);
    let any = recv(&mut job, Source::Any, &room);
    job.settle();
    assert!(!job.ranks[0].engine.is_done(any));
    job.send(2, 0, ENVELOPE, Mode::Standard, Buffer::pattern(8, 1));
    assert_eq!(job.wait(0, any).unwrap().source, Peer(2));
    let named = recv(&mut job, Source::Peer(DEAD), &room);
    assert_eq!(job.wait(0, named), ENDED);
}

#[test]
fn a_claimed_offer_of_the_dead_ends_in_its_fault() {
    let mut claimed = None;
    let mut job = job_with_a_death(|job| {
        job.send(1, 0, ENVELOPE, Mode::Standard, Buffer::pattern(50_000, 2));
        job.until(|job| {
            claimed = job.ranks[0].engine.matched_probe(Source::Any, 3, Tag::Any);
            claimed.is_some()
        });
    });
    let (message, _) = claimed.unwrap().unwrap();
    let Rank { tx, engine, .. } = &mut job.ranks[0];
    let got = engine.matched_recv(tx, message, Buffer::zeroed(50_000));
    assert_eq!(job.wait(0, got.unwrap()), ENDED);
}

/// A death at any step of a rendezvous: the other end fails, and keeps no region.
#[test]
fn a_rendezvous_ends_with_its_peer_at_any_moment() {
    let mut whole = 0;
    for rendezvous in [RendezvousScheme::Get, RendezvousScheme::Put] {
        let rules = EngineConfig {
            overrides: PathOverrides {
                rendezvous,
                chunk: Some(1000),
                ..PathOverrides::NONE
            },
            ..EngineConfig::default()
        };
        for (steps, sends) in (0..40).flat_map(|steps| [(steps, true), (steps, false)]) {
            let mut job = Job::new(2, FabricConfig::adverse(steps), rules);
            let (from, to) = if sends { (0, 1) } else { (1, 0) };
            let long = || Buffer::zeroed(20_000);
            let sent = job.send(from, to, ENVELOPE, Mode::Standard, long());
            let got = job.recv(to as usize, Source::Any, 3, Tag::Any, &long());
            for _ in 0..steps {
                job.step();
            }
            job.fabric.kill(DEAD);
            let outcome = job.wait(0, if sends { sent } else { got });
            whole += u32::from(outcome.is_ok());
            assert!(outcome.is_ok() || outcome == ENDED, "{outcome:?}");
            job.until(|job| job.fabric.regions() == 0);
        }
    }
    assert!(
        (1..150).contains(&whole),
        "{whole} of 160 ended before the death"
    );
}
