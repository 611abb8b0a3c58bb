//! What goes wrong: queue pairs in error, void keys, peers that break the rules.

use super::{HeapMemory, device, pair, settle, with_queues};
use crate::fake::{self, Script};
use crate::objects::{
    Access as DeviceAccess, AddressVector, CompletionQueueOptions, InitAttributes, MemoryRegion,
    Payload, QueueCapacity, QueuePair, ReadyToSend, ReceiveAttributes, SendAttributes, SendFlags,
};
use crate::transport::control::Control;
use crate::transport::credits::Grant;
use crate::transport::frame_head::{FrameHead, own_header};
use crate::transport::region_key::RegionKey;
use crate::transport::tx::NO_RECEIVE;
use crate::transport::{PortPair, VerbsEndpoint, VerbsTransportError};
use oxmpi_testkit::conformance::{EventLog, TestMemory, eager};
use oxmpi_wire::regions::RegionId;
use oxmpi_wire::{
    Access, Atomic, Fault, Local, Memory, Peer, Put, Remote, Rma, Rx, Sleeper, Slot, Token, Tx,
    WaitObjects, Width,
};

const A: Peer = Peer(0);
const B: Peer = Peer(1);

/// However a queue pair fails, all that was started ends, the peer is lost once, and its memory is given back.
#[test]
fn a_queue_pair_in_error_ends_everything_once() {
    for (status, fault) in [
        (4, Fault::Refused("a request to the device has failed")),
        (5, Fault::PeerDead),
        (
            10,
            Fault::Refused("an access by a void key has broken the connection"),
        ),
        (12, Fault::Silent),
        (13, NO_RECEIVE),
    ] {
        for late in [None, Some(7)] {
            let mut ends = pair(Script {
                late,
                ..Script::GOOD
            });
            let [(a, a_rx), (b, _)] = &mut ends;
            let (here, there) = (HeapMemory::new(vec![1; 64]), HeapMemory::new(vec![2; 64]));
            let both = Access::READ | Access::WRITE;
            let region = a.register(here.bytes(), both, B).unwrap();
            let there_region = b.register(there.bytes(), both, A).unwrap();
            let key = b.expose(&there_region, A);
            let [remote, next] = [
                (Remote {
                    key: &key,
                    at: 0,
                    len: 8,
                }),
                (Remote {
                    key: &key,
                    at: 8,
                    len: 8,
                }),
            ];
            let own = || Local {
                region: &region,
                at: 0,
                len: 8,
            };
            a.atomic(B, remote, Atomic::Add(1), own(), Token(0))
                .unwrap();
            a.flush_peer(B, Token(1)).unwrap();
            let mut log = EventLog::default();
            fake::fail_next(PAIR_OF_A, status);
            a.get(B, next, own(), Token(2)).unwrap();
            while log.lost.is_empty() {
                a_rx.poll(a, 64, &mut log);
            }
            a.release(region, Token(3));
            settle(&mut [&mut ends[0]], &mut log);
            // A late device tells of the peer's end, or of the request, first.
            let why = log.lost[0].1;
            assert!(
                why == fault || late.is_some() && why == Fault::PeerDead,
                "{status}: {why}"
            );
            assert_eq!(log.lost, [(B, why)], "lost once");
            let mut tokens: Vec<_> = log.done.iter().map(|(token, _)| token.0).collect();
            tokens.sort_unstable();
            assert_eq!(tokens, [0, 1, 2, 3], "{status}");
            let failed = log.done.iter().filter(|(token, _)| token.0 < 3);
            assert!(
                failed.clone().all(|(_, end)| end.is_err()),
                "{:?}",
                log.done
            );
            drop((ends, there_region));
            assert_eq!(fake::registered(), 0, "no memory is left to the device");
        }
    }
}

/// The number of the queue pair that `pair` makes first and gives to end 1, of end 0: after two trials.
const PAIR_OF_A: u32 = 16 + 2 + 2;

