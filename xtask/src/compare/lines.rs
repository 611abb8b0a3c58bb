//! What the programs print, one JSON object a line, as rows of figures.

use crate::Result;
use serde_json::Value;
use std::collections::BTreeMap;

/// What a run measured at one length.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) kernel: String,
    /// How, where there are several ways; else empty.
    pub(crate) method: String,
    /// What was chosen about the method; else empty.
    pub(crate) choice: String,
    pub(crate) ranks: u64,
    pub(crate) bytes: u64,
    /// What the three figures count.
    pub(crate) unit: Unit,
    /// Over the blocks of the run.
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) p99: f64,
    pub(crate) right: bool,
}

/// What figures count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Nanoseconds,
    Bytes,
}

impl Unit {
    /// As the raw data has it.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "ns",
            Unit::Bytes => "B",
        }
    }

    /// As tables have it: a thousand of [`Unit::symbol`].
    pub(crate) fn shown(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "us",
            Unit::Bytes => "kB",
        }
    }
}

impl Row {
    /// A row of a whole run's values, `nanoseconds`, which are not empty.
    pub(crate) fn times(kernel: &str, ranks: usize, mut nanoseconds: Vec<f64>) -> Row {
        nanoseconds.sort_by(f64::total_cmp);
        let last = nanoseconds.len() - 1;
        Row {
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

    /// A row of one number of bytes.
    fn memory(kernel: &str, ranks: usize, bytes: u64) -> Row {
        Row {
            unit: Unit::Bytes,
            ..Row::times(kernel, ranks, vec![bytes as f64])
        }
    }
}

/// The rows of what a job of `ranks` printed.
///
/// # Errors
/// When a line is not JSON.
pub(crate) fn rows(text: &str, ranks: usize) -> Result<Vec<Row>> {
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
        lines.iter().filter_map(measured).collect()
    })
}

fn measured(line: &Value) -> Option<Row> {
    let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
    Some(Row {
        kernel: line["kernel"].as_str()?.to_owned(),
        method: text("method"),
        choice: text("choice"),
        ranks: line["ranks"].as_u64()?,
        bytes: line["bytes"].as_u64()?,
        unit: Unit::Nanoseconds,
        min: line["min_ns"].as_f64()?,
        median: line["median_ns"].as_f64()?,
        p99: line["p99_ns"].as_f64()?,
        right: line["right"].as_bool()?,
    })
}

/// Joining and leaving of the slowest rank.
fn joining(lines: &[Value]) -> Vec<Row> {
    let both = |line: &Value| Some(line["init_ns"].as_f64()? + line["finalize_ns"].as_f64()?);
    let slowest = lines.iter().filter_map(both).reduce(f64::max);
    slowest
        .map(|slowest| Row::times("init", lines.len(), vec![slowest]))
        .into_iter()
        .collect()
}

/// Memory of the rank that has most, and shared memory that the job maps, counted once however many
/// ranks map it.
fn memory(lines: &[Value]) -> Vec<Row> {
    let most = |name: &str| lines.iter().filter_map(|line| line[name].as_u64()).max();
    let mut files: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
    let maps = lines.iter().filter_map(|line| line["shared"].as_array());
    for map in maps.flatten() {
        let file = map[0].as_str().unwrap_or_default();
        let ends = map[1].as_u64().zip(map[2].as_u64());
        files.entry(file).or_default().extend(ends);
    }
    let mapped = files.into_values().map(covered).sum();
    let row = |name, bytes| Row::memory(name, lines.len(), bytes);
    [
        most("private").map(|bytes| row("private, largest rank", bytes)),
        most("touched").map(|bytes| row("shared and touched, largest rank", bytes)),
        Some(row("shared and mapped, job", mapped)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Bytes that are in at least one of these ranges, each from its first to before its last number.
fn covered(mut ranges: Vec<(u64, u64)>) -> u64 {
    ranges.sort_unstable();
    let (mut bytes, mut reached) = (0, 0);
    for (from, to) in ranges {
        bytes += to.saturating_sub(from.max(reached));
        reached = reached.max(to);
    }
    bytes
}
