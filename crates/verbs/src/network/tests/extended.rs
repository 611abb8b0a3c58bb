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

/// Lets ranks read their events, as before a sleep, and act on them.
fn look(all: &mut [(NetworkTx, NetworkRx)], logs: &mut [EventLog]) {
    for _ in 0..2 {
        settle(all, logs);
        for (_, rx) in &mut *all {
            let _ = rx.arm();
        }
    }
    settle(all, logs);
}

/// An initiator that fails without completions loses all ranks that its owner reaches by it.
#[test]
fn a_muted_initiator_loses_all_its_peers() {
    let nodes = Nodes::new(2);
    let mut all = connect_all(6, ends_on(&nodes, 3, Script::GOOD));
    let mut logs = logs(6);
    exchange(&mut all, &mut logs, 1);
    look(&mut all, &mut logs);
    fake::mute_extended(false);
    look(&mut all, &mut logs);
    let most = logs.iter().map(|log| log.lost.len()).max();
    assert!(most >= Some(2), "two or three ranks of a node: {most:?}");
}

/// A target that fails loses the rank whose messages come by it, and nobody else.
#[test]
fn a_muted_target_loses_one_peer() {
    let nodes = Nodes::new(2);
    let mut all = connect_all(6, ends_on(&nodes, 3, Script::GOOD));
    let mut logs = logs(6);
    exchange(&mut all, &mut logs, 1);
    look(&mut all, &mut logs);
    fake::mute_extended(true);
    look(&mut all, &mut logs);
    let failed = |(_, why): &&(Peer, Fault)| matches!(why, Fault::Refused(_));
    let owner = logs
        .iter()
        .position(|log| log.lost.iter().any(|lost| failed(&lost)));
    let owner = owner.expect("who has the target learns of it");
    let (Peer(peer), _) = logs[owner].lost[0];
    for log in &mut logs {
        assert!(log.lost.len() <= 1, "{:?}", log.lost);
        log.frames.clear();
    }
    for other in (0..6).filter(|other| ![owner as u32, peer].contains(other)) {
        assert_eq!(send(&mut all[owner].0, Peer(other)), Ok(()));
    }
    settle(&mut all, &mut logs);
    assert!(logs.iter().all(|log| log.lost.len() <= 1));
    let got: usize = logs.iter().map(|log| log.frames.len()).sum();
    assert_eq!(got, 4, "by the owner's initiators");
}

/// A rank of a node is connected although another one, whose connection it could share, computes.
#[test]
fn a_rank_that_computes_keeps_nobody_of_its_node_waiting() {
    let nodes = Nodes::new(2);
    let mut all = ends_on(&nodes, 2, Script::GOOD);
    let mut logs = logs(4);
    // Rank 2 asks, and computes from then on.
    all[2].0.connect(Peer(0));
    all[3].0.connect(Peer(0));
    let is_connected = (0..10_000).any(|_| {
        for me in [0, 3] {
            let (tx, rx) = &mut all[me];
            rx.poll(tx, 64, &mut logs[me]);
        }
        all[3].0.is_connected(Peer(0))
    });
    assert!(is_connected);
    settle(&mut all, &mut logs);
    assert!(all[2].0.is_connected(Peer(0)));
    for from in [2, 3] {
        assert_eq!(send(&mut all[from].0, Peer(0)), Ok(()));
    }
    settle(&mut all, &mut logs);
    assert_eq!((logs[0].frames.len(), logs[0].lost.len()), (2, 0));
}

/// An initiator is offered to as many ranks as it has room for, also if they ask at the same time.
#[test]
fn ranks_that_ask_at_once_share_no_more_than_others() {
    let connections = |max_qp_wr, at_once: bool| {
        let nodes = Nodes::new(2);
        let script = Script {
            max_qp_wr,
            ..Script::GOOD
        };
        let mut all = ends_on(&nodes, 4, script);
        let mut logs = logs(8);
        for peer in 4..8 {
            all[peer].0.connect(Peer(0));
            if !at_once || peer == 4 {
                settle(&mut all, &mut logs);
            }
        }
        settle(&mut all, &mut logs);
        fake::queue_pairs()
    };
    for max_qp_wr in [60, 90, 120, 150, 180] {
        let [one_by_one, at_once] = [false, true].map(|at_once| connections(max_qp_wr, at_once));
        assert_eq!(one_by_one, at_once, "{max_qp_wr} requests");
    }
}

