//! The same node while the hostile rank writes from another thread, at any moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::script::Script;
use super::{HOSTILE, LENS, Manners, Play, learned, word, write};

/// Runs `rounds` of talk between the sound ranks, and of theirs with the hostile one, which acts by
/// the rules and writes into its own words all the while, led by `noise`.
pub(crate) fn under_fire(rounds: u8, noise: &[u8]) {
    let mut play = Play::new();
    let node = Arc::clone(&play.nobody);
    let over = AtomicBool::new(false);
    let own = &learned().own;
    thread::scope(|threads| {
        threads.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let mut script = Script(noise);
                while !script.0.is_empty() {
                    let at = own[script.below(own.len())];
                    write(&node, at, script.word(word(&node, at)));
                    thread::yield_now();
                }
            }
        });
        for round in 0..rounds {
            for rank in 0..HOSTILE {
                play.talk(rank, usize::from(round) % LENS.len());
                play.listen(rank);
                for what in [0, 3] {
                    play.any_act(rank, &mut Script(&[what, round]));
                    play.any_act(HOSTILE, &mut Script(&[what, round]));
                }
                play.ranks[HOSTILE].poll();
                play.ranks[rank].look();
            }
        }
        play.settle();
        over.store(true, Ordering::Relaxed);
    });
    play.end(Manners::OwnWords);
}
