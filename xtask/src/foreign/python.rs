//! A virtual environment for tools of PyPI.

use super::harness::Harness;
use crate::Result;
use std::path::{Path, PathBuf};
use xshell::{Cmd, Shell, cmd};

pub(super) struct Python {
    /// The folder of its commands.
    pub(super) bin: PathBuf,
}

impl Python {
    /// The environment of all checks, with these packages installed.
    ///
    /// # Errors
    /// When pip fails.
    pub(super) fn with(harness: &Harness, packages: &[&str]) -> Result<Self> {
        let sh = &harness.repo.shell;
        let folder = harness.folder.join("venv");
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
    pub(super) fn script<'a>(&self, sh: &'a Shell, text: &str, arguments: &[String]) -> Cmd<'a> {
        let python = self.bin.join("python");
        cmd!(sh, "{python} -c {text} {arguments...}")
    }
}
