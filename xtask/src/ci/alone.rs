//! Each library alone: packed, used from outside the workspace, its README and tests run there.

use crate::commands::{run_check, run_tests};
use crate::packages::Packages;
use crate::tally::Tally;
use crate::{Repo, Result};

/// Checks every library.
///
/// # Errors
/// When a package cannot be made; a test that fails is in the tally.
pub(super) fn check(repo: &Repo) -> Result<Tally> {
    let packages = Packages::make(repo)?;
    let mut tally = Tally::default();
    for package in repo.libraries() {
        let name = package.short();
        let crate_name = package.name.replace('-', "_");
        let uses = format!("//! Uses one crate.\nextern crate {crate_name};\n");
        let project = packages.project(name, package, &[], "", &[("src/lib.rs", &uses)])?;
        tally += run_check({
            let mut cargo = packages.cargo(&project);
            cargo.args(["build", "--quiet"]);
            cargo
        })?;

        let readme = packages.folder.join(&package.name).join("README.md");
        let documented = format!("#![doc = include_str!(r\"{}\")]\n", readme.display());
        let reader = format!("{name}-readme");
        let features = &package.readme_features;
        let project = packages.project(
            &reader,
            package,
            features,
            "",
            &[("src/lib.rs", &documented)],
        )?;
        tally += run_tests({
            let mut cargo = packages.cargo(&project);
            cargo.args(["test", "--quiet", "--doc"]);
            cargo
        })?;

        let own = packages.stand_alone(package)?;
        tally += run_tests({
            let mut cargo = packages.cargo(&own);
            cargo.args(["test", "--quiet", "--no-fail-fast"]);
            cargo
        })?;
    }
    Ok(tally)
}
