//! The objects over a library that writes down what is called.

mod xrc;

use super::*;
use crate::error::{PostError, VerbsError};
use crate::fake::{self, calls, fail};

/// The fake device, opened; what that called is forgotten.
fn opened() -> Context {
    fake::start();
    let devices = device::devices_of(&fake::LIBRARY).unwrap();
    assert_eq!(devices[0].name(), "fake0");
    let context = devices[0].open().unwrap();
    drop(devices);
    calls();
    context
}

fn polled(context: &Context) -> CompletionQueue {
    context
        .create_completion_queue(CompletionQueueOptions::polled(4))
        .unwrap()
}

/// A queue pair that can send, whose parents are gone.
fn sending(capacity: QueueCapacity) -> QueuePair<ReadyToSend> {
    let context = opened();
    let (domain, queue) = (context.alloc_pd().unwrap(), polled(&context));
    let pair = domain.create_queue_pair(&queue, &queue, capacity).unwrap();
    let peer = "fe80::1".parse().unwrap();
    let address = AddressVector::global(1, GlobalRoute::new(peer, 3));
    let mtu = Mtu::new(1024).unwrap();
    pair.init(InitAttributes::new(1))
        .unwrap()
        .ready_to_receive(ReceiveAttributes::new(address, 99, 0, mtu))
        .unwrap()
        .ready_to_send(SendAttributes::new(0))
        .unwrap()
}

#[test]
fn parents_outlive_their_children_whatever_is_dropped_first() {
    let context = opened();
    let channel = context.create_completion_channel().unwrap();
    let queue = context
        .create_completion_queue(CompletionQueueOptions {
            channel: Some((&channel, 0)),
            ..CompletionQueueOptions::polled(4)
        })
        .unwrap();
    let domain = context.alloc_pd().unwrap();
    let region = domain.register(100, Access::LOCAL_WRITE).unwrap();
    let shared = domain.create_shared_receive_queue(4, 1, 0).unwrap();
    let capacity = QueueCapacity::new(1, 1);
    let pair = domain
        .create_queue_pair_on(&shared, &queue, &queue, capacity)
        .unwrap();
    calls();
    // Everything but the ends of the tree first.
    drop((context, channel, queue, domain, shared));
    assert_eq!(calls(), [""; 0]);
    drop(region);
    assert_eq!(calls(), ["dereg_mr"]);
    drop(pair);
    let mut order = calls();
    assert_eq!(order.first().map(String::as_str), Some("destroy_qp"));
    assert_eq!(order.last().map(String::as_str), Some("close_device"));
    let place = |name: &str| order.iter().position(|call| call == name).unwrap();
    assert!(place("destroy_cq") < place("destroy_comp_channel"));
    assert!(place("destroy_srq") < place("dealloc_pd"));
    order.sort();
    let all = [
        "close_device",
        "dealloc_pd",
        "destroy_comp_channel",
        "destroy_cq",
        "destroy_qp",
        "destroy_srq",
    ];
    assert_eq!(order, all);
}

#[test]
fn a_creation_that_fails_names_itself_and_leaves_nothing() {
    type Create = fn(&Context) -> Result<(), VerbsError>;
    let creations: [(&str, &str, Create); 6] = [
        ("alloc_pd", "fake0", |context| context.alloc_pd().map(drop)),
        ("reg_mr", "a protection domain of fake0", |context| {
            context.alloc_pd()?.register(8, Access::empty()).map(drop)
        }),
        ("create_comp_channel", "fake0", |context| {
            context.create_completion_channel().map(drop)
        }),
        ("create_cq", "fake0", |context| {
            context
                .create_completion_queue(CompletionQueueOptions::polled(4))
                .map(drop)
        }),
        ("create_srq", "a protection domain of fake0", |context| {
            context
                .alloc_pd()?
                .create_shared_receive_queue(4, 1, 0)
                .map(drop)
        }),
        ("create_qp", "a protection domain of fake0", |context| {
            let (domain, queue) = (context.alloc_pd()?, polled(context));
            domain
                .create_queue_pair(&queue, &queue, QueueCapacity::new(1, 1))
                .map(drop)
        }),
    ];
    for (call, object, create) in creations {
        let context = opened();
        fail(call, 1);
        let error = create(&context).unwrap_err();
        assert_eq!(
            (error.call(), error.object()),
            (&*format!("ibv_{call}"), object)
        );
        assert_eq!(error.errno(), 2, "{error}");
        drop(context);
        let made = |name: &&String| name.starts_with("create") || name.starts_with("alloc");
        let unmade = |name: &&String| name.starts_with("destroy") || name.starts_with("dealloc");
        let calls = calls();
        let failed = usize::from(call != "reg_mr");
        let number = calls.iter().filter(made).count() - failed;
        assert_eq!(
            calls.iter().filter(unmade).count(),
            number,
            "{call}: {calls:?}"
        );
    }
}

