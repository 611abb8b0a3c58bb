//! The words of the segment that a sound exchange writes, and access to any word.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use oxmpi_shm::Node;
use oxmpi_shm::ring::SharedWords;
use oxmpi_wire::Sleeper;

use super::script::Script;
use super::{HOSTILE, HostileRun, LENS};

/// Word `at` of the segment.
pub(super) fn word(node: &Node, at: usize) -> u64 {
    let words = node.words();
    assert!(at < words.len());
    // SAFETY: in bounds by the assertion.
    unsafe { words.load(at, Ordering::Relaxed) }
}

pub(super) fn write(node: &Node, at: usize, word: u64) {
    let words = node.words();
    assert!(at < words.len());
    // SAFETY: in bounds by the assertion.
    unsafe { words.store(at, word, Ordering::Relaxed) };
}

/// The words that a sound exchange writes.
pub(super) struct LearnedWords {
    /// By the hostile rank.
    pub(super) own: Vec<usize>,
    /// By any rank.
    pub(super) all: Vec<usize>,
}

/// Runs a sound exchange over all paths once and notes which rank writes which words.
pub(super) fn learned() -> &'static LearnedWords {
    static LEARNED: OnceLock<LearnedWords> = OnceLock::new();
    LEARNED.get_or_init(|| {
        let mut run = HostileRun::new();
        let (mut own, mut all) = (BTreeSet::new(), BTreeSet::new());
        let mut before = run.snapshot();
        let mut step = |run: &mut HostileRun, rank: usize, act: &mut dyn FnMut(&mut HostileRun)| {
            act(run);
            for (at, before) in before.iter_mut().enumerate() {
                let now = run.word(at);
                if now != *before {
                    *before = now;
                    all.insert(at);
                    if rank == HOSTILE {
                        own.insert(at);
                    }
                }
            }
        };
        for round in 0..64u8 {
            for rank in 0..=HOSTILE {
                // A send and a receive of each length and form, to and from each peer in turn.
                let shape = round.wrapping_mul(5) & 0x3f;
                step(&mut run, rank, &mut |run| {
                    for what in [0, 3] {
                        run.operation(rank, &mut Script(&[what, shape ^ what]));
                    }
                    if rank < HOSTILE {
                        run.send_sound(rank, usize::from(round) % LENS.len());
                        run.receive_sound(rank);
                    }
                    run.ranks[rank].rx.arm();
                });
                let next = (rank + 1) % 3;
                step(&mut run, next, &mut |run| run.ranks[next].poll());
            }
        }
        for rank in 0..=HOSTILE {
            step(&mut run, rank, &mut |run| run.ranks[rank].tx.depart());
        }
        LearnedWords {
            own: own.into_iter().collect(),
            all: all.into_iter().collect(),
        }
    })
}

/// The number of words that rank 2 and all ranks write by the rules.
#[cfg(test)]
pub(crate) fn writes() -> (usize, usize) {
    (learned().own.len(), learned().all.len())
}
