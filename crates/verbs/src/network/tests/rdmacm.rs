//! The network whose connections rdmacm makes, and iWARP.

use super::*;
use crate::network::rdmacm::{CmConnections, CmListener};
use crate::objects::{CmChannel, CmEventKind, CmParameters};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

/// Listeners at the addresses of the fake device's ports.
pub(super) fn listening(ports: u8) -> CmConnections {
    let channel = CmChannel::of(&fake::CM_LIBRARY).expect("a channel");
    let mut addresses = vec![Ipv6Addr::LOCALHOST.into()];
    addresses.extend((1..=ports).map(|port| IpAddr::from(fake::address_of(port))));
    let listen = |port| {
        let listener = CmListener::listen(&channel, ("fake0", port), &addresses, |_| true);
        listener.expect("the address of the port")
    };
    let listeners = (1..=ports).map(listen).collect();
    CmConnections::new(channel.clone(), listeners, Duration::from_secs(1))
}

/// Messages take the device, whose connections rdmacm makes, and which is iWARP if `IWARP`.
struct ByRdmacm<const IWARP: bool>;

impl<const IWARP: bool> TestedTransport for ByRdmacm<IWARP> {
    type Tx = NetworkTx;
    type Rx = NetworkRx;
    type Memory = HeapMemory;

    fn ends(count: u32) -> Vec<(NetworkTx, NetworkRx)> {
        let script = Script {
            is_iwarp: IWARP,
            // As soft-iWARP does.
            refused_inline: if IWARP { 81 } else { u32::MAX },
            ..Script::GOOD
        };
        let options = VerbsOptions::default();
        let all = ends_by(count, script, &options, |_, _| true, true);
        connect_all(count, all)
    }
}

impl<const IWARP: bool> KillableTransport for ByRdmacm<IWARP> {
    fn kill(end: TransportEnd<Self>) {
        end.tx.abort();
    }
}

oxmpi_testkit::conformance!(by_rdmacm, ByRdmacm<false>, killable);
oxmpi_testkit::conformance!(iwarp, ByRdmacm<true>, killable);

/// Each peer has a port, and all ports have peers; memory is reached by each port of a device.
#[test]
fn peers_are_dealt_to_the_ports() {
    for is_iwarp in [false, true] {
        let script = Script {
            ports: 2,
            is_iwarp,
            ..Script::GOOD
        };
        let options = VerbsOptions::default();
        let all = ends_by(5, script, &options, |_, _| true, true);
        let mut all = connect_all(5, all);
        let mut logs = [(); 5].map(|()| EventLog::default());
        let before = [1, 2].map(|port| fake::carried(0, port));
        for (me, (tx, _)) in (0..5).zip(&mut all) {
            for peer in (0..5).filter(|peer| *peer != me) {
                assert_eq!(send(tx, Peer(peer)), Ok(()));
            }
        }
        settle(&mut all, &mut logs);
        for log in &logs {
            assert_eq!((log.frames.len(), &log.lost[..]), (4, &[][..]));
        }
        let used = [1, 2].map(|port| fake::carried(0, port));
        assert!(used[0] > before[0] && used[1] > before[1], "{used:?}");

        let len = 300 << 10;
        for peer in 1..5 {
            let memory = [vec![7; len], vec![0; len]].map(HeapMemory::new);
            let [here, there] = [Peer(0), Peer(peer)];
            let owner = &mut all[peer as usize].0;
            let remote = owner.register(memory[0].bytes(), Access::READ, here);
            let remote = remote.expect("memory");
            let key = owner.expose(&remote, here);
            let tx = &mut all[0].0;
            let local = tx.register(memory[1].bytes(), Access::WRITE, there);
            let local = local.expect("memory");
            let (at, len) = (0, len as u64);
            let from = Remote { key: &key, at, len };
            let region = &local;
            tx.get(there, from, Local { region, at, len }, Token(1))
                .expect("room");
            settle(&mut all, &mut logs);
            assert!(memory[1].to_vec() == memory[0].to_vec(), "of {peer}");
            all[0].0.release(local, Token(2));
            all[peer as usize].0.release(remote, Token(2));
            settle(&mut all, &mut logs);
        }
    }
}

/// Both ranks may offer at once; one connects, and what was refused before is sent.
#[test]
fn rdmacm_connects_on_first_use_whoever_begins() {
    for (is_iwarp, beginning) in [
        (false, &[0][..]),
        (false, &[0, 1]),
        (true, &[1]),
        (true, &[0, 1]),
    ] {
        let script = Script {
            is_iwarp,
            ..Script::GOOD
        };
        let options = VerbsOptions::default();
        let mut all = ends_by(2, script, &options, |_, _| true, true);
        let mut logs = [EventLog::default(), EventLog::default()];
        for &from in beginning {
            assert_eq!(send(&mut all[from].0, Peer(1 - from as u32)), Err(Busy));
        }
        settle(&mut all, &mut logs);
        for from in [0, 1] {
            assert_eq!(send(&mut all[from].0, Peer(1 - from as u32)), Ok(()));
        }
        settle(&mut all, &mut logs);
        for log in &logs {
            assert_eq!(
                (log.frames.len(), &log.lost[..]),
                (1, &[][..]),
                "{beginning:?}"
            );
        }
    }
}

