//! Tables of medians, and the raw data that is kept.

use super::placement::Probe;
use super::programs::Implementation;
use super::rounds::{Row, Run};
use super::works::Work;
use crate::{Repo, Result};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;
use xshell::cmd;

/// The first implementation is ours.
const OURS: usize = 0;

/// A figure of several runs at one length, in nanoseconds.
type Figure = fn(&[&Run], u64) -> Option<f64>;

/// Two tables for each placement, in microseconds: the median over runs of each run's median, and
/// the fastest block of all runs, which other work on the machine disturbs least. The last column
/// is ours over the best peer's.
pub(crate) fn tables(work: &Work, implementations: &[Implementation], runs: &[Run]) -> String {
    let mut text = String::new();
    let mut names: Vec<&str> = implementations.iter().map(|i| i.name).collect();
    names.retain(|name| runs.iter().any(|run| run.implementation == *name));
    let dropped = runs.iter().filter(|run| run.tag.is_none()).count();
    let placements: BTreeSet<&str> = runs.iter().filter_map(|run| run.tag).collect();
    for placement in placements {
        let kept = |name: &str| -> Vec<&Run> {
            let fits = |run: &&Run| run.tag == Some(placement) && run.implementation == name;
            runs.iter().filter(fits).collect()
        };
        _ = write!(
            text,
            "{}, {} ranks, us; placement {placement}; runs kept:",
            work.title, work.ranks
        );
        for name in &names {
            _ = write!(text, " {name} {}", kept(name).len());
        }
        _ = writeln!(text, "; {dropped} runs dropped");
        for (title, figure) in [("median", median as Figure), ("fastest", fastest)] {
            table(
                &mut text,
                title,
                &names,
                &|name, bytes| figure(&kept(name), bytes),
                runs,
            );
            if let Some(bare) = figure(&kept("no launcher"), 0) {
                _ = writeln!(text, "{:>10}{:>13.3} without a launcher", "", bare / 1e3);
            }
        }
        text.push('\n');
    }
    text
}

/// One table: a row for each length, a column for each of `names`, and the ratio.
fn table(
    text: &mut String,
    title: &str,
    names: &[&str],
    figure: &dyn Fn(&str, u64) -> Option<f64>,
    runs: &[Run],
) {
    _ = write!(text, "{title:<8}{:>6}", "bytes");
    for name in names {
        _ = write!(text, "{name:>13}");
    }
    _ = writeln!(text, "{:>13}", "ours/best");
    let lengths: BTreeSet<u64> = runs
        .iter()
        .flat_map(|run| &run.rows)
        .map(|row| row.bytes)
        .collect();
    for bytes in lengths {
        let figures: Vec<Option<f64>> = names.iter().map(|name| figure(name, bytes)).collect();
        _ = write!(text, "{bytes:>14}");
        for figure in &figures {
            match figure {
                Some(nanoseconds) => _ = write!(text, "{:>13.3}", nanoseconds / 1e3),
                None => _ = write!(text, "{:>13}", "-"),
            }
        }
        let ours = figures.get(OURS).copied().flatten();
        let best = figures
            .iter()
            .skip(OURS + 1)
            .flatten()
            .copied()
            .reduce(f64::min);
        if let (Some(ours), Some(best)) = (ours, best) {
            let lost = if ours > best { " lost" } else { "" };
            _ = write!(text, "{:>13.2}{lost}", ours / best);
        }
        text.push('\n');
    }
}

/// The median over runs of their medians; the upper one of two in the middle.
fn median(runs: &[&Run], bytes: u64) -> Option<f64> {
    let mut medians: Vec<f64> = rows(runs, bytes).map(|row| row.median).collect();
    medians.sort_by(f64::total_cmp);
    medians.get(medians.len() / 2).copied()
}

/// The fastest block of all runs.
fn fastest(runs: &[&Run], bytes: u64) -> Option<f64> {
    rows(runs, bytes).map(|row| row.min).reduce(f64::min)
}

fn rows<'a>(runs: &'a [&Run], bytes: u64) -> impl Iterator<Item = &'a Row> {
    runs.iter()
        .flat_map(|run| &run.rows)
        .filter(move |row| row.bytes == bytes)
}

/// Writes every run and the tables into a folder named by date and kind of processor.
pub(crate) fn publish(
    repo: &Repo,
    probe: &Probe,
    implementations: &[Implementation],
    runs: &[Run],
    tables: &str,
) -> Result<PathBuf> {
    let sh = &repo.shell;
    let date = cmd!(sh, "date -u +%F").quiet().read()?;
    let commit = cmd!(sh, "git rev-parse --short HEAD").quiet().read()?;
    let kernel = cmd!(sh, "uname -r").quiet().read()?;
    let compiler = cmd!(sh, "rustc --version").quiet().read()?;
    let folder = repo
        .root
        .join("crates/bench/runs")
        .join(format!("{date}-{}", probe.kind));
    sh.create_dir(&folder)?;
    let runs: Vec<_> = runs
        .iter()
        .map(|run| {
            let rows: Vec<_> = run
                .rows
                .iter()
                .map(|row| {
                    json!({
                        "kernel": row.kernel, "ranks": row.ranks, "bytes": row.bytes,
                        "min_ns": row.min, "median_ns": row.median, "p99_ns": row.p99,
                        "right": row.right,
                    })
                })
                .collect();
            json!({
                "round": run.round, "implementation": run.implementation, "work": run.work,
                "probes_ns": run.probes, "placement": run.tag, "rows": rows,
            })
        })
        .collect();
    let versions: BTreeMap<_, _> = implementations
        .iter()
        .map(|i| (i.name, &i.version))
        .collect();
    let whole = json!({
        "format": "oxmpi-compare", "version": 1, "date": date, "commit": commit,
        "processor": probe.model, "kernel": kernel, "compiler": compiler,
        "versions": versions, "runs": runs,
    });
    sh.write_file(
        folder.join("runs.json"),
        serde_json::to_string_pretty(&whole)? + "\n",
    )?;
    sh.write_file(folder.join("tables.txt"), tables)?;
    Ok(folder)
}