/// The masks are those of ibv_modify_qp(3) for a reliable connection.
#[test]
fn a_transition_gives_what_the_manual_asks_for() {
    drop(sending(QueueCapacity::new(1, 1)));
    let calls = calls();
    let transitions: Vec<_> = calls
        .iter()
        .filter(|call| call.starts_with("modify_qp"))
        .collect();
    assert_eq!(
        transitions,
        [
            "modify_qp to 1 by 0x39",
            "modify_qp to 2 by 0x129181",
            "modify_qp to 3 by 0x12e01"
        ]
    );
}

#[test]
fn a_transition_that_fails_destroys_the_queue_pair() {
    let context = opened();
    let (domain, queue) = (context.alloc_pd().unwrap(), polled(&context));
    let pair = domain
        .create_queue_pair(&queue, &queue, QueueCapacity::new(1, 1))
        .unwrap();
    fail("modify_qp", 22);
    let error = pair.init(InitAttributes::new(9)).map(drop).unwrap_err();
    assert_eq!(
        error.to_string(),
        "ibv_modify_qp of queue pair 17 of fake0: Invalid argument (os error 22); RESET to INIT: port 9, pkey index \
         0, access Access(0x0)"
    );
    assert_eq!(calls().last().map(String::as_str), Some("destroy_qp"));
}

#[test]
fn a_request_is_posted_as_it_was_asked_for() {
    let pair = sending(QueueCapacity::new(1, 1));
    let region = opened()
        .alloc_pd()
        .unwrap()
        .register(64, Access::LOCAL_WRITE)
        .unwrap();
    let segment = [region.segment(8..16)];
    let remote = RemoteAddress {
        address: 0xabc,
        rkey: 7,
    };
    calls();
    pair.post_receive(1, &segment).unwrap();
    pair.post_send(
        2,
        Payload::Inline(b"bytes"),
        Some(0x0102),
        SendFlags::SIGNALED,
    )
    .unwrap();
    pair.post_send(3, Payload::Segments(&segment), None, SendFlags::empty())
        .unwrap();
    pair.post_write(
        4,
        Payload::Segments(&[]),
        remote,
        Some(5),
        SendFlags::SOLICITED,
    )
    .unwrap();
    pair.post_read(5, &segment, remote, SendFlags::FENCE)
        .unwrap();
    assert_eq!(
        calls(),
        [
            "post_recv 1 segments 1",
            "post_send 2 opcode 3 flags 10 segments 1 immediate 0x102 remote 0x0 0x0",
            "post_send 3 opcode 2 flags 0 segments 1 immediate 0x0 remote 0x0 0x0",
            "post_send 4 opcode 1 flags 4 segments 0 immediate 0x5 remote 0xabc 0x7",
            "post_send 5 opcode 4 flags 1 segments 1 immediate 0x0 remote 0xabc 0x7",
        ]
    );
}

#[test]
fn a_full_queue_differs_from_a_refusal_whatever_the_sign() {
    let pair = sending(QueueCapacity::new(1, 1));
    for (errno, full) in [(12, true), (-12, true), (22, false), (-22, false)] {
        fail("post_send", errno);
        let result = pair.post_send(1, Payload::Inline(b""), None, SendFlags::empty());
        assert_eq!(result == Err(PostError::Full), full, "{result:?}");
        assert!(result.is_err());
    }
    // Granted were 8 bytes, whatever was asked for; the provider is not even called.
    calls();
    let long = pair.post_send(1, Payload::Inline(&[0; 9]), None, SendFlags::empty());
    let text = long.unwrap_err().to_string();
    assert!(
        text.ends_with("9 bytes inline, where the device granted 8"),
        "{text}"
    );
    assert_eq!(calls(), [""; 0]);
}

#[test]
fn a_list_that_fails_is_an_error() {
    fake::start();
    fail("get_device_list", 1);
    let error = device::devices_of(&fake::LIBRARY).map(drop).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("ibv_get_device_list of this machine: "),
        "{error}"
    );
}

#[test]
#[should_panic(expected = "4 bytes from byte 61 on are not in a region of 64")]
fn a_segment_is_in_its_region() {
    let region = opened()
        .alloc_pd()
        .unwrap()
        .register(64, Access::empty())
        .unwrap();
    let _ = region.segment(61..65);
}
