//! Ranks that meet: on first use, both at once, after failures, and many of them.

mod common;

use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use common::{Rank, logs, pair, ranks, ranks_of, site, until};
use oxmpi_os::RawBytes;
use oxmpi_tcp::address::Subnet;
use oxmpi_tcp::{Card, Options};
use oxmpi_testkit::conformance::Log;
use oxmpi_wire::{Envelope, Fault, Flags, Header, Kind, Peer, Put, Rx, Sleeper, Slot, Tx};

fn eager(tag: u32, len: u32) -> Header {
    Header {
        kind: Kind::Eager,
        flags: Flags::empty(),
        len,
        envelope: Envelope { context: 0, tag },
    }
}

fn send(rank: &mut Rank<RawBytes>, to: u32, tag: u32) {
    let mut slot = rank.0.frame(Peer(to), &eager(tag, 4), 4).expect("room");
    slot.put(&tag.to_le_bytes());
    slot.send();
}

fn tags(log: &Log, from: u32) -> Vec<u32> {
    let frames = log.frames.iter().filter(|(peer, _, _)| peer.0 == from);
    frames.map(|(_, head, _)| head.envelope.tag).collect()
}

/// The first frame makes the connection, and waits for it.
#[test]
fn a_frame_connects() {
    let mut ranks = ranks::<RawBytes>(2, Options::default());
    let mut logs = logs(2);
    for tag in 0..5 {
        send(&mut ranks[1], 0, tag);
    }
    assert!(!ranks[1].0.is_connected(Peer(0)));
    until(
        &mut ranks,
        "frames arrive",
        |_, logs| logs[0].frames.len() == 5,
        &mut logs,
    );
    assert_eq!(tags(&logs[0], 1), [0, 1, 2, 3, 4]);
    assert!(ranks[1].0.is_connected(Peer(0)) && ranks[0].0.is_connected(Peer(1)));
}

/// All ranks call each other at once, again and again: each pair ends with one connection, and no frame
/// is lost or comes twice.
#[test]
fn all_call_each_other_at_once() {
    const RANKS: u32 = 5;
    for round in 0..20 {
        let mut ranks = ranks::<RawBytes>(RANKS, Options::default());
        let mut logs = logs(RANKS as usize);
        for me in 0..RANKS {
            let others = (0..RANKS).filter(|to| *to != me);
            for to in others {
                send(&mut ranks[me as usize], to, round);
                send(&mut ranks[me as usize], to, round + 1);
            }
            // Ranks that are some polls ahead have calls under way when the others' calls come.
            let ahead = (me * 7 + round) % 4;
            for _ in 0..ahead {
                let (tx, rx) = &mut ranks[me as usize];
                rx.poll(tx, 64, &mut logs[me as usize]);
            }
        }
        let expected = 2 * (RANKS as usize - 1);
        until(
            &mut ranks,
            "all frames arrive",
            |_, logs| logs.iter().all(|log| log.frames.len() >= expected),
            &mut logs,
        );
        for (me, log) in (0..).zip(&logs) {
            assert!(log.lost.is_empty(), "{:?}", log.lost);
            for from in (0..RANKS).filter(|from| *from != me) {
                assert_eq!(tags(log, from), [round, round + 1], "from {from} to {me}");
            }
        }
    }
}

/// A rank that leaves in order is no failure, and all that it sent arrives.
#[test]
fn a_farewell_is_heard_after_all_frames() {
    let [mut one, mut two] = pair::<RawBytes>(Options::default());
    for tag in 0..500 {
        send(&mut one, 1, tag);
    }
    drop(one);
    let mut log = Log::default();
    let start = std::time::Instant::now();
    while log.lost.is_empty() {
        two.1.poll(&mut two.0, 64, &mut log);
        assert!(start.elapsed() < common::WATCHDOG);
    }
    assert_eq!(tags(&log, 0), (0..500).collect::<Vec<_>>());
    assert_eq!(log.lost, [(Peer(0), Fault::Left)]);
}

