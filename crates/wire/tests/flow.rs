//! Tests of flow control: floods to a rank that does not receive use bounded memory and lose nothing.

use oxmpi_testkit::fabric::FabricConfig;
use oxmpi_testkit::job::{Job, Rank};
use oxmpi_testkit::memory::{Buffer, pattern};
use oxmpi_wire::{EngineConfig, Envelope, Mode, PathOverrides, Peer, Source, Tag};

const CONFIG: EngineConfig = EngineConfig {
    overrides: PathOverrides::eager(512),
    unexpected_bytes: 20_000,
    unexpected_bytes_total: 40_000,
    unexpected_messages: 1000,
};
const ENVELOPE: Envelope = Envelope { context: 0, tag: 1 };
/// Messages that may be under way when a level is announced: the fabric's capacity and the sends of one poll.
const IN_FLIGHT_MAX: u64 = 64 + 256;

#[test]
fn the_bytes_of_a_flood_stay_with_its_senders() {
    for len in [16, 400] {
        let mut job = Job::new(4, FabricConfig::default(), CONFIG);
        let mut sent = Vec::new();
        for number in 0..800 {
            for from in 1..4 {
                let body = Buffer::pattern(len, number);
                sent.push((from, job.send(from, 0, ENVELOPE, Mode::Standard, body)));
            }
            job.step();
        }
        job.settle();
        let kept = job.ranks[0].engine.unexpected_bytes();
        assert!(kept > 0, "short messages are sent eagerly");
        let bound = CONFIG.unexpected_bytes_total + 3 * IN_FLIGHT_MAX * len as u64;
        assert!(kept < bound, "{kept} B are kept of {} B", 2400 * len);

        for from in 1..4 {
            for number in 0..800 {
                let room = Buffer::zeroed(len);
                let got = job.recv(0, Source::Peer(Peer(from)), 0, Tag::Exact(1), &room);
                job.wait(0, got).unwrap();
                assert_eq!(
                    room.to_vec(),
                    pattern(len, number),
                    "message {number} of {from}"
                );
            }
        }
        for (from, request) in sent {
            job.wait(from, request).unwrap();
        }
        assert_eq!(job.ranks[0].engine.unexpected_bytes(), 0);
    }
}

#[test]
fn a_receiver_that_keeps_its_bound_of_bytes_takes_more() {
    let mut job = Job::new(2, FabricConfig::default(), CONFIG);
    let is_open = |job: &mut Job| {
        job.settle();
        let Rank { tx, engine, .. } = &mut job.ranks[0];
        let body = Buffer::zeroed(1);
        let open = engine.try_short(tx, Peer(1), ENVELOPE, &body).is_ok();
        let by_transport = !open && engine.put_short(tx, Peer(1), ENVELOPE, &body);
        assert!(!by_transport, "engine and transport follow one limit");
        open
    };
    for number in 0..CONFIG.unexpected_bytes / 400 {
        let body = Buffer::pattern(400, number);
        job.send(0, 1, ENVELOPE, Mode::Standard, body);
        job.settle();
    }
    let kept = job.ranks[1].engine.unexpected_bytes();
    assert_eq!(kept, CONFIG.unexpected_bytes);
    assert!(is_open(&mut job), "the bound itself is allowed");
    assert!(!is_open(&mut job), "a byte more is not");
}

#[test]
fn the_envelopes_of_a_long_flood_stay_with_their_sender() {
    for len in [0, 5000] {
        let mut job = Job::new(2, FabricConfig::default(), CONFIG);
        let sent: Vec<_> = (0..10_000)
            .map(|number| {
                let body = Buffer::pattern(len, number);
                job.send(1, 0, ENVELOPE, Mode::Standard, body)
            })
            .collect();
        for _ in 0..20 {
            job.settle();
        }
        let arrived = job.ranks[0].engine.counters().unexpected;
        let bound = u64::from(CONFIG.unexpected_messages) + IN_FLIGHT_MAX;
        assert!(
            arrived > u64::from(CONFIG.unexpected_messages) && arrived < bound,
            "{arrived} arrived"
        );
        for number in 0..10_000 {
            let room = Buffer::zeroed(len);
            let got = job.recv(0, Source::Any, 0, Tag::Any, &room);
            job.wait(0, got).unwrap();
            assert_eq!(room.to_vec(), pattern(len, number));
        }
        for request in sent {
            job.wait(1, request).unwrap();
        }
    }
}

