//! `balanced` of `KMP_AFFINITY`: spreads threads over the cores, consecutive threads on one core.
//!
//! The places depend on the number of threads. The rules are those of recorded runtimes.

use alloc::vec;
use alloc::vec::Vec;

use oxmpi_topo::CpuSet;

use crate::openmp::map::{Level, Map};

/// The processors of each of `threads` threads. With `fine`, each thread gets one processor, otherwise its
/// whole core. `None` if the machine has no cores to balance over.
pub(crate) fn bind(map: &Map, threads: usize, fine: bool) -> Option<Vec<CpuSet>> {
    if threads == 1 {
        return Some(vec![map.cpus()]);
    }
    match map.is_uniform() {
        true => Some(uniform(map, threads, fine)),
        false => uneven(map, threads, fine),
    }
}

/// For machines whose cores all have the same number of hardware threads.
fn uniform(map: &Map, threads: usize, fine: bool) -> Vec<CpuSet> {
    let (all, packages) = (map.rows.len(), map.ratio(Level::Package));
    let (mut cores, mut width) = (map.cores(), all / map.cores());
    if packages > 1 && width <= 1 {
        // Without hyper-threading, threads are balanced over packages.
        (cores, width) = (packages, all / packages);
    }
    let (chunk, big) = (threads / cores, threads % cores);
    let place = |thread: usize| {
        let (core, round) = match thread < (chunk + 1) * big {
            true => (thread / (chunk + 1), thread % (chunk + 1)),
            false => ((thread - big) / chunk, (thread - big) % chunk),
        };
        let first = core * width;
        let rows = match fine {
            true => &map.rows[first + round % width..][..1],
            false => &map.rows[first..first + width],
        };
        rows.iter().map(|row| row.cpu).collect()
    };
    (0..threads).map(place).collect()
}

/// For machines whose cores differ: a table with a row for each core, and a column for each processor of the
/// largest core.
fn uneven(map: &Map, threads: usize, fine: bool) -> Option<Vec<CpuSet>> {
    let level = deepest_numbered(map);
    let width: usize = map.ratios[level + 1..].iter().product();
    let mut units: Vec<Vec<usize>> = Vec::new();
    for (row, starts) in map.rows.iter().zip(map.starts(map.depth() - 1 - level)) {
        if starts {
            units.push(Vec::new());
        }
        units.last_mut()?.push(row.cpu);
    }
    if units.len() * width < 2.max(map.rows.len()) {
        return None;
    }
    let place = |unit: usize, cpu: usize| match fine {
        true => CpuSet::one(cpu),
        false => units[unit].iter().copied().collect(),
    };
    let each = || {
        units
            .iter()
            .enumerate()
            .flat_map(|(unit, cpus)| cpus.iter().map(move |cpu| (unit, *cpu)))
    };
    let tokens: Vec<(usize, usize)> = if threads == map.rows.len() {
        each().collect()
    } else if threads <= units.len() {
        units
            .iter()
            .enumerate()
            .map(|(unit, cpus)| (unit, cpus[0]))
            .take(threads)
            .collect()
    } else {
        deal(&units, width, threads)
    };
    Some(
        tokens
            .into_iter()
            .map(|(unit, cpu)| place(unit, cpu))
            .collect(),
    )
}

/// The level of cores as a runtime finds it: above the deepest level with a hardware number other than 0.
fn deepest_numbered(map: &Map) -> usize {
    let in_map = |level: usize| {
        let all = &map.all;
        all.iter()
            .position(|other| *other == map.levels[level])
            .unwrap_or(0)
    };
    let numbered = |level: &usize| map.rows.iter().any(|row| row.ids[in_map(*level)] > 0);
    let deepest = (1..map.depth()).rev().find(numbered);
    deepest.map_or(0, |level| level - 1)
}

/// More threads than cores: rounds over all cores, in each of which a core gives its processor with the
/// fewest threads.
fn deal(units: &[Vec<usize>], width: usize, threads: usize) -> Vec<(usize, usize)> {
    let mut tokens: Vec<Vec<usize>> = units.iter().map(|cpus| vec![0; cpus.len()]).collect();
    let mut left = threads;
    let mut full = false;
    while left > 0 {
        for column in 1..=width {
            let mut quota = units.iter().filter(|cpus| cpus.len() >= column).count();
            for unit in &mut tokens {
                if quota == 0 || left == 0 {
                    break;
                }
                let free = unit.iter().position(|count| *count == 0);
                let chosen = match (free, full) {
                    (Some(free), _) => free,
                    (None, true) => 0,
                    (None, false) => continue,
                };
                unit[chosen] += 1;
                quota -= 1;
                left -= 1;
            }
        }
        full = true;
    }
    let units = tokens.iter().enumerate().zip(units);
    units
        .flat_map(|((unit, counts), cpus)| {
            let pairs = counts.iter().zip(cpus);
            pairs.flat_map(move |(count, cpu)| core::iter::repeat_n((unit, *cpu), *count))
        })
        .collect()
}
