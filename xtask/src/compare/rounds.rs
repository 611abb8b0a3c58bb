//! Rounds of runs: every implementation in turn, with the processors' placement around each run.

use super::placement::{Probe, tag};
use super::programs::Implementation;
use super::works::Work;
use crate::Result;
use serde_json::Value;
use std::path::Path;
use std::time::Instant;

/// Starts of a whole command in one run.
const STARTS: usize = 5;

/// One run of one implementation.
pub(crate) struct Run {
    pub(crate) round: usize,
    pub(crate) implementation: &'static str,
    pub(crate) work: &'static str,
    /// Nanoseconds that the probe saw before and after, where it was asked.
    pub(crate) probes: Option<[f64; 2]>,
    /// The placement, when it was the same before and after; `any` where it does not matter.
    pub(crate) tag: Option<&'static str>,
    pub(crate) rows: Vec<Row>,
}

/// What a run measured at one length, in nanoseconds, over its blocks.
pub(crate) struct Row {
    pub(crate) kernel: String,
    pub(crate) ranks: u64,
    pub(crate) bytes: u64,
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) p99: f64,
    pub(crate) right: bool,
}

/// Runs `work` on all implementations in turn until one placement has `rounds` runs of each, but at
/// most three times as many rounds. Each round begins with another implementation.
pub(crate) fn interleave(
    work: &Work,
    implementations: &[Implementation],
    probe: &Probe,
    rounds: usize,
) -> Result<Vec<Run>> {
    let able: Vec<&Implementation> = implementations
        .iter()
        .filter(|i| !(work.crowded() && i.collapses))
        .collect();
    let mut runs: Vec<Run> = Vec::new();
    for round in 0..3 * rounds {
        for turn in 0..able.len() {
            let implementation = able[(round + turn) % able.len()];
            let before = work.placed.then(|| probe.nanoseconds()).transpose()?;
            let rows = measure(work, implementation)?;
            let after = work.placed.then(|| probe.nanoseconds()).transpose()?;
            let probes = before.zip(after).map(|(before, after)| [before, after]);
            let tag = match probes.map(|p| p.map(|ns| tag(probe.kind, ns))) {
                None => Some("any"),
                Some([before, after]) if before == after => before,
                Some(_) => None,
            };
            let (implementation, work) = (implementation.name, work.name);
            runs.push(Run {
                round,
                implementation,
                work,
                probes,
                tag,
                rows,
            });
        }
        if work.name == "start" {
            runs.push(bare_start(round, work)?);
        }
        if round + 1 >= rounds && enough(&able, &runs, rounds) {
            break;
        }
    }
    Ok(runs)
}

/// Whether one placement has so many runs of every implementation.
fn enough(able: &[&Implementation], runs: &[Run], rounds: usize) -> bool {
    ["any", "one", "near", "far"].iter().any(|placement| {
        able.iter().all(|implementation| {
            let kept = |run: &&Run| {
                run.implementation == implementation.name && run.tag == Some(placement)
            };
            runs.iter().filter(kept).count() >= rounds
        })
    })
}

/// One run.
fn measure(work: &Work, implementation: &Implementation) -> Result<Vec<Row>> {
    if work.name == "start" {
        let times = (0..STARTS).map(|_| {
            let start = Instant::now();
            let mut command = implementation.command(work.ranks, false, Path::new("true"));
            finished(command.output()?, implementation)?;
            Ok(start.elapsed().as_nanos() as f64)
        });
        return Ok(vec![spread(work, times.collect::<Result<_>>()?)]);
    }
    let program = implementation.program(work.program);
    let mut command = implementation.command(work.ranks, work.crowded(), &program);
    let text = finished(command.args(&work.arguments).output()?, implementation)?;
    let lines: Vec<Value> = text
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(serde_json::from_str)
        .collect::<std::result::Result<_, _>>()?;
    let rows: Vec<Row> = if work.name == "init" {
        let both = |line: &Value| Some(line["init_ns"].as_f64()? + line["finalize_ns"].as_f64()?);
        let slowest = lines.iter().filter_map(both).reduce(f64::max);
        slowest
            .map(|slowest| spread(work, vec![slowest]))
            .into_iter()
            .collect()
    } else {
        lines.iter().filter_map(read).collect()
    };
    if rows.len() != work.lines() {
        let name = implementation.name;
        return Err(format!(
            "{name}: not the lines that were awaited of {}:\n{text}",
            work.name
        )
        .into());
    }
    Ok(rows)
}

/// Two processes after each other without any launcher.
fn bare_start(round: usize, work: &Work) -> Result<Run> {
    let times = (0..STARTS).map(|_| {
        let start = Instant::now();
        for _ in 0..2 {
            std::process::Command::new("true").output()?;
        }
        Ok(start.elapsed().as_nanos() as f64)
    });
    let rows = vec![spread(work, times.collect::<Result<_>>()?)];
    let (work, tag) = (work.name, Some("any"));
    Ok(Run {
        round,
        implementation: "no launcher",
        work,
        probes: None,
        tag,
        rows,
    })
}

fn spread(work: &Work, mut nanoseconds: Vec<f64>) -> Row {
    nanoseconds.sort_by(f64::total_cmp);
    let last = nanoseconds.len() - 1;
    Row {
        kernel: work.name.into(),
        ranks: work.ranks as u64,
        bytes: 0,
        min: nanoseconds[0],
        median: nanoseconds[last / 2],
        p99: nanoseconds[last],
        right: true,
    }
}

fn read(line: &Value) -> Option<Row> {
    Some(Row {
        kernel: line["kernel"].as_str()?.to_owned(),
        ranks: line["ranks"].as_u64()?,
        bytes: line["bytes"].as_u64()?,
        min: line["min_ns"].as_f64()?,
        median: line["median_ns"].as_f64()?,
        p99: line["p99_ns"].as_f64()?,
        right: line["right"].as_bool()?,
    })
}

/// What a command printed, or why it failed.
fn finished(output: std::process::Output, implementation: &Implementation) -> Result<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}\n{}", implementation.name, output.status, why.trim()).into())
}
