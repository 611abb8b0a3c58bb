//! The raw data, the tables and the report that are kept; the page with plots is made of the raw data.

use super::placement::Probe;
use super::programs::Implementation;
use super::rounds::Run;
use crate::{Repo, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::iter;
use std::path::{Path, PathBuf};
use xshell::cmd;

/// Writes every run, the tables and a report into a new folder named by date and kind of processor.
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
    let all = repo.root.join("crates/bench/runs");
    let folder = unused(&all, &format!("{date}-{}", probe.kind));
    sh.create_dir(&folder)?;
    let runs: Vec<Value> = runs.iter().map(object).collect();
    let versions: BTreeMap<_, _> = implementations
        .iter()
        .map(|i| (i.name, &i.version))
        .collect();
    let whole = json!({
        "format": "oxmpi-compare", "version": 2, "date": date, "commit": commit,
        "processor": probe.model, "kernel": kernel, "compiler": compiler,
        "versions": versions, "runs": runs,
    });
    let raw = folder.join("runs.json");
    sh.write_file(&raw, serde_json::to_string_pretty(&whole)? + "\n")?;
    sh.write_file(folder.join("tables.txt"), tables)?;
    let oxmpi = repo.oxmpi()?;
    let report = folder.join("report.txt");
    cmd!(
        sh,
        "{oxmpi} bench report --text --force --output {report} {raw}"
    )
    .run()?;
    Ok(folder)
}

/// A folder of that name in `all` that is not there yet, with a number from the second one on.
fn unused(all: &Path, name: &str) -> PathBuf {
    let mut names =
        iter::once(name.to_owned()).chain((2..).map(|number| format!("{name}-{number}")));
    let unused = names.find(|name| !all.join(name).exists());
    all.join(unused.unwrap_or_default())
}

/// A run as `docs/formats.md` describes it.
fn object(run: &Run) -> Value {
    let rows = run.rows.iter().map(|row| {
        json!({
            "kernel": row.kernel, "method": row.method, "choice": row.choice,
            "ranks": row.ranks, "bytes": row.bytes, "unit": row.unit.symbol(),
            "min": row.min, "median": row.median, "p99": row.p99, "right": row.right,
        })
    });
    json!({
        "round": run.round, "implementation": run.implementation, "work": run.work,
        "ranks": run.ranks, "probes_ns": run.probes, "placement": run.tag,
        "rows": rows.collect::<Vec<_>>(),
    })
}
