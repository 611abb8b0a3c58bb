//! `cargo xtask build`: builds the runtime in release and lists the parts that it lacks.

use crate::{Repo, Result};
use xshell::cmd;

/// Packages of the workspace for its developers only.
const FOR_DEVELOPERS: [&str; 2] = ["oxmpi-testkit", "xtask"];

/// Parts of the design that are not written yet, and what that means to a user.
const NOT_YET: [(&str, &str); 1] = [(
    "abi",
    "C interface libmpi_abi.so.1: a part of its functions; docs/abi.md",
)];

pub(crate) fn run(repo: &Repo) -> Result {
    let sh = &repo.shell;
    let excluded = FOR_DEVELOPERS.iter().flat_map(|name| ["--exclude", name]);
    cmd!(
        sh,
        "cargo build --release --workspace --bins --lib --examples {excluded...}"
    )
    .run()?;

    println!("\nbuilt:");
    for package in repo
        .packages
        .iter()
        .filter(|package| !FOR_DEVELOPERS.contains(&&*package.name))
    {
        println!("  {:<14} {}", package.name, package.description());
    }
    println!("  the command: target/release/oxmpi");
    println!("left out:");
    for name in FOR_DEVELOPERS {
        println!("  {name:<14} for development only");
    }
    for (name, why) in NOT_YET {
        println!("  {name:<14} {why}");
    }
    Ok(())
}
