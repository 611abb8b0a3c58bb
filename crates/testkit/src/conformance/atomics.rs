//! Conformance tests of atomics and flushes.

use std::collections::BTreeSet;

use oxmpi_wire::{Access, Atomic, Busy, Bytes, Fault, Key, Local, Remote, Rma, Token, Width};

use super::bulk::{Region, ended, registered};
use super::{EventLog, TestMemory, TestedTransport, TransportEnd, eager, until};
use crate::memory::pattern;

const BOTH: Access = Access::READ.union(Access::WRITE);

/// Words that peers change, with room for any alignment.
struct Words<S: TestedTransport> {
    memory: S::Memory,
    key: Key,
    /// Offset of the first aligned word.
    first: u64,
}

impl<S: TestedTransport> Words<S> {
    /// Zero words of `end`.
    fn new(end: &mut TransportEnd<S>, access: Access) -> Self {
        let (memory, _, key) = registered(end, vec![0; 64], access);
        let address = memory.bytes().address().unwrap_or(0);
        let first = address.next_multiple_of(8) - address;
        Self { memory, key, first }
    }

    /// The word at byte `at` from the first one on.
    fn word(&self, at: u64, width: Width) -> u64 {
        word_in(&self.memory.to_vec(), (self.first + at) as usize, width)
    }
}

fn word_in(bytes: &[u8], at: usize, width: Width) -> u64 {
    match width {
        Width::Bits32 => u32::from_ne_bytes(*bytes[at..].first_chunk().expect("a word")).into(),
        Width::Bits64 => u64::from_ne_bytes(*bytes[at..].first_chunk().expect("a word")),
    }
}

/// Starts `atomic` on the word at byte `at` of the peer's `key`; the word before goes to byte `to` of `region`.
fn start<S: TestedTransport>(
    end: &mut TransportEnd<S>,
    (key, at): (&Key, u64),
    (width, atomic): (Width, Atomic),
    (region, to): (&Region<S>, u64),
    token: u64,
) -> Result<(), Busy> {
    let len = width.bytes();
    let local = Local {
        region,
        at: to,
        len,
    };
    (end.tx).atomic(
        end.peer,
        Remote { key, at, len },
        atomic,
        local,
        Token(token),
    )
}

/// Each atomic leaves the word that the arithmetic says, next to words that stay, and returns the word before.
pub fn atomics_do_as_the_arithmetic_says<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let words = Words::new(&mut b, BOTH);
    let (here, region, _) = registered(&mut a, vec![0; 8], Access::WRITE);
    for width in [Width::Bits32, Width::Bits64] {
        let mut word = words.word(8, width);
        for operand in [5, 3, u64::MAX - 1, 1 << 31] {
            for code in 1..=11 {
                let second = if code == 11 { operand + 1 } else { 0 };
                let known = Atomic::from_words(code, [operand * u64::from(code != 1), second]);
                let atomic = known.expect("an operation");
                let place = (&words.key, words.first + 8);
                let end = ended([&mut a, &mut b], |a| {
                    start(a, place, (width, atomic), (&region, 0), 7)
                });
                assert_eq!(end, Ok(()));
                assert_eq!(word_in(&here.to_vec(), 0, width), word, "before {atomic:?}");
                word = atomic.apply(word, width);
                assert_eq!(words.word(8, width), word, "after {atomic:?} {width:?}");
            }
        }
        for neighbour in [4, 8 + width.bytes()] {
            assert_eq!(words.word(neighbour, Width::Bits32), 0, "beside {width:?}");
        }
    }
}