/// Who writes to a rank that has left hears the farewell all the same: that the write fails hides nothing.
#[test]
fn a_failing_write_does_not_hide_a_farewell() {
    let [mut one, mut two] = pair::<RawBytes>(Options::default());
    for tag in 0..3 {
        send(&mut one, 1, tag);
    }
    drop(one);
    // The first is answered by a reset, so that a later one fails.
    for tag in 0..3 {
        send(&mut two, 0, tag);
        two.0.flush();
    }
    let mut log = Log::default();
    let start = std::time::Instant::now();
    while log.lost.is_empty() {
        two.1.poll(&mut two.0, 64, &mut log);
        assert!(start.elapsed() < common::WATCHDOG);
    }
    assert_eq!(tags(&log, 0), [0, 1, 2]);
    assert_eq!(log.lost, [(Peer(0), Fault::Left)]);
    assert!(!two.0.has_waiting());
}

/// A rank that leaves while it calls has left, also for a host that has let it in already. How far the call
/// has come, the number of polls decides.
#[test]
fn who_leaves_while_it_calls_is_not_taken_for_dead() {
    let mut heard = 0;
    for polls in 1..12 {
        let two_ranks = ranks::<RawBytes>(2, Options::default());
        let [mut one, mut two] = two_ranks.try_into().expect("two ranks");
        let (mut mine, mut log) = (Log::default(), Log::default());
        one.0.connect(Peer(1));
        for _ in 0..polls {
            one.1.poll(&mut one.0, 1, &mut mine);
            for _ in 0..20 {
                two.1.poll(&mut two.0, 64, &mut log);
            }
        }
        drop(one);
        for _ in 0..1000 {
            two.1.poll(&mut two.0, 64, &mut log);
        }
        assert!(
            matches!(&log.lost[..], [] | [(Peer(0), Fault::Left)]),
            "{polls} polls: {:?}",
            log.lost
        );
        heard += log.lost.len();
    }
    assert!(heard > 0);
}

/// A rank that sends and dies in one moment: what it sent arrives, and then its death, though the system
/// tells of both at once.
#[test]
fn a_last_word_does_not_hide_a_death() {
    let [mut one, mut two] = pair::<RawBytes>(Options::default());
    send(&mut one, 1, 3);
    one.0.flush();
    one.0.die();
    let mut log = Log::default();
    let start = std::time::Instant::now();
    while log.lost.is_empty() {
        two.1.poll(&mut two.0, 64, &mut log);
        assert!(start.elapsed() < common::WATCHDOG, "hangs: it is dead");
    }
    assert_eq!(
        (tags(&log, 0), log.lost),
        (vec![3], vec![(Peer(0), Fault::PeerDead)])
    );
}

/// A rank that sends and leaves at once: what it sent arrives, by a connection that is made for that.
#[test]
fn nothing_is_left_behind() {
    let mut ranks = ranks::<RawBytes>(2, Options::default());
    let mut two = ranks.pop().expect("two ranks");
    let mut one = ranks.pop().expect("two ranks");
    send(&mut one, 1, 3);
    let leaving = std::thread::spawn(move || {
        let (tx, rx) = &mut one;
        rx.drain(tx, common::WATCHDOG, &mut Log::default())
    });
    let mut log = Log::default();
    let start = std::time::Instant::now();
    while log.lost.is_empty() {
        two.1.poll(&mut two.0, 64, &mut log);
        assert!(start.elapsed() < common::WATCHDOG, "hangs: it leaves");
    }
    assert!(leaving.join().expect("no panic"), "all of it left");
    assert_eq!(
        (tags(&log, 0), log.lost),
        (vec![3], vec![(Peer(0), Fault::Left)])
    );
}

/// Who takes connections and says nothing, and its port.
fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let at = listener.local_addr().expect("its number");
    (listener, at.port())
}

/// A port where nobody listens. One that was given back may be somebody else's by now; the system hands none out below
/// 1024, and this one's service is gone.
const DESERTED: u16 = 1;

fn card(port: u16, addresses: &[[u8; 4]]) -> Card {
    let subnet = |address: &[u8; 4]| Subnet::new(IpAddr::from(*address), 8);
    Card {
        host: "elsewhere".into(),
        port,
        addresses: addresses.iter().map(subnet).collect(),
    }
}

