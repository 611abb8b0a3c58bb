//! Random messages of a window, from a rank that reads none.

use std::sync::atomic::{AtomicBool, Ordering};

use oxmpi_coll::check::draw;
use oxmpi_wire::window::WindowMessage;
use oxmpi_wire::{Mode, Peer};

use super::SUM;
use super::locks::by_messages;
use crate::bytes::{source, target};
use crate::threading::sealed::EndpointAccess;
use crate::window_state::Accumulation;
use crate::{Communicator, LockKind, Single, Source, Tag, Window, WindowRange};

/// Messages of a job.
const MESSAGES: u64 = 60;

/// Words of a rank's memory, and as many before and after it that nobody may touch.
const WORDS: usize = 8;

/// Draws a message, and how many bytes follow.
fn drawn(mut next: impl FnMut(u64) -> u64) -> (WindowMessage, usize) {
    let answer = [0, 1 + next(6), next(6) << 32, u64::MAX][next(4) as usize];
    let at = [8 * next(WORDS as u64), next(70), u64::MAX - next(9)][next(3) as usize];
    let len = [8 * next(4), next(70), 1 << 40][next(3) as usize];
    let sum = Accumulation::new(SUM.0, SUM.1).expect("it has it");
    let operation = [sum.number(), next(1 << 20)][next(2) as usize];
    let (exclusive, rank, other) = (next(2) == 0, next(9), next(9));
    let kinds = next(1 << 34);
    let message = match next(14) {
        0 => WindowMessage::Put { at },
        1 => WindowMessage::Get { answer, at, len },
        2 => WindowMessage::Accumulate {
            answer,
            at,
            len,
            operation,
        },
        3 => WindowMessage::Flush { answer },
        4 => WindowMessage::Lock { exclusive },
        5 => WindowMessage::Unlock { answer, exclusive },
        6 => WindowMessage::Post,
        7 => WindowMessage::Complete,
        8 => WindowMessage::Wake,
        9 => WindowMessage::Data { answer, at },
        10 => WindowMessage::Done { answer },
        11 => WindowMessage::Refused { answer, rank },
        12 => WindowMessage::Outside { answer, at },
        _ => WindowMessage::Conflict {
            answer,
            at,
            other,
            kinds,
        },
    };
    let carries_bytes = matches!(
        message,
        WindowMessage::Put { .. } | WindowMessage::Accumulate { .. } | WindowMessage::Data { .. }
    );
    let bytes = [len % 65, next(65)][next(2) as usize];
    (message, if carries_bytes { bytes as usize } else { 0 })
}

/// Sends what was drawn, and at last what no state of the protocol allows.
fn be_hostile(window: &Window<Single>, seed: u64, is_lost: &AtomicBool) {
    let context = window.comm().context();
    let mut count = 0;
    let mut next = |below| {
        count += 1;
        draw(seed, count) % below
    };
    let bytes = [0xa5u8; 65];
    let send = |message: WindowMessage, len| {
        window.comm().access().with(|endpoint| {
            let all = (&source(&bytes), 0, len);
            while endpoint
                .send_to_window(Peer(0), context, message, all)
                .is_err()
            {
                // Nobody reads what a lost rank sends.
                if is_lost.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::yield_now();
            }
        });
    };
    for _ in 0..MESSAGES {
        let (message, len) = drawn(&mut next);
        send(message, len);
    }
    send(WindowMessage::Done { answer: 0 }, 0);
}

/// Accesses that a rank makes to the hostile one's memory, whatever comes of them.
fn access(window: &Window<Single>, into: &mut [u64; 3 * WORDS]) {
    let landing = target(&mut into[WORDS..2 * WORDS]);
    let all = WindowRange::bytes(1, 0, 8 * WORDS as u64);
    let first = WindowRange::bytes(1, 0, 8);
    for kind in [LockKind::Shared, LockKind::Exclusive] {
        let _ended = window.lock(1, kind).and_then(|()| {
            let made = window
                .get(landing, &all)
                .and_then(|()| window.accumulate(source(&[1u64]), SUM, &first))
                .and_then(|()| {
                    window.fetch_accumulate(source(&[1u64]), target(&mut [0u64]), SUM, &first)
                })
                .and_then(|()| window.flush(1));
            window.unlock(1).and(made)
        });
    }
}

/// Whatever a rank sends, its target touches nothing but its window and what it waits for, and serves the others; who waits for
/// a lock that the hostile rank has learns that it is lost. `OXMPI_TEST_HOSTILE` is the number of jobs (default: 40).
#[test]
fn a_hostile_rank_reaches_no_more_than_the_window() {
    let jobs =
        std::env::var("OXMPI_TEST_HOSTILE").map_or(40, |jobs| jobs.parse().expect("a number"));
    for seed in 0..jobs {
        let is_lost = AtomicBool::new(false);
        by_messages(3, |comm: &Communicator<Single>| {
            let mut memory = [7u64; 3 * WORDS];
            let mut landing = [7u64; 3 * WORDS];
            let window = Window::create(comm, target(&mut memory[WORDS..2 * WORDS]), 1);
            let window = window.expect("a window");
            match comm.group().rank() {
                0 => {
                    access(&window, &mut landing);
                    let word = (target(&mut [0u8]), Tag::Is(1));
                    let lost = comm.recv(word.0, Source::Rank(1), word.1);
                    assert!(lost.is_err(), "seed {seed}: it broke the protocol");
                    is_lost.store(true, Ordering::Relaxed);
                    let asked = comm.recv(word.0, Source::Rank(2), word.1);
                    asked.expect("the other one is served");
                    for guarded in [&memory, &landing] {
                        let edges = guarded[..WORDS].iter().chain(&guarded[2 * WORDS..]);
                        assert!(edges.copied().eq([7; 2 * WORDS]), "seed {seed}");
                    }
                }
                1 => be_hostile(&window, seed, &is_lost),
                _ => {
                    let _granted = window.lock(0, LockKind::Exclusive).and_then(|()| {
                        let put = window.put(source(&[9u64]), &WindowRange::bytes(0, 0, 8));
                        window.unlock(0).and(put)
                    });
                    comm.send(source(&[1u8]), 0, 1, Mode::Standard)
                        .expect("it lives");
                }
            }
        });
    }
}
