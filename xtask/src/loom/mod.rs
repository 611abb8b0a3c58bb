//! `cargo xtask loom`: runs the model checker on rings and flags, and proves that it checks memory
//! orderings.

mod mutate;

pub(crate) use mutate::mutate;

use crate::commands::run_tests;
use crate::repo::Package;
use crate::tally::Tally;
use crate::{Repo, Result};
use std::path::Path;
use xshell::cmd;

/// Run the model checker on every ring and flag; --mutate weakens each ordering in turn
///
/// Runs the test `loom` of every crate that depends on loom under `cfg(oxmpi_loom)`, in a target
/// folder of their own. The tests try every interleaving with at most two preemptions.
///
/// With `--mutate`, each Release, Acquire, AcqRel and SeqCst in those crates' sources is weakened in
/// turn, in a scratch copy. A model must fail each time. A weakening that no model can detect is explained
/// in the file `orderings.txt` of its crate: one line each, `FILE: FUNCTION: ORDERING: WHY IT IS SOUND`.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct LoomOptions {
    /// Weaken each ordering in turn; a model must fail each time
    #[arg(long)]
    mutate: bool,
}

pub(crate) fn run(repo: &Repo, options: &LoomOptions) -> Result {
    let tally = if options.mutate {
        mutate(repo)?
    } else {
        check(repo)?
    };
    tally.tell();
    println!("{tally}");
    tally.verdict()
}

/// Checks the models of every crate that has models.
///
/// # Errors
/// When cargo cannot be started. A failed model is a failure in the tally.
pub(crate) fn check(repo: &Repo) -> Result<Tally> {
    models(repo, &repo.root, modelled(repo))
}

/// The packages that have models.
fn modelled(repo: &Repo) -> impl Iterator<Item = &Package> {
    let has_models = |package: &&Package| {
        package.dependencies.iter().any(|dependency| {
            dependency.name == "loom"
                && dependency
                    .target
                    .as_deref()
                    .is_some_and(|target| target.contains("oxmpi_loom"))
        })
    };
    repo.packages.iter().filter(has_models)
}

/// Runs the models of these packages of the workspace at `root`. The profile is that of tests: compiling takes longer than they do.
fn models<'p>(
    repo: &Repo,
    root: &Path,
    packages: impl IntoIterator<Item = &'p Package>,
) -> Result<Tally> {
    let sh = &repo.shell;
    let names = packages.into_iter();
    let names = names.flat_map(|package| ["--package", &package.name]);
    let _in = sh.push_dir(root);
    let target = repo.root.join("target/loom");
    run_tests(
        cmd!(sh, "cargo test {names...} --no-fail-fast --test loom")
            .env("RUSTFLAGS", "--cfg oxmpi_loom")
            .env("LOOM_MAX_PREEMPTIONS", "2")
            .env("CARGO_TARGET_DIR", target),
    )
}