/// Who cannot be reached is lost, at once where its host says that nobody listens there; frames that
/// waited are forgotten.
#[test]
fn who_cannot_be_reached_is_lost() {
    let nowhere = Fault::Unreachable("none of its addresses answers");
    for (unreachable, why) in [
        (card(DESERTED, &[[127, 0, 0, 1]]), Fault::Gone),
        (card(4, &[]), nowhere),
    ] {
        let options = Options {
            patience: Duration::MAX,
            ..Options::default()
        };
        let one = site(options);
        let cards = vec![one.card().clone(), unreachable];
        let mut ranks = vec![one.join::<RawBytes>(0, cards).expect("a rank")];
        send(&mut ranks[0], 1, 7);
        let mut logs = logs(1);
        until(
            &mut ranks,
            "the loss is told",
            |_, logs| !logs[0].lost.is_empty(),
            &mut logs,
        );
        assert_eq!(logs[0].lost, [(Peer(1), why)]);
        assert_eq!(ranks[0].0.host(Peer(1)), "elsewhere");
        send(&mut ranks[0], 1, 8);
    }
}

/// An address that somebody else has does no harm: the next one is tried.
#[test]
fn a_stranger_at_an_address_is_passed_by() {
    let sites = [site(Options::default()), site(Options::default())];
    let mut cards: Vec<Card> = sites.iter().map(|site| site.card().clone()).collect();
    // The other rank says that it is also at an address where this rank itself listens, or nobody does.
    let mut addresses = card(1, &[[127, 0, 0, 9], [127, 0, 0, 1]]).addresses;
    std::mem::swap(&mut cards[1].addresses, &mut addresses);
    let [one, two] = sites;
    let mut ranks = vec![
        one.join::<RawBytes>(0, cards.clone()).expect("a rank"),
        two.join(1, cards).expect("a rank"),
    ];
    send(&mut ranks[0], 1, 7);
    until(
        &mut ranks,
        "the frame arrives",
        |_, logs| logs[1].frames.len() == 1,
        &mut logs(2),
    );
}

/// Two ranks, of which the first knows the second one only as `second`.
fn one_way(options: [Options; 2], second: Card) -> Vec<Rank<RawBytes>> {
    let [one, two] = options.map(site);
    let (known, own) = (one.card().clone(), two.card().clone());
    vec![
        one.join(0, vec![known.clone(), second]).expect("a rank"),
        two.join(1, vec![known, own]).expect("a rank"),
    ]
}

/// Nobody listens there, as the host says: not this one, by its addresses.
fn refusing() -> Card {
    card(DESERTED, &[[127, 0, 0, 9]])
}

/// A rank that cannot reach the other keeps out no call of it, though its own would go before.
#[test]
fn who_cannot_reach_a_peer_is_reached_by_it() {
    let (_mute, port) = listener();
    for second in [refusing(), card(port, &[[127, 0, 0, 1]])] {
        let mut ranks = one_way([Options::default(); 2], second);
        let mut logs = logs(2);
        send(&mut ranks[0], 1, 7);
        let start = std::time::Instant::now();
        // Longer than it takes to be refused for some rounds.
        let called = |_: &mut [Rank<RawBytes>], _: &[Log]| start.elapsed().as_millis() > 100;
        until(&mut ranks[..1], "it calls", called, &mut logs[..1]);
        send(&mut ranks[1], 0, 8);
        let come = |_: &mut [Rank<RawBytes>], logs: &[Log]| {
            assert!(logs.iter().all(|log| log.lost.is_empty()), "{logs:?}");
            logs.iter().all(|log| log.frames.len() == 1)
        };
        until(&mut ranks, "frames both ways", come, &mut logs);
    }
}

