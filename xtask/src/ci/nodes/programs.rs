//! The programs that guests need: the tests of real ranks, the command `oxmpi`, and the program that starts
//! ranks on another guest.

use crate::guest::BuiltPrograms;
use crate::{Repo, Result};
use std::path::PathBuf;
use xshell::cmd;

/// Paths of the programs.
pub(in crate::ci) struct Programs {
    pub(in crate::ci) ranks: PathBuf,
    pub(in crate::ci) remote_exec: PathBuf,
    /// The command `oxmpi`, and the path under which the tests look for it.
    pub(in crate::ci) oxmpi: (PathBuf, String),
}

impl Programs {
    /// Builds the programs as the tests on this machine are built.
    ///
    /// # Errors
    /// When they cannot be built.
    pub(in crate::ci) fn build(repo: &Repo) -> Result<Programs> {
        let sh = &repo.shell;
        let all = ["--quiet", "--workspace"];
        let ranks = cmd!(sh, "cargo test {all...} --test ranks --no-run");
        let remote_exec = cmd!(sh, "cargo build {all...} --example remote_exec");
        let built = BuiltPrograms::of(ranks)?.and(BuiltPrograms::of(remote_exec)?);
        let bare = |name: &str| built.bare(repo, name, "nodes");
        Ok(Programs {
            ranks: bare("ranks")?.0,
            remote_exec: bare("remote_exec")?.0,
            oxmpi: bare("oxmpi")?,
        })
    }
}
