//! The network over a device of this process, with testkit's switch as its control network.

use super::{Fabric, RdmaPort, VerbsNetworkRx, VerbsNetworkTx};
use crate::fake::{self, HeapMemory, Script};
use crate::objects::devices_of;
use crate::transport::{VerbsEndpoint, VerbsOptions};
use oxmpi_os::RawBytes;
use oxmpi_testkit::conformance::{EventLog, KillableTransport, TestedTransport, TransportEnd};
use oxmpi_testkit::switch::{SwitchRx, SwitchTx, switch};
use oxmpi_wire::{
    Busy, Envelope, Fault, Flags, Header, Kind, Network, Peer, Put, Rx, Sleeper, Slot, Tx,
};

type Control = SwitchTx<RawBytes>;
type NetworkTx = VerbsNetworkTx<Control>;
type NetworkRx = VerbsNetworkRx<Control, SwitchRx<RawBytes>>;

/// Ends that are not connected yet. `by_verbs` says which pairs have the device in common.
fn ends(
    count: u32,
    script: Script,
    by_verbs: impl Fn(u32, u32) -> bool,
) -> Vec<(NetworkTx, NetworkRx)> {
    fake::run(script);
    let devices = devices_of(&fake::LIBRARY).expect("a list");
    let context = devices[0].open().expect("it opens");
    let controls = switch::<RawBytes>(count).expect("sockets");
    let open = |(me, control)| {
        let endpoint = VerbsEndpoint::open(&context, count, VerbsOptions::default());
        let port = RdmaPort {
            endpoint: endpoint.expect("an endpoint"),
            fabric: Fabric::RoceV2Ipv4,
            warnings: Vec::new(),
        };
        let stages: Vec<bool> = (0..count).map(|peer| by_verbs(me, peer)).collect();
        port.over(control, &stages)
    };
    (0..).zip(controls).map(open).collect()
}

/// Ends that are connected, all by the device or all by the control network.
fn connected(count: u32, script: Script, by_verbs: bool) -> Vec<(NetworkTx, NetworkRx)> {
    let mut all = ends(count, script, |_, _| by_verbs);
    let mut log = EventLog::default();
    let peers = |me: u32| (0..count).filter(move |peer| *peer != me).map(Peer);
    for (me, (tx, _)) in (0..).zip(&mut all) {
        peers(me).for_each(|peer| tx.connect(peer));
    }
    let is_done =
        |(me, (tx, _)): (u32, &(NetworkTx, _))| peers(me).all(|peer| tx.is_connected(peer));
    while !(0..).zip(&all).all(is_done) {
        for (tx, rx) in &mut all {
            rx.poll(tx, 64, &mut log);
        }
    }
    all
}

/// Messages take the device, whose completions are late if `LATE`.
struct ByVerbs<const LATE: bool>;

impl<const LATE: bool> TestedTransport for ByVerbs<LATE> {
    type Tx = NetworkTx;
    type Rx = NetworkRx;
    type Memory = HeapMemory;

    fn ends(count: u32) -> Vec<(NetworkTx, NetworkRx)> {
        let late = LATE.then_some(0x5eed);
        connected(
            count,
            Script {
                late,
                ..Script::GOOD
            },
            true,
        )
    }
}

impl<const LATE: bool> KillableTransport for ByVerbs<LATE> {
    fn kill(end: TransportEnd<Self>) {
        end.tx.abort();
    }
}

/// Messages take the control network.
struct ByControl;

impl TestedTransport for ByControl {
    type Tx = NetworkTx;
    type Rx = NetworkRx;
    type Memory = HeapMemory;

    fn ends(count: u32) -> Vec<(NetworkTx, NetworkRx)> {
        connected(count, Script::GOOD, false)
    }
}

impl KillableTransport for ByControl {
    fn kill(end: TransportEnd<Self>) {
        end.tx.abort();
    }
}

oxmpi_testkit::conformance!(by_verbs, ByVerbs<false>, killable);
oxmpi_testkit::conformance!(late, ByVerbs<true>, killable);
oxmpi_testkit::conformance!(by_control, ByControl, killable);

const HEAD: Header = Header {
    kind: Kind::Eager,
    flags: Flags::empty(),
    len: 8,
    envelope: Envelope { context: 1, tag: 2 },
};

fn send(tx: &mut NetworkTx, to: Peer) -> Result<(), Busy> {
    let mut slot = tx.frame(to, &HEAD, 8)?;
    slot.put(&[7; 8]);
    slot.send();
    Ok(())
}

/// Polls both ends until nothing happens for a while.
fn settle(ends: &mut [(NetworkTx, NetworkRx)], logs: &mut [EventLog]) {
    let mut idle = 0;
    while idle < 200 {
        let polled = ends.iter_mut().zip(&mut *logs);
        let moved: u32 = polled.map(|((tx, rx), log)| rx.poll(tx, 64, log)).sum();
        idle = if moved == 0 { idle + 1 } else { 0 };
    }
}

