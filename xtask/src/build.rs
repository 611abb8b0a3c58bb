//! `cargo xtask build`: builds the runtime in release and lists the parts that it lacks.

use crate::{Repo, Result};
use std::path::PathBuf;

/// Parts of the design that are not written yet, and what that means to a user.
const NOT_YET: [(&str, &str); 1] = [(
    "abi",
    "C interface libmpi_abi.so.1: a part of its functions; docs/abi.md",
)];

/// Returns the folder of what it has built.
///
/// # Errors
/// When something cannot be built.
pub(crate) fn run(repo: &Repo) -> Result<PathBuf> {
    let built = repo.runtime()?;
    println!("\nbuilt:");
    for package in repo.published() {
        println!("  {:<14} {}", package.name, package.description());
    }
    println!("  the command: target/release/oxmpi");
    println!("left out:");
    for package in repo
        .packages
        .iter()
        .filter(|package| !package.is_published())
    {
        println!("  {:<14} for development only", package.name);
    }
    for (name, why) in NOT_YET {
        println!("  {name:<14} {why}");
    }
    Ok(built)
}
