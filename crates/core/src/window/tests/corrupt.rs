//! Origins that break the protocol of windows.

use std::sync::atomic::{AtomicBool, Ordering};

use oxmpi_wire::Peer;
use oxmpi_wire::window::WindowMessage;

use super::locks::by_messages;
use super::{SUM, own};
use crate::bytes::{source, target};
use crate::placement::on_one_node;
use crate::test_job::job_with;
use crate::threading::sealed::EndpointAccess;
use crate::window_state::Accumulation;
use crate::{
    AccumulateOp, ElementKind, EndpointPolicy, LockKind, Source, Tag, Window, WindowRange,
};

/// A rank that breaks the protocol of windows is lost to its target, whose memory stays as it is.
#[test]
fn a_corrupt_origin_is_lost() {
    let number = |kind, op| Accumulation::new(kind, op).expect("it has it").number();
    let sum = number(ElementKind::U64, SUM.1);
    let read = number(ElementKind::U64, AccumulateOp::NoOp);
    let swap = Accumulation::compare_swap(ElementKind::U64).expect("integers");
    let accumulate = |at, len, operation| WindowMessage::Accumulate {
        answer: 1,
        at,
        len,
        operation,
    };
    let get = |at, len| WindowMessage::Get { answer: 1, at, len };
    let unlock = |exclusive| WindowMessage::Unlock {
        answer: 1,
        exclusive,
    };
    let wrong = [
        (WindowMessage::Put { at: 25 }, 8),
        (WindowMessage::Put { at: u64::MAX }, 8),
        (get(0, 33), 0),
        (get(u64::MAX, 2), 0),
        (accumulate(0, 8, u64::MAX), 8),
        (accumulate(0, 8, sum), 16),
        (accumulate(0, 4, sum), 4),
        (accumulate(32, 8, sum), 8),
        (accumulate(0, 8, read), 8),
        (accumulate(0, 16, swap.number()), 32),
        (accumulate(0, 1 << 40, read), 0),
        (unlock(true), 0),
        (unlock(false), 0),
        (WindowMessage::Data { answer: 0, at: 0 }, 8),
        (WindowMessage::Done { answer: 0 }, 0),
        (WindowMessage::Refused { answer: 3, rank: 1 }, 0),
    ];
    for (message, len) in wrong {
        let policy = EndpointPolicy::default();
        job_with(on_one_node(2), &policy, |comm| {
            let mut memory = [7u64; 4];
            let window = Window::create(comm, target(&mut memory), 8).expect("a window");
            if comm.group().rank() == 1 {
                let (context, bytes) = (window.comm().context(), [1u8; 64]);
                let sent = comm.access().with(|endpoint| {
                    endpoint.send_to_window(Peer(0), context, message, (&source(&bytes), 0, len))
                });
                sent.expect("room");
                return;
            }
            let lost = comm.recv(target(&mut [0u8]), Source::Rank(1), Tag::Is(1));
            let error = lost.expect_err("the peer is lost").to_string();
            assert!(error.contains("broke the protocol"), "{message:?}: {error}");
            assert_eq!(own(&window, 4), [7; 4], "{message:?}");
        });
    }
}

/// One that does not wait for what it asked is lost to its target, which keeps no more.
#[test]
fn an_origin_that_asks_too_much_is_lost() {
    let is_lost = AtomicBool::new(false);
    by_messages(2, |comm| {
        let mut memory = [7u8; 1024];
        let window = Window::create(comm, target(&mut memory), 1).expect("a window");
        if comm.group().rank() == 1 {
            window.lock(0, LockKind::Exclusive).expect("it is asked");
            comm.barrier().expect("a barrier");
            let (put, bytes) = (WindowMessage::Put { at: 0 }, [1u8; 1024]);
            let context = window.comm().context();
            while !is_lost.load(Ordering::Relaxed) {
                comm.access().with(|endpoint| {
                    let all = (&source(&bytes), 0, bytes.len());
                    let _has_no_room = endpoint
                        .ask_lock(Peer(0), context)
                        .and_then(|()| endpoint.send_to_window(Peer(0), context, put, all));
                    endpoint.progress();
                });
            }
            return;
        }
        window.lock(0, LockKind::Exclusive).expect("it is free");
        comm.barrier().expect("a barrier");
        let word = (crate::Source::Rank(1), crate::Tag::Is(1));
        let lost = comm.recv(target(&mut [0u8]), word.0, word.1);
        is_lost.store(true, Ordering::Relaxed);
        let error = lost.expect_err("the peer is lost").to_string();
        assert!(error.contains("waits for what it asked"), "{error}");
        let mut byte = [0u8];
        let first = WindowRange::bytes(0, 0, 1);
        window.get(target(&mut byte), &first).expect("own memory");
        assert_eq!(byte, [7], "the lock is this rank's");
    });
}
