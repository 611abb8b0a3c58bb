//! Measures the time to compute a rank's schedule of the circulant graph, mean and slowest over many
//! ranks of one group, and prints the sizes of a schedule and of the largest plan. Fails if the mean is
//! above 20 us in every round: other load can lengthen a round, never shorten it.
//!
//! ```sh
//! cargo run --release -p oxmpi-coll --example schedules 1000003
//! ```

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use oxmpi_coll::catalog::AnyPlan;
use oxmpi_coll::circulant::Schedule;

/// The number of ranks measured, spread over the group.
const RANKS: u32 = 100_000;

/// The number of times that all of them are measured.
const ROUNDS: usize = 5;

/// The largest mean time of a schedule that passes.
const MOST: Duration = Duration::from_micros(20);

/// The shortest of five runs, so that an interruption of one of them does not count.
fn shortest(rank: u32, size: u32) -> Duration {
    let run = |_| {
        let start = Instant::now();
        black_box(Schedule::new(black_box(rank), size));
        start.elapsed()
    };
    (0..5).map(run).min().expect("some runs")
}

fn main() -> ExitCode {
    let size = match std::env::args().nth(1).map(|text| text.parse()) {
        None => 1_000_003,
        Some(Ok(size)) if size > 0 => size,
        Some(_) => {
            eprintln!("schedules: the argument must be a number of ranks, at least 1");
            return ExitCode::FAILURE;
        }
    };
    let ranks = || (0..size).step_by((size / RANKS).max(1) as usize);
    let round = |_| {
        let start = Instant::now();
        for rank in ranks() {
            black_box(Schedule::new(black_box(rank), size));
        }
        start.elapsed() / ranks().count() as u32
    };
    let mean = (0..ROUNDS).map(round).min().expect("some rounds");
    let slowest = ranks()
        .map(|rank| shortest(rank, size))
        .max()
        .expect("there is a rank");
    println!(
        "{size} ranks: {mean:?} a rank, {slowest:?} the slowest of {}; a schedule has {} bytes, \
         the largest plan {}",
        ranks().count(),
        size_of::<Schedule>(),
        size_of::<AnyPlan>(),
    );
    if mean > MOST {
        eprintln!(
            "schedules: the mean time of a schedule is {mean:?}, above the limit of {MOST:?}"
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
