//! Receive queues of kind `X`: ranks have one connection to each node.

use super::*;
use crate::transport::EagerRings;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Files of XRC domains, which go with the ranks.
struct Nodes(Vec<PathBuf>);

impl Nodes {
    fn new(count: u32) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let file = |_| {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let name = format!("oxmpi-test-xrc-{}-{number}", std::process::id());
            std::env::temp_dir().join(name)
        };
        Self((0..count).map(file).collect())
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        for file in self.0.iter().filter(|_| !std::thread::panicking()) {
            assert!(!file.exists(), "{}", file.display());
        }
    }
}

const QUEUES: &str = "X,128,64,48,8:X,1024,32,16,4";

/// Ranks that are dealt to `nodes` in blocks of `ranks`.
fn ends_on(nodes: &Nodes, ranks: u32, script: Script) -> Vec<(NetworkTx, NetworkRx)> {
    let options = |me: u32| VerbsOptions {
        receive_queues: ReceiveQueue::parse_all(QUEUES).expect("queues"),
        xrc_file: Some(nodes.0[(me / ranks) as usize].clone()),
        rings: EagerRings {
            threshold: 2,
            ..EagerRings::default()
        },
        ..VerbsOptions::default()
    };
    ends_of(
        nodes.0.len() as u32 * ranks,
        script,
        options,
        |_, _| true,
        false,
    )
}

fn logs(count: usize) -> Vec<EventLog> {
    (0..count).map(|_| EventLog::default()).collect()
}

/// Sends a message from each rank to each other one.
fn exchange(all: &mut [(NetworkTx, NetworkRx)], logs: &mut [EventLog], rounds: usize) {
    let count = all.len() as u32;
    for log in &mut *logs {
        log.frames.clear();
    }
    for _ in 0..rounds {
        for (me, (tx, _)) in (0..).zip(&mut *all) {
            for peer in (0..count).filter(|peer| *peer != me) {
                assert_eq!(send(tx, Peer(peer)), Ok(()), "{me} to {peer}");
            }
        }
        settle(all, logs);
    }
    for log in logs {
        assert_eq!(log.frames.len(), rounds * (count - 1) as usize);
        assert!(log.lost.is_empty(), "{:?}", log.lost);
    }
}

/// Each rank has a queue pair by which it sends to each node, and each node one by which it receives from each rank,
/// whether ranks connect at once or one after the other.
#[test]
fn ranks_have_one_connection_to_each_node() {
    for at_once in [false, true] {
        for late in [None, Some(3)] {
            let nodes = Nodes::new(2);
            let script = Script {
                late,
                ..Script::GOOD
            };
            let mut all = ends_on(&nodes, 3, script);
            let mut logs = logs(6);
            let connect = |all: &mut [(NetworkTx, NetworkRx)], me: u32, peer: u32| {
                if me != peer {
                    all[me as usize].0.connect(Peer(peer));
                }
            };
            for me in 0..6 {
                for peer in 0..6 {
                    connect(&mut all, me, peer);
                    if !at_once {
                        settle(&mut all, &mut logs);
                    }
                }
            }
            settle(&mut all, &mut logs);
            exchange(&mut all, &mut logs, 20);
            assert_eq!(fake::queue_pairs(), 2 * 6 * 2, "at once: {at_once}");
            drop(all);
            assert_eq!((fake::queue_pairs(), fake::registered()), (0, 0));
        }
    }
}

/// An initiator holds the requests of so many ranks; others get one more.
#[test]
fn a_device_with_short_queues_has_more_connections() {
    let nodes = Nodes::new(2);
    let script = Script {
        max_qp_wr: 60,
        ..Script::GOOD
    };
    let mut all = connect_all(4, ends_on(&nodes, 2, script));
    exchange(&mut all, &mut logs(4), 20);
    assert_eq!(fake::queue_pairs(), 2 * 4 * 3);
}

/// A peer that a rank gives up takes nobody of its node along.
#[test]
fn a_peer_that_is_given_up_leaves_the_others_connected() {
    let nodes = Nodes::new(2);
    let mut all = connect_all(4, ends_on(&nodes, 2, Script::GOOD));
    let mut logs = logs(4);
    exchange(&mut all, &mut logs, 3);
    for _ in 0..3 {
        assert_eq!(send(&mut all[0].0, Peer(3)), Ok(()));
    }
    all[0].0.give_up(Peer(3), Fault::PeerDead);
    settle(&mut all, &mut logs);
    assert_eq!(logs[0].lost, [(Peer(3), Fault::PeerDead)]);
    logs[2].frames.clear();
    for _ in 0..20 {
        assert_eq!(send(&mut all[0].0, Peer(2)), Ok(()));
        settle(&mut all, &mut logs);
    }
    assert_eq!(logs[2].frames.len(), 20);
    assert!(logs[2].lost.is_empty());
}

