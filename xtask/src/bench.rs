//! `cargo xtask bench`: two pinned processes exchange messages (PingPong and Allreduce).

use crate::{Repo, Result};
use std::path::Path;
use xshell::cmd;

/// Run PingPong and Allreduce on two pinned processes and print tables
///
/// Builds the `oxmpi` command in release, without other packages, and runs
///
///     oxmpi bench -n 2 MPI1 PingPong Allreduce
///
/// Arguments are added to these; `--help` as a later argument (`cargo xtask bench PingPong --help`)
/// prints those of `oxmpi bench`. If the first argument does not begin with a dash, the arguments
/// replace `-n 2 MPI1 PingPong Allreduce`: `cargo xtask bench MPI1 Allreduce -n 4`.
#[derive(Default, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct BenchOptions {
    /// Arguments of `oxmpi bench`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

const MAIN_JOB: [&str; 5] = ["-n", "2", "MPI1", "PingPong", "Allreduce"];

pub(crate) fn run(repo: &Repo, options: &BenchOptions) -> Result {
    with(repo, &repo.oxmpi()?, options)
}

/// Runs the benchmarks with the command `oxmpi` at this path.
///
/// # Errors
/// When they fail.
pub(crate) fn with(repo: &Repo, oxmpi: &Path, BenchOptions { arguments }: &BenchOptions) -> Result {
    let sh = &repo.shell;
    let replaced = arguments
        .first()
        .is_some_and(|first| !first.starts_with('-'));
    let job: &[&str] = if replaced { &[] } else { &MAIN_JOB };
    cmd!(sh, "{oxmpi} bench {job...} {arguments...}").run()?;
    Ok(())
}
