//! Runs the steps of a verb one after another, and prints the result of each at the end.

use crate::tally::Tally;
use crate::{Repo, Result};
use std::time::Instant;

/// How a step ended.
pub(crate) enum StepOutcome {
    /// The step ran: its counts.
    Ran(Tally),
    /// The step ran: its counts, and a line to print.
    Noted(Tally, String),
    /// The step was skipped because something is missing that apt, pip or cargo can install; the reason.
    Skipped(String),
    /// The step cannot run on this machine; the reason.
    Absent(String),
}

impl From<Tally> for StepOutcome {
    fn from(tally: Tally) -> StepOutcome {
        StepOutcome::Ran(tally)
    }
}

/// A named step of a verb.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Repo) -> Result<StepOutcome>,
}

/// Runs all steps, then prints the failure messages again, one line for each step, and the closing line.
///
/// With `no_skip` a step that could have run, had something been installed, counts as failed.
///
/// # Errors
/// When anything failed.
pub(crate) fn run_all(repo: &Repo, steps: &[&Step], no_skip: bool) -> Result {
    let (lines, total) = run_each(repo, steps, no_skip);
    total.tell();
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

/// Runs all steps; returns one line for each, and their total.
pub(crate) fn run_each(repo: &Repo, steps: &[&Step], no_skip: bool) -> (Vec<String>, Tally) {
    let mut total = Tally::default();
    let mut lines = Vec::new();
    for step in steps {
        println!("\n==== {} ====", step.name);
        let start = Instant::now();
        let (tally, note) = match (step.run)(repo) {
            Ok(StepOutcome::Ran(tally)) => (tally, String::new()),
            Ok(StepOutcome::Noted(tally, note)) => (tally, note),
            Ok(StepOutcome::Skipped(why)) if no_skip => (Tally::failed(&why), why),
            Ok(StepOutcome::Skipped(why) | StepOutcome::Absent(why)) => (Tally::SKIPPED, why),
            Err(error) => (Tally::failed(error.to_string()), error.to_string()),
        };
        let seconds = start.elapsed().as_secs();
        // A note longer than a line is printed with the failures.
        let note = note.lines().next().unwrap_or_default();
        let line = format!("{:<10} {seconds:>4} s  {tally}  {note}", step.name);
        lines.push(line.trim_end().to_owned());
        let findings = (tally.findings.iter()).map(|finding| format!("{}: {finding}", step.name));
        total += Tally {
            findings: findings.collect(),
            ..tally
        };
    }
    (lines, total)
}