/// A rank that waits for a peer is connected by the control network only.
#[test]
fn queue_pairs_are_made_for_the_first_message_only() {
    let mut all = ends(2, Script::GOOD, |_, _| true);
    let mut logs = [EventLog::default(), EventLog::default()];
    all[0].0.watch(Peer(1));
    settle(&mut all, &mut logs);
    assert!(!all[0].0.is_connected(Peer(1)));
    assert_eq!(send(&mut all[0].0, Peer(1)), Err(Busy));
    assert_eq!(send(&mut all[0].0, Peer(1)), Err(Busy));
    settle(&mut all, &mut logs);
    assert_eq!(logs[0].room, [Peer(1)]);
    assert!(all[0].0.is_connected(Peer(1)) && all[1].0.is_connected(Peer(0)));
    assert_eq!(send(&mut all[1].0, Peer(0)), Ok(()));
    settle(&mut all, &mut logs);
    assert_eq!(logs[0].frames.len(), 1);
    assert!(!all[1].0.has_unsent());
}

/// All that a peer has sent before it leaves is received before its loss is reported.
#[test]
fn a_peer_that_leaves_is_lost_after_its_last_message() {
    let script = Script {
        late: Some(7),
        ..Script::GOOD
    };
    let mut all = ends(2, script, |_, _| true);
    let mut logs = [EventLog::default(), EventLog::default()];
    all[0].0.connect(Peer(1));
    settle(&mut all, &mut logs);
    for _ in 0..20 {
        assert_eq!(send(&mut all[1].0, Peer(0)), Ok(()));
    }
    let mut leaving = all.pop().expect("an end");
    while leaving.0.has_unsent() {
        leaving.1.poll(&mut leaving.0, 64, &mut logs[1]);
        let (tx, rx) = &mut all[0];
        rx.poll(tx, 1, &mut logs[0]);
    }
    drop(leaving);
    settle(&mut all, &mut logs);
    assert_eq!(logs[0].frames.len(), 20);
    assert_eq!(logs[0].lost, [(Peer(1), Fault::Left)]);
    assert_eq!(send(&mut all[0].0, Peer(1)), Ok(()));
}

/// A rank sleeps on both wait objects, and polls both when it wakes.
#[test]
fn a_rank_that_slept_looks_at_both_networks() {
    let mut all = ends(2, Script::GOOD, |_, _| true);
    let mut logs = [EventLog::default(), EventLog::default()];
    settle(&mut all, &mut logs);
    assert!(all[1].1.arm());
    assert_eq!(send(&mut all[0].0, Peer(1)), Err(Busy));
    let (tx, rx) = &mut all[1];
    assert!(
        rx.poll(tx, 64, &mut logs[1]) > 0,
        "the offer is seen at once"
    );
    settle(&mut all, &mut logs);
    assert!(all[1].1.arm());
    assert_eq!(send(&mut all[0].0, Peer(1)), Ok(()));
    settle(&mut all, &mut logs);
    assert_eq!(logs[1].frames.len(), 1);
}

/// A frame that is no notice, from a rank that takes this one for a peer by the control network.
#[test]
fn a_rank_that_disagrees_is_lost() {
    let mut all = ends(2, Script::GOOD, |me, _| me == 0);
    let mut logs = [EventLog::default(), EventLog::default()];
    assert_eq!(send(&mut all[1].0, Peer(0)), Ok(()));
    settle(&mut all, &mut logs);
    let [(Peer(1), Fault::Protocol(_))] = logs[0].lost[..] else {
        panic!("{:?}", logs[0].lost);
    };
    assert!(logs[0].frames.is_empty());
}

/// Ranks 0 and 1 have a fabric in common, rank 2 has no device that they reach.
#[test]
fn each_pair_takes_the_network_that_it_has() {
    let mut all = ends(3, Script::GOOD, |a, b| a + b == 1);
    let mut logs = [
        EventLog::default(),
        EventLog::default(),
        EventLog::default(),
    ];
    for (from, to) in [(0, 1), (1, 2), (2, 0)] {
        let (first, from_verbs) = (send(&mut all[from].0, Peer(to)), from + to as usize == 1);
        assert_eq!(first.is_err(), from_verbs, "{from} to {to}");
        settle(&mut all, &mut logs);
        if from_verbs {
            assert_eq!(send(&mut all[from].0, Peer(to)), Ok(()));
        }
        settle(&mut all, &mut logs);
        assert_eq!(logs[to as usize].frames.len(), 1, "{from} to {to}");
    }
    let gone = all.pop().expect("an end");
    gone.0.abort();
    settle(&mut all, &mut logs);
    assert_eq!(logs[0].lost, [(Peer(2), Fault::PeerDead)]);
    assert_eq!(send(&mut all[0].0, Peer(1)), Ok(()));
}
