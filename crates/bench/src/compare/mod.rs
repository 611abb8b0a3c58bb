//! Compares the results of several runs, as a page for browsers and as text.
//!
//! ```text
//! read    files to runs: our JSON, comparisons, listings of the original
//! run     what one of them measured
//! report  runs side by side: who is faster, by how much, and how sure that is
//! page    the report as one HTML page, with plots
//! text    the report as text
//! ```
//!
//! ```
//! use oxmpi_bench::compare::{Report, read};
//!
//! let run = |median: f64| format!(r#"{{
//!     "format": "oxmpi-bench", "version": 1,
//!     "tables": [{{"benchmark": "PingPong", "processes": 2, "rows": [{{"bytes": 8, "repetitions": 1000,
//!         "t_max_us": {median}, "blocks": 20, "block_min_us": 0.1,
//!         "block_median_us": {median}, "block_p99_us": 0.4}}]}}]
//! }}"#);
//! let runs = [read("before", &run(0.3))?, read("after", &run(0.2))?].concat();
//! let report = Report::new(runs)?;
//! assert!(report.text().contains("lost"));
//! assert!(report.page().starts_with("<!DOCTYPE html>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod page;
mod read;
mod report;
mod run;
mod text;

#[cfg(test)]
mod tests;

pub use read::{Error, read};
pub use report::{ComparisonRow, ComparisonTable, Ratio, Report, Section, TooMany};
pub use run::{ComparedRun, Figure, Kind, Subject, Unit};
