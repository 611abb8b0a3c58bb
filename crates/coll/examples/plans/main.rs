//! Proves every algorithm of the catalog: on all numbers of ranks to 1,024, and on random larger ones, to
//! 2^20 if a rank takes few steps, else to 4,096. `cargo xtask ci plans` runs it in two parts, `long
//! plans` as a whole with more variants.
//!
//! What is proved, and how:
//! - To 64 ranks, every case by running all ranks: all roots; fewer, as many and more elements than
//!   ranks; with and without a commutative operation; in place and not; drawn parameters; block and
//!   cyclic placement on nodes. A case that cannot be proved is an error.
//! - To 1,024 ranks, the plainest case. Where all ranks are proved to be equivalent to the first ones
//!   step by step, only these are run. To 128 ranks also in block and cyclic placement.
//! - Variants besides: on every eighth number of ranks the plainest case in place and on nodes, and one
//!   drawn case; for a collective with a root, one drawn case on all numbers. A variant of more than
//!   20,000 steps of all ranks together is proved on every 256th number of ranks only; without `--up-to`
//!   this holds only if all ranks must be run. The number of skipped variants is printed.
//! - Beyond 1,024 ranks, the plainest case on random numbers of ranks. The number is halved while a rank
//!   takes many steps, all ranks would read very many blocks or, with `--beyond`, they take more than 3
//!   million steps. Where every rank gets a block of every other and ranks are not equivalent, only some
//!   blocks are followed.
//!
//! Each proof includes the rounds that the catalog states and, where it states the least volume, the
//! volume of the rank that sends most. Times are in seconds of processor time, so that other load hardly
//! counts.
//!
//! Usage: `plans [--up-to RANKS | --beyond] [NAME...]`. A name is `COLLECTIVE` or `COLLECTIVE/ALGORITHM`.
//! `--up-to` proves every number of ranks to that one and no larger one, `--beyond` only the random ones
//! of at most 3 million steps. Without either, the largest proofs take gigabytes per processor.

mod options;
mod proof;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use options::Options;
use oxmpi_coll::catalog::Algorithm;
use proof::{FEW, LONG, PLACED, SAMPLE, Tally, VARIED, beyond, prove_size};

fn main() -> ExitCode {
    let options = match Options::of(std::env::args().skip(1).collect()) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    let algorithms = Algorithm::ALL.into_iter();
    let algorithms: Vec<_> = algorithms.filter(|one| options.names(one)).collect();
    let sizes = |at: usize| {
        let drawn = options.random.then(|| beyond(algorithms[at]));
        let drawn = drawn.into_iter().flatten();
        options
            .every
            .clone()
            .chain(drawn)
            .map(move |size| (size, at))
    };
    let mut jobs: Vec<_> = (0..algorithms.len()).flat_map(sizes).collect();
    // The largest proofs take longest, so they start first.
    jobs.sort_unstable_by(|one, other| other.cmp(one));
    let tallies = Mutex::new(vec![Tally::default(); algorithms.len()]);
    let next = AtomicUsize::new(0);
    let failed: Vec<_> = algorithms.iter().map(|_| AtomicBool::new(false)).collect();
    let start = Instant::now();
    let work = || {
        while let Some(&(size, at)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            match prove_size(algorithms[at], size, &options) {
                Ok(tally) => tallies.lock().expect("no thread panics")[at].add(tally),
                // The first fault of an algorithm is enough.
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
    let tallies = tallies.into_inner().expect("no thread panics");
    print(&algorithms, &tallies);
    println!(
        "{:.1} s on {threads} threads",
        start.elapsed().as_secs_f64()
    );
    let failed = failed.into_iter().any(AtomicBool::into_inner);
    ExitCode::from(u8::from(failed))
}

/// Prints what was proved of each algorithm, and what was skipped.
fn print(algorithms: &[Algorithm], tallies: &[Tally]) {
    println!(
        "algorithm                                     cases  equivalent     skipped  messages    to ranks    s"
    );
    for (algorithm, tally) in algorithms.iter().zip(tallies) {
        println!(
            "{:<42} {:>8} {:>13} {:>9} {:>8.1}M {:>11} {:>6.1}",
            algorithm.to_string(),
            tally.proved[0] + tally.proved[1],
            tally.proved[1],
            tally.skipped,
            tally.messages as f64 / 1e6,
            tally.largest,
            tally.spent.as_secs_f64(),
        );
    }
    let skipped: u64 = tallies.iter().map(|tally| tally.skipped).sum();
    println!(
        "skipped: nothing on 1 to {FEW} ranks, no plainest case, nothing on nodes to {PLACED} ranks; {skipped} variants \
         of more than {LONG} steps that were drawn on every {VARIED}th number of ranks (with a root on all), \
         except on every {SAMPLE}th"
    );
}
