//! Tests of all paths of a message, on a regular and on an adverse fabric.

use oxmpi_testkit::fabric::{BulkCounts, FabricConfig};
use oxmpi_testkit::job::Job;
use oxmpi_testkit::memory::{Buffer, pattern};
use oxmpi_wire::paths::RendezvousScheme;
use oxmpi_wire::{EngineConfig, Envelope, Failure, Mode, PathOverrides, Peer, Source, Tag};

const ENVELOPE: Envelope = Envelope { context: 3, tag: 9 };
const CONFIG: EngineConfig = config(RendezvousScheme::Get);

const fn config(rendezvous: RendezvousScheme) -> EngineConfig {
    EngineConfig {
        overrides: PathOverrides {
            get: Some(5000),
            rendezvous,
            chunk: Some(777),
            ..PathOverrides::eager(512)
        },
        unexpected_bytes: 4000,
        unexpected_bytes_total: 6000,
        unexpected_messages: 12,
    }
}

/// Rendezvous by get, by put, or by either depending on the size.
fn all_configs() -> impl Iterator<Item = EngineConfig> + Clone {
    use RendezvousScheme::{Auto, Get, Put};
    [Get, Put, Auto].into_iter().map(config)
}

/// Sizes around every switch point: E0 to 48 B, E1 to 512 B, R0 to 5,000 B, then R1.
const SIZES: [usize; 11] = [0, 1, 8, 48, 49, 504, 505, 512, 513, 5000, 30_000];

fn fabrics_and_configs() -> impl Iterator<Item = (FabricConfig, EngineConfig)> {
    let adverse = (0..5).map(FabricConfig::adverse);
    let fabrics = adverse.chain([FabricConfig::default()]);
    fabrics.flat_map(|fabric| all_configs().map(move |config| (fabric, config)))
}

#[test]
fn every_size_in_every_mode_arrives_whole() {
    for (fabric, config) in fabrics_and_configs() {
        for mode in [Mode::Standard, Mode::Synchronous, Mode::Ready] {
            for posted_first in [true, false] {
                let mut job = Job::new(2, fabric, config);
                for len in SIZES {
                    let room = Buffer::zeroed(len);
                    let early = posted_first
                        .then(|| job.recv(1, Source::Peer(Peer(0)), 3, Tag::Exact(9), &room));
                    let sent = job.send(0, 1, ENVELOPE, mode, Buffer::pattern(len, 7));
                    let got = early.unwrap_or_else(|| {
                        job.settle();
                        job.recv(1, Source::Any, 3, Tag::Any, &room)
                    });
                    let status = job.wait(1, got).unwrap();
                    assert_eq!(
                        (status.source, status.tag, status.len),
                        (Peer(0), 9, len as u64)
                    );
                    job.wait(0, sent).unwrap();
                    assert_eq!(room.to_vec(), pattern(len, 7));
                }
                assert_eq!(job.fabric.regions(), 0, "memory stays registered");
            }
        }
    }
}

#[test]
fn a_rank_sends_to_itself() {
    for (rules, len) in all_configs().flat_map(|rules| SIZES.map(|len| (rules, len))) {
        let mut job = Job::new(1, FabricConfig::adverse(3), rules);
        let room = Buffer::zeroed(len);
        let sent = job.send(0, 0, ENVELOPE, Mode::Synchronous, Buffer::pattern(len, 1));
        let got = job.recv(0, Source::Any, 3, Tag::Any, &room);
        job.wait(0, got).unwrap();
        job.wait(0, sent).unwrap();
        assert_eq!(room.to_vec(), pattern(len, 1));
    }
}

#[test]
fn a_long_message_is_truncated_and_its_sender_ends() {
    for (fabric, config) in fabrics_and_configs() {
        for mode in [Mode::Standard, Mode::Synchronous] {
            for len in [8, 49, 512, 5000] {
                for room_len in [0, 1, 7] {
                    let mut job = Job::new(2, fabric, config);
                    let room = Buffer::zeroed(room_len);
                    let sent = job.send(0, 1, ENVELOPE, mode, Buffer::pattern(len, 2));
                    let got = job.recv(1, Source::Any, 3, Tag::Any, &room);
                    let failure = Failure::Truncated {
                        peer: Peer(0),
                        tag: 9,
                        sent: len as u64,
                        room: room_len as u64,
                    };
                    assert_eq!(job.wait(1, got), Err(failure));
                    assert_eq!(job.wait(0, sent).unwrap().len, len as u64);
                    assert_eq!(room.to_vec(), pattern(len, 2)[..room_len]);
                    job.settle();
                    assert_eq!(job.fabric.regions(), 0);
                }
            }
        }
    }
}

