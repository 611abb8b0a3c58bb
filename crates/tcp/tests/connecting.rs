//! Connecting: at first use, both at once, by several addresses, after failures; and leaving.

mod common;

use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use common::{Rank, listening, logs, pair, ranks, ranks_of, send, until, until_lost};
use oxmpi_os::RawBytes;
use oxmpi_tcp::address::Subnet;
use oxmpi_tcp::{BusinessCard, TcpOptions};
use oxmpi_testkit::conformance::EventLog;
use oxmpi_wire::{Fault, Peer, Rx, Tx};

fn tags(log: &EventLog, from: u32) -> Vec<u32> {
    let frames = log.frames.iter().filter(|(peer, _, _)| peer.0 == from);
    frames.map(|(_, head, _)| head.envelope.tag).collect()
}

/// The first frame makes the connection, and waits for it.
#[test]
fn a_frame_connects() {
    let mut ranks = ranks::<RawBytes>(2, TcpOptions::default());
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

/// All ranks connect to each other at once, again and again: each pair ends with one connection, and no
/// frame is lost or doubled.
#[test]
fn all_connect_to_each_other_at_once() {
    const RANKS: u32 = 5;
    for round in 0..20 {
        let mut ranks = ranks::<RawBytes>(RANKS, TcpOptions::default());
        let mut logs = logs(RANKS as usize);
        for me in 0..RANKS {
            let others = (0..RANKS).filter(|to| *to != me);
            for to in others {
                send(&mut ranks[me as usize], to, round);
                send(&mut ranks[me as usize], to, round + 1);
            }
            // Ranks that are some polls ahead are connecting when the others' connects arrive.
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
fn a_peer_that_leaves_is_reported_after_all_its_frames() {
    let [mut one, mut two] = pair::<RawBytes>(TcpOptions::default());
    for tag in 0..500 {
        send(&mut one, 1, tag);
    }
    drop(one);
    let mut log = EventLog::default();
    until_lost(&mut two, &mut log);
    assert_eq!(tags(&log, 0), (0..500).collect::<Vec<_>>());
    assert_eq!(log.lost, [(Peer(0), Fault::Left)]);
}

/// A rank that writes to a peer that has left still reports that it left: the failed write hides nothing.
#[test]
fn a_failing_write_does_not_hide_that_a_peer_left() {
    let [mut one, mut two] = pair::<RawBytes>(TcpOptions::default());
    for tag in 0..3 {
        send(&mut one, 1, tag);
    }
    drop(one);
    // The first is answered by a reset, so that a later one fails.
    for tag in 0..3 {
        send(&mut two, 0, tag);
        two.0.flush();
    }
    let mut log = EventLog::default();
    until_lost(&mut two, &mut log);
    assert_eq!(tags(&log, 0), [0, 1, 2]);
    assert_eq!(log.lost, [(Peer(0), Fault::Left)]);
    assert!(!two.0.has_unsent());
}

/// A rank that leaves while it connects has left, also for a peer that has accepted it already. The number
/// of polls decides how far the connect is.
#[test]
fn a_rank_that_leaves_while_it_connects_is_not_dead() {
    let mut heard = 0;
    for polls in 1..12 {
        let two_ranks = ranks::<RawBytes>(2, TcpOptions::default());
        let [mut one, mut two] = two_ranks.try_into().expect("two ranks");
        let (mut mine, mut log) = (EventLog::default(), EventLog::default());
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

/// A rank that sends and dies at once: its frame arrives, then its death is reported, though the kernel
/// reports both in one event.
#[test]
fn a_last_frame_does_not_hide_a_death() {
    let [mut one, mut two] = pair::<RawBytes>(TcpOptions::default());
    send(&mut one, 1, 3);
    one.0.flush();
    one.0.abort();
    let mut log = EventLog::default();
    until_lost(&mut two, &mut log);
    assert_eq!(
        (tags(&log, 0), log.lost),
        (vec![3], vec![(Peer(0), Fault::PeerDead)])
    );
}

/// A rank that sends and leaves at once connects to deliver its frame.
#[test]
fn nothing_is_left_behind() {
    let mut ranks = ranks::<RawBytes>(2, TcpOptions::default());
    let mut two = ranks.pop().expect("two ranks");
    let mut one = ranks.pop().expect("two ranks");
    send(&mut one, 1, 3);
    let leaving = std::thread::spawn(move || {
        let (tx, rx) = &mut one;
        rx.drain(tx, common::WATCHDOG, &mut EventLog::default())
    });
    let mut log = EventLog::default();
    until_lost(&mut two, &mut log);
    assert!(leaving.join().expect("no panic"), "all of it left");
    assert_eq!(
        (tags(&log, 0), log.lost),
        (vec![3], vec![(Peer(0), Fault::Left)])
    );
}

/// A socket that takes connections and answers none, and its port.
fn mute_listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let at = listener.local_addr().expect("its number");
    (listener, at.port())
}

/// A port without a listener: the system hands out none below 1024, and the service of this one is gone.
const DESERTED: u16 = 1;

fn card(port: u16, addresses: &[[u8; 4]]) -> BusinessCard {
    let subnet = |address: &[u8; 4]| Subnet::new(IpAddr::from(*address), 8);
    BusinessCard {
        host: "elsewhere".into(),
        port,
        addresses: addresses.iter().map(subnet).collect(),
    }
}

/// A peer that cannot be reached is lost, at once if its host refuses; frames that waited are dropped.
#[test]
fn an_unreachable_peer_is_lost() {
    let nowhere = Fault::Unreachable("none of its addresses answers");
    for (unreachable, why) in [
        (card(DESERTED, &[[127, 0, 0, 1]]), Fault::Gone),
        (card(4, &[]), nowhere),
    ] {
        let options = TcpOptions {
            connect_timeout: Duration::MAX,
            ..TcpOptions::default()
        };
        let one = listening(options);
        let cards = vec![one.card().clone(), unreachable];
        let mut ranks = vec![one.join::<RawBytes>(0, cards).expect("a rank")];
        send(&mut ranks[0], 1, 7);
        let mut logs = logs(1);
        until(
            &mut ranks,
            "the loss is reported",
            |_, logs| !logs[0].lost.is_empty(),
            &mut logs,
        );
        assert_eq!(logs[0].lost, [(Peer(1), why)]);
        assert_eq!(ranks[0].0.host(Peer(1)), "elsewhere");
        send(&mut ranks[0], 1, 8);
    }
}

/// A foreign listener at an address does no harm: the next address is tried.
#[test]
fn a_foreign_listener_is_skipped() {
    let both = [
        listening(TcpOptions::default()),
        listening(TcpOptions::default()),
    ];
    let mut cards: Vec<BusinessCard> = both.iter().map(|rank| rank.card().clone()).collect();
    // The other rank advertises an address, too, where this rank listens, or none.
    let mut addresses = card(1, &[[127, 0, 0, 9], [127, 0, 0, 1]]).addresses;
    std::mem::swap(&mut cards[1].addresses, &mut addresses);
    let [one, two] = both;
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
fn one_way(options: [TcpOptions; 2], second: BusinessCard) -> Vec<Rank<RawBytes>> {
    let [one, two] = options.map(listening);
    let (known, own) = (one.card().clone(), two.card().clone());
    vec![
        one.join(0, vec![known.clone(), second]).expect("a rank"),
        two.join(1, vec![known, own]).expect("a rank"),
    ]
}

/// A card whose port refuses, on a host that is not this one by its address.
fn refusing() -> BusinessCard {
    card(DESERTED, &[[127, 0, 0, 9]])
}

/// A rank that cannot reach a peer accepts it, though its own connect would win.
#[test]
fn a_rank_that_cannot_reach_a_peer_accepts_it() {
    let (_mute, port) = mute_listener();
    for second in [refusing(), card(port, &[[127, 0, 0, 1]])] {
        let mut ranks = one_way([TcpOptions::default(); 2], second);
        let mut logs = logs(2);
        send(&mut ranks[0], 1, 7);
        let start = std::time::Instant::now();
        // Longer than some rounds of refusals take.
        let called = |_: &mut [Rank<RawBytes>], _: &[EventLog]| start.elapsed().as_millis() > 100;
        until(&mut ranks[..1], "it connects", called, &mut logs[..1]);
        send(&mut ranks[1], 0, 8);
        let come = |_: &mut [Rank<RawBytes>], logs: &[EventLog]| {
            assert!(logs.iter().all(|log| log.lost.is_empty()), "{logs:?}");
            logs.iter().all(|log| log.frames.len() == 1)
        };
        until(&mut ranks, "frames both ways", come, &mut logs);
    }
}

/// A rank that has lost a peer refuses it, and the peer loses the rank, too.
#[test]
fn a_peer_that_was_given_up_is_refused() {
    let hasty = TcpOptions {
        connect_timeout: Duration::from_millis(1),
        ..TcpOptions::default()
    };
    let patient = TcpOptions {
        connect_timeout: Duration::MAX,
        ..TcpOptions::default()
    };
    let mut ranks = one_way([hasty, patient], refusing());
    let mut logs = logs(2);
    send(&mut ranks[0], 1, 7);
    let lost = |_: &mut [Rank<RawBytes>], logs: &[EventLog]| !logs[0].lost.is_empty();
    until(&mut ranks[..1], "the time ends", lost, &mut logs[..1]);
    assert_eq!(logs[0].lost, [(Peer(1), Fault::Gone)]);
    send(&mut ranks[1], 0, 8);
    let lost = |_: &mut [Rank<RawBytes>], logs: &[EventLog]| !logs[1].lost.is_empty();
    until(&mut ranks, "the loss is reported", lost, &mut logs);
    let why = Fault::Unreachable("it has given this rank up");
    assert_eq!(logs[1].lost, [(Peer(0), why)]);
}

/// While one address is connected but silent, the next one is tried. A proxy listens there and passes all bytes on.
#[test]
fn a_silent_listener_is_skipped() {
    let options = TcpOptions {
        handshake_timeout: Duration::from_millis(20),
        ..TcpOptions::default()
    };
    let (proxy, port) = mute_listener();
    let _mute = TcpListener::bind((Ipv4Addr::new(127, 0, 0, 9), port)).expect("its own address");
    let second = card(port, &[[127, 0, 0, 9], [127, 0, 0, 1]]);
    let (one, two) = (listening(options), listening(TcpOptions::default()));
    let (known, own) = (one.card().clone(), two.card().clone());
    let home = (Ipv4Addr::LOCALHOST, own.port);
    std::thread::spawn(move || {
        let (caller, _) = proxy.accept().expect("a caller");
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
    let come = |_: &mut [Rank<RawBytes>], logs: &[EventLog]| logs[1].frames.len() == 1;
    until(&mut ranks, "the frame arrives", come, &mut logs(2));
}

/// A peer that makes no call for long is not lost while this rank connects, unless there is a stall timeout.
#[test]
fn a_peer_that_answers_late_is_lost_only_with_a_stall_timeout() {
    let hasty = TcpOptions {
        handshake_timeout: Duration::from_millis(1),
        connect_timeout: Duration::from_millis(1),
        ..TcpOptions::default()
    };
    // The client only: a server with this timeout would refuse.
    let mut ranks = ranks_of::<RawBytes>(&[hasty, TcpOptions::default()]);
    let mut all = logs(2);
    send(&mut ranks[0], 1, 7);
    let start = std::time::Instant::now();
    let computed = |_: &mut [Rank<RawBytes>], _: &[EventLog]| start.elapsed().as_millis() > 100;
    until(&mut ranks[..1], "it computes", computed, &mut all[..1]);
    let come = |_: &mut [Rank<RawBytes>], logs: &[EventLog]| logs[1].frames.len() == 1;
    until(&mut ranks, "the frame arrives", come, &mut all);
    assert!(all[0].lost.is_empty(), "{:?}", all[0].lost);

    let options = TcpOptions {
        stall_timeout: Some(Duration::from_millis(50)),
        ..TcpOptions::default()
    };
    let (_mute, port) = mute_listener();
    let mut ranks = one_way([options; 2], card(port, &[[127, 0, 0, 1]]));
    let mut all = logs(1);
    send(&mut ranks[0], 1, 7);
    let lost = |_: &mut [Rank<RawBytes>], logs: &[EventLog]| !logs[0].lost.is_empty();
    until(&mut ranks[..1], "the loss is reported", lost, &mut all);
    assert_eq!(all[0].lost, [(Peer(1), Fault::Silent)]);
}

/// A rank has no connection to itself.
#[test]
fn a_rank_is_not_its_own_peer() {
    let mut ranks = ranks::<RawBytes>(1, TcpOptions::default());
    send(&mut ranks[0], 0, 7);
    let mut logs = logs(1);
    until(
        &mut ranks,
        "the loss is reported",
        |_, logs| !logs[0].lost.is_empty(),
        &mut logs,
    );
    let why = Fault::Unreachable("a rank has no connection to itself");
    assert_eq!(logs[0].lost, [(Peer(0), why)]);
}

/// A rank that polls seldom accepts peers: its own pauses do not count against them.
#[test]
fn a_rank_that_polls_seldom_accepts_peers() {
    let handshake_timeout = Duration::from_millis(20);
    let options = TcpOptions {
        handshake_timeout,
        connect_timeout: Duration::from_millis(1),
        ..TcpOptions::default()
    };
    for pause in [handshake_timeout * 3 / 5, handshake_timeout * 2] {
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
            assert!(start.elapsed() < common::WATCHDOG, "hangs: it is accepted");
        }
    }
}
