//! `cargo xtask long semver`: compares the public items of the libraries with those of an earlier revision.

use crate::commands::run_check;
use crate::repo::Package;
use crate::{Repo, Result};
use std::process::Command;

/// Compare the public items of a library, or of each, with those of the baseline; a change that breaks users is an error
///
/// Runs cargo-semver-checks, which is installed under `target/tools` when it is missing: that compiles some 400
/// packages, more minutes than a step of `ci` may take. The baseline is the revision in
/// `xtask/src/semver/baseline.txt`; name the release there after each release, and before the first one the revision
/// whose public items have been looked through.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct SemverOptions {
    /// The package, such as `oxmpi-wire`; all libraries by default
    #[arg(value_name = "CRATE")]
    package: Option<String>,
}

/// The revision with which public items are compared.
const BASELINE: &str = include_str!("semver/baseline.txt");

pub(crate) fn run(repo: &Repo, options: &SemverOptions) -> Result {
    let libraries = repo
        .libraries()
        .filter(|package| is_in_baseline(repo, package));
    let names: Vec<&str> = libraries.map(|package| &*package.name).collect();
    let chosen = match options.package.as_deref() {
        None => names,
        Some(name) if names.contains(&name) => vec![name],
        Some(name) => {
            let names = names.join(", ");
            return Err(format!("no library '{name}' in the baseline; there are: {names}").into());
        }
    };
    let mut command = Command::new(repo.tool("cargo-semver-checks")?);
    command.current_dir(&repo.root);
    command.args(["semver-checks", "check-release", "--color=never"]);
    command.args(["--baseline-rev", BASELINE.trim()]);
    // The version in the manifests is that of the next release, so it does not say which changes are allowed.
    command.args(["--release-type", "minor"]);
    command.args(chosen.iter().flat_map(|name| ["--package", name]));
    run_check(command).map(drop)
}

/// Whether the library is older than the baseline; there is nothing to compare with otherwise.
fn is_in_baseline(repo: &Repo, package: &Package) -> bool {
    let folder = package.folder();
    let folder = folder.strip_prefix(&repo.root).unwrap_or(folder);
    let manifest = format!("{}:{}/Cargo.toml", BASELINE.trim(), folder.display());
    let found = Command::new("git")
        .current_dir(&repo.root)
        .args(["cat-file", "-e", &manifest])
        .output();
    found.is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::BASELINE;

    #[test]
    fn the_baseline_is_a_revision() {
        let revision = BASELINE.trim();
        assert!(revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
