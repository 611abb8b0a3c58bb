//! Runs every implementation in turn, in rounds, and measures the processors' placement around each run.

use super::CompareOptions;
use super::lines::{self, MeasuredRow};
use super::placement::{Probe, tag};
use super::programs::{Implementation, NO_PEERS};
use super::works::Work;
use crate::Result;
use serde::Serialize;
use std::fs::File;
use std::path::Path;
use std::time::Instant;

/// How often one run starts a whole command.
const STARTS: usize = 5;

/// One run of one implementation.
#[derive(Serialize)]
pub(crate) struct MeasuredRun {
    pub(crate) round: usize,
    pub(crate) implementation: &'static str,
    pub(crate) work: &'static str,
    pub(crate) ranks: usize,
    /// Nanoseconds that the placement probe measured before and after the run, where the placement matters.
    #[serde(rename = "probes_ns")]
    pub(crate) probes: Option<[f64; 2]>,
    /// The placement, if it was the same before and after; `any` where it does not matter.
    #[serde(rename = "placement")]
    pub(crate) tag: Option<&'static str>,
    pub(crate) rows: Vec<MeasuredRow>,
}

/// Runs `work` on all implementations in turn until one placement has as many runs of each as the options
/// ask for, but at most twice as many rounds. Each round begins with another implementation. A peer that fails is left out from
/// the next round on, with a message.
pub(crate) fn interleave(
    work: &Work,
    implementations: &[Implementation],
    probe: &Probe,
    options: &CompareOptions,
) -> Result<Vec<MeasuredRun>> {
    let rounds = usize::from(options.rounds);
    let mut able: Vec<&Implementation> = implementations.iter().filter(|i| work.suits(i)).collect();
    let mut runs: Vec<MeasuredRun> = Vec::new();
    for round in 0..2 * rounds {
        let mut failed = Vec::new();
        let _lock = options.lock.as_deref().map(locked).transpose()?;
        for offset in 0..able.len() {
            let implementation = able[(round + offset) % able.len()];
            let before = work.placed.then(|| probe.nanoseconds()).transpose()?;
            let rows = match measure(work, implementation) {
                Err(why) if !NO_PEERS.contains(&implementation.name) => {
                    println!("left out of {}: {why}", work.name);
                    failed.push(implementation.name);
                    continue;
                }
                rows => rows?,
            };
            let after = work.placed.then(|| probe.nanoseconds()).transpose()?;
            let probes = before.zip(after).map(|(before, after)| [before, after]);
            let tag = match probes.map(|p| p.map(|ns| tag(probe.kind, ns))) {
                None => Some("any"),
                Some([before, after]) if before == after => before,
                Some(_) => None,
            };
            runs.push(MeasuredRun {
                round,
                implementation: implementation.name,
                work: work.name,
                ranks: work.ranks,
                probes,
                tag,
                rows,
            });
        }
        able.retain(|implementation| !failed.contains(&implementation.name));
        if round + 1 >= rounds && enough(&able, &runs, rounds) {
            break;
        }
    }
    Ok(runs)
}

/// A lock file that this process holds until the value is dropped.
fn locked(path: &Path) -> Result<File> {
    let file = File::options().create(true).append(true).open(path)?;
    file.lock()?;
    Ok(file)
}

/// Whether one placement has enough runs of every implementation.
fn enough(able: &[&Implementation], runs: &[MeasuredRun], rounds: usize) -> bool {
    ["any", "one", "near", "far"].iter().any(|placement| {
        able.iter().all(|implementation| {
            let kept = |run: &&MeasuredRun| {
                run.implementation == implementation.name && run.tag == Some(placement)
            };
            runs.iter().filter(kept).count() >= rounds
        })
    })
}

/// Runs one implementation once.
fn measure(work: &Work, implementation: &Implementation) -> Result<Vec<MeasuredRow>> {
    if work.program.is_empty() {
        let times = (0..STARTS).map(|_| start(work, implementation));
        let times = times.collect::<Result<_>>()?;
        return Ok(vec![MeasuredRow::times(work.name, work.ranks, times)]);
    }
    let program = implementation.program(work.program);
    let mut command = implementation.command(work, &program);
    command.args(work.words(implementation));
    let text = finished(&mut command, implementation)?;
    let mut rows = lines::rows(&text, work.ranks)?;
    for row in &mut rows {
        row.kernel = work.kernel(std::mem::take(&mut row.kernel));
    }
    let shown = |bytes: &u64| rows.iter().any(|row| row.bytes == *bytes);
    if rows.is_empty() || !work.lengths().all(|bytes| shown(&bytes)) {
        let name = implementation.name;
        let what = work.name;
        return Err(format!("{name}: expected output lines of {what}:\n{text}").into());
    }
    Ok(rows)
}

/// Nanoseconds that `true` on all ranks takes, from the start of its launcher to its end; without a
/// launcher the processes run one after another.
fn start(work: &Work, implementation: &Implementation) -> Result<f64> {
    let start = Instant::now();
    let times = if implementation.launcher.is_some() {
        1
    } else {
        work.ranks
    };
    for _ in 0..times {
        let mut command = implementation.command(work, Path::new("true"));
        finished(&mut command, implementation)?;
    }
    Ok(start.elapsed().as_nanos() as f64)
}

/// The output of a command, or why it failed.
fn finished(command: &mut std::process::Command, of: &Implementation) -> Result<String> {
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}\n{}", of.name, output.status, why.trim()).into())
}
