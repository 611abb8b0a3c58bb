//! The same node while the hostile rank writes from another thread, at any moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::learned::{learned, word, write};
use super::script::Script;
use super::{HOSTILE, HostileRun, LENS, WordAccess};

/// Runs `rounds` of messages between the sound ranks and with the hostile one, which acts by the rules and
/// all the while writes into its own words, led by `noise`.
pub(crate) fn under_fire(rounds: u8, noise: &[u8]) {
    let mut run = HostileRun::new();
    let node = Arc::clone(&run.observer);
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
                run.send_sound(rank, usize::from(round) % LENS.len());
                run.receive_sound(rank);
                for what in [0, 3] {
                    run.operation(rank, &mut Script(&[what, round]));
                    run.operation(HOSTILE, &mut Script(&[what, round]));
                }
                run.ranks[HOSTILE].poll();
                run.ranks[rank].poll_and_check();
            }
        }
        run.settle();
        over.store(true, Ordering::Relaxed);
    });
    run.end(WordAccess::OwnWords);
}
