//! The repository as the verbs see it: its root, and its packages from `cargo metadata`.

use crate::Result;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use xshell::{Shell, cmd};

/// The repository in which this program was built.
pub(crate) struct Repo {
    pub(crate) shell: Shell,
    pub(crate) root: PathBuf,
    pub(crate) packages: Vec<Package>,
}

/// What `cargo metadata` says.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
}

/// A package of the workspace, or one that it is built from.
#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    manifest_path: PathBuf,
    pub(crate) version: String,
    description: Option<String>,
    pub(crate) license: Option<String>,
    features: BTreeMap<String, Vec<String>>,
    pub(crate) dependencies: Vec<Dependency>,
    targets: Vec<BuildTarget>,
    /// The registries that take it; `None`: all do.
    publish: Option<Vec<String>>,
    metadata: Option<PackageMetadata>,
}

/// One dependency in a manifest.
#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    kind: Option<String>,
    pub(crate) target: Option<String>,
}

/// What cargo builds from a package.
#[derive(Deserialize)]
struct BuildTarget {
    kind: Vec<String>,
}

/// Our own table in a manifest.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct PackageMetadata {
    #[serde(default)]
    readme_features: Vec<String>,
}

impl Repo {
    /// Finds the root and reads the packages of the workspace.
    pub(crate) fn open() -> Result<Repo> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .expect("xtask is a folder of the root");
        let shell = Shell::new()?;
        shell.change_dir(root);
        Ok(Repo {
            root: root.to_owned(),
            packages: Metadata::read(&shell, &["--no-deps"])?.packages,
            shell,
        })
    }

    /// An empty folder under `target/xtask` for files that a verb generates.
    pub(crate) fn scratch(&self, name: &str) -> Result<PathBuf> {
        let folder = self.root.join("target/xtask").join(name);
        self.shell.remove_path(&folder)?;
        self.shell.create_dir(&folder)?;
        Ok(folder)
    }

    /// A new copy of the repository's files for changes, at the same place each time.
    pub(crate) fn copy(&self) -> Result<PathBuf> {
        let copy = self.scratch("copy")?;
        for path in self.files()? {
            let to = copy.join(&path);
            std::fs::create_dir_all(to.parent().ok_or("a file lies in a folder")?)?;
            std::fs::copy(self.root.join(&path), to)?;
        }
        Ok(copy)
    }

    /// The path of a tool of crates.io, which is installed under `target/tools` if it is missing.
    pub(crate) fn tool(&self, name: &str) -> Result<PathBuf> {
        let sh = &self.shell;
        let tools = self.root.join("target/tools");
        let tool = tools.join("bin").join(name);
        if !tool.exists() {
            let install = cmd!(sh, "cargo install {name} --locked --root {tools}");
            // They mostly wait for cargo, and a clean clone builds them again.
            install.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1").run()?;
        }
        Ok(tool)
    }

    /// Selects the packages for users, in arguments of cargo.
    ///
    /// Cargo gives a crate the features that all selected packages ask for, and builds it again for another selection. So what
    /// the steps of `ci` share is built with one: this one in release, `--workspace` for tests.
    pub(crate) fn for_users(&self) -> Vec<&str> {
        let unpublished = self
            .packages
            .iter()
            .filter(|package| !package.is_published());
        let excluded = unpublished.flat_map(|package| ["--exclude", &package.name]);
        std::iter::once("--workspace").chain(excluded).collect()
    }

    /// Builds these targets of the packages for users in release, and returns their folder.
    ///
    /// An example should be among them: without one cargo leaves out the features that tests ask for.
    ///
    /// # Errors
    /// When they cannot be built.
    pub(crate) fn release(&self, targets: &[&str]) -> Result<PathBuf> {
        let (sh, packages) = (&self.shell, self.for_users());
        cmd!(sh, "cargo build --release {packages...} {targets...}").run()?;
        Ok(self.root.join("target/release"))
    }

    /// Builds what `cargo xtask build` does, and returns its folder: all libraries and programs, and the examples that need
    /// release. An example takes ten times as long to build as for tests, where it uses the code of the libraries.
    ///
    /// # Errors
    /// When it cannot be built.
    pub(crate) fn runtime(&self) -> Result<PathBuf> {
        let examples = ["--example", "hello", "--example", "manager_ending"];
        self.release(&[&["--bins", "--lib"], &examples[..]].concat())
    }

    /// Builds these targets of all packages as `cargo xtask test` does, and returns their folder.
    ///
    /// # Errors
    /// When they cannot be built.
    pub(crate) fn for_tests(&self, targets: &[&str]) -> Result<PathBuf> {
        let sh = &self.shell;
        cmd!(sh, "cargo build --workspace {targets...}").run()?;
        Ok(self.root.join("target/debug"))
    }

    /// Builds the command `oxmpi` in release, without other packages, and returns its path.
    pub(crate) fn oxmpi(&self) -> Result<PathBuf> {
        let sh = &self.shell;
        cmd!(
            sh,
            "cargo build --release --package oxmpi-launch --bin oxmpi"
        )
        .run()?;
        Ok(self.root.join("target/release/oxmpi"))
    }

    /// The package of this name.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn package(&self, name: &str) -> Result<&Package> {
        let found = self.packages.iter().find(|package| package.name == name);
        found.ok_or_else(|| format!("the workspace has no {name}").into())
    }

    /// The packages for users: without those that only test and maintain the others.
    pub(crate) fn published(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| package.is_published())
    }

    /// The packages that others can depend on.
    pub(crate) fn libraries(&self) -> impl Iterator<Item = &Package> {
        self.published().filter(|package| package.is_library())
    }

    /// The files under version control, and new ones that git does not ignore, relative to the root.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>> {
        let sh = &self.shell;
        let text = cmd!(sh, "git ls-files --cached --others --exclude-standard")
            .quiet()
            .read()?;
        Ok(text
            .lines()
            .map(PathBuf::from)
            .filter(|path| self.root.join(path).is_file())
            .collect())
    }
}

