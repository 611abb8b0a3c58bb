//! The library crates as `cargo package` makes them, unpacked outside the workspace.
//!
//! A check of a package shows what a user gets: only the packed files, nothing inherited from the
//! workspace, no path to another crate.

use crate::repo::Package;
use crate::{Repo, Result};
use std::path::{Path, PathBuf};
use xshell::cmd;

/// All packages of this workspace, unpacked.
pub(crate) struct Packages {
    /// The folder of the unpacked packages and of the projects that use them.
    pub(crate) folder: PathBuf,
    target: PathBuf,
    patch: String,
}

impl Packages {
    /// Packs and unpacks every package that others may depend on, and the tests' own crate.
    ///
    /// # Errors
    /// When cargo refuses to pack.
    pub(crate) fn make(repo: &Repo) -> Result<Packages> {
        let sh = &repo.shell;
        let folder = repo.scratch("packages")?;
        let target = repo.root.join("target/xtask/packed");
        let names: Vec<_> = packed(repo)
            .flat_map(|package| ["--package", &package.name])
            .collect();
        let flags = [
            "--no-verify",
            "--allow-dirty",
            "--exclude-lockfile",
            "--no-metadata",
        ];
        cmd!(
            sh,
            "cargo package --quiet {flags...} --target-dir {target} {names...}"
        )
        .run()?;

        let mut patch = String::from("[patch.crates-io]\n");
        for package in packed(repo) {
            let name = &package.name;
            let version = &package.version;
            let archive = target.join(format!("package/{name}-{version}.crate"));
            // Packages carry one fixed date, but cargo detects changes by dates.
            cmd!(sh, "tar -xzmf {archive} -C {folder}").quiet().run()?;
            std::fs::rename(folder.join(format!("{name}-{version}")), folder.join(name))?;
            patch += &format!("{name} = {{ path = '{}' }}\n", folder.join(name).display());
        }
        Ok(Packages {
            folder,
            target: repo.root.join("target/xtask/alone"),
            patch,
        })
    }

    /// Makes a project that depends on `package` with these features only, and returns its folder.
    ///
    /// The project is a workspace of its own; `manifest` is added to its Cargo.toml.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(crate) fn project(
        &self,
        name: &str,
        package: &Package,
        features: &[String],
        manifest: &str,
        files: &[(&str, &str)],
    ) -> Result<PathBuf> {
        let folder = self.folder.join(format!("use-{name}"));
        std::fs::create_dir_all(folder.join("src"))?;
        let text = format!(
            "[package]\nname = \"use-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies.{}]\nversion = \"{}\"\ndefault-features = false\nfeatures = {features:?}\n\n{}\n{manifest}",
            package.name, package.version, self.patch
        );
        std::fs::write(folder.join("Cargo.toml"), text)?;
        for (file, text) in files {
            std::fs::write(folder.join(file), text)?;
        }
        Ok(folder)
    }

    /// A cargo command in `folder`; all of them share one target folder.
    ///
    /// Each build runs once, so full debug information and incremental data are left out: a fifth of the
    /// disk space.
    pub(crate) fn cargo(&self, folder: &Path) -> std::process::Command {
        let mut cargo = std::process::Command::new("cargo");
        cargo
            .current_dir(folder)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
            .env_remove("RUSTFLAGS");
        cargo
    }

    /// Makes the unpacked `package` a workspace of its own, so that its tests can run there.
    ///
    /// Cargo leaves a dependency without a version (the tests' own crate) out of a package; this adds it
    /// again by its path.
    ///
    /// # Errors
    /// When its manifest cannot be written.
    pub(crate) fn stand_alone(&self, package: &Package) -> Result<PathBuf> {
        let folder = self.folder.join(&package.name);
        let path = folder.join("Cargo.toml");
        let mut manifest = std::fs::read_to_string(&path)?;
        for dependency in package
            .dependencies
            .iter()
            .filter(|dependency| dependency.is_for_tests())
        {
            let dropped = self.folder.join(&dependency.name).exists()
                && !manifest.contains(&format!("[dev-dependencies.{}]", dependency.name));
            if dropped {
                let source = self.folder.join(&dependency.name);
                manifest += &format!(
                    "\n[dev-dependencies.{}]\npath = '{}'\n",
                    dependency.name,
                    source.display()
                );
            }
        }
        std::fs::write(path, format!("{manifest}\n[workspace]\n\n{}", self.patch))?;
        Ok(folder)
    }
}

/// The packages to pack: the libraries, and the crate that their tests need.
fn packed(repo: &Repo) -> impl Iterator<Item = &Package> {
    repo.packages.iter().filter(|package| package.is_library())
}