/// Whatever of rdmacm fails, on whichever side, leaves the messages to the control network.
#[test]
fn a_connection_that_rdmacm_does_not_make_leaves_the_messages_to_the_control_network() {
    let options = VerbsOptions {
        receive_queues: ReceiveQueue::parse_all("P,512,4:P,1024,4").expect("queues"),
        ..VerbsOptions::default()
    };
    let [address, route, response] = [0, 2, 5];
    let calls = [
        "create_qp",
        "rdma_create_id",
        "rdma_resolve_addr",
        "rdma_resolve_route",
        "rdma_init_qp_attr",
        "modify_qp",
        "rdma_connect",
        "rdma_accept",
        "rdma_establish",
    ];
    let calls = calls.map(|call| (Some(call), None));
    // An event, and what comes in its place.
    let events = [
        (address, 1),
        (route, 3),
        (response, 8),
        (response, 7),
        (response, 6),
    ];
    let events = events.map(|event| (None, Some(event)));
    for (call, event) in calls.into_iter().chain(events) {
        let case = format!("{call:?} {event:?}");
        let mut all = ends_by(2, Script::GOOD, &options, |_, _| true, true);
        let mut logs = [EventLog::default(), EventLog::default()];
        assert_eq!(send(&mut all[0].0, Peer(1)), Err(Busy), "{case}");
        if let Some(call) = call {
            fake::fail(call, -22);
        }
        if let Some((kind, by)) = event {
            fake::replace_event(kind, by, -110);
        }
        assert_eq!(send(&mut all[1].0, Peer(0)), Err(Busy), "{case}");
        settle(&mut all, &mut logs);
        for (at, other) in [(0, Peer(1)), (1, Peer(0))] {
            assert_eq!(logs[at].room, [other], "{case}");
            assert_eq!(send(&mut all[at].0, other), Ok(()), "{case}");
        }
        settle(&mut all, &mut logs);
        for log in &logs {
            assert_eq!((log.frames.len(), &log.lost[..]), (1, &[][..]), "{case}");
        }
        drop(all);
        assert_eq!(fake::registered(), 0, "{case}");
    }
}

/// Nobody but the receiver of an offer connects.
#[test]
fn a_request_that_answers_no_offer_is_refused() {
    let mut all = ends_by(2, Script::GOOD, &VerbsOptions::default(), |_, _| true, true);
    let mut logs = [EventLog::default(), EventLog::default()];
    let channel = CmChannel::of(&fake::CM_LIBRARY).expect("a channel");
    let soon = || Instant::now() + Duration::from_secs(60);
    for private_data in [&[][..], &[7; 9], &[7; 56]] {
        let mut stranger = channel.create_identifier().expect("an identifier");
        // The first listener of the thread.
        let here = SocketAddr::new(fake::ADDRESS.into(), 0);
        let there = SocketAddr::new(fake::ADDRESS.into(), 4001);
        let timeout = Duration::from_secs(1);
        stranger
            .resolve_address(here, there, timeout)
            .expect("it resolves");
        channel.next_event(soon()).expect("an event");
        let parameters = CmParameters {
            queue_pair: 99,
            is_shared: false,
            private_data,
            retry_count: 6,
            rnr_retry_count: 6,
        };
        stranger.connect(parameters).expect("it asks");
        settle(&mut all, &mut logs);
        // It polls the control network, and with it rdmacm, now and then.
        let event = channel
            .next_event(soon())
            .expect("an event")
            .expect("in time");
        assert!(matches!(event.kind, CmEventKind::Failed(_)), "{event:?}");
    }
    assert_eq!(send(&mut all[0].0, Peer(1)), Err(Busy));
    settle(&mut all, &mut logs);
    assert_eq!(send(&mut all[0].0, Peer(1)), Ok(()));
}

/// iWARP ends a connection whose message finds no receive, so that shared queues need enough of them.
#[test]
fn an_iwarp_device_is_refused_where_receives_may_run_short() {
    fake::run(Script {
        is_iwarp: true,
        ..Script::GOOD
    });
    let devices = devices_of(&fake::LIBRARY).expect("a list");
    let context = devices[0].open().expect("it opens");
    let open = |peers| VerbsEndpoint::open(&context, peers, VerbsOptions::default().on_iwarp());
    assert!(open(25).is_ok());
    let why = open(26).expect_err("128 buffers are too few").to_string();
    assert!(
        why.contains("26 peers") && why.contains("S,2048,256,128,32"),
        "{why}"
    );
}

/// Completion queues are long enough for peers that are connected at once, of which no offer is open any more.
#[test]
fn completion_queues_fit_the_peers_that_are_being_connected() {
    let depth = |by_rdmacm| {
        let options = VerbsOptions::default();
        let mut all = ends_by(3, Script::GOOD, &options, |_, _| true, by_rdmacm);
        let mut logs = [(); 3].map(|()| EventLog::default());
        for from in [1, 2] {
            assert_eq!(send(&mut all[from].0, Peer(0)), Err(Busy));
        }
        settle(&mut all[..1], &mut logs[..1]);
        settle(&mut all, &mut logs);
        assert_eq!([logs[1].room.len(), logs[2].room.len()], [1, 1]);
        all[0].0.connector.depth()
    };
    assert_eq!(depth(true), depth(false));
}
