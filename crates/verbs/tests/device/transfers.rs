//! Messages, reads and writes, and receives that queue pairs share.

use super::Outcome;
use super::connection::{Connection, KEY, connect, context, device, peer, spin};
use oxmpi_verbs::{
    Access, CompletionQueueOptions, DatagramAttributes, Destination, EventSource, InitAttributes,
    Payload, QueueCapacity, ROUTING_HEADER, SendAttributes, SendFlags,
};
use std::time::{Duration, Instant};

#[test]
fn a_message_arrives_with_its_immediate() -> Outcome {
    let Some(ends) = Connection::open(QueueCapacity {
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
    let Some(ends) = Connection::open(QueueCapacity::new(4, 4))? else {
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
fn a_shared_queue_serves_several_pairs_and_says_when_it_runs_short() -> Outcome {
    let Some((name, index)) = device() else {
        return Ok(());
    };
    let context = context(&name)?;
    let domain = context.alloc_pd()?;
    let region = domain.register(4096, Access::LOCAL_WRITE)?;
    let queue = context.create_completion_queue(CompletionQueueOptions::polled(64))?;
    let shared = domain.create_shared_receive_queue(8, 1, KEY)?;
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
        pairs.push(connect(
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
            let completion = spin(&queue)?;
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
    assert_eq!(event.source, EventSource::SharedReceiveQueue(KEY));
    Ok(())
}

#[test]
fn a_datagram_arrives_where_its_key_fits() -> Outcome {
    let Some((name, index)) = device() else {
        return Ok(());
    };
    const KEY_OF_RECEIVER: u32 = 0x1234;
    let context = context(&name)?;
    let domain = context.alloc_pd()?;
    let region = domain.register(4096, Access::LOCAL_WRITE)?;
    let queue = context.create_completion_queue(CompletionQueueOptions::polled(64))?;
    let capacity = QueueCapacity {
        max_inline_data: 16,
        ..QueueCapacity::new(4, 4)
    };
    let open = |qkey| {
        let pair = domain.create_datagram_pair(&queue, &queue, capacity)?;
        let pair = pair.init(DatagramAttributes {
            port: 1,
            pkey_index: 0,
            qkey,
        })?;
        pair.ready_to_receive()?.ready_to_send(0)
    };
    let (receiver, sender) = (open(KEY_OF_RECEIVER)?, open(1)?);
    let own = peer(&context, index, 0)?.address;
    let handle = domain.create_address_handle(own)?;
    receiver.post_receive(1, &[region.segment(0..ROUTING_HEADER + 16)])?;
    for (qkey, text) in [(KEY_OF_RECEIVER + 1, b"lost"), (KEY_OF_RECEIVER, b"here")] {
        let to = Destination {
            handle: &handle,
            number: receiver.number(),
            qkey,
        };
        sender.post_send(2, Payload::Inline(text), to, Some(qkey), SendFlags::empty())?;
    }
    // The sends were not signaled.
    let received = spin(&queue)?;
    received.result()?;
    assert_eq!((received.id(), received.len()), (1, ROUTING_HEADER + 4));
    assert_eq!(received.immediate(), Some(KEY_OF_RECEIVER));
    let mut text = [0; 4];
    region.read(ROUTING_HEADER, &mut text);
    assert_eq!(&text, b"here");

    let other = super::connection::context(&name)?;
    let handle = other.alloc_pd()?.create_address_handle(own)?;
    let to = Destination {
        handle: &handle,
        number: 1,
        qkey: 1,
    };
    let refused = sender.post_send(3, Payload::Inline(b""), to, None, SendFlags::empty());
    let text = refused.unwrap_err().to_string();
    assert!(
        text.ends_with("an address handle of another context"),
        "{text}"
    );
    Ok(())
}