/// A rank that has lost a peer tells it so when that one calls: neither waits for the other.
#[test]
fn who_is_given_up_hears_of_it() {
    let hasty = Options {
        patience: Duration::from_millis(1),
        ..Options::default()
    };
    let patient = Options {
        patience: Duration::MAX,
        ..Options::default()
    };
    let mut ranks = one_way([hasty, patient], refusing());
    let mut logs = logs(2);
    send(&mut ranks[0], 1, 7);
    let lost = |_: &mut [Rank<RawBytes>], logs: &[Log]| !logs[0].lost.is_empty();
    until(&mut ranks[..1], "patience ends", lost, &mut logs[..1]);
    assert_eq!(logs[0].lost, [(Peer(1), Fault::Gone)]);
    send(&mut ranks[1], 0, 8);
    let told = |_: &mut [Rank<RawBytes>], logs: &[Log]| !logs[1].lost.is_empty();
    until(&mut ranks, "it is told", told, &mut logs);
    let why = Fault::Unreachable("it has given this rank up");
    assert_eq!(logs[1].lost, [(Peer(0), why)]);
}

/// Where a connection is taken and nothing is said, the next address is tried beside it. The second one passes on what
/// comes to the rank.
#[test]
fn who_says_nothing_is_passed_by() {
    let options = Options {
        greeting: Duration::from_millis(20),
        ..Options::default()
    };
    let (door, port) = listener();
    let _mute = TcpListener::bind((Ipv4Addr::new(127, 0, 0, 9), port)).expect("its own address");
    let second = card(port, &[[127, 0, 0, 9], [127, 0, 0, 1]]);
    let (one, two) = (site(options), site(Options::default()));
    let (known, own) = (one.card().clone(), two.card().clone());
    let home = (Ipv4Addr::LOCALHOST, own.port);
    std::thread::spawn(move || {
        let (caller, _) = door.accept().expect("a caller");
        let rank = TcpStream::connect(home).expect("the rank listens");
        let back = (rank.try_clone(), caller.try_clone());
        let (from, to) = (back.0.expect("a socket"), back.1.expect("a socket"));
        std::thread::spawn(move || std::io::copy(&mut &from, &mut &to).ok());
        std::io::copy(&mut &caller, &mut &rank).ok();
    });
    let mut ranks = vec![
        one.join(0, vec![known.clone(), second]).expect("a rank"),
        two.join(1, vec![known, own]).expect("a rank"),
    ];
    send(&mut ranks[0], 1, 7);
    let come = |_: &mut [Rank<RawBytes>], logs: &[Log]| logs[1].frames.len() == 1;
    until(&mut ranks, "the frame arrives", come, &mut logs(2));
}

/// A rank that makes no call for long is not lost by who calls it meanwhile, except where that is asked for.
#[test]
fn who_answers_late_is_lost_only_if_that_is_wanted() {
    let hasty = Options {
        greeting: Duration::from_millis(1),
        patience: Duration::from_millis(1),
        ..Options::default()
    };
    // Only the caller: a host in such a haste turns its guest away.
    let mut ranks = ranks_of::<RawBytes>(&[hasty, Options::default()]);
    let mut all = logs(2);
    send(&mut ranks[0], 1, 7);
    let start = std::time::Instant::now();
    let computed = |_: &mut [Rank<RawBytes>], _: &[Log]| start.elapsed().as_millis() > 100;
    until(&mut ranks[..1], "it computes", computed, &mut all[..1]);
    let come = |_: &mut [Rank<RawBytes>], logs: &[Log]| logs[1].frames.len() == 1;
    until(&mut ranks, "the frame arrives", come, &mut all);
    assert!(all[0].lost.is_empty(), "{:?}", all[0].lost);

    let options = Options {
        stall: Some(Duration::from_millis(50)),
        ..Options::default()
    };
    let (_mute, port) = listener();
    let mut ranks = one_way([options; 2], card(port, &[[127, 0, 0, 1]]));
    let mut all = logs(1);
    send(&mut ranks[0], 1, 7);
    let lost = |_: &mut [Rank<RawBytes>], logs: &[Log]| !logs[0].lost.is_empty();
    until(&mut ranks[..1], "the loss is told", lost, &mut all);
    assert_eq!(all[0].lost, [(Peer(1), Fault::Silent)]);
}

