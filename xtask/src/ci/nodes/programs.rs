//! The programs that guests need: the tests of real ranks, the command `oxmpi`, and the program that starts
//! ranks on another guest.

use crate::{Repo, Result};
use serde_json::Value;
use std::path::PathBuf;
use xshell::cmd;

/// Paths of the programs, without debug information, which would fill the guests' memory.
pub(super) struct Programs {
    pub(super) ranks: PathBuf,
    pub(super) remote_exec: PathBuf,
    /// The command `oxmpi`, and the path under which the tests look for it.
    pub(super) oxmpi: (PathBuf, String),
}

impl Programs {
    /// Builds the programs as the tests on this machine are built.
    ///
    /// # Errors
    /// When they cannot be built.
    pub(super) fn build(repo: &Repo) -> Result<Programs> {
        let sh = &repo.shell;
        let folder = repo.scratch("nodes")?;
        let json = "--message-format=json";
        let package = ["--quiet", "--package", "oxmpi-launch"];
        let mut messages =
            cmd!(sh, "cargo test {package...} --test ranks --no-run {json}").read()?;
        messages += &cmd!(sh, "cargo build {package...} --example remote_exec {json}").read()?;
        let bare = |name: &str| -> Result<(PathBuf, String)> {
            let path =
                executable(&messages, name).ok_or_else(|| format!("cargo built no {name}"))?;
            let bare = folder.join(name);
            cmd!(sh, "strip -o {bare} {path}").run()?;
            Ok((bare, path))
        };
        Ok(Programs {
            ranks: bare("ranks")?.0,
            remote_exec: bare("remote_exec")?.0,
            oxmpi: bare("oxmpi")?,
        })
    }
}

/// Finds the path of a built program in cargo's messages.
fn executable(messages: &str, name: &str) -> Option<String> {
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let built = messages.filter_map(|message: Value| {
        let path = message["executable"].as_str()?.to_owned();
        (message["target"]["name"] == name).then_some(path)
    });
    // The tests of a program have its name too, in a deeper folder.
    built.min_by_key(String::len)
}

#[cfg(test)]
mod tests {
    //! Tests of the search in cargo's messages.

    use super::executable;

    #[test]
    fn a_program_is_found_among_libraries_and_its_own_tests() {
        let messages = r#"{"target":{"name":"oxmpi"},"executable":null}
                          not from cargo
                          {"target":{"name":"oxmpi"},"executable":"/t/debug/deps/oxmpi-1"}
                          {"target":{"name":"oxmpi"},"executable":"/t/debug/oxmpi"}
                          {"target":{"name":"ranks"},"executable":"/t/debug/deps/ranks-1"}"#;
        assert_eq!(
            executable(messages, "oxmpi").as_deref(),
            Some("/t/debug/oxmpi")
        );
        assert_eq!(executable(messages, "remote_exec"), None);
    }
}
