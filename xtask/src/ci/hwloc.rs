//! Compares our machine description with that of the system's hwloc on this machine, where hwloc is
//! installed.

use crate::commands::run_tests;
use crate::steps::StepOutcome;
use crate::{Repo, Result};
use xshell::cmd;

/// Tests the feature `hwloc` of topo.
///
/// # Errors
/// When the tests cannot be started.
pub(super) fn agrees(repo: &Repo) -> Result<StepOutcome> {
    let sh = &repo.shell;
    let found = cmd!(sh, "pkg-config --atleast-version=2.0 hwloc").quiet();
    if !found
        .ignore_stderr()
        .output()
        .is_ok_and(|said| said.status.success())
    {
        let why = "no hwloc to link with: `apt-get install libhwloc-dev pkg-config`";
        return Ok(StepOutcome::Skipped(why.into()));
    }
    let test = cmd!(
        sh,
        "cargo test --package oxmpi-topo --features hwloc --test integration hwloc::"
    );
    run_tests(test).map(Into::into)
}
