//! The repository as the verbs see it: its root, and its packages from `cargo metadata`.

use crate::Result;
use serde_json::Value;
use std::path::{Path, PathBuf};
use xshell::{Shell, cmd};

/// The repository in which this program was built.
pub(crate) struct Repo {
    pub(crate) shell: Shell,
    pub(crate) root: PathBuf,
    pub(crate) packages: Vec<Package>,
}

/// A package of the workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) version: String,
    pub(crate) description: String,
    pub(crate) license: Option<String>,
    pub(crate) features: Vec<String>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) library: bool,
    pub(crate) published: bool,
    /// Features that its README example needs: `package.metadata.readme-features`.
    pub(crate) readme_features: Vec<String>,
}

/// One dependency in a manifest.
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) dev: bool,
    pub(crate) target: Option<String>,
}

impl Repo {
    /// Finds the root and reads the packages of the workspace.
    pub(crate) fn open() -> Result<Repo> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .expect("xtask is a folder of the root");
        let shell = Shell::new()?;
        shell.change_dir(root);
        let text = cmd!(shell, "cargo metadata --format-version 1 --no-deps")
            .quiet()
            .read()?;
        let metadata: Value = serde_json::from_str(&text)?;
        let packages = list(&metadata["packages"]).map(Package::read).collect();
        Ok(Repo {
            root: root.to_owned(),
            packages,
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

    /// Builds the runtime's examples in release, and returns their folder.
    pub(crate) fn examples(&self) -> Result<PathBuf> {
        let sh = &self.shell;
        cmd!(sh, "cargo build --release --package oxmpi --examples").run()?;
        Ok(self.root.join("target/release/examples"))
    }

    /// The packages that others can depend on: the published libraries.
    pub(crate) fn libraries(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| package.library && package.published)
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

impl Package {
    fn read(value: &Value) -> Package {
        let manifest = PathBuf::from(text(&value["manifest_path"]));
        let is_library = |target: &Value| list(&target["kind"]).any(|kind| kind == "lib");
        Package {
            name: text(&value["name"]),
            folder: manifest
                .parent()
                .expect("a manifest lies in a folder")
                .to_owned(),
            version: text(&value["version"]),
            description: text(&value["description"]),
            license: value["license"].as_str().map(String::from),
            features: value["features"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, _)| name.clone())
                .collect(),
            dependencies: list(&value["dependencies"]).map(Dependency::read).collect(),
            library: list(&value["targets"]).any(is_library),
            published: value["publish"].is_null(),
            readme_features: list(&value["metadata"]["readme-features"])
                .map(text)
                .collect(),
        }
    }

    /// The name without the project's prefix, as in the folders under `crates`.
    pub(crate) fn short(&self) -> &str {
        self.folder
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or(&self.name)
    }

    /// Whether the package has this feature.
    pub(crate) fn has_feature(&self, feature: &str) -> bool {
        self.features.iter().any(|name| name == feature)
    }
}

impl Dependency {
    fn read(value: &Value) -> Dependency {
        Dependency {
            name: text(&value["name"]),
            dev: value["kind"] == "dev",
            target: value["target"].as_str().map(String::from),
        }
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
