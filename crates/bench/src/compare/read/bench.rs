//! Reads results of `oxmpi bench --json`.

use super::super::run::{ComparedRun, FIGURES, Figure, Kind, Subject, Unit, benchmark};
use crate::Part;
use crate::plot::units;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::format;
use std::string::String;
use std::vec::Vec;

/// The fields that a report uses; `docs/formats.md` describes the file.
#[derive(Deserialize)]
pub(super) struct BenchRecord {
    #[serde(default)]
    environment: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    method: BenchMethod,
    #[serde(default)]
    ranks: Vec<RankPlace>,
    tables: Vec<BenchTable>,
}

/// Where a rank ran.
#[derive(Deserialize)]
struct RankPlace {
    host: String,
    cpus: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BenchMethod {
    /// Whether every repetition was checked.
    check: bool,
    off_cache: Option<OffCache>,
}

#[derive(Deserialize)]
struct OffCache {
    cache_bytes: u64,
}

#[derive(Deserialize)]
struct BenchTable {
    /// If missing, the run is of the only part that there was.
    #[serde(default)]
    part: String,
    benchmark: String,
    #[serde(default = "standard")]
    mode: String,
    #[serde(default)]
    aggregation: Option<String>,
    processes: usize,
    /// If missing, the mode says whether there are several groups.
    groups: Option<Vec<IgnoredAny>>,
    rows: Vec<BenchRow>,
    #[serde(default)]
    skipped: Vec<Skipped>,
}

/// A message length without a row.
#[derive(Deserialize)]
struct Skipped {
    bytes: u64,
    needed_bytes: u64,
}

#[derive(Deserialize)]
struct BenchRow {
    #[serde(default)]
    bytes: u64,
    t_max_us: Option<f64>,
    #[serde(default)]
    overlap: Option<Overlap>,
    block_min_us: f64,
    block_median_us: f64,
    block_p99_us: f64,
    /// `null` means infinity.
    #[serde(default = "none")]
    defect: Option<f64>,
}

/// How far a collective goes on while its ranks compute.
#[derive(Deserialize)]
struct Overlap {
    percent_of_min: f64,
    availability: f64,
}

/// The mode of a table with one group.
const STANDARD: &str = "standard";

fn standard() -> String {
    STANDARD.into()
}

/// The defect when the field is missing: 0.
fn none() -> Option<f64> {
    Some(0.0)
}

/// Texts of the environment that a report shows, with their titles.
const FACTS: [(&str, &str); 7] = [
    ("library", "library"),
    ("date", "date"),
    ("machine", "machine"),
    ("system", "system"),
    ("release", "release"),
    ("thread_level", "threads"),
    ("command", "command"),
];

/// Lists of the environment that a report shows.
const LISTS: [&str; 2] = ["transports", "settings"];

/// The maximum number of ranks whose processors are shown.
const PLACES_MAX: usize = 16;

/// The processors of the ranks in order, by host; only the first ranks if there are many.
fn places(ranks: &[RankPlace]) -> String {
    let mut text = String::new();
    let mut host = "";
    for RankPlace { host: own, cpus } in ranks.iter().take(PLACES_MAX) {
        match text.as_str() {
            "" => text = format!("{own}: {cpus}"),
            _ if own == host => text += &format!(" | {cpus}"),
            _ => text += &format!("; {own}: {cpus}"),
        }
        host = own;
    }
    match ranks.len().saturating_sub(PLACES_MAX) {
        0 => text,
        more => format!("{text} and {more} ranks more"),
    }
}

/// Joins a list of texts or of settings.
fn list(value: Option<&serde_json::Value>) -> String {
    let item = |item: &serde_json::Value| {
        let text = |field: &str| item.get(field).and_then(|text| text.as_str());
        match (item.as_str(), text("name"), text("value")) {
            (Some(name), ..) => Some(String::from(name)),
            (_, Some(name), Some(value)) => Some(format!("{name}={value}")),
            _ => None,
        }
    };
    let items = value.and_then(|value| value.as_array());
    let items: Vec<String> = items.into_iter().flatten().filter_map(item).collect();
    items.join(", ")
}

/// Makes a run whose figures are the median of the blocks, from the fastest block to the 99th percentile.
pub(super) fn run(name: &str, record: BenchRecord) -> ComparedRun {
    let mut run = ComparedRun::new(name, Kind::Rival);
    for (field, shown) in FACTS {
        let text = record.environment.get(field).and_then(|text| text.as_str());
        run.fact(shown, text.unwrap_or_default());
    }
    for field in LISTS {
        run.fact(field, list(record.environment.get(field)));
    }
    run.fact("processors", places(&record.ranks));
    run.fact(
        FIGURES,
        "medians of blocks; from the fastest to the 99th percentile",
    );
    if let Some(OffCache { cache_bytes }) = record.method.off_cache {
        let cache = units::bytes(cache_bytes as f64);
        run.fact("off cache", format!("messages come from beyond {cache}"));
    }
    if record.method.check {
        run.fact(
            "checked",
            "every repetition is proven, so times are not valid",
        );
    }
    for table in record.tables {
        let several = match &table.groups {
            Some(groups) => groups.len() > 1,
            None => table.mode != STANDARD,
        };
        let part = Part::named(&table.part).unwrap_or_default();
        let name = (table.benchmark.as_str(), table.aggregation.as_deref());
        let subject = Subject {
            benchmark: benchmark(part, several, name),
            ranks: table.processes,
            placement: String::new(),
            unit: Unit::Microseconds,
        };
        for row in table.rows {
            let note = match row.defect {
                Some(0.0) => record
                    .method
                    .check
                    .then(|| "its time includes proofs".into()),
                Some(defect) => Some(format!("wrong data, off by {defect}")),
                None => Some("wrong data".into()),
            };
            let figure = Figure {
                value: Some(row.block_median_us),
                mean: row.t_max_us,
                range: Some((row.block_min_us, row.block_p99_us)),
                remark: row.overlap.map(|overlap| {
                    let (percent, availability) = (overlap.percent_of_min, overlap.availability);
                    format!("overlap {percent:.0} %, availability {availability:.2}")
                }),
                note,
            };
            run.add(subject.clone(), row.bytes, figure);
        }
        for Skipped {
            bytes,
            needed_bytes,
        } in table.skipped
        {
            let needed = units::bytes(needed_bytes as f64);
            let figure = Figure {
                note: Some(format!("not measured: a rank needs {needed}")),
                ..Figure::default()
            };
            run.add(subject.clone(), bytes, figure);
        }
    }
    run
}