/// A message to a rank whose process has gone ends the connection that it shares: others learn that as the reason.
#[test]
fn the_ranks_of_a_node_share_the_fate_of_a_connection() {
    let nodes = Nodes::new(2);
    let mut all = connect_all(4, ends_on(&nodes, 2, Script::GOOD));
    let mut logs = logs(4);
    exchange(&mut all, &mut logs, 1);
    let (VerbsNetworkTx { control, verbs, .. }, rx) = all.pop().expect("an end");
    drop((verbs, rx));
    assert_eq!(send(&mut all[0].0, Peer(3)), Ok(()));
    assert_eq!(send(&mut all[0].0, Peer(2)), Ok(()));
    settle(&mut all, &mut logs);
    let [(Peer(3), Fault::Refused(_)), (Peer(2), Fault::Refused(why))] = logs[0].lost[..] else {
        panic!("{:?}", logs[0].lost);
    };
    assert!(why.contains("shares with other ranks of its node"), "{why}");
    assert_eq!(send(&mut all[0].0, Peer(1)), Ok(()), "another node");
    settle(&mut all, &mut logs);
    assert!(logs[1].lost.iter().all(|(peer, _)| *peer != Peer(0)));
    drop(control);
}

/// A read of a peer's memory ends when the peer is given up, and with it the connection that could still write there.
#[test]
fn what_reaches_memory_of_a_lost_peer_ends_at_once() {
    let nodes = Nodes::new(2);
    let script = Script {
        late: Some(5),
        ..Script::GOOD
    };
    let mut all = connect_all(4, ends_on(&nodes, 2, script));
    let mut logs = logs(4);
    let len = 300 << 10;
    let memory = [vec![7; len], vec![0; len]].map(HeapMemory::new);
    let (owner, from) = (Peer(3), Peer(0));
    let there = (all[3].0).register(memory[0].bytes(), Access::READ, from);
    let here = (all[0].0).register(memory[1].bytes(), Access::WRITE, owner);
    let (there, here) = (there.expect("memory"), here.expect("memory"));
    let key = all[3].0.expose(&there, from);
    let remote = Remote {
        key: &key,
        at: 0,
        len: len as u64,
    };
    let local = Local {
        region: &here,
        at: 0,
        len: len as u64,
    };
    all[0].0.get(owner, remote, local, Token(1)).expect("room");
    all[0].0.give_up(owner, Fault::PeerDead);
    let before = fake::queue_pairs();
    settle(&mut all, &mut logs);
    let end = (Token(1), Err(Fault::PeerDead));
    assert!(logs[0].done.contains(&end), "{:?}", logs[0].done);
    let lost: Vec<Peer> = logs[0].lost.iter().map(|(peer, _)| *peer).collect();
    assert!(lost.contains(&Peer(2)) && lost.contains(&owner), "{lost:?}");
    assert!(before < 16, "the initiator is destroyed at once");
}

/// A device that makes or opens no queue pair leaves the messages to the control network.
#[test]
fn what_is_not_connected_takes_the_control_network() {
    for failing in ["create_qp", "create_qp_ex", "open_qp", "modify_qp"] {
        let nodes = Nodes::new(2);
        let mut all = ends_on(&nodes, 2, Script::GOOD);
        let mut logs = logs(4);
        // The first rank of the other node makes the target, the second one opens it.
        all[0].0.connect(Peer(2));
        settle(&mut all, &mut logs);
        fake::fail(failing, -22);
        all[0].0.connect(Peer(3));
        settle(&mut all, &mut logs);
        for peer in [Peer(2), Peer(3)] {
            assert!(all[0].0.is_connected(peer), "{failing}");
            assert_eq!(send(&mut all[0].0, peer), Ok(()));
        }
        let is_refused = all[0].0.stage(Peer(3)) == super::super::connection::Stage::Control;
        assert!(is_refused, "{failing}");
        settle(&mut all, &mut logs);
        for log in &logs[2..] {
            assert_eq!((log.frames.len(), &log.lost[..]), (1, &[][..]), "{failing}");
        }
    }
}
