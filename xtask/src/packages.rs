//! The library crates as `cargo package` makes them, unpacked outside the workspace.
//!
//! What is proved about a crate alone is proved about its package: no inheritance from the
//! workspace, no path to a sibling, only the files that a user would get.

use crate::repo::Package;
use crate::{Repo, Result};
use std::path::{Path, PathBuf};
use xshell::cmd;

/// All packages of this workspace, unpacked.
pub(crate) struct Packages {
    /// Folder that holds one folder a package, and where projects that use them are made.
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
            // Packages carry one fixed date; cargo compares dates to see what has changed.
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

    /// Makes a project that depends on `package` with these features only, and gives its folder.
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

    /// A cargo command in `folder`; all such share one target folder.
    ///
    /// What it builds is built once and run once: without what debuggers and later builds would
    /// use it takes a fifth of the disk.
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

    /// Makes the unpacked `package` a workspace of its own, so that its tests can be run in place.
    ///
    /// A dependency without a version (the tests' own crate) is left out of a package; it is put
    /// back here, as that crate's source is at hand for whoever runs these tests.
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
            .filter(|dependency| dependency.dev)
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

/// What is packed: the libraries, and what their tests need.
fn packed(repo: &Repo) -> impl Iterator<Item = &Package> {
    repo.packages.iter().filter(|package| package.library)
}