/// A key that no check finds wrong breaks the connection; the operation is refused, and others end by the loss.
#[test]
fn a_made_up_key_is_refused_and_breaks_the_connection() {
    let mut ends = pair(Script::GOOD);
    let [(a, _), (b, _)] = &mut ends;
    let (here, there) = (HeapMemory::new(vec![1; 64]), HeapMemory::new(vec![2; 64]));
    let region = a.register(here.bytes(), Access::WRITE, B).unwrap();
    let there_region = b.register(there.bytes(), Access::READ, A).unwrap();
    let key = b.expose(&there_region, A);
    let mut void = RegionKey::from_key(&key);
    void.start.rkeys = void.start.rkeys.map(|rkey| Some(rkey? ^ 1));
    let void = void.key();

    for (key, token) in [(&void, 0), (&key, 1)] {
        let remote = Remote { key, at: 0, len: 8 };
        let local = Local {
            region: &region,
            at: 0,
            len: 8,
        };
        a.get(B, remote, local, Token(token)).unwrap();
    }
    let mut log = EventLog::default();
    settle(&mut [&mut ends[0]], &mut log);
    let why = Fault::Refused("an access by a void key has broken the connection");
    assert_eq!(
        log.done,
        [(Token(0), Err(Fault::NOT_REGISTERED)), (Token(1), Err(why))]
    );
    assert_eq!(log.lost, [(B, why)]);
    assert_eq!(here.to_vec(), [1; 64]);
    settle(&mut [&mut ends[1]], &mut log);
    assert_eq!(log.lost[1..], [(A, Fault::PeerDead)]);
}

/// A queue pair without a transport, connected to an endpoint.
struct Stranger {
    pair: QueuePair<ReadyToSend>,
    region: MemoryRegion,
    end: (crate::VerbsTx, crate::VerbsRx),
}

impl Stranger {
    fn new(queues: &str) -> Self {
        let context = device(Script::GOOD);
        let mut endpoint = VerbsEndpoint::open(&context, 1, with_queues(queues)).unwrap();
        let domain = context.alloc_pd().unwrap();
        let queue = context
            .create_completion_queue(CompletionQueueOptions::polled(99))
            .unwrap();
        let region = domain.register(128, DeviceAccess::LOCAL_WRITE).unwrap();
        let capacity = QueueCapacity {
            max_inline_data: 256,
            ..QueueCapacity::new(300, 99)
        };
        let pair = domain.create_queue_pair(&queue, &queue, capacity).unwrap();
        let pair = pair.init(InitAttributes::new(1)).unwrap();
        let there = endpoint.offer(A).unwrap().remove(0);
        let here = crate::PairAddress {
            numbers: vec![pair.number()],
            ..there.clone()
        };
        endpoint.connect(A, &PortPair::first(&[here])).unwrap();
        let vector = AddressVector {
            port: 1,
            lid: 0,
            service_level: 0,
            route: None,
        };
        let pair = pair
            .ready_to_receive(ReceiveAttributes::new(
                vector,
                there.numbers[0],
                there.sq_psn,
                there.mtu,
            ))
            .unwrap();
        let pair = pair.ready_to_send(SendAttributes::new(0)).unwrap();
        Self {
            pair,
            region,
            end: endpoint.into_halves(),
        }
    }

    /// What the endpoint makes of a message.
    fn sends(bytes: &[u8]) -> EventLog {
        let mut stranger = Self::new("P,128,8");
        stranger
            .pair
            .post_send(1, Payload::Inline(bytes), None, SendFlags::SIGNALED)
            .unwrap();
        let mut log = EventLog::default();
        settle(&mut [&mut stranger.end], &mut log);
        log
    }
}

