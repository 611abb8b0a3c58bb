//! `cargo xtask fuzz`: the fuzz targets, for a set time each.

use crate::steps::{Outcome, Tally, run_check};
use crate::{Repo, Result, Verb};
use std::path::PathBuf;
use xshell::cmd;

pub(crate) const VERB: Verb = Verb {
    name: "fuzz",
    usage: "[TARGET] [--seconds N]",
    summary: "One fuzz target or all, 60 seconds each unless told",
    help: "
Fuzzes with cargo-fuzz, which needs a nightly compiler and a C++ compiler; it is installed under
`target/tools` when it is missing. What is found to be new goes to `target/xtask/corpus`; the corpora
under version control (`fuzz/corpus`) stay small and are replayed by `cargo xtask test`. A crash is
written to `fuzz/artifacts`, and the command that replays it is printed.",
    run,
};

fn run(repo: &Repo, arguments: &[String]) -> Result {
    let mut seconds = 60;
    let mut targets = targets(repo);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word == "--seconds" {
            seconds = words.next().ok_or("--seconds needs a number")?.parse()?;
        } else if targets.contains(word) {
            targets = vec![word.clone()];
        } else {
            return Err(
                format!("no fuzz target '{word}'; there are: {}", targets.join(", ")).into(),
            );
        }
    }
    match fuzz(repo, &targets, seconds)? {
        Outcome::Ran(tally) => println!("{tally}"),
        Outcome::Skipped(why) | Outcome::Absent(why) => return Err(why.into()),
    }
    Ok(())
}

/// Fuzzes every target for `seconds`.
///
/// # Errors
/// At the first finding.
pub(crate) fn all(repo: &Repo, seconds: u32) -> Result<Outcome> {
    fuzz(repo, &targets(repo), seconds)
}

/// The targets, from their files.
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

fn fuzz(repo: &Repo, targets: &[String], seconds: u32) -> Result<Outcome> {
    let sh = &repo.shell;
    if !nightly(repo) {
        let why = "no nightly compiler, and rustup gives none: `rustup toolchain install nightly`";
        return Ok(Outcome::Absent(why.into()));
    }
    let tool = tool(repo)?;
    let total = format!("-max_total_time={seconds}");
    let mut tally = Tally::default();
    for target in targets {
        let found = repo.root.join("target/xtask/corpus").join(target);
        sh.create_dir(&found)?;
        let seeds = repo.root.join("fuzz/corpus").join(target);
        // The first folder receives what is new; the seeds are only read.
        let fuzz = cmd!(
            sh,
            "{tool} fuzz run {target} {found} {seeds} -- {total} -rss_limit_mb=2048 -timeout=10"
        );
        tally += run_check(fuzz.env("RUSTUP_TOOLCHAIN", "nightly"))?;
    }
    Ok(tally.into())
}

/// Whether there is a nightly compiler, or rustup gives one.
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

/// The cargo-fuzz program, installed when it is missing.
fn tool(repo: &Repo) -> Result<PathBuf> {
    let sh = &repo.shell;
    let tools = repo.root.join("target/tools");
    let tool = tools.join("bin/cargo-fuzz");
    if !tool.exists() {
        cmd!(sh, "cargo install cargo-fuzz --locked --root {tools}").run()?;
    }
    Ok(tool)
}
