//! Jobs over several hosts, which are network namespaces of this machine.

mod namespaces;

use crate::commands::run_tests;
use crate::steps::Outcome;
use crate::{Repo, Result};
use namespaces::Namespaces;
use xshell::cmd;

/// Runs the tests of real ranks with every job spread over four hosts.
///
/// # Errors
/// When a test cannot be started.
pub(super) fn check(repo: &Repo) -> Result<Outcome> {
    let hosts = match Namespaces::make(&repo.root.join("target/hosts"), 4) {
        Ok(hosts) => hosts,
        Err(why) => return Ok(Outcome::Skipped(format!("no network namespaces: {why}"))),
    };
    let sh = &repo.shell;
    let tests = || {
        cmd!(sh, "cargo test --quiet --package oxmpi-launch --test ranks")
            .env("OXMPI_TEST_HOSTS", hosts.command())
    };
    let mut tally = run_tests(tests())?;
    // Afterwards a host is lost to all, so this runs last and alone.
    tally += run_tests(
        tests()
            .env("OXMPI_TEST_CUT", hosts.cut())
            .args(["--", "cut_off"]),
    )?;
    Ok(tally.into())
}