#[test]
fn a_stopped_sender_is_stopped_for_one_receiver_only() {
    let mut job = Job::new(3, FabricConfig::default(), CONFIG);
    for number in 0..5000 {
        job.send(0, 1, ENVELOPE, Mode::Standard, Buffer::pattern(0, number));
    }
    for _ in 0..20 {
        job.settle();
    }
    let room = Buffer::zeroed(8);
    let back = job.recv(0, Source::Peer(Peer(1)), 0, Tag::Any, &room);
    job.send(1, 0, ENVELOPE, Mode::Standard, Buffer::pattern(8, 1));
    job.wait(0, back).unwrap();
    let other = job.recv(2, Source::Any, 0, Tag::Any, &room);
    job.send(0, 2, ENVELOPE, Mode::Standard, Buffer::pattern(8, 2));
    job.wait(2, other).unwrap();
}

#[test]
fn a_sender_that_does_not_poll_stops_by_itself() {
    let fabric_config = FabricConfig {
        capacity: 100_000,
        ..FabricConfig::default()
    };
    let mut job = Job::new(2, fabric_config, CONFIG);
    let Rank { tx, engine, .. } = &mut job.ranks[0];
    let body = Buffer::zeroed(8);
    assert!(!engine.needs_resume());
    let mut sent = 0;
    while engine.try_short(tx, Peer(1), ENVELOPE, &body).is_ok() {
        sent += 1;
        assert!(sent <= 256, "the engine sends without a bound");
    }
    assert_eq!(sent, 256);
    assert!(engine.needs_resume());
    engine.resume(tx);
    assert!(!engine.needs_resume());
    assert!(engine.try_short(tx, Peer(1), ENVELOPE, &body).is_ok());
}

/// 63 ranks flood one that does not receive, with messages of every path: it keeps a bounded amount, no send
/// is lost, and a receive for any arrived message completes at once.
#[test]
fn a_flood_of_63_senders_is_bounded() {
    const SENDERS: u32 = 63;
    const MESSAGES: usize = 200;
    let len = |number: usize| [0, 8, 48, 300, 2000][number % 5];
    let mut job = Job::new(SENDERS + 1, FabricConfig::default(), CONFIG);
    let mut sent = Vec::new();
    for number in 0..MESSAGES {
        for from in 1..=SENDERS as usize {
            let body = Buffer::pattern(len(number), number as u64);
            sent.push((from, job.send(from, 0, ENVELOPE, Mode::Standard, body)));
        }
    }
    for _ in 0..100 {
        job.step();
    }
    let engine = &job.ranks[0].engine;
    // The eager limit is 512 B: the longest message that is kept has 300.
    let bound = CONFIG.unexpected_bytes_total + u64::from(SENDERS) * IN_FLIGHT_MAX * 300;
    assert!(engine.unexpected_bytes() > 0 && engine.unexpected_bytes() < bound);
    let arrived = engine.counters().unexpected;
    assert!(arrived > u64::from(SENDERS) && arrived < u64::from(SENDERS) * MESSAGES as u64);

    // The last message of each sender, without any receive before.
    for from in 1..=SENDERS {
        let source = Source::Peer(Peer(from));
        assert!(job.ranks[0].engine.probe(source, 0, Tag::Any).is_some());
    }
    let mut next = vec![0; SENDERS as usize + 1];
    let receives: Vec<_> = (0..MESSAGES * SENDERS as usize)
        .map(|_| {
            let room = Buffer::zeroed(2000);
            (job.recv(0, Source::Any, 0, Tag::Any, &room), room)
        })
        .collect();
    for (got, room) in receives {
        let status = job.wait(0, got).unwrap();
        let number = &mut next[status.source.0 as usize];
        assert_eq!(status.len, len(*number) as u64);
        let expected = pattern(len(*number), *number as u64);
        assert_eq!(room.to_vec()[..len(*number)], expected);
        *number += 1;
    }
    for (from, request) in sent {
        job.wait(from, request).unwrap();
    }
    assert_eq!(job.ranks[0].engine.unexpected_bytes(), 0);
}
