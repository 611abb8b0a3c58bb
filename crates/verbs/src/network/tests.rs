//! The network over a device of this process, with testkit's switch as its control network.

mod extended;
mod ports;
mod rdmacm;

use super::{Fabric, RdmaPort, VerbsNetworkRx, VerbsNetworkTx};
use crate::fake::{self, HeapMemory, Script};
use crate::objects::devices_of;
use crate::transport::{Rail, ReceiveQueue, VerbsEndpoint, VerbsOptions};
use oxmpi_os::RawBytes;
use oxmpi_testkit::conformance::{
    EventLog, KillableTransport, TestMemory, TestedTransport, TransportEnd,
};
use oxmpi_testkit::switch::{SwitchRx, SwitchTx, switch};
use oxmpi_wire::{
    Access, Busy, Envelope, Fault, Flags, Header, Key, Kind, Local, Memory, Network, Peer, Put,
    Remote, Rma, Rx, Sleeper, Slot, Token, Tx,
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
    ends_with(count, script, &VerbsOptions::default(), by_verbs)
}

/// The same with other options.
fn ends_with(
    count: u32,
    script: Script,
    options: &VerbsOptions,
    by_verbs: impl Fn(u32, u32) -> bool,
) -> Vec<(NetworkTx, NetworkRx)> {
    ends_by(count, script, options, by_verbs, script.is_iwarp)
}

/// The same, connected by rdmacm or by the control network.
fn ends_by(
    count: u32,
    script: Script,
    options: &VerbsOptions,
    by_verbs: impl Fn(u32, u32) -> bool,
    by_rdmacm: bool,
) -> Vec<(NetworkTx, NetworkRx)> {
    ends_of(count, script, |_| options.clone(), by_verbs, by_rdmacm)
}

/// The same with options of each rank.
fn ends_of(
    count: u32,
    script: Script,
    options: impl Fn(u32) -> VerbsOptions,
    by_verbs: impl Fn(u32, u32) -> bool,
    by_rdmacm: bool,
) -> Vec<(NetworkTx, NetworkRx)> {
    fake::run(script);
    let devices = devices_of(&fake::LIBRARY).expect("a list");
    let controls = switch::<RawBytes>(count).expect("sockets");
    let open = |(me, control)| {
        // Each rank has events of its own.
        let context = devices[0].open().expect("it opens");
        let mut options = options(me);
        if script.is_iwarp {
            options = options.on_iwarp();
        }
        let rails: Vec<Rail> = (1..=script.ports)
            .map(|port| Rail {
                context: context.clone(),
                port,
                gid_index: 0,
            })
            .collect();
        let endpoint = VerbsEndpoint::open_rails(&rails, count, options);
        let port = RdmaPort {
            endpoint: endpoint.expect("an endpoint"),
            rdmacm: by_rdmacm.then(|| rdmacm::listening(script.ports)),
            fabrics: vec![Fabric::RoceV2Ipv4; rails.len()],
            network: String::new(),
            warnings: Vec::new(),
        };
        let stages: Vec<bool> = (0..count).map(|peer| by_verbs(me, peer)).collect();
        port.over(control, &stages, true, None)
    };
    (0..).zip(controls).map(open).collect()
}

/// Ends that are connected, all by the device or all by the control network.
fn connected(count: u32, script: Script, by_verbs: bool) -> Vec<(NetworkTx, NetworkRx)> {
    connect_all(count, ends(count, script, |_, _| by_verbs))
}

