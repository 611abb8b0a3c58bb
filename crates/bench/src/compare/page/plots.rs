//! Makes the plots of a report's tables and sections.

use super::super::report::{ComparisonRow, ComparisonTable, Report, Section};
use super::super::run::{Figure, Unit};
use crate::plot::{LineStyle, Plot, PlotPoint, PlotSeries, Quantity, units};
use std::format;
use std::string::String;
use std::vec::Vec;

/// The name of the line for the floor: what the machine reaches without message passing.
const FLOOR: &str = "floor";

/// The most message lengths that plots over ranks show.
const LENGTHS_MAX: usize = 4;

/// A table's time, bandwidth and ratios over the message length; no plot if the table has only one length.
pub(super) fn over_sizes(table: &ComparisonTable, report: &Report) -> Vec<Plot> {
    if table.rows.len() < 2 || table.subject.unit != Unit::Microseconds {
        return Vec::new();
    }
    let plot = |title: &str, up, series| Plot {
        title: title.into(),
        across: Quantity::Bytes,
        up,
        series,
    };
    let mut plots = Vec::new();
    let time = lines(table, report, |_, figure| figure);
    plots.push(plot("Time", Quantity::Time, time));
    if let Some(messages) = table.subject.messages() {
        let moved = |bytes: u64| f64::from(messages) * bytes as f64 * 1e6;
        let rate = |row: &ComparisonRow, point: PlotPoint| PlotPoint {
            y: moved(row.bytes) / point.y,
            range: point
                .range
                .map(|(low, high)| (moved(row.bytes) / high, moved(row.bytes) / low)),
            ..point
        };
        let rate = lines(table, report, rate);
        plots.push(plot("Bandwidth", Quantity::Rate, positive(rate)));
    }
    if report.runs.len() > 1 {
        let title = format!("Time over that of {}", report.runs[0].name);
        plots.push(plot(&title, Quantity::Ratio, ratios(table, report)));
    }
    plots.retain(|plot| !plot.series.is_empty());
    plots
}

/// Time over the number of ranks, for a few message lengths. One run has one plot with a line for each length. Several
/// runs have one plot for each length, with a line for each run.
pub(super) fn over_ranks(section: &Section, report: &Report) -> Vec<Plot> {
    let tables = &section.tables;
    if tables.len() < 2 || tables[0].subject.unit != Unit::Microseconds {
        return Vec::new();
    }
    let plot = |title, series| Plot {
        title,
        across: Quantity::Ranks,
        up: Quantity::Time,
        series,
    };
    let named = |bytes: u64| match bytes {
        0 => "Time".into(),
        bytes => format!("Time, {}", units::bytes(bytes as f64)),
    };
    let line = |run: usize, bytes: u64, name: String, style| {
        let points = tables.iter().filter_map(|table| {
            let row = table.rows.iter().find(|row| row.bytes == bytes)?;
            let figure = row.figures.get(run)?.as_ref()?;
            point(table.subject.ranks as f64, figure)
        });
        PlotSeries {
            name,
            style,
            points: points.collect(),
        }
    };
    let is_shown = |series: &PlotSeries| !series.points.is_empty();
    let has_lines = |plot: &Plot| !plot.series.is_empty();
    let lengths = lengths(tables);
    if report.runs.len() == 1 {
        let series = lengths.iter().enumerate().map(|(number, &bytes)| {
            line(
                0,
                bytes,
                units::bytes(bytes as f64),
                LineStyle::Numbered(number),
            )
        });
        let plot = plot("Time".into(), series.filter(is_shown).collect());
        return [plot].into_iter().filter(has_lines).collect();
    }
    let of_length = |&bytes: &u64| {
        let runs = report.runs.iter().enumerate();
        let series = runs
            .map(|(run, of)| line(run, bytes, of.name.clone(), LineStyle::Numbered(run)))
            .filter(is_shown);
        plot(named(bytes), series.collect())
    };
    lengths.iter().map(of_length).filter(has_lines).collect()
}

/// A few of the lengths that all tables have, the shortest and the longest among them; without 0 where there
/// are others.
fn lengths(tables: &[ComparisonTable]) -> Vec<u64> {
    let has = |table: &ComparisonTable, bytes: u64| table.rows.iter().any(|row| row.bytes == bytes);
    let first = tables.first().into_iter().flat_map(|table| &table.rows);
    let mut common: Vec<u64> = first
        .map(|row| row.bytes)
        .filter(|&bytes| tables.iter().all(|table| has(table, bytes)))
        .collect();
    if common.len() > 1 {
        common.retain(|&bytes| bytes > 0);
    }
    let last = common.len().saturating_sub(1);
    let count = common.len().min(LENGTHS_MAX);
    let index = |number: usize| number * last / (count - 1).max(1);
    (0..count).map(|number| common[index(number)]).collect()
}

/// A line for each run and one for the floor. `shown` turns the point of a row's time into the point to draw.
fn lines(
    table: &ComparisonTable,
    report: &Report,
    shown: impl Fn(&ComparisonRow, PlotPoint) -> PlotPoint,
) -> Vec<PlotSeries> {
    let rows = || table.rows.iter();
    let mut lines: Vec<PlotSeries> = Vec::new();
    for (number, run) in report.runs.iter().enumerate() {
        let points = rows().filter_map(|row| {
            let figure = row.figures.get(number)?.as_ref()?;
            Some(shown(row, point(row.bytes as f64, figure)?))
        });
        lines.push(PlotSeries {
            name: run.name.clone(),
            style: LineStyle::Numbered(number),
            points: points.collect(),
        });
    }
    let floor = rows().filter_map(|row| {
        let bare = PlotPoint {
            x: row.bytes as f64,
            y: row.floor?,
            range: None,
        };
        Some(shown(row, bare))
    });
    lines.push(PlotSeries {
        name: FLOOR.into(),
        style: LineStyle::Reference,
        points: floor.collect(),
    });
    lines.retain(|line| !line.points.is_empty());
    lines
}

/// Removes the points that a logarithmic axis cannot show, and lines without points.
fn positive(mut lines: Vec<PlotSeries>) -> Vec<PlotSeries> {
    for line in &mut lines {
        line.points.retain(|point| point.y > 0.0);
    }
    lines.retain(|line| !line.points.is_empty());
    lines
}

/// Each other run's time, and the floor, over the first run's.
fn ratios(table: &ComparisonTable, report: &Report) -> Vec<PlotSeries> {
    let first = |row: &ComparisonRow| {
        let figure = row.figures.first()?.as_ref()?;
        point(0.0, figure).filter(|point| point.y > 0.0)
    };
    let over = |row: &ComparisonRow, other: PlotPoint| {
        let first = first(row)?;
        let range = other.range.zip(first.range);
        Some(PlotPoint {
            y: other.y / first.y,
            range: range
                .filter(|(_, first)| first.0 > 0.0)
                .map(|(other, first)| (other.0 / first.1, other.1 / first.0)),
            ..other
        })
    };
    let rows = &table.rows;
    let mut series = lines(table, report, |_, point| point);
    series.retain(|series| series.style != LineStyle::Numbered(0));
    for line in &mut series {
        let points = line.points.iter().filter_map(|point| {
            let row = rows.iter().find(|row| row.bytes as f64 == point.x)?;
            over(row, *point)
        });
        line.points = points.collect();
    }
    positive(series)
}

/// The point of a figure at `x`. None for a figure that is not sound: only the table shows it.
fn point(x: f64, figure: &Figure) -> Option<PlotPoint> {
    Some(PlotPoint {
        x,
        y: figure.sound().filter(|value| value.is_finite())?,
        range: figure.range,
    })
}
