//! Tests of connecting (at first use, both sides at once, by several addresses, after failures) and of leaving.

use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::common::{Job, WATCHDOG, listening, ranks};
use oxmpi_os::RawBytes;
use oxmpi_tcp::address::Subnet;
use oxmpi_tcp::{BusinessCard, PassiveEndpoint, TcpOptions};
use oxmpi_wire::{Fault, Network, Peer, Rx, Tx};

/// The first frame makes the connection, and waits for it.
#[test]
fn a_frame_connects() {
    let mut job: Job = Job::new(2, TcpOptions::default());
    for tag in 0..5 {
        job.send(1, 0, tag);
    }
    assert!(!job.ranks[1].0.is_connected(Peer(0)));
    job.until("frames arrive", |job| job.logs[0].frames.len() == 5);
    assert_eq!(job.tags(0, 1), [0, 1, 2, 3, 4]);
    assert!(job.ranks[1].0.is_connected(Peer(0)) && job.ranks[0].0.is_connected(Peer(1)));
}

/// All ranks connect to each other at once, again and again: each pair ends with one connection, and no
/// frame is lost or doubled.
#[test]
fn all_connect_to_each_other_at_once() {
    const RANKS: u32 = 5;
    for round in 0..20 {
        let mut job: Job = Job::new(RANKS as usize, TcpOptions::default());
        for me in 0..RANKS {
            for to in (0..RANKS).filter(|to| *to != me) {
                job.send(me as usize, to, round);
                job.send(me as usize, to, round + 1);
            }
            // Ranks that are some polls ahead are connecting when the others' connects arrive.
            let ahead = (me * 7 + round) % 4;
            (0..ahead).for_each(|_| job.poll(me as usize));
        }
        let expected = 2 * (RANKS as usize - 1);
        job.until("all frames arrive", |job| {
            job.logs.iter().all(|log| log.frames.len() >= expected)
        });
        for me in 0..RANKS {
            let lost = &job.logs[me as usize].lost;
            assert!(lost.is_empty(), "{lost:?}");
            for from in (0..RANKS).filter(|from| *from != me) {
                let tags = job.tags(me as usize, from);
                assert_eq!(tags, [round, round + 1], "from {from} to {me}");
            }
        }
    }
}

/// A peer that leaves in order is no failure, and all its frames arrive. A write that fails because the peer
/// has left does not change that.
#[test]
fn a_peer_that_leaves_is_reported_after_all_its_frames() {
    for (frames, writes) in [(500, 0), (3, 3)] {
        let mut job: Job = Job::pair(TcpOptions::default());
        (0..frames).for_each(|tag| job.send(0, 1, tag));
        drop(job.remove(0));
        // The first write is answered by a reset, so that a later one fails.
        for tag in 0..writes {
            job.send(0, 0, tag);
            job.ranks[0].0.flush();
        }
        job.until_lost(0);
        let tags = job.tags(0, 0);
        assert!(
            tags.iter().copied().eq(0..frames),
            "of {frames} frames: {tags:?}"
        );
        assert_eq!(job.logs[0].lost, [(Peer(0), Fault::Left)]);
        assert!(!job.ranks[0].0.has_unsent());
    }
}

/// A rank that leaves while it connects has left, also for a peer that has accepted it already. The number
/// of polls decides how far the connect is.
#[test]
fn a_rank_that_leaves_while_it_connects_is_not_dead() {
    let mut reports = 0;
    for polls in 1..12 {
        let mut job: Job = Job::new(2, TcpOptions::default());
        job.ranks[0].0.connect(Peer(1));
        for _ in 0..polls {
            let (tx, rx) = &mut job.ranks[0];
            rx.poll(tx, 1, &mut job.logs[0]);
            (0..20).for_each(|_| job.poll(1));
        }
        drop(job.remove(0));
        (0..1000).for_each(|_| job.poll(0));
        let lost = &job.logs[0].lost;
        let left = matches!(&lost[..], [] | [(Peer(0), Fault::Left)]);
        assert!(left, "{polls} polls: {lost:?}");
        reports += lost.len();
    }
    assert!(reports > 0);
}