#[test]
fn a_peer_that_breaks_the_protocol_is_lost() {
    let head = |grant, len| {
        FrameHead {
            grant,
            sequence: 0,
            header: own_header(len),
        }
        .bytes()
        .to_vec()
    };
    let none = Grant::default();
    let frame = FrameHead {
        grant: none,
        sequence: 0,
        header: eager(1, 3),
    }
    .bytes();
    let good = [&frame[..], b"abc"].concat();
    let log = Stranger::sends(&good);
    assert_eq!((log.frames.len(), log.lost.len()), (1, 0));
    let with_body = |head: Vec<u8>, len| [head, vec![9; len]].concat();
    for (message, rule) in [
        (vec![0xff; 34], "a frame whose header is none"),
        (
            frame.to_vec(),
            "a frame of another length than its header says",
        ),
        (
            head(
                Grant {
                    frames: 1,
                    credit_messages: 0,
                },
                0,
            ),
            "it returned credits that it did not have",
        ),
        (
            head(
                Grant {
                    frames: 0,
                    credit_messages: 1,
                },
                0,
            ),
            "it returned credits that it did not have",
        ),
        (
            with_body(head(none, 48), 48),
            "an unknown frame of the transport",
        ),
        (
            with_body(head(none, 7), 7),
            "a frame of the transport of another length",
        ),
    ] {
        let log = Stranger::sends(&message);
        assert_eq!(log.lost, [(A, Fault::Protocol(rule))]);
        assert!(log.frames.is_empty(), "{rule}");
    }
}

/// A peer has as many requests open as it may have operations, also if it has credits for more.
#[test]
fn more_requests_than_a_rank_may_have_lose_it() {
    let mut stranger = Stranger::new("P,128,70");
    let region = RegionId::from_word(0);
    let request = Control::Atomic {
        id: 0,
        to: region,
        at: 0,
        width: Width::Bits64,
        atomic: Atomic::Fetch,
    };
    let message = |sequence| {
        let head = FrameHead {
            grant: Grant::default(),
            sequence,
            header: own_header(Control::LEN),
        };
        [&head.bytes()[..], &request.bytes()].concat()
    };
    for id in 0..90 {
        // Answers and credit messages arrive; no credit goes back.
        let buffer = [stranger.region.segment(0..128)];
        stranger.pair.post_receive(id, &buffer).unwrap();
    }
    let mut log = EventLog::default();
    let mut requests = 0;
    while log.lost.is_empty() {
        stranger
            .pair
            .post_send(
                99,
                Payload::Inline(&message(requests)),
                None,
                SendFlags::empty(),
            )
            .unwrap();
        settle(&mut [&mut stranger.end], &mut log);
        requests += 1;
    }
    assert_eq!(
        log.lost,
        [(
            A,
            Fault::Protocol("more requests at once than a rank may have")
        )]
    );
    // Answers had 70 credits but one, which the offer of a ring has taken.
    assert_eq!(requests, 69 + 3 * 64 + 1);
}

/// What a device without a posted receive does: the fake one is no more patient than others. Six retries are seven tries.
#[test]
fn a_message_without_a_receive_fails_or_waits() {
    for (rnr_retry, waits) in [(6, false), (7, true)] {
        let context = device(Script {
            rnr_polls: 1,
            ..Script::GOOD
        });
        let domain = context.alloc_pd().unwrap();
        let queue = context
            .create_completion_queue(CompletionQueueOptions::polled(9))
            .unwrap();
        let region = domain.register(64, DeviceAccess::LOCAL_WRITE).unwrap();
        let make = || {
            domain
                .create_queue_pair(&queue, &queue, QueueCapacity::new(4, 4))
                .unwrap()
        };
        let [a, b] = [make(), make()].map(|pair| pair.init(InitAttributes::new(1)).unwrap());
        let numbers = (a.number(), b.number());
        let mtu = context.port(1).unwrap().active_mtu;
        let vector = AddressVector {
            port: 1,
            lid: 1,
            service_level: 0,
            route: None,
        };
        let connect = |pair: QueuePair<crate::Init>, peer| {
            let pair = pair
                .ready_to_receive(ReceiveAttributes::new(vector, peer, 0, mtu))
                .unwrap();
            pair.ready_to_send(SendAttributes {
                rnr_retry,
                ..SendAttributes::new(0)
            })
            .unwrap()
        };
        let (a, b) = (connect(a, numbers.1), connect(b, numbers.0));
        let from = [region.segment(0..8)];
        a.post_send(1, Payload::Segments(&from), None, SendFlags::SIGNALED)
            .unwrap();
        let mut room = [Default::default(); 4];
        for _ in 0..6 {
            assert!(queue.poll(&mut room).unwrap().is_empty(), "it waits");
        }
        let found = queue.poll(&mut room).unwrap();
        if waits {
            assert!(found.is_empty());
            b.post_receive(2, &[region.segment(8..16)]).unwrap();
            let ends: Vec<_> = queue
                .poll(&mut room)
                .unwrap()
                .iter()
                .map(|end| (end.id(), end.result()))
                .collect();
            assert_eq!(ends, [(2, Ok(())), (1, Ok(()))]);
        } else {
            let why = found[0].result().unwrap_err();
            assert_eq!((why.id, why.name()), (1, "IBV_WC_RNR_RETRY_EXC_ERR"));
            b.post_receive(2, &[region.segment(8..16)]).unwrap();
            let found = queue.poll(&mut room).unwrap();
            assert!(found[0].result().unwrap_err().is_flushed());
        }
    }
}

