//! Conformance tests of frames: order, sizes, room.

use std::collections::VecDeque;

use oxmpi_wire::{Envelope, Flags, Header, Kind, Rx, Sleeper, Tx};

use super::{EventLog, Fixed, TestedTransport, TransportEnd, eager, until};
use crate::memory::pattern;

/// Sends all of `frames` from `a` and checks that `b` gets them in order.
fn exchange<S: TestedTransport>(
    a: &mut TransportEnd<S>,
    b: &mut TransportEnd<S>,
    frames: &[(Header, Vec<u8>, bool)],
) {
    let (mut sent, mut a_log, mut b_log) = (0, EventLog::default(), EventLog::default());
    until("frames arrive", || {
        while sent < frames.len() {
            let (head, body, short) = &frames[sent];
            if !a.try_send(head, body, *short) {
                break;
            }
            sent += 1;
        }
        a.poll(&mut a_log);
        b.poll(&mut b_log);
        b_log.frames.len() >= frames.len()
    });
    for ((from, head, body), sent) in b_log.frames.iter().zip(frames) {
        assert_eq!((*from, head, body), (b.peer, &sent.0, &sent.1));
    }
    assert_eq!(b_log.frames.len(), frames.len(), "a frame came twice");
    assert!(a_log.frames.is_empty(), "a frame came back");
}

fn frame(tag: u32, len: usize, short: bool) -> (Header, Vec<u8>, bool) {
    (eager(tag, len), pattern(len, u64::from(tag)), short)
}

/// Short frames of all lengths, many times the room of a ring, keep their order.
pub fn short_frames_keep_order<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let longest = a.tx.limits(a.peer).short as usize;
    let frames: Vec<_> = (0..3000)
        .map(|tag| frame(tag, tag as usize % (longest + 1), true))
        .collect();
    exchange(&mut a, &mut b, &frames);
    exchange(&mut b, &mut a, &frames);
}

/// Every length that a frame may have (large frames: around the powers of two).
pub fn frames_of_every_size<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let longest = a.tx.limits(a.peer).frame as usize;
    let lens = (0..=longest)
        .filter(|len| *len <= 1100 || len % 1024 <= 1 || len % 1024 == 1023 || *len == longest);
    let frames: Vec<_> = lens
        .enumerate()
        .map(|(tag, len)| frame(tag as u32, len, false))
        .collect();
    exchange(&mut a, &mut b, &frames);
}

/// [`Tx::put_short`] sends nothing that [`Tx::allow_short`] does not allow.
pub fn the_short_path_obeys_its_limit<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    // The first frame establishes the connection.
    exchange(&mut a, &mut b, &[frame(0, 8, true)]);
    let longest = a.tx.limits(a.peer).short;
    let put = |a: &mut TransportEnd<S>, len: u32| {
        let (head, body, _) = frame(1, len as usize, true);
        a.tx.put_short(a.peer, &head, &Fixed(&body))
    };
    assert!(!put(&mut a, 0), "sent before it was allowed");
    for below in [1, longest, 0] {
        a.tx.allow_short(a.peer, below);
        let too_long = (below..=longest).find(|&len| put(&mut a, len));
        assert_eq!(too_long, None, "shorter than {below} is allowed");
    }
}

/// Frames on both paths between two ends keep their common order.
pub fn short_and_long_frames_keep_order<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let limits = *a.tx.limits(a.peer);
    let frames: Vec<_> = (0..2000)
        .map(|tag| match tag % 3 {
            0 => frame(tag, limits.frame as usize, false),
            1 => frame(tag, limits.short as usize, true),
            _ => frame(tag, tag as usize % 100, false),
        })
        .collect();
    exchange(&mut a, &mut b, &frames);
}

/// Kind, flags, context and tag arrive as they were sent.
pub fn headers_arrive_unchanged<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let mut frames = Vec::new();
    for kind in Kind::ALL
        .into_iter()
        .filter(|kind| *kind != Kind::Transport)
    {
        for flags in [Flags::empty(), Flags::SYNC, Flags::YES, Flags::all()] {
            for (context, tag) in [(0, 0), (u32::MAX, 1), (7, u32::MAX), (1 << 31, 1 << 31)] {
                for short in [true, false] {
                    let head = Header::new(kind, flags, 8, Envelope { context, tag });
                    frames.push((head, pattern(8, u64::from(tag)), short));
                }
            }
        }
    }
    exchange(&mut a, &mut b, &frames);
}

/// Bytes that a sink leaves in a body are not part of the next one.
pub fn unread_bodies_are_skipped<S: TestedTransport>() {
    for at_most in [0, 1, 9] {
        let [mut a, mut b] = S::join();
        let limits = *a.tx.limits(a.peer);
        let (mut a_log, mut b_log) = (EventLog::default(), EventLog::default());
        b_log.at_most = Some(at_most);
        let mut sent = 0;
        until("frames arrive", || {
            let short = sent % 2 == 0;
            let len = if short { limits.short } else { limits.frame } as usize;
            if sent < 500 && a.try_send(&eager(sent, len), &pattern(len, u64::from(sent)), short) {
                sent += 1;
            }
            a.poll(&mut a_log);
            b.poll(&mut b_log);
            b_log.frames.len() == 500
        });
        for (tag, (_, head, body)) in (0..).zip(&b_log.frames) {
            assert_eq!(head.envelope.tag, tag);
            let whole = pattern(head.len as usize, u64::from(tag));
            assert_eq!(body[..], whole[..at_most.min(whole.len())]);
        }
    }
}