/// A rank that sends and dies at once: its frame arrives, then its death is reported, though the kernel
/// reports both in one event.
#[test]
fn a_last_frame_does_not_hide_a_death() {
    let mut job: Job = Job::pair(TcpOptions::default());
    job.send(0, 1, 3);
    let (mut tx, _rx) = job.remove(0);
    tx.flush();
    tx.abort();
    job.until_lost(0);
    assert_eq!(job.tags(0, 0), [3]);
    assert_eq!(job.logs[0].lost, [(Peer(0), Fault::PeerDead)]);
}

/// A rank that sends and leaves at once connects to deliver its frame.
#[test]
fn a_rank_that_leaves_delivers_its_frames_before() {
    let mut job: Job = Job::new(2, TcpOptions::default());
    job.send(0, 1, 3);
    let mut leaving = Job::of(vec![job.remove(0)]);
    let leaves = std::thread::spawn(move || {
        leaving.until("the kernel has all of it", |job| {
            !job.ranks[0].0.has_unsent()
        });
    });
    job.until_lost(0);
    leaves.join().expect("no panic");
    assert_eq!(job.tags(0, 0), [3]);
    assert_eq!(job.logs[0].lost, [(Peer(0), Fault::Left)]);
}

/// A socket that accepts connections and answers none, and its port.
fn mute_listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("its number");
    (listener, address.port())
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
    let no_answer = Fault::Unreachable("none of its addresses answers");
    for (unreachable, why) in [
        (card(DESERTED, &[[127, 0, 0, 1]]), Fault::Gone),
        (card(4, &[]), no_answer),
    ] {
        let one = listening(TcpOptions {
            connect_timeout: Duration::MAX,
            ..TcpOptions::default()
        });
        let cards = vec![one.card().clone(), unreachable];
        let mut job: Job = Job::of(vec![one.join(0, cards).expect("a rank")]);
        job.send(0, 1, 7);
        job.until_lost(0);
        assert_eq!(job.logs[0].lost, [(Peer(1), why)]);
        assert_eq!(job.ranks[0].0.host(Peer(1)), "elsewhere");
        job.send(0, 1, 8);
    }
}

/// A job of two ranks, the first of which has the card `second` of the other.
fn job_with_card([one, two]: [PassiveEndpoint; 2], second: BusinessCard) -> Job {
    let (first, own) = (one.card().clone(), two.card().clone());
    Job::of(vec![
        one.join(0, vec![first.clone(), second]).expect("a rank"),
        two.join(1, vec![first, own]).expect("a rank"),
    ])
}

/// A foreign listener at an address does no harm: the next address is tried.
#[test]
fn a_foreign_listener_is_skipped() {
    let both = [TcpOptions::default(); 2].map(listening);
    // The card of the second rank has an address, too, where the first rank listens, or none.
    let second = card(both[1].card().port, &[[127, 0, 0, 9], [127, 0, 0, 1]]);
    let mut job = job_with_card(both, second);
    job.send(0, 1, 7);
    job.until("the frame arrives", |job| job.logs[1].frames.len() == 1);
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
        let mut job = job_with_card([TcpOptions::default(); 2].map(listening), second);
        job.send(0, 1, 7);
        let start = Instant::now();
        // Longer than some rounds of refusals take.
        job.until_alone(0, "100 ms pass", |_| start.elapsed().as_millis() > 100);
        job.send(1, 0, 8);
        job.until("frames arrive in both directions", |job| {
            let is_lost = job.logs.iter().any(|log| !log.lost.is_empty());
            assert!(!is_lost, "{:?}", job.logs);
            job.logs.iter().all(|log| log.frames.len() == 1)
        });
    }
}

