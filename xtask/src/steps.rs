//! Runs the steps of a verb one after another, and prints the result of each at the end.

use crate::tally::Tally;
use crate::{Repo, Result};
use clap::builder::PossibleValuesParser;
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
pub(crate) type Step = (&'static str, fn(&Repo) -> Result<StepOutcome>);

/// Reads an argument that names one of `steps`.
pub(crate) fn step_name(steps: &'static [Step]) -> PossibleValuesParser {
    PossibleValuesParser::new(steps.iter().map(|(name, _)| *name))
}

/// The steps of these names, in their own order; all when `names` is empty.
pub(crate) fn chosen<'a>(steps: &'a [Step], names: &[String]) -> Vec<&'a Step> {
    let is_chosen = |step: &&Step| names.is_empty() || names.iter().any(|name| name == step.0);
    steps.iter().filter(is_chosen).collect()
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
    total.verdict()
}

/// Runs all steps; returns one line for each, and their total.
pub(crate) fn run_each(repo: &Repo, steps: &[&Step], no_skip: bool) -> (Vec<String>, Tally) {
    let mut total = Tally::default();
    let mut lines = Vec::new();
    for &(name, run) in steps {
        println!("\n==== {name} ====");
        let start = Instant::now();
        let (tally, note) = match run(repo) {
            Ok(StepOutcome::Ran(tally)) => (tally, String::new()),
            Ok(StepOutcome::Noted(tally, note)) => (tally, note),
            Ok(StepOutcome::Skipped(why)) if no_skip => (Tally::failed(&why), why),
            Ok(StepOutcome::Skipped(why) | StepOutcome::Absent(why)) => (Tally::SKIPPED, why),
            Err(error) => (Tally::failed(error.to_string()), error.to_string()),
        };
        let seconds = start.elapsed().as_secs();
        // A note longer than a line is printed with the failures.
        let note = note.lines().next().unwrap_or_default();
        let line = format!("{name:<10} {seconds:>4} s  {tally}  {note}");
        lines.push(line.trim_end().to_owned());
        let findings = (tally.findings.iter()).map(|finding| format!("{name}: {finding}"));
        total += Tally {
            findings: findings.collect(),
            ..tally
        };
    }
    (lines, total)
}
