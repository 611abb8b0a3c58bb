//! Reads a table of a listing: its columns and rows.

use super::heading::{self, Heading};
use super::lines::{Kind, Line, Lines};
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

/// Reads a table from its first rule on.
pub(super) fn read(lines: &mut Lines<'_>) -> Result<ListingTable, ListingError> {
    let line = lines.peek().map_or(1, |line| line.number);
    let mut table = ListingTable {
        line,
        heading: heading::read(lines)?,
        columns: Vec::new(),
        rows: Vec::new(),
    };
    while let Some(line) = lines.peek() {
        match line.kind {
            Kind::Rule | Kind::Comment(super::LAST) => break,
            Kind::Blank | Kind::Comment("") => {}
            Kind::Comment(note) => table.heading.notes.push(note.into()),
            Kind::Text(text) if table.columns.is_empty() => {
                table.columns = text.split_whitespace().map(Column::named).collect();
                if !table.columns.contains(&Column::Repetitions) {
                    let why = format!("'{}' where the columns are named", shown(text));
                    return Err(line.error(why));
                }
            }
            Kind::Text(text) => table.rows.push(row(&line, text, &table.columns)?),
        }
        lines.next();
    }
    Ok(table)
}

/// Reads a row of numbers, or of the first numbers and the reason why it was skipped.
fn row(line: &Line<'_>, text: &str, columns: &[Column]) -> Result<ListingRow, ListingError> {
    let mut values = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let Ok(value) = word.parse::<f64>() else {
            break;
        };
        if columns.get(values.len()).is_some_and(Column::counts) && word.parse::<u64>().is_err() {
            return Err(line.error(format!("'{}' is no whole number", shown(word))));
        }
        values.push(value);
        rest = after.trim_start();
    }
    let (found, expected) = (values.len(), columns.len());
    let skipped = match rest.split_whitespace().next() {
        None if found == expected => None,
        None => return Err(line.error(format!("{found} numbers under {expected} columns"))),
        Some(word) if (1..expected).contains(&found) && word.starts_with(char::is_alphabetic) => {
            Some(rest.into())
        }
        Some(word) => {
            return Err(line.error(format!("'{}' where a number stands", shown(word))));
        }
    };
    Ok(ListingRow {
        line: line.number,
        values,
        skipped,
    })
}