fn connect_all(count: u32, mut all: Vec<(NetworkTx, NetworkRx)>) -> Vec<(NetworkTx, NetworkRx)> {
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

/// However much comes by the control network, what comes by verbs is received, too.
#[test]
fn messages_by_control_do_not_keep_those_by_verbs_waiting() {
    let mut all = ends(3, Script::GOOD, |a, b| a + b == 1);
    let mut logs = [(); 3].map(|()| EventLog::default());
    all[1].0.connect(Peer(0));
    settle(&mut all, &mut logs);
    assert_eq!(send(&mut all[1].0, Peer(0)), Ok(()));
    for _ in 0..10 {
        let _ = send(&mut all[2].0, Peer(0));
        let _ = send(&mut all[2].0, Peer(0));
        let (tx, rx) = &mut all[0];
        rx.poll_from(tx, Peer(1), &mut logs[0]);
    }
    let from: Vec<Peer> = logs[0].frames.iter().map(|(from, ..)| *from).collect();
    assert!(
        from.contains(&Peer(1)) && from.contains(&Peer(2)),
        "{from:?}"
    );
}

/// Others that go on sending do not hide the end of a peer whose device says nothing.
#[test]
fn a_dead_peer_is_lost_in_steady_traffic() {
    let mut all = ends(3, Script::GOOD, |_, _| true);
    let mut logs = [(); 3].map(|()| EventLog::default());
    all[1].0.connect(Peer(0));
    all[2].0.connect(Peer(0));
    settle(&mut all, &mut logs);
    let (VerbsNetworkTx { control, verbs, .. }, _rx) = all.pop().expect("an end");
    control.abort();
    let mut polls = 0;
    while logs[0].lost.is_empty() {
        let _ = send(&mut all[1].0, Peer(0));
        for ((tx, rx), log) in all.iter_mut().zip(&mut logs).rev() {
            rx.poll(tx, 64, log);
        }
        polls += 1;
        assert!(polls < 50_000, "it is never lost");
    }
    assert!(
        logs[0].frames.len() > polls / 2,
        "all polls found something"
    );
    assert_eq!(logs[0].lost, [(Peer(2), Fault::PeerDead)]);
    drop(verbs);
}

/// Two ends whose frames the control network carries as well.
fn ends_that_may_leave() -> Vec<(NetworkTx, NetworkRx)> {
    let options = VerbsOptions {
        receive_queues: ReceiveQueue::parse_all("P,1024,4").expect("queues"),
        ..VerbsOptions::default()
    };
    ends_with(2, Script::GOOD, &options, |_, _| true)
}

/// What cannot be offered, or connected, by one side or by both, leaves the messages to the control network.
#[test]
fn a_pair_that_does_not_connect_takes_the_control_network() {
    // Who offers before the device fails, which call fails, and who has connected before that.
    for (offering, failing, connected) in [
        (&[][..], "create_qp", None),
        (&[], "modify_qp", None),
        (&[0], "create_qp", None),
        (&[0], "modify_qp", None),
        (&[0, 1], "modify_qp", None),
        (&[0, 1], "modify_qp", Some(1)),
    ] {
        let mut all = ends_that_may_leave();
        let mut logs = [EventLog::default(), EventLog::default()];
        all[0].0.watch(Peer(1));
        settle(&mut all, &mut logs);
        let memory = [vec![7; 64], vec![0; 64]].map(HeapMemory::new);
        let access = [Access::READ, Access::WRITE];
        let regions = [0, 1].map(|at| {
            let (tx, other) = (&mut all[at].0, Peer(1 - at as u32));
            let bytes = memory[at].bytes();
            tx.register(bytes, access[at], other).expect("memory")
        });
        for &from in offering {
            assert_eq!(send(&mut all[from].0, Peer(1 - from as u32)), Err(Busy));
        }
        if let Some(at) = connected {
            let (tx, rx): &mut (NetworkTx, NetworkRx) = &mut all[at];
            rx.poll(tx, 64, &mut logs[at]);
            assert!(tx.has_pair(1 - at as u32));
        }
        fake::fail(failing, -22);
        for from in [0, 1] {
            assert_eq!(send(&mut all[from].0, Peer(1 - from as u32)), Err(Busy));
        }
        settle(&mut all, &mut logs);
        let case = format!("{offering:?}, {failing}, {connected:?}");
        for (at, other) in [(0, Peer(1)), (1, Peer(0))] {
            assert_eq!(logs[at].room, [other], "{case}");
            assert!(all[at].0.is_connected(other));
            for _ in 0..3 {
                assert_eq!(send(&mut all[at].0, other), Ok(()));
            }
        }
        // Memory that was registered before is reached by the network that carries messages.
        let key = all[0].0.expose(&regions[0], Peer(1));
        let remote = Remote {
            key: &key,
            at: 0,
            len: 64,
        };
        let local = Local {
            region: &regions[1],
            at: 0,
            len: 64,
        };
        all[1]
            .0
            .get(Peer(0), remote, local, Token(1))
            .expect("room");
        settle(&mut all, &mut logs);
        for (at, region) in regions.into_iter().enumerate() {
            all[at].0.release(region, Token(2));
        }
        settle(&mut all, &mut logs);
        assert_eq!(memory[1].to_vec(), [7; 64], "{case}");
        assert_eq!(logs[0].done, [(Token(2), Ok(()))], "{case}");
        assert_eq!(logs[1].done, [(Token(1), Ok(())), (Token(2), Ok(()))]);
        for log in &logs {
            assert_eq!((log.frames.len(), &log.lost[..]), (3, &[][..]), "{case}");
        }
        drop(all);
        assert_eq!(fake::registered(), 0);
    }
}

/// Frames of the receive queues that the control network cannot carry lose the peer instead.
#[test]
fn a_peer_whose_frames_are_too_long_for_the_control_network_is_lost() {
    let mut all = ends(2, Script::GOOD, |_, _| true);
    let mut logs = [EventLog::default(), EventLog::default()];
    fake::fail("create_qp", -22);
    assert_eq!(send(&mut all[0].0, Peer(1)), Err(Busy));
    settle(&mut all, &mut logs);
    assert!(matches!(logs[0].lost[..], [(Peer(1), Fault::Refused(_))]));
}

/// A region is for the peers of its network: others get a key of nothing, and operations with them end.
#[test]
fn a_region_of_the_other_network_is_no_memory() {
    // Ranks 0 and 1 have a fabric in common.
    let mut all = ends(3, Script::GOOD, |a, b| a + b == 1);
    let mut logs = [(); 3].map(|()| EventLog::default());
    all[0].0.connect(Peer(1));
    settle(&mut all, &mut logs);
    let memory = HeapMemory::new(vec![0; 64]);
    let both = Access::READ | Access::WRITE;
    let tx = &mut all[0].0;
    for (with, other) in [(Peer(1), Peer(2)), (Peer(2), Peer(1))] {
        let region = tx.register(memory.bytes(), both, with).expect("memory");
        assert_ne!(tx.expose(&region, with), Key([0; Key::LEN]));
        let key = tx.expose(&region, other);
        assert_eq!(key, Key([0; Key::LEN]));
        let remote = Remote {
            key: &key,
            at: 0,
            len: 8,
        };
        let local = || Local {
            region: &region,
            at: 0,
            len: 8,
        };
        assert_eq!(tx.get(other, remote, local(), Token(1)), Ok(()));
        assert_eq!(tx.put(other, local(), remote, Token(2)), Ok(()));
        tx.release(region, Token(3));
    }
    settle(&mut all, &mut logs);
    let ends = |token| logs[0].done.iter().filter(move |(of, _)| *of == token);
    for token in [Token(1), Token(2)] {
        assert_eq!(ends(token).count(), 2);
        assert!(ends(token).all(|(_, end)| matches!(end, Err(Fault::Invalid(_)))));
    }
    assert_eq!(ends(Token(3)).count(), 2);
}
