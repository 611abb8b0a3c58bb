//! The layouts of PMIx's types, of which the runtime keeps its own, against the header.

use super::debian::Debian;
use crate::commands::run_check;
use crate::tally::Tally;
use crate::{Repo, Result};
use xshell::cmd;

/// Says in C what `crates/runtime/src/boot/pmix/library.rs` says in Rust.
const LAYOUT: &str = include_str!("pmix_layout.c");

/// Compiles it.
pub(super) fn layout(repo: &Repo, debian: &Debian) -> Result<Tally> {
    let sh = &repo.shell;
    let include = debian.libraries().join("pmix2/include");
    let source = repo.scratch("pmix")?.join("layout.c");
    sh.write_file(&source, LAYOUT)?;
    run_check(cmd!(sh, "cc -fsyntax-only -I {include} {source}"))
}
