//! A report as one HTML page.

mod plots;

use super::report::{ComparisonTable, Ratio, Report, Section};
use super::run::ComparedRun;
use super::text::{MISSING, grid};
use crate::plot;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::format;
use std::string::String;

/// The page's style sheet.
const STYLE: &str = include_str!("page/style.css");

impl Report {
    /// One HTML page that needs nothing else: no network, no script.
    pub fn page(&self) -> String {
        page(self)
    }
}

fn page(report: &Report) -> String {
    let names = report.runs.iter().map(|run| run.name.as_str());
    let title = names.collect::<std::vec::Vec<_>>().join(" and ");
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Benchmarks: " (title) }
                style { (PreEscaped(plot::STYLE)) (PreEscaped(STYLE)) }
            }
            body {
                h1 { "Benchmarks" }
                div.runs {
                    @for (number, run) in report.runs.iter().enumerate() {
                        (facts(run, &format!("s{number}")))
                    }
                    @for run in &report.floors { (facts(run, "floor")) }
                }
                (summary(report))
                @for section in &report.sections { (section_markup(section, report)) }
                footer {
                    "A bar through a point spans its spread, as far as the plot has room. Lengths and rates are powers of 1024. \
                     Of several ranks the slowest one's time counts."
                }
            }
        }
    };
    markup.into_string() + "\n"
}

/// A run's name and the facts about it, such as its machine.
fn facts(run: &ComparedRun, class: &str) -> Markup {
    html! {
        section class=(format!("run {class}")) {
            h2 { (run.name) }
            dl {
                @for (name, text) in &run.facts { dt { (name) } dd { (text) } }
            }
        }
    }
}

/// A row for each table: the geometric mean of the ratios of the first run to the best of the others, and the number
/// of rows in which the first run is worse: these are lost.
fn summary(report: &Report) -> Markup {
    let (rows, lost) = report.score();
    if rows == 0 {
        return html! {};
    }
    let tables = report.sections.iter().flat_map(|section| {
        section
            .tables
            .iter()
            .map(move |table| (section.title(), table))
    });
    html! {
        h2 { (report.runs[0].name) " over the best of the others" }
        p { "Below 1 is faster. " (lost) " of " (rows) " rows are lost." }
        table {
            thead {
                tr { th.text { "benchmark" } th { "ranks" } th { "geometric mean" } th { "rows" } th { "lost" } }
            }
            tbody {
                @for (title, table) in tables {
                    @let (rows, lost) = table.score();
                    tr.lost[lost > 0] {
                        td.text { a href=(format!("#{}", anchor(&title, table))) { (title) } }
                        td { (table.subject.ranks) }
                        td { (table.mean().map_or(MISSING.into(), |mean| format!("{mean:.2}"))) }
                        td { (rows) }
                        td { (lost) }
                    }
                }
            }
        }
    }
}

/// A section with its plots and tables. If it has several tables, each has a heading of its own.
fn section_markup(section: &Section, report: &Report) -> Markup {
    let title = section.title();
    let named = |table: &ComparisonTable| format!("{title}, {} ranks", table.subject.ranks);
    html! {
        @if let [table] = &section.tables[..] {
            h2 id=(anchor(&title, table)) { (named(table)) }
            (table_markup(table, report))
        } @else {
            h2 { (title) }
            (pictures(&plots::over_ranks(section, report)))
            @for table in &section.tables {
                h3 id=(anchor(&title, table)) { (named(table)) }
                (table_markup(table, report))
            }
        }
    }
}

/// A table's plots and rows.
fn table_markup(table: &ComparisonTable, report: &Report) -> Markup {
    html! {
        (pictures(&plots::over_sizes(table, report)))
        (figures(table, report))
    }
}

/// The plots, drawn as SVG.
fn pictures(plots: &[plot::Plot]) -> Markup {
    html! {
        @if !plots.is_empty() {
            div.plots { @for plot in plots { figure { (plot::svg(plot)) } } }
        }
    }
}

/// Every row of a table. The rows are folded away unless there is only one.
fn figures(table: &ComparisonTable, report: &Report) -> Markup {
    let (_, lost) = table.score();
    let mut grid = grid(table, report).into_iter();
    let heading = grid.next().unwrap_or_default();
    html! {
        details open[table.rows.len() == 1] {
            summary {
                (table.rows.len()) @if table.rows.len() == 1 { " row" } @else { " rows" }
                @if lost > 0 { ", " (lost) " lost" }
            }
            div.wide {
                table {
                    thead { tr { @for cell in heading { th { (cell) } } } }
                    tbody {
                        @for (cells, row) in grid.zip(&table.rows) {
                            tr.lost[row.ratio.as_ref().is_some_and(Ratio::lost)] {
                                @for (number, cell) in cells.iter().enumerate() {
                                    td.text[number + 1 == cells.len()] { (cell) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The HTML id of a table's heading, the target of links.
fn anchor(title: &str, table: &ComparisonTable) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let title: String = title.chars().map(plain).collect();
    format!("{title}-{}", table.subject.ranks)
}
