//! Sleeping ranks, and which quiet peers are lost.

mod common;

use std::time::Duration;

use common::{eager, logs, pair, send, until};
use oxmpi_os::RawBytes;
use oxmpi_tcp::TcpOptions;
use oxmpi_testkit::conformance::EventLog;
use oxmpi_wire::{Fault, Peer, Put, Rx, Sleeper, Slot, Tx};

/// A sleep ends with an arriving frame.
#[test]
fn a_frame_ends_a_sleep() {
    let [mut one, mut two] = pair::<RawBytes>(TcpOptions::default());
    let mut log = EventLog::default();
    for tag in 0..20 {
        while !two.1.arm() {
            two.1.poll(&mut two.0, 64, &mut log);
        }
        send(&mut one, 1, tag);
        one.0.flush();
        while log.frames.len() as u32 <= tag {
            // A sleep is bounded, so this ends even if a wake is missed.
            two.1.nap(Duration::from_secs(120));
            two.1.poll(&mut two.0, 64, &mut log);
        }
    }
    let tags = log.frames.iter().map(|(_, head, _)| head.envelope.tag);
    assert!(tags.eq(0..20));
}

/// A peer that does not poll for several times the host timeout is not lost.
#[test]
fn a_peer_that_does_not_read_is_not_lost() {
    let options = TcpOptions {
        host_timeout: Duration::from_secs(1),
        ..TcpOptions::default()
    };
    let [mut one, two] = pair::<RawBytes>(options);
    let len = options.frame;
    let mut log = EventLog::default();
    let body = vec![1; len as usize];
    let start = std::time::Instant::now();
    // The window closes at once, and stays closed for several times the limit.
    while start.elapsed() < 4 * options.host_timeout {
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

/// With a stall timeout, a peer that polls answers pings; one that does not is lost.
#[test]
fn a_connection_without_an_answer_is_lost() {
    let stall = Duration::from_millis(80);
    let options = TcpOptions {
        stall_timeout: Some(stall),
        ..TcpOptions::default()
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
    // From here on the other rank makes no call; its kernel still acknowledges all that arrives.
    let log = &mut logs[..1];
    until(
        &mut ranks[..1],
        "a stalled connection is noticed",
        |_, logs| !logs[0].lost.is_empty(),
        log,
    );
    assert_eq!(logs[0].lost, [(Peer(1), Fault::Silent)]);
}
