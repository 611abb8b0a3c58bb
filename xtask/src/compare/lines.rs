//! Parses the output of the benchmark programs, one JSON object a line, into rows of figures.

use crate::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The figures of one message length in one run. Programs write the names of the three figures with their unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MeasuredRow {
    pub(crate) kernel: String,
    /// The floor's method; else empty.
    #[serde(default)]
    pub(crate) method: String,
    /// The chosen variant of that method; else empty.
    #[serde(default)]
    pub(crate) choice: String,
    pub(crate) ranks: u64,
    pub(crate) bytes: u64,
    /// The unit of the three figures.
    #[serde(default)]
    pub(crate) unit: Unit,
    /// Least, median and 99th percentile over the blocks of the run.
    #[serde(alias = "min_ns")]
    pub(crate) min: f64,
    #[serde(alias = "median_ns")]
    pub(crate) median: f64,
    #[serde(alias = "p99_ns")]
    pub(crate) p99: f64,
    pub(crate) right: bool,
}

/// The unit of figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Unit {
    #[default]
    #[serde(rename = "ns")]
    Nanoseconds,
    #[serde(rename = "B")]
    Bytes,
}

impl Unit {
    /// The unit's symbol in the raw data.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "ns",
            Unit::Bytes => "B",
        }
    }

    /// The symbol in tables, for 1,000 of [`Unit::symbol`].
    pub(crate) fn shown(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "us",
            Unit::Bytes => "kB",
        }
    }
}

impl MeasuredRow {
    /// A row made of the values of a whole run, `nanoseconds`, which must not be empty.
    pub(crate) fn times(kernel: &str, ranks: usize, mut nanoseconds: Vec<f64>) -> MeasuredRow {
        nanoseconds.sort_by(f64::total_cmp);
        let last = nanoseconds.len() - 1;
        MeasuredRow {
            kernel: kernel.into(),
            method: String::new(),
            choice: String::new(),
            ranks: ranks as u64,
            bytes: 0,
            unit: Unit::Nanoseconds,
            min: nanoseconds[0],
            median: nanoseconds[last / 2],
            p99: nanoseconds[last],
            right: true,
        }
    }

    /// A row for one number of bytes.
    fn memory(kernel: &str, ranks: usize, bytes: u64) -> MeasuredRow {
        MeasuredRow {
            unit: Unit::Bytes,
            ..MeasuredRow::times(kernel, ranks, vec![bytes as f64])
        }
    }
}

/// Parses the output of a job of `ranks`.
///
/// # Errors
/// When a line is not JSON.
pub(crate) fn rows(text: &str, ranks: usize) -> Result<Vec<MeasuredRow>> {
    let lines: Vec<Value> = text
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(serde_json::from_str)
        .collect::<std::result::Result<_, _>>()?;
    let all = |kernel: &str| lines.iter().all(|line| line["kernel"] == kernel);
    Ok(if lines.len() == ranks && all("init") {
        joining(&lines)
    } else if lines.len() == ranks && all("memory") {
        memory(&lines)
    } else {
        let figures = |line| serde_json::from_value(line).ok();
        lines.into_iter().filter_map(figures).collect()
    })
}

/// MPI_Init and MPI_Finalize of the slowest rank.
fn joining(lines: &[Value]) -> Vec<MeasuredRow> {
    let both = |line: &Value| Some(line["init_ns"].as_f64()? + line["finalize_ns"].as_f64()?);
    let slowest = lines.iter().filter_map(both).reduce(f64::max);
    slowest
        .map(|slowest| MeasuredRow::times("init", lines.len(), vec![slowest]))
        .into_iter()
        .collect()
}

/// Memory of the rank that has most, and the job's mapped shared memory, counted once however many ranks
/// map it.
fn memory(lines: &[Value]) -> Vec<MeasuredRow> {
    let most = |name: &str| lines.iter().filter_map(|line| line[name].as_u64()).max();
    let mut files: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
    let maps = lines.iter().filter_map(|line| line["shared"].as_array());
    for map in maps.flatten() {
        let file = map[0].as_str().unwrap_or_default();
        let ends = map[1].as_u64().zip(map[2].as_u64());
        files.entry(file).or_default().extend(ends);
    }
    let mapped = files.into_values().map(covered).sum();
    let row = |name, bytes| MeasuredRow::memory(name, lines.len(), bytes);
    [
        most("private").map(|bytes| row("private, largest rank", bytes)),
        most("touched").map(|bytes| row("shared and touched, largest rank", bytes)),
        Some(row("shared and mapped, job", mapped)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The number of bytes in at least one of these half-open ranges.
fn covered(mut ranges: Vec<(u64, u64)>) -> u64 {
    ranges.sort_unstable();
    let (mut bytes, mut reached) = (0, 0);
    for (from, to) in ranges {
        bytes += to.saturating_sub(from.max(reached));
        reached = reached.max(to);
    }
    bytes
}
