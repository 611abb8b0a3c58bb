//! Measures how near two processors are: `placement [FIRST SECOND]`, by default the first two allowed.
//!
//! Two threads, one on each processor, write one cache line in turn for 10 ms. Prints the median over
//! blocks of the time from one write to the other's, in nanoseconds, and the two processors. On virtual
//! machines two processors may share a core complex at one moment and not at the next: measure before and
//! after each run that is to be compared.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

const TIME: Duration = Duration::from_millis(10);
const ROUNDS_IN_BLOCK: u64 = 1000;

/// The number of the write, alone in its cache line and in the adjacent line that is fetched with it.
#[repr(align(128))]
struct Line(AtomicU64);

/// Written by the first thread when the time is over.
const STOP: u64 = u64::MAX;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<usize> = std::env::args()
        .skip(1)
        .map(|word| word.parse())
        .collect::<Result<_, _>>()?;
    let allowed = sched_getaffinity(None)?;
    let mut allowed = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu));
    let cpus = match given[..] {
        [first, second] if allowed.clone().filter(|cpu| given.contains(cpu)).count() == 2 => {
            [first, second]
        }
        [] => match (allowed.next(), allowed.next()) {
            (Some(first), Some(second)) => [first, second],
            _ => return Err("two processors are needed".into()),
        },
        _ => return Err("name two processors that this process may use, or none".into()),
    };

    let line = Line(AtomicU64::new(0));
    let mut blocks = std::thread::scope(|scope| {
        let second = scope.spawn(|| pin(cpus[1]).map(|()| answer(&line.0)));
        let blocks = pin(cpus[0]).map(|()| ask(&line.0));
        line.0.store(STOP, Relaxed);
        second.join().map_err(|_| "the second thread panicked")??;
        Ok::<_, Box<dyn std::error::Error>>(blocks?)
    })?;
    blocks.sort_by(f64::total_cmp);
    println!(
        "{:.1} ns between processors {} and {}",
        blocks[blocks.len() / 2],
        cpus[0],
        cpus[1]
    );
    Ok(())
}

fn pin(cpu: usize) -> rustix::io::Result<()> {
    let mut one = CpuSet::new();
    one.set(cpu);
    sched_setaffinity(None, &one)
}

/// Writes the odd numbers; returns nanoseconds one way, for each block after the first.
fn ask(line: &AtomicU64) -> Vec<f64> {
    let start = Instant::now();
    let mut round = 0;
    let mut blocks = Vec::new();
    while blocks.len() < 2 || start.elapsed() < TIME {
        let begin = Instant::now();
        for _ in 0..ROUNDS_IN_BLOCK {
            line.store(round + 1, Relaxed);
            round += 2;
            while line.load(Relaxed) != round {}
        }
        blocks.push(begin.elapsed().as_nanos() as f64 / ROUNDS_IN_BLOCK as f64 / 2.0);
    }
    blocks.split_off(1)
}

/// Writes the even numbers until the first thread stops.
fn answer(line: &AtomicU64) {
    loop {
        match line.load(Relaxed) {
            STOP => return,
            round if round % 2 == 1 => line.store(round + 1, Relaxed),
            _ => {}
        }
    }
}
