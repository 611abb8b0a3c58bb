//! Which two processors are near each other, and which are far.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use oxmpi_os::affinity;
use oxmpi_topo::Kind;

use crate::machine;

/// Processors that are looked at, at most: of a larger machine every n-th core.
const LOOKED_AT: usize = 64;

/// The far pair is measured too if it is so many times as far.
const APART: f64 = 1.3;

/// How long one look takes, and the turns of a block: the fastest block counts.
const LOOK: Duration = Duration::from_millis(10);
const TURNS: u64 = 100;

/// Two processors.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CpuPair {
    /// `near` or `far`.
    pub(super) name: &'static str,
    pub(super) processors: [usize; 2],
    /// What a line takes that both write in turn, one way.
    pub(super) line_transfer_ns: f64,
}

/// The nearest processor to the first one, on a core of its own, and the farthest if that differs.
///
/// # Errors
/// A sentence, where there are no two processors, or they cannot be used.
pub(super) fn find() -> Result<Vec<CpuPair>, String> {
    let cores = cores()?;
    let [first, others @ ..] = cores.as_slice() else {
        return Err("this process may use no processor".into());
    };
    if others.is_empty() {
        return Err(format!(
            "this process may use processor {first} only, and a message is measured between two"
        ));
    }
    let mut looks = Vec::new();
    for &other in others {
        let line_transfer_ns = line(*first, other)
            .map_err(|why| format!("processors {first} and {other} cannot be used: {why}"))?;
        looks.push(([*first, other], line_transfer_ns));
    }
    Ok(near_and_far(&looks))
}

/// The ends of `looks`, which are not empty.
fn near_and_far(looks: &[([usize; 2], f64)]) -> Vec<CpuPair> {
    let pair = |name, &(processors, line_transfer_ns): &([usize; 2], f64)| CpuPair {
        name,
        processors,
        line_transfer_ns,
    };
    let by_time = |a: &&([usize; 2], f64), b: &&([usize; 2], f64)| a.1.total_cmp(&b.1);
    let ends = looks
        .iter()
        .min_by(by_time)
        .zip(looks.iter().max_by(by_time));
    let Some((near, far)) = ends else {
        return Vec::new();
    };
    let mut pairs = vec![pair("near", near)];
    if far.1 > APART * near.1 {
        pairs.push(pair("far", far));
    }
    pairs
}

/// A processor of each core that this process may use, or of every n-th.
fn cores() -> Result<Vec<usize>, String> {
    let mask = affinity::current().map_err(|why| format!("no processors are told: {why}"))?;
    let allowed: Vec<usize> = affinity::cpus(&mask).collect();
    let machine = machine::local(false)?;
    let first_of_core = |&cpu: &usize| {
        let core = machine.pu(cpu).and_then(|pu| pu.ancestor(Kind::Core));
        core.is_none_or(|core| {
            let mut theirs = core.cpus().iter().filter(|cpu| allowed.contains(cpu));
            theirs.next() == Some(cpu)
        })
    };
    let cores: Vec<usize> = allowed.iter().copied().filter(first_of_core).collect();
    let step = cores.len().div_ceil(LOOKED_AT).max(1);
    Ok(cores.into_iter().step_by(step).collect())
}

/// A line of its own, and the neighbour that is fetched with it.
#[repr(align(128))]
struct CacheLine(AtomicU64);

/// Set when the look is over.
const STOP: u64 = u64::MAX;

/// Nanoseconds one way of a line that two processors write in turn: the fastest of some blocks.
fn line(first: usize, second: usize) -> std::io::Result<f64> {
    let line = CacheLine(AtomicU64::new(0));
    std::thread::scope(|threads| {
        let there = threads.spawn(|| {
            let bound = affinity::set_current(&affinity::mask([second]));
            answer(&line.0);
            bound
        });
        // In a thread of its own as well: this one keeps its processors.
        let here = threads.spawn(|| {
            let bound = affinity::set_current(&affinity::mask([first]));
            let fastest = ask(&line.0);
            line.0.store(STOP, Relaxed);
            bound.map(|()| fastest)
        });
        let fastest = here.join().expect("it does not panic")?;
        there.join().expect("it does not panic")?;
        Ok(fastest)
    })
}

/// Writes the odd turns.
fn ask(line: &AtomicU64) -> f64 {
    let (start, mut turn) = (Instant::now(), 0);
    let mut fastest = f64::INFINITY;
    while start.elapsed() < LOOK || fastest.is_infinite() {
        let begin = Instant::now();
        for _ in 0..TURNS {
            line.store(turn + 1, Relaxed);
            turn += 2;
            while line.load(Relaxed) != turn {
                std::hint::spin_loop();
            }
        }
        fastest = fastest.min(begin.elapsed().as_nanos() as f64 / TURNS as f64 / 2.0);
    }
    fastest
}

/// Writes the even turns until the other side stops.
fn answer(line: &AtomicU64) {
    loop {
        match line.load(Relaxed) {
            STOP => return,
            turn if turn % 2 == 1 => line.store(turn + 1, Relaxed),
            _ => std::hint::spin_loop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pair_where_all_are_alike_and_two_where_they_are_not() {
        let alike = near_and_far(&[([0, 1], 50.0), ([0, 2], 55.0)]);
        assert_eq!(alike.len(), 1);
        assert_eq!((alike[0].name, alike[0].processors), ("near", [0, 1]));
        let apart = near_and_far(&[([0, 1], 180.0), ([0, 2], 50.0), ([0, 3], 170.0)]);
        let ends: Vec<_> = apart
            .iter()
            .map(|pair| (pair.name, pair.processors))
            .collect();
        assert_eq!(ends, [("near", [0, 2]), ("far", [0, 1])]);
        assert!(near_and_far(&[]).is_empty());
    }
}
