//! Finds the nearest and the farthest two processors, by the transfer time of a cache line.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use oxmpi_os::affinity;
use oxmpi_topo::Kind;

use crate::machine;

/// Largest number of probed processors; of a larger machine every n-th core is probed.
const PROBED_MAX: usize = 64;

/// Ratio of transfer times above which the far pair is measured too.
const APART: f64 = 1.3;

/// Time of one probe, and exchanges in a block; the fastest block counts.
const PROBE: Duration = Duration::from_millis(10);
const EXCHANGES: u64 = 100;

/// Two processors.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CpuPair {
    /// `near` or `far`.
    pub(super) name: &'static str,
    pub(super) processors: [usize; 2],
    /// One-way transfer time of a cache line that both processors write.
    pub(super) line_transfer_ns: f64,
}

/// The first processor with the nearest one on another core, and with the farthest one if that is much farther.
///
/// # Errors
/// If this process cannot use two processors.
pub(super) fn find() -> Result<Vec<CpuPair>, String> {
    let cores = cores()?;
    let [first, others @ ..] = cores.as_slice() else {
        return Err("this process has no processor".into());
    };
    if others.is_empty() {
        return Err(format!(
            "this process may use only processor {first}, but a measurement needs two"
        ));
    }
    let mut probes = Vec::new();
    for &other in others {
        let line_transfer_ns = line(*first, other)
            .map_err(|why| format!("processors {first} and {other} cannot be used: {why}"))?;
        probes.push(([*first, other], line_transfer_ns));
    }
    Ok(near_and_far(&probes))
}

/// The nearest and the farthest pair of `probes`.
fn near_and_far(probes: &[([usize; 2], f64)]) -> Vec<CpuPair> {
    let pair = |name, &(processors, line_transfer_ns): &([usize; 2], f64)| CpuPair {
        name,
        processors,
        line_transfer_ns,
    };
    let by_time = |a: &&([usize; 2], f64), b: &&([usize; 2], f64)| a.1.total_cmp(&b.1);
    let ends = probes
        .iter()
        .min_by(by_time)
        .zip(probes.iter().max_by(by_time));
    let Some((near, far)) = ends else {
        return Vec::new();
    };
    let mut pairs = vec![pair("near", near)];
    if far.1 > APART * near.1 {
        pairs.push(pair("far", far));
    }
    pairs
}

/// A processor of each core, or of every n-th core, in the mask of this process.
fn cores() -> Result<Vec<usize>, String> {
    let mask = affinity::current().map_err(|why| format!("cannot read the CPU mask: {why}"))?;
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
    let step = cores.len().div_ceil(PROBED_MAX).max(1);
    Ok(cores.into_iter().step_by(step).collect())
}

/// A cache line of its own, with the neighbour that the prefetcher fetches.
#[repr(align(128))]
struct CacheLine(AtomicU64);

/// Ends the probe.
const STOP: u64 = u64::MAX;

/// One-way transfer time in nanoseconds of a cache line that two processors write alternately: the fastest block.
fn line(first: usize, second: usize) -> std::io::Result<f64> {
    let line = CacheLine(AtomicU64::new(0));
    std::thread::scope(|threads| {
        let there = threads.spawn(|| {
            let bound = affinity::set_current(&affinity::mask([second]));
            answer(&line.0);
            bound
        });
        // In a thread of its own, so that the mask of this thread stays.
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

/// Writes odd numbers and waits for the even ones.
fn ask(line: &AtomicU64) -> f64 {
    let (start, mut round) = (Instant::now(), 0);
    let mut fastest = f64::INFINITY;
    while start.elapsed() < PROBE || fastest.is_infinite() {
        let begin = Instant::now();
        for _ in 0..EXCHANGES {
            line.store(round + 1, Relaxed);
            round += 2;
            while line.load(Relaxed) != round {
                std::hint::spin_loop();
            }
        }
        fastest = fastest.min(begin.elapsed().as_nanos() as f64 / EXCHANGES as f64 / 2.0);
    }
    fastest
}

/// Answers odd numbers with even ones until [`STOP`].
fn answer(line: &AtomicU64) {
    loop {
        match line.load(Relaxed) {
            STOP => return,
            round if round % 2 == 1 => line.store(round + 1, Relaxed),
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
