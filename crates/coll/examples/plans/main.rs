//! Proves every algorithm of the catalog: on all numbers of ranks to 1,024, and on random ones to
//! 2^20 where a rank takes few steps, else to 4,096. `cargo xtask ci plans` runs it in two parts, `long plans` as a whole,
//! with more of the variants.
//!
//! What is proved how:
//! - On few ranks every case runs all ranks: all roots, counts that are less than, equal to and more
//!   than the ranks, both orders, in place and not, parameters as drawn, ranks on nodes in blocks and
//!   dealt in turn. Nothing is left out, or the proof fails.
//! - To 1,024 the plainest case. Where all ranks are proved to be like the first ones, step by step,
//!   these are run for all. To 128 the same on nodes, in blocks and dealt in turn.
//! - Besides, variants: on every eighth number of ranks the plainest case in place, on nodes as above,
//!   and one drawn case; with a root one drawn case on all. Those of more than 20,000 steps of all
//!   ranks together are proved on every 256th number of ranks, and left out on the others; without
//!   `--up-to` only those for which all ranks must be run. What is left out is counted and printed.
//! - Beyond, the plainest case on random numbers of ranks. Where a rank takes many steps, or all of
//!   them would look at very many blocks or, with `--beyond`, take more than 3 million steps, half as many ranks are
//!   taken, and so on; where each rank gets a block of every other and they are not alike, some blocks are followed.
//!
//! In each case the rounds that the algorithm promises are kept, and where it promises the least volume
//! the rank that sends most sends just that. What it took is told in seconds on a processor, so that what
//! runs beside hardly counts.
//!
//! Usage: `plans [--up-to RANKS | --beyond] [NAME...]`, a name being `COLLECTIVE` or
//! `COLLECTIVE/ALGORITHM`; with `--up-to` every number of ranks to that one is proved, and no larger
//! one; with `--beyond` only the random ones, of no more than 3 million steps. Without either the largest take
//! gigabytes for each processor.

mod asked;
mod proof;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use asked::Asked;
use oxmpi_coll::catalog::Algorithm;
use proof::{FEW, LONG, PLACED, SAMPLE, Tally, VARIED, beyond, prove_size};

fn main() -> ExitCode {
    let asked = match Asked::of(std::env::args().skip(1).collect()) {
        Ok(asked) => asked,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    let algorithms = Algorithm::ALL.into_iter();
    let algorithms: Vec<_> = algorithms.filter(|one| asked.names(one)).collect();
    let sizes = |at: usize| {
        let drawn = asked.random.then(|| beyond(algorithms[at]));
        let drawn = drawn.into_iter().flatten();
        asked.every.clone().chain(drawn).map(move |size| (size, at))
    };
    let mut jobs: Vec<_> = (0..algorithms.len()).flat_map(sizes).collect();
    // The largest take longest.
    jobs.sort_unstable_by(|one, other| other.cmp(one));
    let tallies = Mutex::new(vec![Tally::default(); algorithms.len()]);
    let next = AtomicUsize::new(0);
    let failed: Vec<_> = algorithms.iter().map(|_| AtomicBool::new(false)).collect();
    let start = Instant::now();
    let work = || {
        while let Some(&(size, at)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            match prove_size(algorithms[at], size, &asked) {
                Ok(tally) => tallies.lock().expect("nobody panics")[at].add(tally),
                // One fault of an algorithm is enough to begin with.
                Err(why) if failed[at].swap(true, Ordering::Relaxed) => drop(why),
                Err(why) => println!("{why}"),
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let tallies = tallies.into_inner().expect("nobody panics");
    print(&algorithms, &tallies);
    println!(
        "{:.1} s on {threads} threads",
        start.elapsed().as_secs_f64()
    );
    let failed = failed.into_iter().any(AtomicBool::into_inner);
    ExitCode::from(u8::from(failed))
}

/// What was proved of each algorithm, and what was left out.
fn print(algorithms: &[Algorithm], tallies: &[Tally]) {
    println!(
        "algorithm                                     cases  by few ranks  left out  messages    to ranks    s"
    );
    for (algorithm, tally) in algorithms.iter().zip(tallies) {
        println!(
            "{:<42} {:>8} {:>13} {:>9} {:>8.1}M {:>11} {:>6.1}",
            algorithm.to_string(),
            tally.proved[0] + tally.proved[1],
            tally.proved[1],
            tally.left_out,
            tally.messages as f64 / 1e6,
            tally.largest,
            tally.spent.as_secs_f64(),
        );
    }
    let left_out: u64 = tallies.iter().map(|tally| tally.left_out).sum();
    println!(
        "left out: nothing on 1 to {FEW} ranks, no plainest case, and on nodes nothing to {PLACED}; {left_out} variants \
         of more than {LONG} steps, of those drawn on every {VARIED}th number of ranks (with a root on all), \
         but on every {SAMPLE}th"
    );
}
