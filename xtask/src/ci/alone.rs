//! Checks each library alone: packs it, uses it outside the workspace, runs its README example there,
//! builds or runs its tests.

use crate::commands::{run_check, run_tests};
use crate::packages::Packages;
use crate::tally::Tally;
use crate::{Repo, Result};
use std::path::Path;

/// What to do with a library's own tests outside the workspace; `cargo xtask test` runs them inside.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tests {
    /// Build them, which shows that all they need at compile time is in the package.
    Built,
    /// Build and run them.
    Run,
}

/// Checks every library.
///
/// # Errors
/// When a package cannot be made. A failed test is a failure in the tally.
pub(crate) fn check(repo: &Repo, tests: Tests) -> Result<Tally> {
    let packages = Packages::make(repo)?;
    let mut tally = Tally::default();
    for package in repo.libraries() {
        let name = package.short();
        let crate_name = package.name.replace('-', "_");
        let uses = format!("//! Uses one crate.\nextern crate {crate_name};\n");
        let project = packages.project(name, package, &[], "", &[("src/lib.rs", &uses)])?;
        let cargo = |folder: &Path, arguments: &[&str]| {
            let mut cargo = packages.cargo(folder);
            cargo.args(arguments);
            cargo
        };
        tally += run_check(cargo(&project, &["check", "--quiet"]))?;

        let readme = packages.folder.join(&package.name).join("README.md");
        let documented = format!("#![doc = include_str!(r\"{}\")]\n", readme.display());
        let reader = format!("{name}-readme");
        let features = package.readme_features();
        let project = packages.project(
            &reader,
            package,
            features,
            "",
            &[("src/lib.rs", &documented)],
        )?;
        tally += run_tests(cargo(&project, &["test", "--quiet", "--doc"]))?;

        let own = packages.stand_alone(package)?;
        tally += match tests {
            Tests::Built => run_check(cargo(&own, &["check", "--quiet", "--all-targets"]))?,
            Tests::Run => run_tests(cargo(&own, &["test", "--quiet", "--no-fail-fast"]))?,
        };
    }
    Ok(tally)
}
