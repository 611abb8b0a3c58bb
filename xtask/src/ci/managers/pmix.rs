//! Compares the runtime's own layouts of PMIx types with the header.

use super::debian::Debian;
use crate::commands::run_check;
use crate::tally::Tally;
use crate::{Repo, Result};
use xshell::cmd;

/// The same layouts in C as `crates/core/src/boot/pmix/library.rs` has in Rust.
const LAYOUT: &str = include_str!("pmix_layout.c");

/// Compiles the assertions.
pub(super) fn layout(repo: &Repo, debian: &Debian) -> Result<Tally> {
    let sh = &repo.shell;
    let include = debian.libraries().join("pmix2/include");
    let source = repo.scratch("pmix")?.join("layout.c");
    sh.write_file(&source, LAYOUT)?;
    run_check(cmd!(sh, "cc -fsyntax-only -I {include} {source}"))
}
