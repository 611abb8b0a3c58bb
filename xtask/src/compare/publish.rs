//! Writes the results of a comparison: raw JSON under `target/`; CSV, tables, report and machine for the
//! repository.

use super::lines::MeasuredRow;
use super::placement::Probe;
use super::programs::Implementation;
use super::rounds::MeasuredRun;
use crate::{Repo, Result};
use serde_json::json;
use std::collections::BTreeMap;
use std::iter;
use std::path::{Path, PathBuf};
use xshell::cmd;

/// Writes the raw data to `target/compare/runs.json` and returns that path.
pub(crate) fn keep_raw(
    repo: &Repo,
    probe: &Probe,
    implementations: &[Implementation],
    runs: &[MeasuredRun],
) -> Result<PathBuf> {
    let mut whole = json!({
        "format": "oxmpi-compare", "version": 2,
        "versions": versions(implementations),
        "runs": runs,
    });
    for (name, value) in facts(repo, probe)? {
        whole[name] = value.into();
    }
    let raw = repo.root.join("target/compare/runs.json");
    repo.shell
        .write_file(&raw, serde_json::to_string_pretty(&whole)? + "\n")?;
    Ok(raw)
}

/// Writes `runs.csv`, `tables.txt`, `report.txt` and `machine.txt` into a new folder of `crates/bench/runs`, named by
/// date and kind of processor.
pub(crate) fn publish(
    repo: &Repo,
    probe: &Probe,
    implementations: &[Implementation],
    runs: &[MeasuredRun],
    tables: &str,
) -> Result<PathBuf> {
    let sh = &repo.shell;
    let folder = new_folder(repo, probe, "")?;
    let csv = folder.join("runs.csv");
    sh.write_file(&csv, to_csv(&facts(repo, probe)?, implementations, runs)?)?;
    sh.write_file(folder.join("tables.txt"), tables)?;
    let oxmpi = repo.oxmpi()?;
    let report = folder.join("report.txt");
    cmd!(
        sh,
        "{oxmpi} bench report --text --force --output {report} {csv}"
    )
    .run()?;
    Ok(folder)
}

/// Makes a folder `crates/bench/runs/DATE-KIND` with `suffix`, numbered from the second of that name on, and describes
/// the machine in it.
pub(crate) fn new_folder(repo: &Repo, probe: &Probe, suffix: &str) -> Result<PathBuf> {
    let sh = &repo.shell;
    let facts = facts(repo, probe)?;
    let name = format!("{}-{}{suffix}", facts[0].1, probe.kind);
    let folder = unused(&repo.root.join("crates/bench/runs"), &name);
    sh.create_dir(&folder)?;
    let oxmpi = repo.oxmpi()?;
    let tree = cmd!(sh, "{oxmpi} topo").quiet().read()?;
    let lines = facts
        .iter()
        .map(|(name, value)| format!("{name}: {value}\n"));
    let text = lines.collect::<String>() + "\n" + &tree + "\n";
    sh.write_file(folder.join("machine.txt"), text)?;
    Ok(folder)
}

/// The first lines of a published run: date, sources and machine.
fn facts(repo: &Repo, probe: &Probe) -> Result<[(&'static str, String); 5]> {
    let sh = &repo.shell;
    Ok([
        ("date", cmd!(sh, "date -u +%F").quiet().read()?),
        (
            "commit",
            cmd!(sh, "git rev-parse --short HEAD").quiet().read()?,
        ),
        ("processor", probe.model.clone()),
        ("kernel", cmd!(sh, "uname -r").quiet().read()?),
        ("compiler", cmd!(sh, "rustc --version").quiet().read()?),
    ])
}

fn versions(implementations: &[Implementation]) -> BTreeMap<&str, &str> {
    let versions = implementations
        .iter()
        .map(|implementation| (implementation.name, implementation.version.as_str()));
    versions.collect()
}

/// A path in `all` that does not exist: `name`, or `name` with a number from 2 on.
fn unused(all: &Path, name: &str) -> PathBuf {
    let mut names =
        iter::once(name.to_owned()).chain((2..).map(|number| format!("{name}-{number}")));
    let unused = names.find(|name| !all.join(name).exists());
    all.join(unused.unwrap_or_default())
}

/// A column of `runs.csv`: its name, and its field for a row of a run.
type Column = (&'static str, fn(&MeasuredRun, &MeasuredRow) -> String);

/// The columns of `runs.csv`, as `docs/formats.md` describes them.
const COLUMNS: [Column; 16] = [
    ("round", |run, _| run.round.to_string()),
    ("implementation", |run, _| run.implementation.into()),
    ("work", |run, _| run.work.into()),
    ("placement", |run, _| run.tag.unwrap_or_default().into()),
    ("probe_before_ns", |run, _| probe(run, 0)),
    ("probe_after_ns", |run, _| probe(run, 1)),
    ("kernel", |_, row| row.kernel.clone()),
    ("method", |_, row| row.method.clone()),
    ("choice", |_, row| row.choice.clone()),
    ("ranks", |_, row| row.ranks.to_string()),
    ("bytes", |_, row| row.bytes.to_string()),
    ("unit", |_, row| row.unit.symbol().into()),
    ("min", |_, row| row.min.to_string()),
    ("median", |_, row| row.median.to_string()),
    ("p99", |_, row| row.p99.to_string()),
    ("right", |_, row| row.right.to_string()),
];

/// A measurement of the placement; empty where the placement does not matter.
fn probe(run: &MeasuredRun, at: usize) -> String {
    run.probes
        .map_or_else(String::new, |probes| probes[at].to_string())
}

/// All runs as comma-separated values: the facts and versions as comments, a line of column names, a line per row.
fn to_csv(
    facts: &[(&str, String)],
    implementations: &[Implementation],
    runs: &[MeasuredRun],
) -> Result<String> {
    let mut text = "# format: oxmpi-compare 3\n".to_owned();
    for (name, value) in facts {
        text += &format!("# {name}: {value}\n");
    }
    for (name, version) in versions(implementations) {
        text += &format!("# version {name}: {version}\n");
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS.map(|(name, _)| name))?;
    for run in runs {
        for row in &run.rows {
            writer.write_record(COLUMNS.map(|(_, field)| field(run, row)))?;
        }
    }
    Ok(text + &String::from_utf8(writer.into_inner()?)?)
}