/// What a rank cannot have, and what it cannot have beside a peer, is refused with both sides.
#[test]
fn wrong_queues_are_refused_with_both_sides() {
    let context = device(Script::GOOD);
    let open = |queues| VerbsEndpoint::open(&context, 2, with_queues(queues));
    let error = open("P,100").unwrap_err().to_string();
    assert!(error.contains("no buffers of 128 B"), "{error}");
    let mut here = open("P,128:S,1024").unwrap();
    let there = open("P,128:S,1024,32").unwrap().offer(A).unwrap();
    // A peer may ask for connections that it was not offered.
    let error = here.connect(B, &PortPair::first(&there)).unwrap_err();
    assert!(matches!(error, VerbsTransportError::BadRequest), "{error}");
    here.offer(B).unwrap();
    let error = here
        .connect(B, &PortPair::first(&there))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "this rank has the receive queues P,128,8,4,2,7:S,1024,16,8,2, peer 1 has \
         P,128,8,4,2,7:S,1024,32,16,4; all ranks of a job need the same"
    );
}

/// A device without XRC is refused for queues that need it, before anything is registered; mixed queues on any.
#[test]
fn queues_of_kind_x_need_xrc() {
    let context = device(Script {
        has_xrc: false,
        ..Script::GOOD
    });
    let open = |options| VerbsEndpoint::open(&context, 2, options).map(drop);
    let error = open(with_queues("X,1024:X,4096")).unwrap_err().to_string();
    let sides = "receive queues X,1024,16,8,2:X,4096,16,8,2 need XRC";
    assert!(
        error.contains(sides) && error.contains("fake0 has none"),
        "{error}"
    );
    let mut mixed = with_queues("P,128");
    mixed
        .receive_queues
        .extend(with_queues("X,1024").receive_queues);
    let error = open(mixed).unwrap_err().to_string();
    assert!(error.contains("all must be X"), "{error}");
    assert_eq!(fake::registered(), 0);
}

/// A rank sleeps on the channel, and a frame wakes it.
#[test]
fn a_frame_makes_the_wait_object_readable() {
    let [(mut a, _a_rx), (mut b, mut b_rx)] = pair(Script::GOOD);
    let mut log = EventLog::default();
    assert!(!b_rx.arm(), "a poll comes first");
    let is_readable = |rx: &crate::VerbsRx| {
        let mut readable = false;
        rx.watch(&mut |fd| {
            let found = oxmpi_os::socket::readable(&[fd], std::time::Instant::now());
            readable |= found.is_ok();
        });
        readable
    };
    for round in 0..3 {
        while b_rx.poll(&mut b, 64, &mut log) > 0 {}
        assert!(b_rx.arm(), "nothing has come");
        assert!(!is_readable(&b_rx));
        let mut slot = a.frame(B, &eager(round, 1), 1).unwrap();
        slot.put(&[7]);
        slot.send();
        assert!(is_readable(&b_rx));
        assert!(!b_rx.arm(), "a frame has come");
        b_rx.poll(&mut b, 64, &mut log);
        assert_eq!(log.frames.len() as u32, round + 1);
    }
}
