//! Programs for guests that cargo builds here.

use crate::{Repo, Result};
use serde_json::Value;
use std::path::PathBuf;
use xshell::Cmd;

/// What a run of cargo has built.
pub(crate) struct BuiltPrograms {
    messages: String,
}

impl BuiltPrograms {
    /// Runs a cargo command that builds.
    ///
    /// # Errors
    /// When it fails.
    pub(crate) fn of(cargo: Cmd<'_>) -> Result<BuiltPrograms> {
        let messages = cargo.arg("--message-format=json").read()?;
        Ok(BuiltPrograms { messages })
    }

    /// Adds what another run has built.
    pub(crate) fn and(mut self, other: BuiltPrograms) -> BuiltPrograms {
        self.messages += &other.messages;
        self
    }

    /// A copy of a program in `folder`, without debug information, which would fill a guest's memory; and the path
    /// at which cargo has built it.
    ///
    /// # Errors
    /// When there is no such program.
    pub(crate) fn bare(&self, repo: &Repo, name: &str, folder: &str) -> Result<(PathBuf, String)> {
        let built = self.executable(name);
        let built = built.ok_or_else(|| format!("cargo built no {name}"))?;
        let folder = repo.root.join("target/xtask").join(folder);
        repo.shell.create_dir(&folder)?;
        let bare = folder.join(name);
        xshell::cmd!(repo.shell, "strip -o {bare} {built}").run()?;
        Ok((bare, built))
    }

    /// Finds the path of a built program in cargo's messages.
    pub(crate) fn executable(&self, name: &str) -> Option<String> {
        let lines = self.messages.lines();
        let messages = lines.filter_map(|line| serde_json::from_str(line).ok());
        let built = messages.filter_map(|message: Value| {
            let path = message["executable"].as_str()?.to_owned();
            (message["target"]["name"] == name).then_some(path)
        });
        // The tests of a program have its name too, in a deeper folder.
        built.min_by_key(String::len)
    }
}

#[cfg(test)]
mod tests {
    //! Tests of the search in cargo's messages.

    use super::BuiltPrograms;

    #[test]
    fn a_program_is_found_among_libraries_and_its_own_tests() {
        let messages = r#"{"target":{"name":"oxmpi"},"executable":null}
                          not from cargo
                          {"target":{"name":"oxmpi"},"executable":"/t/debug/deps/oxmpi-1"}
                          {"target":{"name":"oxmpi"},"executable":"/t/debug/oxmpi"}
                          {"target":{"name":"ranks"},"executable":"/t/debug/deps/ranks-1"}"#;
        let messages = messages.to_owned();
        let built = BuiltPrograms { messages };
        assert_eq!(built.executable("oxmpi").as_deref(), Some("/t/debug/oxmpi"));
        assert_eq!(built.executable("remote_exec"), None);
    }
}