/// Several peers add to one word: no addition is lost, and each sees another word before.
pub fn additions_of_several_peers_sum_up<S: TestedTransport>() {
    const EACH: u64 = 100;
    let mut ends = TransportEnd::<S>::all(S::ends(4));
    let words = Words::new(&mut ends[0], BOTH);
    let others = &mut ends[1..];
    let all = EACH * others.len() as u64;
    let targets: Vec<_> = (others.iter_mut())
        .map(|end| registered(end, vec![0; EACH as usize * 8], Access::WRITE))
        .collect();
    let mut started = vec![0; targets.len()];
    let mut logs: Vec<_> = ends.iter().map(|_| EventLog::default()).collect();
    until("all additions end", || {
        for (at, (end, log)) in ends.iter_mut().zip(&mut logs).enumerate() {
            if let Some((started, target)) =
                at.checked_sub(1).map(|at| (&mut started[at], &targets[at]))
            {
                let (add, region) = ((Width::Bits64, Atomic::Add(1)), &target.1);
                let place = (&words.key, words.first);
                if *started < EACH
                    && start(end, place, add, (region, *started * 8), *started).is_ok()
                {
                    *started += 1;
                }
            }
            end.poll(log);
        }
        logs.iter().map(|log| log.done.len() as u64).sum::<u64>() == all
    });
    assert!(
        logs.iter()
            .flat_map(|log| &log.done)
            .all(|done| done.1.is_ok())
    );
    assert_eq!(words.word(0, Width::Bits64), all);
    let seen: BTreeSet<u64> = (targets.iter().map(|target| target.0.to_vec()))
        .flat_map(|bytes| (0..EACH as usize).map(move |i| word_in(&bytes, i * 8, Width::Bits64)))
        .collect();
    assert_eq!(seen, (0..all).collect(), "each sum is seen once");
}

/// Of several peers that compare and swap one word at once, one succeeds, and the others see its word.
pub fn one_compare_and_swap_wins<S: TestedTransport>() {
    let mut ends = TransportEnd::<S>::all(S::ends(3));
    let words = Words::new(&mut ends[0], BOTH);
    let targets = [1, 2].map(|at| registered(&mut ends[at], vec![0xee; 4], Access::WRITE));
    let mut expected = 0;
    for round in 1..=20 {
        let mut logs: Vec<_> = ends.iter().map(|_| EventLog::default()).collect();
        let mut started = [false; 2];
        until("both end", || {
            for (at, started) in (1..).zip(&mut started) {
                let new = round << 8 | at as u64;
                let swap = (Width::Bits32, Atomic::CompareSwap { expected, new });
                let place = (&words.key, words.first + 4);
                let region = (&targets[at - 1].1, 0);
                *started = *started || start(&mut ends[at], place, swap, region, 1).is_ok();
            }
            for (end, log) in ends.iter_mut().zip(&mut logs) {
                end.poll(log);
            }
            logs[1..].iter().all(|log| log.done == [(Token(1), Ok(()))])
        });
        let word = words.word(4, Width::Bits32);
        let seen = targets
            .each_ref()
            .map(|target| word_in(&target.0.to_vec(), 0, Width::Bits32));
        let loser = if word & 0xff == 1 { 1 } else { 0 };
        assert_eq!(
            (word >> 8, seen[1 - loser], seen[loser]),
            (round, expected, word)
        );
        expected = word;
    }
}

/// A flush ends after all that was started before, and a frame that is sent then finds its effects.
pub fn a_flush_follows_what_was_started<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let len = 300_000;
    let words = Words::new(&mut b, BOTH);
    let (there, _, key) = registered(&mut b, vec![0; len], Access::WRITE);
    let (_here, source, _) = registered(&mut a, pattern(len, 4), Access::READ);
    let (_old, old, _) = registered(&mut a, vec![0; 8], Access::WRITE);
    let (mut a_log, mut b_log) = (EventLog::default(), EventLog::default());
    let (mut started, mut sent) = (0, false);
    until("a frame follows the flush", || {
        let put = (
            Remote {
                key: &key,
                at: 0,
                len: len as u64,
            },
            Local {
                region: &source,
                at: 0,
                len: len as u64,
            },
        );
        let add = (Width::Bits64, Atomic::Add(1));
        let next = match started {
            0 => a.tx.flush_peer(a.peer, Token(0)),
            1 | 4 => a.tx.put(a.peer, put.1, put.0, Token(started)),
            2 | 3 | 5 => start(&mut a, (&words.key, words.first), add, (&old, 0), started),
            6 => a.tx.flush_peer(a.peer, Token(6)),
            _ => Err(Busy),
        };
        started += u64::from(next.is_ok());
        let flushed = a_log.done.iter().any(|done| done.0 == Token(6));
        if flushed && !sent {
            sent = a.try_send(&eager(1, 1), &[1], true);
        }
        a.poll(&mut a_log);
        b.poll(&mut b_log);
        !b_log.frames.is_empty()
    });
    assert_eq!(words.word(0, Width::Bits64), 3);
    assert!(there.to_vec() == pattern(len, 4), "the put is complete");
    let (last, before) = a_log.done.split_last().expect("ends");
    assert_eq!(*last, (Token(6), Ok(())), "the flush is the last");
    let tokens: BTreeSet<_> = before.iter().map(|done| done.0.0).collect();
    assert_eq!(tokens, (0..6).collect());
    assert!(before.iter().all(|done| done.1.is_ok()));
}