/// An initiator by which no peer is reached any more is destroyed, as soon as the last request has completed.
#[test]
fn an_initiator_goes_with_its_last_peer() {
    for late in [None, Some(7)] {
        let nodes = Nodes::new(2);
        let script = Script {
            late,
            ..Script::GOOD
        };
        let mut all = connect_all(4, ends_on(&nodes, 2, script));
        let mut logs = logs(4);
        exchange(&mut all, &mut logs, 2);
        let before = fake::queue_pairs();
        for peer in [Peer(2), Peer(3)] {
            assert_eq!(send(&mut all[0].0, peer), Ok(()));
            all[0].0.give_up(peer, Fault::PeerDead);
        }
        settle(&mut all, &mut logs);
        assert_eq!(fake::queue_pairs(), before - 1, "late: {late:?}");
    }
}

/// A connection that has failed with a rank that was given up is offered to no other rank of its node, though one keeps it:
/// whether the request that failed completes always, or by failing only.
#[test]
fn an_initiator_that_fails_for_a_lost_rank_connects_nobody() {
    for is_inline in [false, true] {
        let nodes = Nodes::new(2);
        let mut all = ends_on(&nodes, 3, Script::GOOD);
        let mut logs = logs(6);
        for peer in [4, 5] {
            all[0].0.connect(Peer(peer));
            settle(&mut all, &mut logs);
        }
        let (VerbsNetworkTx { control, verbs, .. }, rx) = all.pop().expect("an end");
        drop((verbs, rx));
        let memory = HeapMemory::new(vec![7; 8]);
        let sent = match is_inline {
            true => all[0].0.short(Peer(5), &HEAD, &memory.bytes()),
            false => send(&mut all[0].0, Peer(5)),
        };
        assert_eq!(sent, Ok(()));
        all[0].0.give_up(Peer(5), Fault::PeerDead);
        settle(&mut all, &mut logs);
        all[0].0.connect(Peer(3));
        settle(&mut all, &mut logs);
        assert_eq!(send(&mut all[0].0, Peer(3)), Ok(()));
        settle(&mut all, &mut logs);
        assert_eq!(logs[0].lost, [(Peer(5), Fault::PeerDead)], "{is_inline}");
        assert_eq!(logs[3].frames.len(), 1, "{is_inline}");
        drop(control);
    }
}

/// A rank to which a connection was offered that has failed meanwhile takes the control network.
#[test]
fn an_offered_initiator_that_fails_connects_nobody() {
    use super::super::connection::Stage;
    let nodes = Nodes::new(2);
    let mut all = ends_on(&nodes, 2, Script::GOOD);
    let mut logs = logs(4);
    all[2].0.connect(Peer(0));
    settle(&mut all, &mut logs);
    all[3].0.connect(Peer(0));
    let (tx, rx) = &mut all[0];
    while tx.stage(Peer(3)) == Stage::Idle {
        rx.poll(tx, 64, &mut logs[0]);
    }
    fake::mute_extended(false);
    while logs[0].lost.is_empty() {
        rx.poll(tx, 64, &mut logs[0]);
    }
    assert_eq!(
        logs[0].lost[0].0,
        Peer(2),
        "the initiator is that of rank 0"
    );
    settle(&mut all, &mut logs);
    assert!(all[0].0.stage(Peer(3)) == Stage::Control);
    assert_eq!(send(&mut all[0].0, Peer(3)), Ok(()));
    settle(&mut all, &mut logs);
    assert_eq!((logs[3].frames.len(), logs[3].lost.len()), (1, 0));
}