/// A rank has no connection to itself, and says so.
#[test]
fn a_rank_is_not_its_own_peer() {
    let mut ranks = ranks::<RawBytes>(1, Options::default());
    send(&mut ranks[0], 0, 7);
    let mut logs = logs(1);
    until(
        &mut ranks,
        "it is told",
        |_, logs| !logs[0].lost.is_empty(),
        &mut logs,
    );
    let why = Fault::Unreachable("a rank has no connection to itself");
    assert_eq!(logs[0].lost, [(Peer(0), why)]);
}

/// Who sleeps is woken by a frame, and by a rank that calls.
#[test]
fn a_sleeper_is_woken() {
    let [mut one, mut two] = pair::<RawBytes>(Options::default());
    let mut log = Log::default();
    for tag in 0..20 {
        while !two.1.arm() {
            two.1.poll(&mut two.0, 64, &mut log);
        }
        send(&mut one, 1, tag);
        one.0.flush();
        while log.frames.len() as u32 <= tag {
            // A nap that nothing ends is cut, so that this ends too if a wake is missed.
            two.1.nap(Duration::from_secs(120));
            two.1.poll(&mut two.0, 64, &mut log);
        }
    }
    assert_eq!(tags(&log, 0), (0..20).collect::<Vec<_>>());
}

/// A wire that nothing is said on stays open, and who does not poll for a while is not lost.
#[test]
fn who_does_not_read_is_not_lost() {
    let options = Options {
        silence: Duration::from_secs(1),
        ..Options::default()
    };
    let [mut one, two] = pair::<RawBytes>(options);
    let len = options.frame;
    let mut log = Log::default();
    let body = vec![1; len as usize];
    let start = std::time::Instant::now();
    // The window closes at once, and stays closed for several times the limit.
    while start.elapsed() < 4 * options.silence {
        if let Ok(mut slot) = one.0.frame(Peer(1), &eager(1, len), len as usize) {
            slot.put(&body);
            slot.send();
        }
        one.0.flush();
        one.1.poll(&mut one.0, 64, &mut log);
        one.1.nap(Duration::from_millis(10));
    }
    assert!(log.lost.is_empty(), "{:?}", log.lost);
    drop(two);
}

/// Who is in calls answers, for as long as it takes; who makes none is taken for stalled, if that is asked for.
#[test]
fn a_stream_that_brings_no_answer_is_lost() {
    let stall = Duration::from_millis(80);
    let options = Options {
        stall: Some(stall),
        ..Options::default()
    };
    let mut ranks = pair::<RawBytes>(options);
    let mut logs = logs(2);
    let start = std::time::Instant::now();
    until(
        &mut ranks,
        "three times the limit passes",
        |_, _| start.elapsed() > 3 * stall,
        &mut logs,
    );
    assert!(logs.iter().all(|log| log.lost.is_empty()), "{logs:?}");
    // From here on the other one makes no call; its kernel goes on to confirm all that comes.
    let log = &mut logs[..1];
    until(
        &mut ranks[..1],
        "a stalled stream is noticed",
        |_, logs| !logs[0].lost.is_empty(),
        log,
    );
    assert_eq!(logs[0].lost, [(Peer(1), Fault::Silent)]);
}

/// A rank that computes for long between its polls lets callers in all the same: its own pauses are not theirs.
#[test]
fn who_polls_seldom_lets_callers_in() {
    let greeting = Duration::from_millis(20);
    let options = Options {
        greeting,
        patience: Duration::from_millis(1),
        ..Options::default()
    };
    for pause in [greeting * 3 / 5, greeting * 2] {
        let mut ranks = ranks::<RawBytes>(2, options);
        let mut logs = logs(2);
        send(&mut ranks[0], 1, 7);
        let start = std::time::Instant::now();
        while logs[1].frames.is_empty() {
            let paused = std::time::Instant::now();
            while paused.elapsed() < pause {
                let (tx, rx) = &mut ranks[0];
                tx.flush();
                rx.poll(tx, 64, &mut logs[0]);
            }
            let (tx, rx) = &mut ranks[1];
            rx.poll(tx, 64, &mut logs[1]);
            assert!(logs[0].lost.is_empty(), "{:?}", logs[0].lost);
            assert!(start.elapsed() < common::WATCHDOG, "hangs: it is let in");
        }
    }
}
