//! Format, lints, documentation, and every set of features.

use crate::steps::{Tally, run_check};
use crate::{Repo, Result};
use xshell::cmd;

/// Sets of features in which a crate is built, as far as it has them.
const FEATURES: [&str; 3] = ["", "alloc", "std"];

/// Format, clippy and rustdoc, without a warning.
///
/// # Errors
/// At the first that fails.
pub(super) fn check(repo: &Repo) -> Result<Tally> {
    let sh = &repo.shell;
    let mut tally = run_check(cmd!(sh, "cargo fmt --all --check"))?;
    tally += run_check(cmd!(
        sh,
        "cargo clippy --workspace --all-targets -- -D warnings"
    ))?;
    tally +=
        run_check(cmd!(sh, "cargo doc --workspace --no-deps").env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(tally)
}

/// Every library with each set of its features, without a warning.
///
/// # Errors
/// At the first that does not compile.
pub(super) fn features(repo: &Repo) -> Result<Tally> {
    let sh = &repo.shell;
    let mut tally = Tally::default();
    for package in repo.libraries() {
        let name = &package.name;
        for feature in FEATURES
            .iter()
            .filter(|set| set.is_empty() || package.has_feature(set))
        {
            let flags = ["--no-default-features", "--features", feature];
            tally += run_check(cmd!(
                sh,
                "cargo clippy --quiet --package {name} {flags...} -- -D warnings"
            ))?;
        }
    }
    Ok(tally)
}
