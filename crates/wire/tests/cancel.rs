//! Tests of cancelled and detached operations and of matched probes.

use oxmpi_testkit::fabric::FabricConfig;
use oxmpi_testkit::job::{Job, Rank};
use oxmpi_testkit::memory::{Buffer, pattern};
use oxmpi_wire::paths::RendezvousScheme;
use oxmpi_wire::{EngineConfig, Envelope, Failure, Mode, PathOverrides, Peer, Source, Tag};

const ENVELOPE: Envelope = Envelope { context: 3, tag: 9 };

/// A job with rendezvous by get or by put, depending on the seed.
fn job(seed: u64) -> Job {
    let rendezvous = [RendezvousScheme::Get, RendezvousScheme::Put][seed as usize / 10 % 2];
    let rules = EngineConfig {
        overrides: PathOverrides {
            rendezvous,
            chunk: Some(9000),
            ..PathOverrides::NONE
        },
        ..EngineConfig::default()
    };
    Job::new(2, FabricConfig::adverse(seed), rules)
}

#[test]
fn an_unmatched_receive_is_cancelled_at_once() {
    let mut job = job(1);
    let got = job.recv(1, Source::Any, 3, Tag::Any, &Buffer::zeroed(8));
    job.cancel(1, got);
    let status = job.ranks[1].engine.test(got).unwrap().unwrap();
    assert!(status.cancelled);
    assert!(
        job.ranks[1].engine.is_fast_path_open(Source::Peer(Peer(0))),
        "nothing is posted any more"
    );
}

#[test]
fn an_unmatched_send_is_cancelled() {
    for seed in 0..20 {
        for (mode, len) in [(Mode::Synchronous, 8), (Mode::Standard, 50_000)] {
            for settled in [true, false] {
                let mut job = job(seed);
                let sent = job.send(0, 1, ENVELOPE, mode, Buffer::pattern(len, 1));
                if settled {
                    job.settle();
                }
                job.cancel(0, sent);
                assert!(job.wait(0, sent).unwrap().cancelled);
                job.settle();
                assert_eq!(job.ranks[1].engine.probe(Source::Any, 3, Tag::Any), None);
                assert_eq!(job.fabric.regions(), 0);
            }
        }
    }
}

/// The ids of requests repeat from rank to rank: the second request of both senders has the same.
#[test]
fn a_cancel_concerns_the_message_of_its_sender() {
    let mut job = Job::new(3, FabricConfig::default(), EngineConfig::default());
    let send = |job: &mut Job, from: usize, number| {
        let body = Buffer::pattern(8, number);
        let sent = job.send(from, 2, ENVELOPE, Mode::Synchronous, body);
        job.settle();
        sent
    };
    job.recv(0, Source::Peer(Peer(1)), 3, Tag::Any, &Buffer::zeroed(8));
    let other = send(&mut job, 0, 1);
    let first = send(&mut job, 1, 2);
    let second = send(&mut job, 1, 3);
    job.cancel(1, second);
    assert!(job.wait(1, second).unwrap().cancelled);
    for (from, sent, number) in [(1, first, 2), (0, other, 1)] {
        let room = Buffer::zeroed(8);
        let got = job.recv(2, Source::Peer(Peer(from)), 3, Tag::Any, &room);
        job.wait(2, got).unwrap();
        assert_eq!(room.to_vec(), pattern(8, number));
        assert!(!job.wait(from as usize, sent).unwrap().cancelled);
    }
    assert_eq!(job.ranks[2].engine.probe(Source::Any, 3, Tag::Any), None);
}

#[test]
fn both_ends_agree_whether_a_cancel_was_in_time() {
    let mut outcomes = [0, 0];
    for seed in 0..200 {
        for (mode, len) in [(Mode::Synchronous, 8), (Mode::Standard, 50_000)] {
            let mut job = job(seed);
            let sent = job.send(0, 1, ENVELOPE, mode, Buffer::pattern(len, 1));
            for _ in 0..seed % 10 {
                job.step();
            }
            job.cancel(0, sent);
            for _ in 0..seed % 7 {
                job.step();
            }
            let room = Buffer::zeroed(len);
            let got = job.recv(1, Source::Any, 3, Tag::Any, &room);
            let cancelled = job.wait(0, sent).unwrap().cancelled;
            job.settle();
            assert_eq!(job.ranks[1].engine.is_done(got), !cancelled);
            assert_eq!(room.to_vec() == pattern(len, 1), !cancelled);
            outcomes[usize::from(cancelled)] += 1;
        }
    }
    assert!(outcomes[0] > 10 && outcomes[1] > 10, "{outcomes:?}");
}

#[test]
fn an_eager_send_cannot_be_cancelled() {
    let mut job = job(1);
    let sent = job.send(0, 1, ENVELOPE, Mode::Standard, Buffer::pattern(8, 1));
    job.until(|job| job.ranks[0].engine.is_done(sent));
    job.cancel(0, sent);
    assert!(!job.wait(0, sent).unwrap().cancelled);
    job.cancel(0, sent);
}

#[test]
fn only_its_handle_receives_a_claimed_message() {
    for len in [8, 50_000] {
        let mut job = job(2);
        let first = job.send(0, 1, ENVELOPE, Mode::Synchronous, Buffer::pattern(len, 1));
        job.send(0, 1, ENVELOPE, Mode::Standard, Buffer::pattern(len, 2));
        let mut claimed = None;
        job.until(|job| {
            claimed = job.ranks[1]
                .engine
                .matched_probe(Source::Any, 3, Tag::Exact(9));
            claimed.is_some()
        });
        let (message, status) = claimed.unwrap().unwrap();
        assert_eq!(status.len, len as u64);
        job.cancel(0, first);
        let second = Buffer::zeroed(len);
        let got = job.recv(1, Source::Any, 3, Tag::Any, &second);
        job.wait(1, got).unwrap();
        assert_eq!(second.to_vec(), pattern(len, 2));

        let room = Buffer::zeroed(len);
        let Rank { tx, engine, .. } = &mut job.ranks[1];
        let got = engine.matched_recv(tx, message, room.clone());
        let again = engine.matched_recv(tx, message, room.clone());
        assert_eq!(again, Err(Failure::Stale));
        job.wait(1, got.unwrap()).unwrap();
        assert!(!job.wait(0, first).unwrap().cancelled, "a claim is a match");
        assert_eq!(room.to_vec(), pattern(len, 1));
    }
}

#[test]
fn a_detached_operation_completes_and_is_freed() {
    for seed in [3, 13] {
        detached(job(seed));
    }
}

fn detached(mut job: Job) {
    let sent = job.send(0, 1, ENVELOPE, Mode::Standard, Buffer::pattern(50_000, 1));
    job.ranks[0].engine.detach(sent);
    let room = Buffer::zeroed(50_000);
    let got = job.recv(1, Source::Any, 3, Tag::Any, &room);
    job.wait(1, got).unwrap();
    job.until(|job| job.fabric.regions() == 0);
    assert_eq!(room.to_vec(), pattern(50_000, 1));
    assert_eq!(job.ranks[0].engine.test(sent), Some(Err(Failure::Stale)));
}
