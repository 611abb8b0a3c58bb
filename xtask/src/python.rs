//! A virtual environment of Python for packages of PyPI.

use crate::Result;
use std::path::{Path, PathBuf};
use xshell::{Cmd, Shell, cmd};

pub(crate) struct Python {
    /// The folder of its commands.
    pub(crate) bin: PathBuf,
}

impl Python {
    /// The environment in `folder`, which is made where it is missing, with these packages installed.
    ///
    /// # Errors
    /// When pip fails.
    pub(crate) fn with(sh: &Shell, folder: &Path, packages: &[&str]) -> Result<Self> {
        let python = Self {
            bin: folder.join("bin"),
        };
        let pip = python.bin.join("pip");
        if !Path::exists(&pip) {
            cmd!(sh, "python3 -m venv {folder}").quiet().run()?;
        }
        let quiet = ["--quiet", "--disable-pip-version-check"];
        cmd!(sh, "{pip} install {quiet...} {packages...}")
            .quiet()
            .run()?;
        Ok(python)
    }

    /// Runs a program of these words, which get the words of `arguments`.
    pub(crate) fn script<'a>(&self, sh: &'a Shell, text: &str, arguments: &[String]) -> Cmd<'a> {
        let python = self.bin.join("python");
        cmd!(sh, "{python} -c {text} {arguments...}")
    }
}