/// Words that are not registered for atomics, not within their region or not aligned stay as they are.
pub fn wrong_words_are_refused<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let (here, region, _) = registered(&mut a, vec![0xee; 16], Access::WRITE);
    let words = Words::new(&mut b, BOTH);
    let [read, write] = [Access::READ, Access::WRITE].map(|access| Words::new(&mut b, access));
    let (first, refused) = (words.first, Err(Fault::NOT_REGISTERED));
    for (key, at, len) in [
        (words.key, first + 1, 8),
        (words.key, first + 4, 8),
        (words.key, first + 2, 4),
        (words.key, first + 64, 8),
        (words.key, 64, 4),
        (words.key, u64::MAX - 7, 8),
        (read.key, read.first, 8),
        (write.key, write.first, 8),
        (Key([0; Key::LEN]), 0, 8),
        (Key([0xff; Key::LEN]), 0, 8),
    ] {
        let width = Width::of_bytes(len).expect("a word");
        let end = ended([&mut a, &mut b], |a| {
            start(a, (&key, at), (width, Atomic::Swap(1)), (&region, 0), 7)
        });
        assert_eq!(end, refused, "{len} B at {at} of {key:?}");
    }
    for (len, old_len, to) in [
        (3, 3, 0),
        (16, 16, 0),
        (8, 4, 0),
        (4, 8, 0),
        (0, 0, 0),
        (8, 8, 9),
    ] {
        let end = ended([&mut a, &mut b], |a| {
            let remote = Remote {
                key: &words.key,
                at: first,
                len,
            };
            let local = Local {
                region: &region,
                at: to,
                len: old_len,
            };
            a.tx.atomic(a.peer, remote, Atomic::Swap(1), local, Token(7))
        });
        assert!(
            matches!(end, Err(Fault::Invalid(_))),
            "{len} {old_len} {to}: {end:?}"
        );
    }
    assert_eq!(here.to_vec(), [0xee; 16]);
    for words in [&words, &read, &write] {
        assert_eq!(words.memory.to_vec(), [0; 64]);
    }
}

/// An end that does not poll gets busy at some point; then all that was started ends, and there is room.
pub fn operations_are_bounded<S: TestedTransport>() {
    let [mut a, mut b] = S::join();
    let words = Words::new(&mut b, BOTH);
    let (_here, region, _) = registered(&mut a, vec![0; 8], Access::WRITE);
    let add = (Width::Bits64, Atomic::Add(1));
    for flushes in [false, true] {
        let mut started = 0;
        until("an end that does not poll gets busy", || {
            let next = match flushes && started % 2 == 1 {
                true => a.tx.flush_peer(a.peer, Token(started)),
                false => start(
                    &mut a,
                    (&words.key, words.first),
                    add,
                    (&region, 0),
                    started,
                ),
            };
            started += u64::from(next.is_ok());
            assert!(started < 10_000, "it takes any number");
            next.is_err()
        });
        let (mut a_log, mut b_log) = (EventLog::default(), EventLog::default());
        until("all end, and room is reported", || {
            a.poll(&mut a_log);
            b.poll(&mut b_log);
            a_log.done.len() as u64 == started && a_log.room.contains(&a.peer)
        });
        assert!(a_log.done.iter().all(|done| done.1.is_ok()));
    }
}
