//! Tests on a device, which `OXMPI_TEST_RDMA="DEVICE GID_INDEX"` names; without it there is nothing to test, and they
//! pass. `cargo xtask ci rdma` runs them in a machine with a soft-RoCE device.

mod connection;

use connection::{Connection, context, device};
use oxmpi_verbs::{
    Access, CompletionQueueOptions, EventSource, GidType, InitAttributes, LinkLayer, Payload,
    PortState, PostError, QueueCapacity, SendAttributes, SendFlags,
};
use std::time::{Duration, Instant};

type Outcome = Result<(), Box<dyn std::error::Error>>;

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
fn a_message_arrives_with_its_immediate() -> Outcome {
    let Some(mut ends) = Connection::open(QueueCapacity {
        max_inline_data: 32,
        ..QueueCapacity::new(4, 4)
    })?
    else {
        return Ok(());
    };
    ends.receiver
        .post_receive(7, &[ends.region.segment(0..64)])?;
    ends.sender.post_send(
        8,
        Payload::Inline(b"across the wire"),
        Some(0x0102_0304),
        SendFlags::SIGNALED,
    )?;
    let [sent, received] = ends.two_completions()?;
    assert_eq!(
        (sent.id(), sent.is_receive(), sent.queue_pair()),
        (8, false, ends.sender.number())
    );
    assert_eq!(
        (received.id(), received.is_receive(), received.len()),
        (7, true, 15)
    );
    assert_eq!(received.immediate(), Some(0x0102_0304));
    let mut bytes = [0; 16];
    ends.region.read(0, &mut bytes);
    assert_eq!(&bytes, b"across the wire\0");
    Ok(())
}

#[test]
fn memory_of_the_peer_is_written_and_read() -> Outcome {
    let Some(mut ends) = Connection::open(QueueCapacity::new(4, 4))? else {
        return Ok(());
    };
    let region = &ends.region;
    region.write(0, b"written");
    let from = [region.segment(0..7)];
    ends.sender.post_write(
        1,
        Payload::Segments(&from),
        region.remote(100),
        None,
        SendFlags::SIGNALED,
    )?;
    ends.completion()?.result()?;
    let into = [ends.region.segment(200..207)];
    ends.sender
        .post_read(2, &into, ends.region.remote(100), SendFlags::SIGNALED)?;
    ends.completion()?.result()?;
    let mut bytes = [0; 7];
    ends.region.read(200, &mut bytes);
    assert_eq!(&bytes, b"written");
    Ok(())
}

#[test]
fn a_wrong_key_is_an_error_that_flushes_the_rest() -> Outcome {
    let Some(mut ends) = Connection::open(QueueCapacity::new(4, 4))? else {
        return Ok(());
    };
    let mut to = ends.region.remote(0);
    to.rkey ^= 0x00ff_ff00;
    let from = [ends.region.segment(0..8)];
    for id in [1, 2] {
        ends.sender
            .post_write(id, Payload::Segments(&from), to, None, SendFlags::SIGNALED)?;
    }
    let refused = ends.completion()?.result().unwrap_err();
    assert_eq!((refused.id, refused.queue_pair), (1, ends.sender.number()));
    assert!(
        refused.to_string().contains("IBV_WC_REM_ACCESS_ERR"),
        "{refused}"
    );
    assert!(ends.completion()?.result().unwrap_err().is_flushed());
    Ok(())
}

#[test]
fn a_peer_that_is_gone_is_an_error_after_the_retries() -> Outcome {
    let soon = SendAttributes {
        timeout: 14,
        retry_cnt: 2,
        ..SendAttributes::new(0)
    };
    let Some(ends) = Connection::with(QueueCapacity::new(4, 4), soon)? else {
        return Ok(());
    };
    let Connection {
        receiver,
        sender,
        region,
        mut completions,
    } = ends;
    drop(receiver);
    sender.post_send(
        1,
        Payload::Segments(&[region.segment(0..8)]),
        None,
        SendFlags::SIGNALED,
    )?;
    let error = completions.next()?.result().unwrap_err();
    assert!(
        error.to_string().contains("IBV_WC_RETRY_EXC_ERR"),
        "{error}"
    );
    Ok(())
}

#[test]
fn a_region_that_is_dropped_takes_no_more_messages() -> Outcome {
    let Some(mut ends) = Connection::open(QueueCapacity::new(4, 4))? else {
        return Ok(());
    };
    let domain = ends.domain();
    let short = domain.register(64, Access::LOCAL_WRITE)?;
    ends.receiver.post_receive(1, &[short.segment(0..64)])?;
    drop(short);
    ends.sender.post_send(
        2,
        Payload::Segments(&[ends.region.segment(0..8)]),
        None,
        SendFlags::SIGNALED,
    )?;
    for completion in ends.two_completions()? {
        assert!(completion.result().is_err(), "{completion:?}");
    }
    Ok(())
}

#[test]
fn a_queue_says_when_it_is_full_and_a_request_when_it_is_too_large() -> Outcome {
    let asked = QueueCapacity {
        max_inline_data: 16,
        ..QueueCapacity::new(4, 4)
    };
    let Some(ends) = Connection::open(asked)? else {
        return Ok(());
    };
    let granted = ends.sender.capacity();
    assert!(
        granted.max_recv_wr >= 4 && granted.max_inline_data >= 16,
        "{granted}"
    );
    let segment = ends.region.segment(0..8);
    // Devices may have more room than they grant, but not for ever.
    let post = |id| ends.receiver.post_receive(id, &[segment]);
    let refused = (0..1 << 20)
        .map(post)
        .enumerate()
        .find(|(_, result)| result.is_err());
    let (posted, full) = refused.ok_or("the queue is never full")?;
    assert_eq!(full, Err(PostError::Full));
    assert!(
        posted >= granted.max_recv_wr as usize,
        "{posted} of {granted}"
    );

    let long = vec![0; granted.max_inline_data as usize + 1];
    let refused = ends
        .sender
        .post_send(1, Payload::Inline(&long), None, SendFlags::SIGNALED);
    let text = refused.unwrap_err().to_string();
    assert!(
        text.contains(&format!("{} bytes inline", long.len())),
        "{text}"
    );
    let many = vec![segment; granted.max_send_sge as usize + 1];
    let refused = ends
        .sender
        .post_send(1, Payload::Segments(&many), None, SendFlags::SIGNALED);
    let text = refused.unwrap_err().to_string();
    assert!(text.contains(&format!("{} segments", many.len())), "{text}");
    Ok(())
}

