//! What a device or a peer refuses, and how that is said.

use super::Outcome;
use super::connection::{Connection, context, device, peer};
use oxmpi_verbs::{
    Access, CompletionQueueOptions, InitAttributes, Payload, PostError, QueueCapacity,
    SendAttributes, SendFlags,
};

#[test]
fn a_wrong_key_is_an_error_that_flushes_the_rest() -> Outcome {
    let Some(ends) = Connection::open(QueueCapacity::new(4, 4))? else {
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
        completions,
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
fn a_message_without_a_receive_is_an_error_after_the_retries() -> Outcome {
    let soon = SendAttributes {
        rnr_retry: 2,
        ..SendAttributes::new(0)
    };
    let Some(ends) = Connection::with(QueueCapacity::new(4, 4), soon)? else {
        return Ok(());
    };
    let message = [ends.region.segment(0..8)];
    let payload = Payload::Segments(&message);
    ends.sender
        .post_send(1, payload, None, SendFlags::SIGNALED)?;
    let error = ends.completion()?.result().unwrap_err();
    assert_eq!((error.id, error.name()), (1, "IBV_WC_RNR_RETRY_EXC_ERR"));
    Ok(())
}

#[test]
fn a_queue_pair_in_error_gives_its_receives_back_and_fails_its_peer() -> Outcome {
    let soon = SendAttributes {
        timeout: 14,
        retry_cnt: 2,
        ..SendAttributes::new(0)
    };
    let Some(ends) = Connection::with(QueueCapacity::new(4, 4), soon)? else {
        return Ok(());
    };
    let segment = [ends.region.segment(0..8)];
    ends.receiver.post_receive(1, &segment)?;
    ends.receiver.set_error()?;
    let flushed = ends.completion()?.result().unwrap_err();
    assert!(flushed.id == 1 && flushed.is_flushed(), "{flushed}");
    let payload = Payload::Segments(&segment);
    ends.sender
        .post_send(2, payload, None, SendFlags::SIGNALED)?;
    let error = ends.completion()?.result().unwrap_err();
    assert_eq!((error.id, error.name()), (2, "IBV_WC_RETRY_EXC_ERR"));
    Ok(())
}

#[test]
fn a_region_that_is_dropped_takes_no_more_messages() -> Outcome {
    let Some(ends) = Connection::open(QueueCapacity::new(4, 4))? else {
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
        .ready_to_receive(peer(&context, 200, number)?);
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

/// Limits do not bind root, so this test has a process of its own, as another user with a limit of 256 KiB:
/// `OXMPI_TEST_MEMLOCK` is set there.
#[test]
fn memory_beyond_the_limit_is_refused_with_what_to_do() -> Outcome {
    let (Some((name, _)), Some(_)) = (device(), std::env::var_os("OXMPI_TEST_MEMLOCK")) else {
        return Ok(());
    };
    let domain = context(&name)?.alloc_pd()?;
    let small = domain.register(64 << 10, Access::LOCAL_WRITE)?;
    let error = domain.register(1 << 20, Access::LOCAL_WRITE).unwrap_err();
    assert_eq!(error.attributes(), "1048576 B for Access(LOCAL_WRITE)");
    let text = error.to_string();
    assert!(
        text.starts_with(&format!("ibv_reg_mr of a protection domain of {name}: ")),
        "{text}"
    );
    assert!(text.ends_with("`ulimit -l` says: raise it"), "{text}");
    // What was refused is not counted, and what is dropped is not counted any more.
    drop(small);
    domain.register(192 << 10, Access::LOCAL_WRITE)?;
    Ok(())
}
