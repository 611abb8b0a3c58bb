//! Reads raw data of `cargo xtask compare`, as JSON or as comma-separated values: interleaved runs of
//! several implementations.

use super::super::run::{ComparedRun, FIGURES, Figure, Kind, Subject, Unit};
use super::Error;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// The fields that a report uses; `docs/formats.md` describes the file.
#[derive(Deserialize)]
pub(super) struct ComparisonRecord {
    date: String,
    commit: String,
    processor: String,
    kernel: String,
    compiler: String,
    #[serde(default)]
    versions: BTreeMap<String, String>,
    runs: Vec<Round>,
}

/// One run of one implementation for one word of `--what`.
#[derive(Deserialize)]
struct Round {
    implementation: String,
    placement: Option<String>,
    rows: Vec<ImplementationRow>,
}

#[derive(Deserialize)]
struct ImplementationRow {
    kernel: String,
    ranks: usize,
    bytes: u64,
    #[serde(default)]
    method: String,
    unit: String,
    min: f64,
    median: f64,
    p99: f64,
    right: bool,
}

/// The columns of a CSV row that identify its run.
#[derive(Deserialize, PartialEq)]
struct RunKey {
    round: u32,
    work: String,
    implementation: String,
    placement: Option<String>,
}

/// The first line of a comparison as comma-separated values.
pub(super) const CSV_FORMAT: &str = "# format: oxmpi-compare 3";

/// Reads a comparison as comma-separated values: lines `# NAME: VALUE`, a line of column names, and a line per row.
///
/// # Errors
/// When a line has fewer fields than there are columns, a number cannot be parsed, or a column is missing.
pub(super) fn from_csv(text: &str) -> Result<ComparisonRecord, Error> {
    let facts = text.lines().map_while(|line| line.strip_prefix("# "));
    let facts: BTreeMap<&str, &str> = facts.filter_map(|fact| fact.split_once(": ")).collect();
    let fact = |name: &str| facts.get(name).copied().unwrap_or_default().to_string();
    let versions = facts.iter().filter_map(|(name, version)| {
        let implementation = name.strip_prefix("version ")?;
        Some((implementation.to_string(), version.to_string()))
    });
    let mut record = ComparisonRecord {
        date: fact("date"),
        commit: fact("commit"),
        processor: fact("processor"),
        kernel: fact("kernel"),
        compiler: fact("compiler"),
        versions: versions.collect(),
        runs: Vec::new(),
    };
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let columns = reader.headers().map_err(Error::Csv)?.clone();
    let mut last = None;
    for line in reader.records() {
        let line = line.map_err(Error::Csv)?;
        let key: RunKey = line.deserialize(Some(&columns)).map_err(Error::Csv)?;
        let row: ImplementationRow = line.deserialize(Some(&columns)).map_err(Error::Csv)?;
        if last.as_ref() != Some(&key) {
            record.runs.push(Round {
                implementation: key.implementation.clone(),
                placement: key.placement.clone(),
                rows: Vec::new(),
            });
            last = Some(key);
        }
        if let Some(run) = record.runs.last_mut() {
            run.rows.push(row);
        }
    }
    Ok(record)
}

/// The implementation that is the floor: the machine without MPI.
const FLOOR: &str = "floor";
/// The placement of runs for which the placement does not matter.
const ANY: &str = "any";

/// The rows of one implementation for one line of a table, by one method.
struct Cell<'a> {
    subject: Subject,
    bytes: u64,
    method: &'a str,
    rows: Vec<&'a ImplementationRow>,
}

/// Makes a run for each implementation, in the order of the first round, the floor last. The first run
/// carries the facts that they share.
pub(super) fn runs(record: ComparisonRecord) -> Vec<ComparedRun> {
    let mut names: Vec<&str> = Vec::new();
    for round in &record.runs {
        if !names.contains(&round.implementation.as_str()) {
            names.push(&round.implementation);
        }
    }
    names.sort_by_key(|name| *name == FLOOR);
    let mut runs: Vec<ComparedRun> = names.into_iter().map(|name| run(&record, name)).collect();
    if let Some(first) = runs.first_mut() {
        first.fact("date", record.date.as_str());
        first.fact("sources", record.commit.as_str());
        first.fact("processor", record.processor.as_str());
        first.fact("kernel", record.kernel.as_str());
        first.fact("compiler", record.compiler.as_str());
        first.fact(
            FIGURES,
            "medians of runs; from the least run to the largest",
        );
    }
    runs
}

fn run(record: &ComparisonRecord, name: &str) -> ComparedRun {
    let kind = if name == FLOOR {
        Kind::Floor
    } else {
        Kind::Rival
    };
    let mut run = ComparedRun::new(name, kind);
    let version = record.versions.get(name).cloned().unwrap_or_default();
    run.fact("version", version);
    let rounds = || {
        record
            .runs
            .iter()
            .filter(|round| round.implementation == name)
    };
    let kept = rounds().filter(|round| round.placement.is_some()).count();
    run.fact("runs", format!("{kept} of {} kept", rounds().count()));
    for cell in cells(rounds()) {
        let figure = cell.figure();
        run.add(cell.subject, cell.bytes, figure);
    }
    run
}

/// The rows of rounds during which the placement stayed the same.
fn cells<'a>(rounds: impl Iterator<Item = &'a Round>) -> Vec<Cell<'a>> {
    let mut cells: Vec<Cell<'a>> = Vec::new();
    for round in rounds {
        let Some(placement) = &round.placement else {
            continue;
        };
        for row in &round.rows {
            let subject = Subject {
                benchmark: row.kernel.clone(),
                ranks: row.ranks,
                placement: Some(placement.as_str())
                    .filter(|&placement| placement != ANY)
                    .unwrap_or_default()
                    .to_string(),
                unit: match row.unit.as_str() {
                    "B" => Unit::Bytes,
                    _ => Unit::Microseconds,
                },
            };
            let same = |cell: &&mut Cell<'_>| {
                cell.bytes == row.bytes && cell.method == row.method && cell.subject == subject
            };
            match cells.iter_mut().find(same) {
                Some(cell) => cell.rows.push(row),
                None => cells.push(Cell {
                    subject,
                    bytes: row.bytes,
                    method: &row.method,
                    rows: [row].into(),
                }),
            }
        }
    }
    cells
}

impl Cell<'_> {
    /// The median of the medians, the upper one of two middle ones.
    fn figure(&self) -> Figure {
        let scale = match self.subject.unit {
            Unit::Microseconds => 1e3,
            Unit::Bytes => 1.0,
        };
        let mut medians: Vec<f64> = self.rows.iter().map(|row| row.median).collect();
        medians.sort_by(f64::total_cmp);
        let range = match (&medians[..], &self.rows[..]) {
            (_, [row]) => Some((row.min, row.p99)),
            ([least, .., largest], _) => Some((*least, *largest)),
            _ => None,
        };
        let wrong = self.rows.iter().filter(|row| !row.right).count();
        Figure {
            value: medians.get(medians.len() / 2).map(|median| median / scale),
            mean: None,
            range: range.map(|(low, high)| (low / scale, high / scale)),
            remark: None,
            note: (wrong > 0).then(|| format!("wrong data in {wrong} runs")),
        }
    }
}
