//! Reads a table of a listing: its columns and rows.

use super::heading::{self, Heading};
use super::lines::{Kind, Line, Lines, REPETITIONS, are_columns};
use super::{ListingError, shown};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A table of a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct ListingTable {
    /// The number of its first line, from 1.
    pub line: usize,
    /// The benchmark, the ranks and the groups.
    pub heading: Heading,
    /// The meaning of each number in a row, in order.
    pub columns: Vec<Column>,
    /// The rows, in order.
    pub rows: Vec<ListingRow>,
}

/// The meaning of a number in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// The number of the group.
    Group,
    /// The length of a message, in bytes.
    Bytes,
    /// Repetitions that were timed.
    Repetitions,
    /// The time of one repetition, in microseconds.
    Time,
    /// The time of the fastest process, in microseconds.
    TimeMin,
    /// The time of the slowest process, in microseconds.
    TimeMax,
    /// The mean time of all processes, in microseconds.
    TimeAvg,
    /// The time of one repetition while the target waits, or without a computation, in microseconds.
    TimePure,
    /// The time of one repetition while the target, or every rank, computes, in microseconds.
    TimeOverlapped,
    /// The time of the computation while a collective is in progress, in microseconds.
    TimeCompute,
    /// How much of a collective and of the computation takes place at once, in percent.
    Overlap,
    /// Millions of bytes per second; the listing does not say whether 2^20 or 10^6.
    Throughput,
    /// The largest difference from the right data.
    Defects,
    /// Another column, with its title.
    Other(String),
}

/// One row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct ListingRow {
    /// The number of its line, from 1.
    pub line: usize,
    /// The numbers: one for each column, or fewer if the row was skipped.
    pub values: Vec<f64>,
    /// Why the row was not measured, if it was skipped.
    pub skipped: Option<String>,
}

impl ListingTable {
    /// The number in this column of a row.
    pub fn value(&self, row: &ListingRow, column: &Column) -> Option<f64> {
        let place = self.columns.iter().position(|other| other == column)?;
        row.values.get(place).copied()
    }
}

impl Column {
    fn named(name: &str) -> Column {
        match name {
            "Group" => Column::Group,
            "#bytes" => Column::Bytes,
            "#repetitions" => Column::Repetitions,
            "t[usec]" => Column::Time,
            "t_min[usec]" => Column::TimeMin,
            "t_max[usec]" => Column::TimeMax,
            "t_avg[usec]" => Column::TimeAvg,
            "t_pure[usec]" => Column::TimePure,
            "t_ovrl[usec]" => Column::TimeOverlapped,
            "t_CPU[usec]" => Column::TimeCompute,
            "overlap[%]" => Column::Overlap,
            "Mbytes/sec" => Column::Throughput,
            "defects" | "Defects" => Column::Defects,
            other => Column::Other(other.into()),
        }
    }

    /// Whether the column's numbers are whole and not negative.
    fn counts(&self) -> bool {
        matches!(self, Column::Group | Column::Bytes | Column::Repetitions)
    }
}

/// The beginning of the line between heading and columns that names the mode.
const MODE: &str = "MODE:";

/// The end of the first word of the reason why a row was not measured, such as `time-out.;`.
const REASON: &str = ".;";

/// Reads a table from its first rule on.
pub(super) fn read(lines: &mut Lines<'_>) -> Result<ListingTable, ListingError> {
    let line = lines.peek().map_or(1, |line| line.number);
    let mut table = ListingTable {
        line,
        heading: heading::read(lines)?,
        columns: Vec::new(),
        rows: Vec::new(),
    };
    let mut is_ended = false;
    while let Some(line) = lines.peek() {
        match line.kind {
            Kind::Rule | Kind::Comment(super::LAST) => break,
            Kind::Comment(text) if table.columns.is_empty() && text.starts_with(MODE) => {
                table.heading.mode = Some(text[MODE.len()..].trim().into());
                lines.next();
            }
            Kind::Text(text) if are_columns(text) => {
                if !table.columns.is_empty() {
                    return Err(line.error("columns are named again, without a heading above"));
                }
                table.columns = text.split_whitespace().map(Column::named).collect();
                lines.next();
            }
            Kind::Text(text) if !table.columns.is_empty() => {
                match row(&line, text, &table.columns) {
                    Ok(Some(row)) => {
                        table.rows.push(row);
                        is_ended = false;
                        lines.next();
                    }
                    Err(why) if !is_ended => return Err(line.error(why)),
                    Ok(None) | Err(_) => lines.skip(),
                }
            }
            Kind::Blank | Kind::Comment(_) | Kind::Text(_) => {
                // Where there are groups, a blank stands above each length.
                is_ended |= line.kind == Kind::Blank && !table.columns.contains(&Column::Group);
                lines.skip();
            }
        }
    }
    // A text may be cut short before them.
    if table.columns.is_empty() && lines.peek().is_some() {
        let name = shown(&table.heading.benchmark);
        let why =
            format!("the table of {name} has no line that names columns, such as '{REPETITIONS}'");
        return Err(ListingError {
            line: table.line,
            why,
        });
    }
    Ok(table)
}

/// Reads a row of numbers, or of the first numbers and the reason why it was skipped; `None`: it is no row.
///
/// # Errors
/// Why a text that has most of a row's numbers does not fit.
fn row(line: &Line<'_>, text: &str, columns: &[Column]) -> Result<Option<ListingRow>, String> {
    let (mut values, mut rest, mut fraction) = (Vec::new(), text, None);
    while !rest.is_empty() {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let Ok(value) = word.parse::<f64>() else {
            break;
        };
        if columns.get(values.len()).is_some_and(Column::counts) && word.parse::<u64>().is_err() {
            fraction = fraction.or(Some(word));
        }
        values.push(value);
        rest = after.trim_start();
    }
    let (found, expected) = (values.len(), columns.len());
    let why = match (fraction, rest.split_whitespace().next()) {
        (None, None) if found == expected => None,
        (None, Some(word)) if (1..expected).contains(&found) && word.ends_with(REASON) => None,
        (Some(word), _) => Some(format!("'{}' is no whole number", shown(word))),
        (None, None) => Some(format!("{found} numbers under {expected} columns")),
        (None, Some(word)) => Some(format!("'{}' where a number stands", shown(word))),
    };
    match why {
        Some(why) if 2 * found > expected => Err(why),
        Some(_) => Ok(None),
        None => Ok(Some(ListingRow {
            line: line.number,
            values,
            skipped: (!rest.is_empty()).then(|| rest.into()),
        })),
    }
}
