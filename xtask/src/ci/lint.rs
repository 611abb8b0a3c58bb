//! Checks the format, lints and documentation, and each set of features.

use crate::commands::{run_check, run_tests};
use crate::tally::Tally;
use crate::{Repo, Result};
use xshell::cmd;

/// Runs rustfmt, clippy and rustdoc; any warning is a failure.
///
/// # Errors
/// At the first tool that fails.
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

/// Checks each library without features and with each of its features alone, and what is installed with its own, any warning is
/// a failure; and tests the runtime without features.
///
/// # Errors
/// At the first combination that does not compile.
pub(super) fn features(repo: &Repo) -> Result<Tally> {
    let sh = &repo.shell;
    let mut tally = Tally::default();
    for package in repo.libraries() {
        let name = &package.name;
        let features = package.features().filter(|name| *name != "default");
        for feature in std::iter::once("").chain(features) {
            let flags = ["--no-default-features", "--features", feature];
            tally += run_check(cmd!(
                sh,
                "cargo clippy --quiet --package {name} {flags...} -- -D warnings"
            ))?;
        }
    }
    // The command and the C library as they are installed: the whole workspace, as other steps build it, gives them more features.
    for name in ["oxmpi-launch", "oxmpi-abi"] {
        tally += run_check(cmd!(
            sh,
            "cargo clippy --quiet --package {name} -- -D warnings"
        ))?;
    }
    // Tests build the whole workspace, and do not see what one face lacks.
    let rust = repo.package("oxmpi")?.default_features();
    let c = repo.package("oxmpi-abi")?.default_features();
    tally += match rust == c {
        true => Tally::ONE,
        false => Tally::failed(format!(
            "oxmpi has the features {rust:?} by default, and oxmpi-abi {c:?}"
        )),
    };
    // A setting that asks for TCP is an error, and one node works.
    for tests in [["--test", "without_tcp"].as_slice(), &["--doc"]] {
        let test = cmd!(
            sh,
            "cargo test --quiet --package oxmpi --no-default-features {tests...}"
        );
        // No other step has built the crates with these features, and they run for a moment.
        tally += run_tests(test.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0"))?;
    }
    Ok(tally)
}
