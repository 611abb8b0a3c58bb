//! What a device says of itself, events, and what is left when objects are dropped.

use super::Outcome;
use super::connection::{Connection, KEY, context, device, spin};
use oxmpi_verbs::{DeviceTable, GidType, LinkLayer, Payload, PortState, QueueCapacity, SendFlags};
use std::time::{Duration, Instant};

#[test]
fn a_device_says_what_it_is() -> Outcome {
    let Some((name, index)) = device() else {
        return Ok(());
    };
    let context = context(&name)?;
    let limits = context.limits()?;
    assert!(
        limits.ports >= 1 && limits.max_qp > 1 && limits.max_mr_size > 1 << 20,
        "{limits:?}"
    );
    let port = context.port(1)?;
    assert_eq!(
        (port.state, port.link_layer),
        (PortState::Active, LinkLayer::Ethernet)
    );
    assert_eq!(port.active_mtu.bytes(), 4096);
    let gids = context.gids(1)?;
    let own = gids
        .iter()
        .find(|entry| entry.index == index)
        .ok_or("no such index")?;
    assert_eq!(
        (own.kind, own.interface > 0),
        (GidType::RoceV2, true),
        "{gids:?}"
    );
    assert!(own.gid.to_string().starts_with("::ffff:"), "{gids:?}");

    if name.starts_with("rxe") {
        let (vendor, part) = (limits.vendor_id, limits.vendor_part_id);
        println!("vendor {vendor:#x}, part {part:#x}");
        let table = DeviceTable::shipped();
        let found = table.find(vendor, part);
        assert_ne!(found, table.find(0, 0), "no section of its own");
    }

    let error = context.port(99).unwrap_err();
    assert_eq!(
        (error.call(), error.attributes()),
        ("ibv_query_port", "port 99")
    );
    assert!(
        error
            .to_string()
            .starts_with(&format!("ibv_query_port of {name}: ")),
        "{error}"
    );
    Ok(())
}

#[test]
fn what_is_dropped_in_any_order_leaves_no_descriptor() -> Outcome {
    if device().is_none() {
        return Ok(());
    }
    let open = || Ok::<_, std::io::Error>(std::fs::read_dir("/proc/self/fd")?.count());
    drop(Connection::open(QueueCapacity::new(1, 1))?);
    let before = open()?;
    for round in 0..20 {
        let Some(ends) = Connection::open(QueueCapacity::new(1, 1))? else {
            return Ok(());
        };
        let Connection {
            receiver,
            sender,
            region,
            completions,
        } = ends;
        // Parents first: the objects keep what they need.
        if round % 2 == 0 {
            drop(completions);
        }
        drop(region);
        drop(receiver);
        drop(sender);
    }
    assert_eq!(open()?, before);
    Ok(())
}

#[test]
fn an_armed_queue_gives_one_event_with_its_key() -> Outcome {
    let Some(ends) = Connection::open(QueueCapacity::new(4, 4))? else {
        return Ok(());
    };
    let channel = ends.completions.channel();
    assert_eq!(channel.wait(Instant::now())?, None);
    ends.completions.queue().arm()?;
    let from = [ends.region.segment(0..8)];
    let to = ends.region.remote(8);
    ends.sender
        .post_write(1, Payload::Segments(&from), to, None, SendFlags::SIGNALED)?;
    let deadline = Instant::now() + Duration::from_secs(120);
    assert_eq!(ends.completions.channel().wait(deadline)?, Some(KEY));
    assert_eq!(ends.completions.channel().wait(Instant::now())?, None);
    ends.completion()?.result()?;
    Ok(())
}

#[test]
fn a_queue_armed_for_solicited_messages_sleeps_through_others() -> Outcome {
    let Some(ends) = Connection::open(QueueCapacity::new(4, 4))? else {
        return Ok(());
    };
    let segment = [ends.region.segment(0..8)];
    for id in [1, 2] {
        ends.receiver.post_receive(id, &segment)?;
    }
    ends.completions.queue().arm_solicited()?;
    let send = |flags| {
        let payload = Payload::Segments(&segment);
        ends.sender.post_send(3, payload, None, flags)
    };
    send(SendFlags::SIGNALED)?;
    for _ in 0..2 {
        spin(ends.completions.queue())?.result()?;
    }
    let deadline = Instant::now() + Duration::from_secs(120);
    let channel = ends.completions.channel();
    assert_eq!(channel.wait(Instant::now())?, None);
    send(SendFlags::SOLICITED)?;
    assert_eq!(channel.wait(deadline)?, Some(KEY));
    // The send was not signaled, so the receive alone has completed.
    let received = ends.completion()?;
    received.result()?;
    assert_eq!((received.id(), received.is_receive()), (2, true));
    Ok(())
}