impl Metadata {
    /// Asks cargo, with these further arguments.
    pub(crate) fn read(shell: &Shell, arguments: &[&str]) -> Result<Metadata> {
        let asked = cmd!(shell, "cargo metadata --format-version 1 {arguments...}");
        Ok(serde_json::from_str(&asked.quiet().read()?)?)
    }
}

impl Package {
    /// The folder of its manifest.
    pub(crate) fn folder(&self) -> &Path {
        let folder = self.manifest_path.parent();
        folder.expect("a manifest lies in a folder")
    }

    /// The name without the project's prefix, as in the folders under `crates`.
    pub(crate) fn short(&self) -> &str {
        let name = self.folder().file_name();
        name.and_then(|name| name.to_str()).unwrap_or(&self.name)
    }

    pub(crate) fn description(&self) -> &str {
        self.description.as_deref().unwrap_or_default()
    }

    /// Whether it is for users: registries take it.
    pub(crate) fn is_published(&self) -> bool {
        self.publish.is_none()
    }

    /// Whether others can depend on it.
    pub(crate) fn is_library(&self) -> bool {
        let mut kinds = self.targets.iter().flat_map(|target| &target.kind);
        kinds.any(|kind| kind == "lib" || kind == "proc-macro")
    }

    pub(crate) fn features(&self) -> impl Iterator<Item = &str> {
        self.features.keys().map(String::as_str)
    }

    /// Features that it has unless one asks for others.
    pub(crate) fn default_features(&self) -> &[String] {
        self.features.get("default").map_or(&[], Vec::as_slice)
    }

    /// Features that its README example needs: `package.metadata.readme-features`.
    pub(crate) fn readme_features(&self) -> &[String] {
        match &self.metadata {
            Some(metadata) => &metadata.readme_features,
            None => &[],
        }
    }
}

impl Dependency {
    /// Whether only tests, benchmarks and examples need it.
    pub(crate) fn is_for_tests(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}