/// A rank that has lost a peer refuses it, and the peer loses the rank, too.
#[test]
fn a_peer_that_was_given_up_is_refused() {
    let timeouts = [Duration::from_millis(1), Duration::MAX];
    let both = timeouts.map(|connect_timeout| {
        listening(TcpOptions {
            connect_timeout,
            ..TcpOptions::default()
        })
    });
    let mut job = job_with_card(both, refusing());
    job.send(0, 1, 7);
    job.until_lost(0);
    assert_eq!(job.logs[0].lost, [(Peer(1), Fault::Gone)]);
    job.send(1, 0, 8);
    job.until("the loss is reported", |job| !job.logs[1].lost.is_empty());
    let why = Fault::Unreachable("it has given this rank up");
    assert_eq!(job.logs[1].lost, [(Peer(0), why)]);
}

/// While one address is connected but silent, the next one is tried. A proxy listens there and passes all bytes on.
#[test]
fn a_silent_listener_is_skipped() {
    let hasty = TcpOptions {
        handshake_timeout: Duration::from_millis(20),
        ..TcpOptions::default()
    };
    let (proxy, port) = mute_listener();
    let _mute = TcpListener::bind((Ipv4Addr::new(127, 0, 0, 9), port)).expect("its own address");
    let both = [hasty, TcpOptions::default()].map(listening);
    let target = (Ipv4Addr::LOCALHOST, both[1].card().port);
    std::thread::spawn(move || {
        let (client, _) = proxy.accept().expect("the first rank connects");
        let rank = TcpStream::connect(target).expect("the second rank listens");
        let back = (rank.try_clone(), client.try_clone());
        let (from, to) = (back.0.expect("a socket"), back.1.expect("a socket"));
        std::thread::spawn(move || std::io::copy(&mut &from, &mut &to).ok());
        std::io::copy(&mut &client, &mut &rank).ok();
    });
    let mut job = job_with_card(both, card(port, &[[127, 0, 0, 9], [127, 0, 0, 1]]));
    job.send(0, 1, 7);
    job.until("the frame arrives", |job| job.logs[1].frames.len() == 1);
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
    let mut job: Job = Job::of(ranks(&[hasty, TcpOptions::default()]));
    job.send(0, 1, 7);
    let start = Instant::now();
    job.until_alone(0, "100 ms pass", |_| start.elapsed().as_millis() > 100);
    job.until("the frame arrives", |job| job.logs[1].frames.len() == 1);
    assert!(job.logs[0].lost.is_empty(), "{:?}", job.logs[0].lost);

    let options = TcpOptions {
        stall_timeout: Some(Duration::from_millis(50)),
        ..TcpOptions::default()
    };
    let (_mute, port) = mute_listener();
    let mut job = job_with_card([options; 2].map(listening), card(port, &[[127, 0, 0, 1]]));
    job.send(0, 1, 7);
    job.until_lost(0);
    assert_eq!(job.logs[0].lost, [(Peer(1), Fault::Silent)]);
}

/// A rank has no connection to itself.
#[test]
fn a_rank_is_not_its_own_peer() {
    let mut job: Job = Job::new(1, TcpOptions::default());
    job.send(0, 0, 7);
    job.until_lost(0);
    let why = Fault::Unreachable("a rank has no connection to itself");
    assert_eq!(job.logs[0].lost, [(Peer(0), why)]);
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
        let mut job: Job<RawBytes> = Job::new(2, options);
        job.send(0, 1, 7);
        let start = Instant::now();
        while job.logs[1].frames.is_empty() {
            let paused = Instant::now();
            job.until_alone(0, "a pause passes", |_| paused.elapsed() >= pause);
            job.poll(1);
            assert!(job.logs[0].lost.is_empty(), "{:?}", job.logs[0].lost);
            assert!(start.elapsed() < WATCHDOG, "hangs: rank 1 accepts rank 0");
        }
    }
}