#[test]
fn a_synchronous_send_waits_for_its_receive() {
    for len in [8, 5000] {
        let mut job = Job::new(2, FabricConfig::adverse(5), CONFIG);
        let sent = job.send(0, 1, ENVELOPE, Mode::Synchronous, Buffer::pattern(len, 2));
        job.settle();
        assert!(!job.ranks[0].engine.is_done(sent));
        let got = job.recv(1, Source::Any, 3, Tag::Any, &Buffer::zeroed(len));
        job.wait(1, got).unwrap();
        job.wait(0, sent).unwrap();
    }
}

#[test]
fn a_request_is_stale_after_its_outcome_was_taken() {
    let mut job = Job::new(2, FabricConfig::default(), CONFIG);
    let sent = job.send(0, 1, ENVELOPE, Mode::Standard, Buffer::pattern(8, 2));
    job.wait(0, sent).unwrap();
    let other = job.send(0, 1, ENVELOPE, Mode::Synchronous, Buffer::pattern(8, 2));
    assert_eq!(job.ranks[0].engine.test(sent), Some(Err(Failure::Stale)));
    assert!(job.ranks[0].engine.is_done(sent));
    assert!(!job.ranks[0].engine.is_done(other));
}

#[test]
fn a_received_message_that_fits_has_its_status_once() {
    for (len, room) in [(8, 8), (8, 9), (512, 512), (8, 7)] {
        let mut job = Job::new(2, FabricConfig::default(), CONFIG);
        let got = job.recv(1, Source::Any, 3, Tag::Any, &Buffer::zeroed(room));
        assert_eq!(job.ranks[1].engine.received(got), None, "nothing was sent");
        job.send(0, 1, ENVELOPE, Mode::Standard, Buffer::pattern(len, 2));
        job.settle();
        let status = job.ranks[1].engine.received(got);
        let found = status.map(|status| (status.source, status.tag, status.len));
        let fits = len <= room;
        let expected = fits.then_some((Peer(0), ENVELOPE.tag, len as u64));
        assert_eq!(found, expected, "{len} bytes into {room}");
        let outcome = job.ranks[1].engine.test(got);
        assert_eq!(outcome == Some(Err(Failure::Stale)), fits, "{outcome:?}");
    }
}

#[test]
fn any_tag_stays_within_its_context() {
    let mut job = Job::new(2, FabricConfig::default(), CONFIG);
    let got = job.recv(1, Source::Any, 3, Tag::Any, &Buffer::zeroed(8));
    let foreign = Envelope { context: 4, tag: 9 };
    job.send(0, 1, foreign, Mode::Standard, Buffer::zeroed(8));
    job.settle();
    assert!(!job.ranks[1].engine.is_done(got));
    job.send(0, 1, ENVELOPE, Mode::Standard, Buffer::zeroed(8));
    job.wait(1, got).unwrap();
}

#[test]
fn longest_messages_are_put_in_chunks_and_others_are_got() {
    let rules = config(RendezvousScheme::Auto);
    for (len, puts) in [(5000, 0), (5001, 7), (7770, 10), (7771, 11)] {
        for room in [len, 1000] {
            let mut job = Job::new(2, FabricConfig::default(), rules);
            let sent = job.send(0, 1, ENVELOPE, Mode::Standard, Buffer::pattern(len, 1));
            let buffer = Buffer::zeroed(room);
            let got = job.recv(1, Source::Any, 3, Tag::Any, &buffer);
            let outcome = job.wait(1, got);
            assert_eq!(outcome.is_ok(), room == len);
            job.wait(0, sent).unwrap();
            assert_eq!(buffer.to_vec(), pattern(len, 1)[..room]);
            let cut = room.div_ceil(777).min(puts);
            assert_eq!(
                job.ranks[0].tx.moves,
                counts(0, cut as u64, cut.min(4) as u64)
            );
            let gets = u64::from(puts == 0);
            assert_eq!(job.ranks[1].tx.moves, counts(gets, 0, gets));
        }
    }
}

const fn counts(gets: u64, puts: u64, most: u64) -> BulkCounts {
    BulkCounts { gets, puts, most }
}
