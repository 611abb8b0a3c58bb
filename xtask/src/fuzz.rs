//! `cargo xtask fuzz`: runs the fuzz targets, each for a set time.

use crate::commands::{Tail, listen, run_check, show};
use crate::steps::StepOutcome;
use crate::tally::Tally;
use crate::{Repo, Result};
use std::num::NonZero;
use std::process::Command;
use std::sync::Mutex;
use std::thread::available_parallelism;
use xshell::cmd;

/// Run one fuzz target or all, each for 60 seconds by default
///
/// Fuzzes with cargo-fuzz, which needs a nightly compiler and a C++ compiler; it is installed under
/// `target/tools` when it is missing. New inputs go to `target/xtask/corpus`; the corpora
/// under version control (`fuzz/corpus`) stay small and are replayed by `cargo xtask test`. As many targets run at once as there
/// are processors, and the output of each is shown when it has ended. A crash is written to `fuzz/artifacts`, and the command
/// that replays it is printed.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct FuzzOptions {
    /// The target to fuzz; all by default
    target: Option<String>,
    /// The time of each target
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

pub(crate) fn run(repo: &Repo, FuzzOptions { target, seconds }: FuzzOptions) -> Result {
    let mut targets = targets(repo);
    if let Some(target) = target {
        if !targets.contains(&target) {
            let names = targets.join(", ");
            return Err(format!("no fuzz target '{target}'; there are: {names}").into());
        }
        targets = vec![target];
    }
    match fuzz(repo, &targets, seconds)? {
        StepOutcome::Ran(tally) => println!("{tally}"),
        StepOutcome::Noted(tally, note) => println!("{note}\n{tally}"),
        StepOutcome::Skipped(why) | StepOutcome::Absent(why) => return Err(why.into()),
    }
    Ok(())
}

/// Fuzzes every target that `is_chosen` for `seconds`.
///
/// # Errors
/// When one of them finds something.
pub(crate) fn each(
    repo: &Repo,
    is_chosen: impl Fn(&str) -> bool,
    seconds: u32,
) -> Result<StepOutcome> {
    let mut targets = targets(repo);
    targets.retain(|target| is_chosen(target));
    fuzz(repo, &targets, seconds)
}

/// The names of the targets' files.
fn targets(repo: &Repo) -> Vec<String> {
    let files = repo
        .shell
        .read_dir(repo.root.join("fuzz/fuzz_targets"))
        .unwrap_or_default();
    files
        .iter()
        .filter_map(|path| path.file_stem()?.to_str().map(String::from))
        .collect()
}

fn fuzz(repo: &Repo, targets: &[String], seconds: u32) -> Result<StepOutcome> {
    let sh = &repo.shell;
    if !nightly(repo) {
        let why = "no nightly compiler, and rustup gives none: `rustup toolchain install nightly`";
        return Ok(StepOutcome::Absent(why.into()));
    }
    let tool = repo.tool("cargo-fuzz")?;
    // Running them one by one would also build them one by one, each on one processor.
    let only = if let [target] = targets {
        Some(target)
    } else {
        None
    };
    run_check(cmd!(sh, "{tool} fuzz build {only...}").env("RUSTUP_TOOLCHAIN", "nightly"))?;
    let total = format!("-max_total_time={seconds}");
    let mut fuzzers = Vec::new();
    for target in targets {
        let found = repo.root.join("target/xtask/corpus").join(target);
        sh.create_dir(&found)?;
        let seeds = repo.root.join("fuzz/corpus").join(target);
        // The first folder receives new inputs; the seeds are only read.
        let fuzz = cmd!(
            sh,
            "{tool} fuzz run {target} {found} {seeds} -- {total} -rss_limit_mb=2048 -timeout=60 -print_final_stats=1"
        );
        fuzzers.push(fuzz.env("RUSTUP_TOOLCHAIN", "nightly").into());
    }
    let mut tally = Tally::default();
    let mut notes = Vec::new();
    for (target, inputs) in targets.iter().zip(inputs(fuzzers)) {
        notes.push(format!("{target}: {} inputs", inputs?));
        tally += Tally::ONE;
    }
    Ok(StepOutcome::Noted(tally, notes.join(", ")))
}

/// Runs the fuzzers, one on each processor at a time, and returns the number of inputs that each one tried, or what it found.
fn inputs(fuzzers: Vec<Command>) -> Vec<Result<u64, String>> {
    let mut results = vec![Err("it has not run".to_owned()); fuzzers.len()];
    let rest = Mutex::new(fuzzers.into_iter().zip(&mut results));
    let next = || rest.lock().ok()?.next();
    std::thread::scope(|threads| {
        for _ in 0..available_parallelism().map_or(1, NonZero::get) {
            threads.spawn(|| {
                while let Some((fuzzer, result)) = next() {
                    *result = tried(fuzzer).map_err(|error| error.to_string());
                }
            });
        }
    });
    results
}

/// Runs one fuzzer, shows its output when it has ended, and returns the number of inputs that it tried.
///
/// # Errors
/// When it finds a failure, or cannot run.
fn tried(fuzzer: Command) -> Result<u64> {
    const INPUTS: &str = "stat::number_of_executed_units:";
    let mut said = format!("$ {}\n", show(&fuzzer));
    let (mut inputs, mut tail) = (String::new(), Tail::default());
    let status = listen(fuzzer, |line| {
        said += line;
        said.push('\n');
        tail.hear(line);
        if let Some(number) = line.strip_prefix(INPUTS) {
            number.trim().clone_into(&mut inputs);
        }
    })?;
    print!("{said}");
    if status.success() {
        Ok(inputs.parse()?)
    } else {
        let why = "the fuzzer found a failure, or could not run";
        Err(format!("{status}: {why}\n{tail}").into())
    }
}

/// Whether a nightly compiler is there, or rustup can install one.
fn nightly(repo: &Repo) -> bool {
    let sh = &repo.shell;
    let asked = cmd!(sh, "rustup toolchain list")
        .quiet()
        .ignore_stderr()
        .read();
    let there = asked.is_ok_and(|list| list.lines().any(|line| line.starts_with("nightly")));
    there
        || cmd!(sh, "rustup toolchain install nightly --profile minimal")
            .run()
            .is_ok()
}

#[cfg(test)]
mod tests {
    //! Tests of what is read of fuzzers that run at once.

    use super::inputs;
    use std::process::Command;

    #[test]
    fn each_fuzzer_has_its_own_number() {
        let saying = |line: &str| {
            let mut fuzzer = Command::new("echo");
            fuzzer.arg(line);
            fuzzer
        };
        let numbers = 0..9_u64;
        let mut fuzzers: Vec<_> = numbers
            .clone()
            .map(|number| saying(&format!("stat::number_of_executed_units: {number}")))
            .collect();
        fuzzers.extend([saying("nothing"), Command::new("false")]);
        let mut results = inputs(fuzzers);
        let found = results.pop().expect("a result of each").unwrap_err();
        assert!(found.contains("found a failure"), "{found}");
        assert!(results.pop().is_some_and(|result| result.is_err()));
        assert!(results.into_iter().eq(numbers.map(Ok)));
    }
}