/// A slot that is dropped sends nothing and costs no room.
pub fn a_dropped_slot_sends_nothing<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let len = a.tx.limits(a.peer).frame as usize;
    for tag in 0..1000 {
        drop(a.tx.frame(a.peer, &eager(tag, len), len));
    }
    exchange(
        &mut a,
        &mut b,
        &[frame(5000, 8, true), frame(5001, len, false)],
    );
}

/// A transport without receives is busy at some point, and reports room after receives.
pub fn busy_then_room<S: TestedTransport>() {
    for short in [true, false] {
        let [mut a, mut b] = S::join();
        let limits = *a.tx.limits(a.peer);
        let len = if short { limits.short } else { limits.frame } as usize;
        let (mut sent, mut a_log, mut b_log) = (0, EventLog::default(), EventLog::default());
        until("an end without receives gets busy", || {
            let was_sent = a.try_send(&eager(sent, len), &pattern(len, 0), short);
            sent += u32::from(was_sent);
            a.tx.flush();
            !was_sent
        });
        until("room is reported", || {
            b.poll(&mut b_log);
            a.poll(&mut a_log);
            a_log.room.contains(&a.peer)
        });
        until("room is there", || {
            b.poll(&mut b_log);
            a.poll(&mut a_log);
            a.try_send(&eager(sent, len), &pattern(len, 0), short)
        });
        until("all frames arrive", || {
            a.poll(&mut a_log);
            b.poll(&mut b_log);
            b_log.frames.len() as u32 == sent + 1
        });
        for (tag, (_, head, _)) in (0..).zip(&b_log.frames) {
            assert_eq!(head.envelope.tag, tag);
        }
    }
}

/// All frames arrive if both ends send without pause.
pub fn floods_in_both_directions_arrive<S: TestedTransport>() {
    let mut ends = S::join();
    let mut logs = [EventLog::default(), EventLog::default()];
    let longest = ends[0].tx.limits(ends[0].peer).frame.min(2000) as usize;
    let mut waiting: [VecDeque<u32>; 2] = [(0..3000).collect(), (0..3000).collect()];
    until("both floods arrive", || {
        for ((end, log), waiting) in ends.iter_mut().zip(&mut logs).zip(&mut waiting) {
            while let Some(&tag) = waiting.front() {
                let len = tag as usize * 7 % (longest + 1);
                if !end.try_send(&eager(tag, len), &pattern(len, u64::from(tag)), false) {
                    break;
                }
                waiting.pop_front();
            }
            end.poll(log);
        }
        logs.iter().all(|log| log.frames.len() == 3000)
    });
    for log in &logs {
        for (tag, (_, head, body)) in (0..).zip(&log.frames) {
            assert_eq!(head.envelope.tag, tag);
            assert_eq!(*body, pattern(body.len(), u64::from(tag)));
        }
    }
}

/// One poll hands over no more frames than its budget.
pub fn a_budget_is_kept<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let mut sent = 0;
    until("some frames are sent", || {
        let was_sent = a.try_send(&eager(0, 1), &[1], true);
        sent += usize::from(was_sent);
        a.tx.flush();
        // A transport may have room for fewer.
        sent == 3 || sent > 0 && !was_sent
    });
    let mut log = EventLog::default();
    until("all frames arrive", || {
        let before = log.frames.len();
        b.rx.poll(&mut b.tx, 1, &mut log);
        assert!(log.frames.len() - before <= 1, "more than the budget");
        log.frames.len() == sent
    });
}

/// A poll of one peer hands over its frames.
pub fn one_peer_is_polled_alone<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let mut log = EventLog::default();
    for tag in 0..200 {
        until("there is room", || {
            a.poll(&mut EventLog::default());
            a.try_send(&eager(tag, 4), &[4; 4], true)
        });
        a.tx.flush();
        until("the frame arrives", || {
            b.rx.poll_from(&mut b.tx, b.peer, &mut log);
            log.frames.len() as u32 == tag + 1
        });
    }
}

/// Arming reports frames that arrived before.
pub fn arm_sees_earlier_frames<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let mut log = EventLog::default();
    for tag in 0..100 {
        until("there is room", || {
            a.poll(&mut EventLog::default());
            a.try_send(&eager(tag, 1), &[1], true)
        });
        a.tx.flush();
        until("a frame keeps its receiver awake", || !b.rx.arm());
        until("the frame arrives", || {
            a.poll(&mut EventLog::default());
            b.poll(&mut log);
            log.frames.len() as u32 == tag + 1
        });
    }
}
