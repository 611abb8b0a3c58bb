//! The table of results.

use super::harness::{Ended, Harness, OURS};
use crate::tally::Tally;
use std::collections::BTreeMap;
use std::fmt;

/// What is known to fail: lines of `NAME | REASON`, where a name that ends in `*` stands for all that begin so.
const EXPECTED: &str = include_str!("expected.txt");

/// Results by program and library.
pub(super) struct Report {
    libraries: Vec<&'static str>,
    /// Rows in the order in which they came: name, and a cell for each library.
    rows: Vec<(String, BTreeMap<&'static str, String>)>,
    notes: Vec<String>,
    tally: Tally,
}

impl Report {
    pub(super) fn new(harness: &Harness) -> Self {
        Self {
            libraries: harness.libraries.iter().map(|one| one.name).collect(),
            rows: Vec::new(),
            notes: Vec::new(),
            tally: Tally::default(),
        }
    }

    pub(super) fn tally(self) -> Tally {
        self.tally
    }

    /// Something that has nothing to do with one library is as it should be.
    pub(super) fn success(&mut self, name: &str) {
        println!("{name}: ok");
        self.tally += Tally::ONE;
    }

    /// Something could not be done, or is not as it should be.
    pub(super) fn failure(&mut self, name: &str, why: &str) {
        println!("{name}: {why}");
        self.tally += Tally::failed(format!("{name}: {why}"));
    }

    /// How a job ended. Only ours counts; the other libraries show what to compare with.
    ///
    /// `verdict` says what is wrong with it. The log of what ended well is removed.
    pub(super) fn job(
        &mut self,
        name: &str,
        library: &'static str,
        ended: &Ended,
        verdict: Result<(), String>,
    ) {
        let seconds = ended.seconds;
        let expected = expected(EXPECTED, name).filter(|_| library == OURS);
        let missing = missing(&ended.text);
        let cell = match (&verdict, expected) {
            (Ok(()), _) => format!("ok {seconds:.1} s"),
            (Err(_), Some(_)) => "expected".to_owned(),
            (Err(_), None) => "FAILED".to_owned(),
        };
        println!("{name} on {library}: {cell}");
        match (verdict, expected) {
            (Ok(()), Some(_)) if library == OURS => self.failure(
                name,
                "it ends well, but xtask/src/foreign/expected.txt says that it fails: remove the line",
            ),
            (Ok(()), _) if library == OURS => self.tally += Tally::ONE,
            (Ok(()), _) => {}
            (Err(_), Some(reason)) => {
                self.tally += Tally::SKIPPED;
                let lacks = if missing.is_empty() { String::new() } else { format!("; lacks {missing}") };
                self.notes.push(format!("{name}: expected to fail: {reason}{lacks}"));
            }
            (Err(why), None) if library == OURS => {
                let lacks = if missing.is_empty() { String::new() } else { format!("; lacks {missing}") };
                let log = ended.log.display();
                self.tally += Tally::failed(format!("{name}: {why}{lacks}; {log}"));
                self.notes.push(format!("{name}: {why}{lacks}"));
            }
            (Err(why), None) => self.notes.push(format!("{name} on {library}: {why}")),
        }
        if cell.starts_with("ok") {
            // Nothing depends on whether it could be removed.
            std::fs::remove_file(&ended.log).ok();
        }
        match self.rows.iter_mut().find(|row| row.0 == name) {
            Some(row) => {
                row.1.insert(library, cell);
            }
            None => self
                .rows
                .push((name.to_owned(), BTreeMap::from([(library, cell)]))),
        }
    }
}

/// Why a program is known to fail.
fn expected<'a>(list: &'a str, name: &str) -> Option<&'a str> {
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    let mut rows = lines.filter_map(|line| line.split_once('|'));
    let found = rows.find(|(pattern, _)| match pattern.trim().strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern.trim(),
    });
    found.map(|(_, reason)| reason.trim())
}

/// The functions that the library named because it lacks them.
fn missing(text: &str) -> String {
    let mut names: Vec<_> = text
        .lines()
        .filter_map(|line| {
            line.split_once("oxmpi: ")?
                .1
                .split_once(" is not implemented")
        })
        .map(|(name, _)| name)
        // The message of the error says it once more, with more words before it.
        .filter(|name| !name.contains(' '))
        .collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            return Ok(());
        }
        let names = self.rows.iter().map(|row| row.0.len());
        let width = names.max().unwrap_or_default().max("program".len());
        write!(f, "{:<width$}", "program")?;
        for library in &self.libraries {
            write!(f, "  {library:<10}")?;
        }
        writeln!(f)?;
        for (name, cells) in &self.rows {
            write!(f, "{name:<width$}")?;
            for library in &self.libraries {
                let cell = cells.get(library).map_or("-", String::as_str);
                write!(f, "  {cell:<10}")?;
            }
            writeln!(f)?;
        }
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        for library in &self.libraries {
            let cells = self.rows.iter().filter_map(|row| row.1.get(library));
            let (ok, all) = cells.fold((0, 0), |(ok, all), cell| {
                (ok + usize::from(cell.starts_with("ok")), all + 1)
            });
            writeln!(f, "{library}: {ok} of {all} end well")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    //! Tests of the list of what is known to fail, and of reading which functions are missing.

    use super::{expected, missing};

    #[test]
    fn a_name_or_its_beginning_is_found() {
        let list = "# a comment | no\nsuite/attr/attrt 2 | no keyvals\nsuite/rma/* | no windows\n";
        assert_eq!(expected(list, "suite/attr/attrt 2"), Some("no keyvals"));
        assert_eq!(expected(list, "suite/attr/attrt 4"), None);
        assert_eq!(expected(list, "suite/rma/put 2"), Some("no windows"));
        assert_eq!(expected(list, "# a comment"), None);
    }

    #[test]
    fn missing_functions_are_named_once() {
        let text = "oxmpi: MPI_B is not implemented; x\n[1] oxmpi: MPI_A is not implemented; x\n\
                    oxmpi: MPI_B is not implemented; x\noxmpi: rank 0: MPI_C on MPI_COMM_SELF: it is not implemented (x)\n";
        assert_eq!(missing(text), "MPI_A, MPI_B");
        assert_eq!(missing("No Errors\n"), "");
    }
}
