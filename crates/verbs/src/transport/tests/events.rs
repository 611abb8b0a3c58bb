//! Events of devices: what fails without a completion.

use super::rails::{Traffic, options};
use super::{connected, settle, with_queues};
use crate::fake::{self, Script};
use crate::ffi::{IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR};
use crate::registration::LeavePinned;
use crate::transport::{ConnectionOptions, VerbsOptions, VerbsRx, VerbsTx};
use oxmpi_testkit::conformance::{EventLog, eager};
use oxmpi_wire::{Fault, Peer, Put, Rx, Sleeper, Slot, Tx, WaitObjects};
use std::time::Duration;

const TWO_PORTS: Script = Script {
    ports: 2,
    ..Script::GOOD
};

fn send((tx, _): &mut (VerbsTx, VerbsRx), to: u32) {
    let mut slot = tx.frame(Peer(to), &eager(0, 500), 500).expect("room");
    slot.put(&[7; 500]);
    slot.send();
}

/// Lets ranks read their events, as before a sleep, and act on them.
fn look(ends: &mut [(VerbsTx, VerbsRx)], log: &mut EventLog) {
    for _ in 0..2 {
        settle(&mut ends.iter_mut().collect::<Vec<_>>(), log);
        for (_, rx) in &mut *ends {
            let _ = rx.arm();
        }
    }
    settle(&mut ends.iter_mut().collect::<Vec<_>>(), log);
}

/// A port without a link is left before anything is sent by it.
#[test]
fn a_port_that_loses_its_link_is_left() {
    let mut ends = connected(2, TWO_PORTS, &with_queues("P,1000,4"));
    let mut log = EventLog::default();
    look(&mut ends, &mut log);
    send(&mut ends[0], 1);
    settle(&mut ends.iter_mut().collect::<Vec<_>>(), &mut log);
    let first = [1, 2]
        .into_iter()
        .find(|port| fake::carried(0, *port) > 500);
    let first = first.expect("a port of the frame");
    fake::announce_port(0, first, IBV_EVENT_PORT_ERR);
    look(&mut ends, &mut log);
    let before = fake::carried(0, first);
    send(&mut ends[0], 1);
    send(&mut ends[1], 0);
    settle(&mut ends.iter_mut().collect::<Vec<_>>(), &mut log);
    assert_eq!((log.frames.len(), &log.lost[..]), (3, &[][..]));
    assert_eq!(fake::carried(0, first), before, "the other port is used");
}

/// The peers of the only port are lost when all retries are over, also by a rank that only waits; not before, and not if the
/// link is back.
#[test]
fn the_only_port_is_waited_for_as_long_as_for_an_answer() {
    let mut ends = connected(2, Script::GOOD, &with_queues("P,1000,4"));
    let mut log = EventLog::default();
    fake::announce_port(0, 1, IBV_EVENT_PORT_ERR);
    look(&mut ends, &mut log);
    let patience = ends[0].1.longest_sleep();
    assert!(patience <= Duration::from_secs(8), "{patience:?}");
    assert!(!patience.is_zero() && log.lost.is_empty());
    fake::announce_port(0, 1, IBV_EVENT_PORT_ACTIVE);
    look(&mut ends, &mut log);
    assert_eq!(ends[0].1.longest_sleep(), Duration::MAX);
    send(&mut ends[0], 1);
    settle(&mut ends.iter_mut().collect::<Vec<_>>(), &mut log);
    assert_eq!(log.frames.len(), 1);

    let options = VerbsOptions {
        connection: ConnectionOptions {
            timeout: 1,
            retry_count: 0,
            ..ConnectionOptions::default()
        },
        ..with_queues("P,1000,4")
    };
    let mut ends = connected(2, Script::GOOD, &options);
    fake::announce_port(0, 1, IBV_EVENT_PORT_ERR);
    while log.lost.len() < 2 {
        look(&mut ends, &mut log);
    }
    let lost = |peer| (Peer(peer), Fault::Silent);
    assert!(log.lost.contains(&lost(0)) && log.lost.contains(&lost(1)));
}

/// A queue pair that has failed, or its device, loses the peer of a rank that only waits.
#[test]
fn a_failure_without_a_completion_is_noticed_by_who_waits() {
    for is_device in [false, true] {
        for queues in ["P,1000,4", "S,1000,8,4,2", "X,1000,8,4,2"] {
            let mut ends = connected(2, Script::GOOD, &with_queues(queues));
            let mut log = EventLog::default();
            look(&mut ends, &mut log);
            match is_device {
                true => fake::fail_device(0),
                false => fake::mute_port(0, 1),
            }
            look(&mut ends, &mut log);
            let lost: Vec<_> = log.lost.iter().map(|(peer, _)| peer.0).collect();
            assert!(lost.contains(&0) && lost.contains(&1), "{queues}: {lost:?}");
            let is_named = |why: &Fault| matches!(why, Fault::Refused(_));
            assert!(
                log.lost.iter().any(|(_, why)| is_named(why)),
                "{:?}",
                log.lost
            );
        }
    }
}

/// Events are read by ranks that never sleep.
#[test]
fn a_rank_that_polls_reads_events() {
    let mut ends = connected(2, Script::GOOD, &with_queues("P,1000,4"));
    let mut log = EventLog::default();
    fake::fail_device(0);
    let (tx, rx) = &mut ends[0];
    let polls = (0..5000).take_while(|_| {
        rx.poll(tx, 64, &mut log);
        log.lost.is_empty()
    });
    assert!(polls.count() < 5000);
}

/// What is in flight on the queue pairs or the device that fail goes by others: frames, reads and writes.
#[test]
fn what_a_failed_device_has_not_confirmed_is_repeated() {
    for (devices, ports) in [(1, 2), (2, 1)] {
        for seed in 1..40 {
            let script = Script {
                devices,
                ports,
                late: Some(seed),
                ..Script::GOOD
            };
            let mut traffic = Traffic::new(script, &options(1, LeavePinned::On));
            for step in 0..120 {
                traffic.send(step % 2, step * 7 % 1000);
                if step % 8 == 0 {
                    traffic.access(step / 8 % 2, step % 3 == 0);
                }
                traffic.poll((step / 2) % 2);
                if step == 20 + seed as usize {
                    match devices {
                        1 => fake::mute_port(0, 1),
                        _ => fake::fail_device(seed as u8 % 2),
                    }
                }
            }
            traffic.check();
        }
    }
}

/// A queue pair of a lost peer is destroyed when it has given its receives back.
#[test]
fn a_lost_peer_keeps_no_queue_pair() {
    for late in [None, Some(9)] {
        let script = Script {
            late,
            ..Script::GOOD
        };
        let mut ends = connected(3, script, &with_queues("S,1000,8,4,2"));
        let mut log = EventLog::default();
        send(&mut ends[0], 1);
        ends[0].0.give_up(Peer(1), Fault::PeerDead);
        assert_eq!(fake::queue_pairs(), 6);
        look(&mut ends[..1], &mut log);
        assert_eq!(fake::queue_pairs(), 5, "late: {late:?}");
        look(&mut ends, &mut log);
        send(&mut ends[2], 0);
        look(&mut ends, &mut log);
        assert_eq!(log.frames.len(), 2);
    }
}
