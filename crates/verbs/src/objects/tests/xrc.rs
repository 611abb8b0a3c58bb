//! The objects of extended reliable connections.

use super::*;
use crate::fake::Script;

/// Both ends of a connection between two ranks of one process, and the queue of the second rank.
struct Ends {
    initiator: QueuePair<ReadyToSend, XrcInitiator>,
    target: QueuePair<ReadyToReceive, XrcTarget>,
    queue: SharedReceiveQueue,
    completions: CompletionQueue,
    xrc: XrcDomain,
    domain: ProtectionDomain,
}

fn ends(context: &Context) -> Ends {
    let domain = context.alloc_pd().unwrap();
    let completions = polled(context);
    let xrc = context.open_xrc_domain(None).unwrap();
    let queue = domain
        .create_xrc_receive_queue(&xrc, &completions, [4, 1], 7)
        .unwrap();
    let address = AddressVector::global(1, GlobalRoute::new("fe80::1".parse().unwrap(), 0));
    let receive = |number| ReceiveAttributes::new(address, number, 0, Mtu::new(1024).unwrap());
    let capacity = QueueCapacity {
        max_inline_data: 8,
        ..QueueCapacity::new(4, 0)
    };
    let initiator = domain.create_initiator(&completions, capacity).unwrap();
    let initiator = initiator.init(InitAttributes::new(1)).unwrap();
    let target = xrc.create_target().unwrap();
    let target = target.init(InitAttributes::new(1)).unwrap();
    let to = target.number();
    let target = target
        .ready_to_receive(receive(initiator.number()))
        .unwrap();
    let initiator = initiator.ready_to_receive(receive(to)).unwrap();
    let initiator = initiator.ready_to_send(SendAttributes::new(0)).unwrap();
    Ends {
        initiator,
        target,
        queue,
        completions,
        xrc,
        domain,
    }
}

/// Each end is given what it needs and nothing else, which kernels refuse.
#[test]
fn each_end_has_attributes_of_its_own() {
    let context = opened();
    let ends = ends(&context);
    let calls = calls();
    for call in [
        "open_xrcd",
        "create_srq_ex",
        "get_srq_num",
        "create_qp",
        "create_qp_ex",
    ] {
        assert!(calls.iter().any(|made| made == call), "{call}: {calls:?}");
    }
    let modified: Vec<&str> = (calls.iter())
        .filter_map(|call| call.strip_prefix("modify_qp "))
        .collect();
    assert_eq!(
        modified,
        [
            "to 1 by 0x39",
            "to 1 by 0x39",
            // The target serves requests, so many reads at a time.
            "to 2 by 0x129181",
            "to 2 by 0x101181",
            // The initiator tries again.
            "to 3 by 0x12e01",
        ]
    );
    drop(ends);
}

#[test]
fn parents_of_xrc_outlive_their_children() {
    let context = opened();
    let Ends {
        initiator,
        target,
        queue,
        completions,
        xrc,
        domain,
    } = ends(&context);
    let addressed = initiator.addressed_to(queue.xrc_number().unwrap());
    calls();
    drop((context, completions, xrc, domain, initiator));
    assert_eq!(calls(), [""; 0]);
    drop((addressed, target));
    assert_eq!(calls(), ["destroy_qp", "destroy_qp"]);
    drop(queue);
    assert_eq!(
        calls(),
        [
            "destroy_srq",
            "dealloc_pd",
            "close_xrcd",
            "destroy_cq",
            "close_device"
        ]
    );
}

/// A message goes to the queue that it names, and completes as that of the target.
#[test]
fn requests_name_the_queue_of_the_peer() {
    fake::run(Script::GOOD);
    let context = device::devices_of(&fake::LIBRARY).unwrap()[0]
        .open()
        .unwrap();
    let ends = ends(&context);
    let other = ends
        .domain
        .create_xrc_receive_queue(&ends.xrc, &ends.completions, [4, 1], 8)
        .unwrap();
    let region = ends.domain.register(64, Access::LOCAL_WRITE).unwrap();
    for (queue, at) in [(&ends.queue, 0), (&other, 32)] {
        let to = [region.segment(at..at + 8)];
        queue.post_receive(at as u64, &to).unwrap();
    }
    let to = ends.initiator.addressed_to(other.xrc_number().unwrap());
    let payload = Payload::Inline(&[5; 8]);
    to.post_send(99, payload, None, SendFlags::SIGNALED)
        .unwrap();
    assert!(to.post_receive(1, &[]).is_err(), "it receives nothing");
    let mut room = [Completion::default(); 4];
    let found = ends.completions.poll(&mut room).unwrap();
    let found: Vec<_> = found.iter().map(|of| (of.id(), of.queue_pair())).collect();
    let numbers = [ends.target.number(), ends.initiator.number()];
    assert!(found.contains(&(32, numbers[0])), "{found:?}");
    assert!(found.contains(&(99, numbers[1])), "{found:?}");
    let mut bytes = [0; 8];
    region.read(32, &mut bytes);
    assert_eq!(bytes, [5; 8]);
}

/// A target of another domain is not opened, and one stays until nobody has it.
#[test]
fn targets_are_opened_by_number_in_their_domain() {
    fake::run(Script::GOOD);
    let context = device::devices_of(&fake::LIBRARY).unwrap()[0]
        .open()
        .unwrap();
    let Ends { target, xrc, .. } = ends(&context);
    let number = target.number();
    let other = context.open_xrc_domain(None).unwrap();
    let why = other.open_target(number).unwrap_err().to_string();
    let shown = format!("queue pair {number}");
    assert!(why.contains("ibv_open_qp") && why.contains(&shown), "{why}");
    let opened = xrc.open_target(number).unwrap();
    drop(target);
    let again = xrc.open_target(number).unwrap();
    drop((opened, again));
    assert!(xrc.open_target(number).is_err());
}
