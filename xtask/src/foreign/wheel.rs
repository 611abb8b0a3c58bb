//! The wheel: the lines of the README that install it where Rust is missing, and use it.

use super::harness::Harness;
use super::report::Report;
use crate::{Result, wheel};
use std::env;
use std::process::Command;

/// What the lines install besides, at the versions that the check is made for.
const VERSIONS: &str = "mpi4py==4.1.2\n";

/// What ends the output of mpi4py's ring on four ranks.
const RING: &str = "(4 processes, ";

pub(super) fn check(harness: &Harness, report: &mut Report) -> Result {
    let sh = &harness.repo.shell;
    let readme = sh.read_file(harness.repo.root.join("README.md"))?;
    let mut blocks = readme.split("```\n");
    let lines = blocks
        .find(|block| block.starts_with("python3 -m venv "))
        .ok_or("README.md has no block that begins with `python3 -m venv`")?;
    let folder = harness.folder.join("wheel");
    sh.remove_path(&folder)?;
    wheel::make(harness.repo, &folder)?;
    sh.write_file(folder.join("versions.txt"), VERSIONS)?;

    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path);
    let without_rust = folders.filter(|folder| {
        let has = |program| folder.join(program).exists();
        !has("cargo") && !has("rustc")
    });
    let mut command = Command::new("env");
    command
        // Programs must find the library of the environment.
        .args(["--unset=LD_LIBRARY_PATH", "sh", "-ec", lines])
        .env("PATH", env::join_paths(without_rust)?)
        .env("PIP_CONSTRAINT", "versions.txt");
    let said = harness.build("wheel", &folder, command)?;
    match said.contains(RING) {
        true => report.success("wheel without Rust"),
        false => report.failure(
            "wheel without Rust",
            &format!("no line has \"{RING}\": {said}"),
        ),
    }
    Ok(())
}
