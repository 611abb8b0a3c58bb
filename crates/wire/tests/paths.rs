//! Every road of a message, on a fair and on a stormy fabric.

use oxmpi_testkit::fabric::Weather;
use oxmpi_testkit::job::Job;
use oxmpi_testkit::memory::{Shared, pattern};
use oxmpi_wire::{Envelope, Failure, Mode, Peer, Rules, Source, Switches, Tag};

const ENVELOPE: Envelope = Envelope { context: 3, tag: 9 };
const RULES: Rules = Rules {
    switches: Switches::eager(512),
    kept_bytes: 4000,
    kept_bytes_of_all: 6000,
    kept_messages: 12,
};
/// Around every switch of path: E0 to 48 B, E1 to 512 B, then R0.
const SIZES: [usize; 11] = [0, 1, 8, 48, 49, 504, 505, 512, 513, 5000, 100_000];

fn weathers() -> impl Iterator<Item = Weather> {
    (0..8).map(Weather::storm).chain([Weather::default()])
}

#[test]
fn every_size_in_every_mode_arrives_whole() {
    for weather in weathers() {
        for mode in [Mode::Standard, Mode::Synchronous, Mode::Ready] {
            for posted_first in [true, false] {
                let mut job = Job::new(2, weather, RULES);
                for len in SIZES {
                    let room = Shared::zeroed(len);
                    let early = posted_first
                        .then(|| job.recv(1, Source::Peer(Peer(0)), 3, Tag::Exact(9), &room));
                    let sent = job.send(0, 1, ENVELOPE, mode, Shared::pattern(len, 7));
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
    let mut job = Job::new(1, Weather::storm(3), RULES);
    for len in SIZES {
        let room = Shared::zeroed(len);
        let sent = job.send(0, 0, ENVELOPE, Mode::Synchronous, Shared::pattern(len, 1));
        let got = job.recv(0, Source::Any, 3, Tag::Any, &room);
        job.wait(0, got).unwrap();
        job.wait(0, sent).unwrap();
        assert_eq!(room.to_vec(), pattern(len, 1));
    }
}

#[test]
fn a_long_message_is_truncated_and_its_sender_ends() {
    for weather in weathers() {
        for mode in [Mode::Standard, Mode::Synchronous] {
            for len in [8, 49, 512, 5000] {
                for room_len in [0, 1, 7] {
                    let mut job = Job::new(2, weather, RULES);
                    let room = Shared::zeroed(room_len);
                    let sent = job.send(0, 1, ENVELOPE, mode, Shared::pattern(len, 2));
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
        let mut job = Job::new(2, Weather::storm(5), RULES);
        let sent = job.send(0, 1, ENVELOPE, Mode::Synchronous, Shared::pattern(len, 2));
        job.settle();
        assert!(!job.ranks[0].engine.is_done(sent));
        let got = job.recv(1, Source::Any, 3, Tag::Any, &Shared::zeroed(len));
        job.wait(1, got).unwrap();
        job.wait(0, sent).unwrap();
    }
}

#[test]
fn a_request_is_stale_once_it_was_seen_complete() {
    let mut job = Job::new(2, Weather::default(), RULES);
    let sent = job.send(0, 1, ENVELOPE, Mode::Standard, Shared::pattern(8, 2));
    job.wait(0, sent).unwrap();
    let other = job.send(0, 1, ENVELOPE, Mode::Synchronous, Shared::pattern(8, 2));
    assert_eq!(job.ranks[0].engine.test(sent), Some(Err(Failure::Stale)));
    assert!(job.ranks[0].engine.is_done(sent));
    assert!(!job.ranks[0].engine.is_done(other));
}

#[test]
fn any_tag_stays_within_its_context() {
    let mut job = Job::new(2, Weather::default(), RULES);
    let got = job.recv(1, Source::Any, 3, Tag::Any, &Shared::zeroed(8));
    let foreign = Envelope { context: 4, tag: 9 };
    job.send(0, 1, foreign, Mode::Standard, Shared::zeroed(8));
    job.settle();
    assert!(!job.ranks[1].engine.is_done(got));
    job.send(0, 1, ENVELOPE, Mode::Standard, Shared::zeroed(8));
    job.wait(1, got).unwrap();
}
