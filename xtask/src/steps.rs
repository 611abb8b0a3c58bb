//! Runs steps, counts what passed, and tells it in the end.

use crate::{Repo, Result};
use std::io::{BufRead, BufReader};
use std::ops::AddAssign;
use std::process::{Command, Stdio};
use std::time::Instant;

/// How many tests and checks passed, failed and were skipped.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Tally {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
    pub(crate) skipped: u32,
}

impl Tally {
    /// One check that passed.
    pub(crate) const ONE: Tally = Tally::new(1, 0, 0);
    /// One check that failed.
    pub(crate) const FAILED: Tally = Tally::new(0, 1, 0);
    /// One check that could not run.
    const SKIPPED: Tally = Tally::new(0, 0, 1);

    const fn new(passed: u32, failed: u32, skipped: u32) -> Tally {
        Tally {
            passed,
            failed,
            skipped,
        }
    }

    /// Reads a closing line of cargo's test runner.
    fn read(line: &str) -> Option<Tally> {
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
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
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

/// Runs a command that runs Rust tests, shows its output as it comes, and counts the tests.
///
/// A command that fails without a failed test (it did not compile) counts as one failure.
///
/// # Errors
/// When the command cannot be started.
pub(crate) fn run_tests(command: impl Into<Command>) -> Result<Tally> {
    let mut command: Command = command.into();
    println!("$ {}", show(&command));
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut tally = Tally::default();
    for line in BufReader::new(child.stdout.take().expect("stdout is piped")).lines() {
        let line = line?;
        println!("{line}");
        if let Some(more) = Tally::read(&line) {
            tally += more;
        }
    }
    if !child.wait()?.success() && tally.failed == 0 {
        tally.failed = 1;
    }
    Ok(tally)
}

/// Runs a command that is one check: what it prints is shown, its exit status is the answer.
///
/// # Errors
/// When it fails, with its command line.
pub(crate) fn run_check(command: impl Into<Command>) -> Result<Tally> {
    let mut command: Command = command.into();
    println!("$ {}", show(&command));
    let status = command.stdin(Stdio::null()).status()?;
    if status.success() {
        Ok(Tally::ONE)
    } else {
        Err(format!("{status}: {}", show(&command)).into())
    }
}

fn show(command: &Command) -> String {
    let words: Vec<_> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect();
    words.join(" ")
}

/// How a step ended.
pub(crate) enum Outcome {
    /// It ran: what it counted.
    Ran(Tally),
    /// It ran: what it counted, and what else is worth a line.
    Told(Tally, String),
    /// It did not run for want of something that apt, pip or cargo can give; what, and why not.
    Skipped(String),
    /// It did not run for want of something that this machine cannot be given that way.
    Absent(String),
}

impl From<Tally> for Outcome {
    fn from(tally: Tally) -> Outcome {
        Outcome::Ran(tally)
    }
}

/// A named step of a longer run.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Repo) -> Result<Outcome>,
}

/// Runs all steps, then prints one line for each, and the closing line.
///
/// With `no_skip` a step that could have run, had something been installed, counts as failed.
///
/// # Errors
/// When anything failed.
pub(crate) fn run_all(repo: &Repo, steps: &[&Step], no_skip: bool) -> Result {
    let (lines, total) = run_each(repo, steps, no_skip);
    println!("\n==== what ran ====");
    for line in lines {
        println!("{line}");
    }
    println!("{total}");
    if total.failed == 0 {
        Ok(())
    } else {
        Err(format!("{} failed", total.failed).into())
    }
}

/// Runs all steps; one line for each, and what they counted together.
pub(crate) fn run_each(repo: &Repo, steps: &[&Step], no_skip: bool) -> (Vec<String>, Tally) {
    let mut total = Tally::default();
    let mut lines = Vec::new();
    for step in steps {
        println!("\n==== {} ====", step.name);
        let start = Instant::now();
        let (tally, note) = match (step.run)(repo) {
            Ok(Outcome::Ran(tally)) => (tally, String::new()),
            Ok(Outcome::Told(tally, note)) => (tally, note),
            Ok(Outcome::Skipped(why)) if no_skip => (Tally::FAILED, why),
            Ok(Outcome::Skipped(why) | Outcome::Absent(why)) => (Tally::SKIPPED, why),
            Err(error) => (Tally::FAILED, error.to_string()),
        };
        total += tally;
        let seconds = start.elapsed().as_secs();
        let line = format!("{:<10} {seconds:>4} s  {tally}  {note}", step.name);
        lines.push(line.trim_end().to_owned());
    }
    (lines, total)
}

#[cfg(test)]
mod tests {
    //! The closing line of cargo's test runner is understood, and nothing else is.

    use super::Tally;

    #[test]
    fn a_closing_line_is_counted() {
        let line = "test result: ok. 4 passed; 0 failed; 2 ignored; 0 measured; 7 filtered out; finished in 0.01s";
        assert_eq!(
            Tally::read(line),
            Some(Tally {
                passed: 4,
                failed: 0,
                skipped: 2
            })
        );
        let line = "test result: FAILED. 0 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(
            Tally::read(line),
            Some(Tally {
                passed: 0,
                failed: 3,
                skipped: 0
            })
        );
    }

    #[test]
    fn other_lines_count_nothing() {
        assert_eq!(Tally::read("test wire::frames ... ok"), None);
        assert_eq!(Tally::read("4 passed; 0 failed"), None);
    }
}