#[test]
fn a_shared_queue_serves_several_pairs_and_says_when_it_runs_short() -> Outcome {
    let Some((name, index)) = device() else {
        return Ok(());
    };
    let context = context(&name)?;
    let domain = context.alloc_pd()?;
    let region = domain.register(4096, Access::LOCAL_WRITE)?;
    let queue = context.create_completion_queue(CompletionQueueOptions::polled(64))?;
    let shared = domain.create_shared_receive_queue(8, 1, connection::KEY)?;
    let capacity = QueueCapacity {
        max_inline_data: 16,
        ..QueueCapacity::new(4, 4)
    };
    let init = InitAttributes::new(1);
    let mut pairs = Vec::new();
    for _ in 0..2 {
        let receiver = domain
            .create_queue_pair_on(&shared, &queue, &queue, capacity)?
            .init(init)?;
        let sender = domain
            .create_queue_pair(&queue, &queue, capacity)?
            .init(init)?;
        pairs.push(connection::connect(
            &context,
            index,
            receiver,
            sender,
            SendAttributes::new(0),
        )?);
    }
    let segment = region.segment(0..16);
    let refused = pairs[0]
        .0
        .post_receive(1, &[segment])
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("1 segments, where the device granted 0"),
        "{refused}"
    );
    for id in 1..=3 {
        shared.post_receive(id, &[segment])?;
    }
    // What has happened before, such as a port that came up, is of no interest.
    while context.next_event(Instant::now())?.is_some() {}
    shared.arm_limit(2)?;
    assert_eq!(context.next_event(Instant::now())?, None);

    // Whichever pair gets a message takes the oldest receive.
    for (oldest, (receiver, sender)) in (1..).zip(&pairs) {
        sender.post_send(
            9,
            Payload::Inline(b"for any receiver"),
            None,
            SendFlags::SIGNALED,
        )?;
        let mut of_receiver = None;
        for _ in 0..2 {
            let completion = connection::spin(&queue)?;
            completion.result()?;
            if completion.is_receive() {
                of_receiver = Some((completion.id(), completion.queue_pair(), completion.len()));
            }
        }
        assert_eq!(of_receiver, Some((oldest, receiver.number(), 16)));
    }
    let deadline = Instant::now() + Duration::from_secs(120);
    let event = context
        .next_event(deadline)?
        .ok_or("no event at the limit")?;
    assert!(event.is_limit_reached(), "{event}");
    assert_eq!(
        event.source,
        EventSource::SharedReceiveQueue(connection::KEY)
    );
    Ok(())
}

#[test]
fn a_refused_transition_names_what_was_refused() -> Outcome {
    let Some((name, _)) = device() else {
        return Ok(());
    };
    let context = context(&name)?;
    let domain = context.alloc_pd()?;
    let queue = context.create_completion_queue(CompletionQueueOptions::polled(4))?;
    let pair = domain.create_queue_pair(&queue, &queue, QueueCapacity::new(1, 1))?;
    let number = pair.number();
    let init = InitAttributes::new(1);
    let error = pair
        .init(init)?
        .ready_to_receive(connection::peer(&context, 200, number)?);
    let error = error.map(drop).unwrap_err();
    assert_eq!(error.call(), "ibv_modify_qp");
    assert_eq!(error.object(), format!("queue pair {number} of {name}"));
    let attributes = error.attributes();
    assert!(
        attributes.starts_with("INIT to RTR: port 1, "),
        "{attributes}"
    );
    assert!(
        attributes.contains("GID index 200, to GID ::ffff:"),
        "{attributes}"
    );
    Ok(())
}

#[test]
fn objects_of_two_contexts_do_not_fit() -> Outcome {
    let Some((name, _)) = device() else {
        return Ok(());
    };
    let (one, two) = (context(&name)?, context(&name)?);
    let queue = two.create_completion_queue(CompletionQueueOptions::polled(4))?;
    let refused = one
        .alloc_pd()?
        .create_queue_pair(&queue, &queue, QueueCapacity::new(1, 1));
    let text = refused.map(drop).unwrap_err().to_string();
    assert!(text.ends_with("a queue of another context"), "{text}");
    let channel = two.create_completion_channel()?;
    let refused = one.create_completion_queue(CompletionQueueOptions {
        channel: Some((&channel, 0)),
        ..CompletionQueueOptions::polled(4)
    });
    let text = refused.map(drop).unwrap_err().to_string();
    assert!(
        text.ends_with("a completion channel of another context"),
        "{text}"
    );
    Ok(())
}

#[test]
fn an_armed_queue_gives_one_event_with_its_key() -> Outcome {
    let Some(mut ends) = Connection::open(QueueCapacity::new(4, 4))? else {
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
    assert_eq!(
        ends.completions.channel().wait(deadline)?,
        Some(connection::KEY)
    );
    assert_eq!(ends.completions.channel().wait(Instant::now())?, None);
    ends.completion()?.result()?;
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
