//! Formats a report as text.

use super::report::{ComparisonRow, ComparisonTable, Ratio, Report};
use super::run::{ComparedRun, Unit};
use crate::plot::units::{digits, ratio};
use std::fmt::Write;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// The text of a cell without a number.
pub(super) const MISSING: &str = "-";

impl Report {
    /// The report as text: every row, and whether the first run loses it.
    pub fn text(&self) -> String {
        text(self)
    }
}

fn text(report: &Report) -> String {
    let mut text = String::new();
    for run in report.runs.iter().chain(&report.floors) {
        _ = writeln!(text, "{}", run.name);
        for (name, fact) in &run.facts {
            _ = writeln!(text, "  {name:<10} {fact}");
        }
    }
    let (rows, lost) = report.score();
    if rows > 0 {
        let first = &report.runs[0].name;
        _ = writeln!(text, "\n{first} has lost {lost} of {rows} rows.");
    }
    for section in &report.sections {
        for table in &section.tables {
            let ranks = table.subject.ranks;
            _ = writeln!(text, "\n{}, {ranks} ranks", section.title());
            text += &aligned(&grid(table, report));
        }
    }
    text
}

/// The headings and cells of a table, for the page and the text.
pub(super) fn grid(table: &ComparisonTable, report: &Report) -> Vec<Vec<String>> {
    let several = report.runs.len() > 1;
    let floor = table.rows.iter().any(|row| row.floor.is_some());
    let unit = match table.subject.unit {
        Unit::Microseconds => "us",
        Unit::Bytes => "B",
    };
    let mut heading: Vec<String> = ["bytes".into()].into();
    heading.extend(report.runs.iter().map(|run| format!("{} {unit}", run.name)));
    if several {
        heading.extend(["best other", "ratio", "spread"].map(String::from));
    }
    if floor {
        heading.extend([format!("floor {unit}"), "over floor".into()]);
    }
    heading.push(String::new());
    let mut rows: Vec<Vec<String>> = [heading].into();
    for row in &table.rows {
        let mut cells: Vec<String> = [row.bytes.to_string()].into();
        cells.extend(
            row.figures
                .iter()
                .map(|figure| shown(figure.as_ref().and_then(|figure| figure.value), digits)),
        );
        if several {
            cells.extend(against(row, &report.runs));
        }
        if floor {
            let first = row
                .figures
                .first()
                .and_then(|figure| figure.as_ref()?.sound());
            let over = first.zip(row.floor).map(|(first, floor)| first / floor);
            cells.push(shown(row.floor, digits));
            cells.push(shown(over, ratio));
        }
        cells.push(remark(row, &report.runs));
        rows.push(cells);
    }
    rows
}

/// The best other run, the ratio and its spread.
fn against(row: &ComparisonRow, runs: &[ComparedRun]) -> [String; 3] {
    let best = row.ratio.and_then(|ratio| runs.get(ratio.best));
    let spread = row.ratio.and_then(|ratio| ratio.range);
    [
        best.map_or(MISSING, |run| &run.name).into(),
        shown(row.ratio.map(|ratio| ratio.value), ratio),
        spread.map_or(MISSING.into(), |(low, high)| {
            format!("{} to {}", ratio(low), ratio(high))
        }),
    ]
}

/// The remark on a row.
fn remark(row: &ComparisonRow, runs: &[ComparedRun]) -> String {
    let mut words: Vec<String> = Vec::new();
    if row.ratio.as_ref().is_some_and(Ratio::lost) {
        let open = row.ratio.as_ref().is_some_and(Ratio::open);
        words.push(
            if open {
                "lost, within the spread"
            } else {
                "lost"
            }
            .into(),
        );
    }
    for (run, figure) in runs.iter().zip(&row.figures) {
        let note = figure.as_ref().and_then(|figure| figure.note.as_ref());
        let remark = figure.as_ref().and_then(|figure| figure.remark.as_ref());
        let notes = remark.into_iter().chain(note);
        words.extend(notes.map(|note| format!("{}: {note}", run.name)));
    }
    words.join("; ")
}

fn shown(number: Option<f64>, show: impl Fn(f64) -> String) -> String {
    number.map_or_else(|| MISSING.into(), show)
}

/// Aligns columns to the right, the last one to the left.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..columns)
        .map(|column| width(column).unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (number, (cell, width)) in row.iter().zip(&widths).enumerate() {
            _ = if number + 1 == columns {
                write!(line, "  {cell}")
            } else {
                write!(line, "  {cell:>width$}")
            };
        }
        _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
