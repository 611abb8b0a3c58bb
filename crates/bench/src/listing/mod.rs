//! Reads listings of the Intel MPI Benchmarks, and of programs that print the same format.
//!
//! ```text
//! lines    the text as numbered lines, each a rule, a comment, a blank, or another text
//! header   the lines above the first table: when, where and how
//! heading  the lines between two rules above a table: benchmark, processes, groups
//! table    the mode, columns and rows
//! ```
//!
//! ```
//! use oxmpi_bench::listing::{Column, Listing};
//!
//! let text = "\
//! ##----------------------------------------
//! ##    Intel(R) MPI Benchmarks 2021.11, MPI-1 part
//! ##----------------------------------------
//! ## Date                  : Sat Nov 21 07:03:22 2026
//!
//! ## List of Benchmarks to run:
//!
//! ## PingPong
//!
//! ##---------------------------------------------------
//! ## Benchmarking PingPong
//! ## #processes = 2
//! ##---------------------------------------------------
//!        #bytes #repetitions      t[usec]   Mbytes/sec
//!            64         1000         0.11       584.93
//! ";
//! let listing = &Listing::parse(text)?[0];
//! let table = &listing.tables[0];
//! assert_eq!((table.heading.benchmark.as_str(), table.heading.processes), ("PingPong", 2));
//! assert_eq!(table.value(&table.rows[0], &Column::Time), Some(0.11));
//! # Ok::<(), oxmpi_bench::listing::ListingError>(())
//! ```

mod header;
mod heading;
mod lines;
mod table;

pub use header::{Header, ListingLengths};
pub use heading::Heading;
pub use table::{Column, ListingRow, ListingTable};

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use lines::{Kind, Lines, PART};

/// A listing of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// The header, above the first table.
    pub header: Header,
    /// The tables, in the order they were printed.
    pub tables: Vec<ListingTable>,
    /// Whether the last line is there, which shows that the program ended normally.
    pub finished: bool,
    /// The numbers, from 1, of the skipped lines of other origin, such as warnings of a launcher: in the listing,
    /// between it and the listing before, and behind it if it is the last one of the text.
    pub foreign: Vec<usize>,
}

impl Listing {
    /// Reads the listings in a text, at least one. Lines of other origin before, in, between and behind listings are
    /// skipped: all that are neither blank nor have the form that their place asks for. In a header every comment has it.
    ///
    /// # Errors
    /// The first line that does not fit, with the expected text.
    pub fn parse(text: &str) -> Result<Vec<Listing>, ListingError> {
        let mut lines = Lines::new(text);
        let mut listings = Vec::new();
        while let Some(suite) = lines.next_listing() {
            listings.push(Listing::read(suite, &mut lines)?);
        }
        let Some(last) = listings.last_mut() else {
            let why = format!(
                "no listing: nowhere are there a rule '#-----', a line that ends in '{PART}' such as \
                 '# Intel(R) MPI Benchmarks 2021.11, MPI-1 part', and a rule"
            );
            return Err(ListingError { line: 1, why });
        };
        last.foreign.append(&mut lines.foreign);
        Ok(listings)
    }

    /// Reads the listing of the program `suite` from behind its name on.
    fn read(suite: &str, lines: &mut Lines<'_>) -> Result<Listing, ListingError> {
        let header = header::read(suite, lines)?;
        let mut tables = Vec::new();
        while lines.peek().is_some_and(|line| line.kind == Kind::Rule) && lines.suite().is_none() {
            tables.push(table::read(lines)?);
        }
        // Header and tables end at a rule, at the last line, or at the end of the text.
        let finished = lines
            .peek()
            .is_some_and(|line| line.kind == Kind::Comment(LAST));
        if finished {
            lines.next();
        }
        Ok(Listing {
            header,
            tables,
            finished,
            foreign: core::mem::take(&mut lines.foreign),
        })
    }
}

/// The last line of a listing, without its `#`.
const LAST: &str = "All processes entering MPI_Finalize";

/// Why a listing cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct ListingError {
    /// The number of the line, from 1.
    pub line: usize,
    /// What is wrong with the line, and the expected text.
    pub why: String,
}

/// The beginning of a text, for error messages.
fn shown(text: &str) -> &str {
    let text = text.trim();
    text.char_indices()
        .nth(40)
        .map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests;
