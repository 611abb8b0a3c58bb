//! Counts tests and checks that passed, failed or were skipped, and keeps failure messages.

use crate::Result;
use std::ops::AddAssign;

/// Counts of passed, failed and skipped tests and checks.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Tally {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
    pub(crate) skipped: u32,
    /// The messages of the failed ones, printed again at the end of a long run.
    pub(crate) findings: Vec<String>,
}

impl Tally {
    /// One check that passed.
    pub(crate) const ONE: Tally = Tally::new(1, 0, 0);
    /// One check that could not run.
    pub(crate) const SKIPPED: Tally = Tally::new(0, 0, 1);

    const fn new(passed: u32, failed: u32, skipped: u32) -> Tally {
        Tally {
            passed,
            failed,
            skipped,
            findings: Vec::new(),
        }
    }

    /// One check that failed, with its message.
    pub(crate) fn failed(finding: impl Into<String>) -> Tally {
        Tally {
            findings: vec![finding.into()],
            ..Tally::new(0, 1, 0)
        }
    }

    /// Parses a closing line of cargo's test runner.
    pub(crate) fn read(line: &str) -> Option<Tally> {
        let mut tally = Tally::default();
        for part in line.strip_prefix("test result: ")?.split(['.', ';']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(what)) = (words.next(), words.next()) else {
                continue;
            };
            let Ok(number) = number.parse() else { continue };
            match what {
                "passed" => tally.passed = number,
                "failed" => tally.failed = number,
                "ignored" => tally.skipped = number,
                _ => {}
            }
        }
        Some(tally)
    }

    /// The result of a verb with these counts.
    pub(crate) fn verdict(&self) -> Result {
        match self.failed {
            0 => Ok(()),
            failed => Err(format!("{failed} failed").into()),
        }
    }

    /// Prints the failure messages under a heading; nothing if none failed.
    pub(crate) fn tell(&self) {
        if self.findings.is_empty() {
            return;
        }
        println!("\n==== what failed ====");
        for finding in &self.findings {
            println!("{finding}\n");
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.findings.extend(other.findings);
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

#[cfg(test)]
mod tests {
    //! Tests that only the closing line of cargo's test runner is parsed.

    use super::Tally;

    #[test]
    fn a_closing_line_is_counted() {
        let line = "test result: ok. 4 passed; 0 failed; 2 ignored; 0 measured; 7 filtered out; finished in 0.01s";
        assert_eq!(Tally::read(line), Some(Tally::new(4, 0, 2)));
        let line = "test result: FAILED. 0 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(Tally::read(line), Some(Tally::new(0, 3, 0)));
    }

    #[test]
    fn other_lines_count_nothing() {
        assert_eq!(Tally::read("test wire::frames ... ok"), None);
        assert_eq!(Tally::read("4 passed; 0 failed"), None);
    }
}
