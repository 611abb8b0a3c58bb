//! Debian packages through apt, with package lists and a cache of its own; only [`Apt::install`] changes
//! anything outside the repository.

use crate::{Repo, Result};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use xshell::{Cmd, cmd};

/// The file in which Debian names its package sources.
const SOURCES: &str = "/etc/apt/sources.list.d/debian.sources";

/// Fresh package lists: of the machine's suite, and of its backports where they exist.
pub(super) struct Apt {
    folder: PathBuf,
    /// The backports suite, which has newer versions than the release.
    backports: Option<String>,
}

impl Apt {
    /// Downloads the lists to `folder`.
    ///
    /// # Errors
    /// When there is no apt, or it cannot reach its servers.
    pub(super) fn open(repo: &Repo, folder: PathBuf) -> Result<Apt> {
        let sh = &repo.shell;
        for part in ["lists/partial", "cache/archives/partial"] {
            sh.create_dir(folder.join(part))?;
        }
        let stanzas = sh.read_file(SOURCES).unwrap_or_default();
        if let Some((suite, stanza)) = backports(&stanzas) {
            sh.write_file(folder.join("backports.sources"), stanza)?;
            let backports = Some(suite);
            let apt = Apt {
                folder: folder.clone(),
                backports,
            };
            if apt.update(repo).is_ok() {
                return Ok(apt);
            }
        }
        let apt = Apt {
            folder,
            backports: None,
        };
        apt.update(repo)?;
        Ok(apt)
    }

    fn update(&self, repo: &Repo) -> Result {
        let folder = self.folder.display();
        let mut settings = format!(
            "Dir::State::Lists \"{folder}/lists\";\nDir::Cache \"{folder}/cache\";\n\
             APT::Sandbox::User \"\";\n"
        );
        if self.backports.is_some() {
            settings += &format!("Dir::Etc::SourceList \"{folder}/backports.sources\";\n");
        }
        repo.shell
            .write_file(self.folder.join("apt.conf"), settings)?;
        let sh = &repo.shell;
        Ok(self.own(cmd!(sh, "apt-get --quiet --quiet update")).run()?)
    }

    /// A command that uses this folder's lists and cache.
    fn own<'a>(&self, command: Cmd<'a>) -> Cmd<'a> {
        command
            .env("APT_CONFIG", self.folder.join("apt.conf"))
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("LC_ALL", "C")
    }

    /// Whether this process may install `packages`.
    ///
    /// # Errors
    /// When it may not: the command for someone who may.
    pub(super) fn may_install(repo: &Repo, packages: &[&str]) -> Result {
        let sh = &repo.shell;
        let root = cmd!(sh, "id --user").quiet().read()? == "0";
        if !packages.is_empty() && !root {
            let packages = packages.join(" ");
            return Err(format!("only root installs: apt-get install {packages}").into());
        }
        Ok(())
    }

    /// Installs a package on this machine, from the backports where they have it.
    ///
    /// The backports come first because a machine with one package of a family from there cannot take
    /// another from the release. Nothing is removed.
    ///
    /// # Errors
    /// When apt refuses.
    pub(super) fn install(&self, repo: &Repo, package: &str, newest: bool) -> Result {
        let sh = &repo.shell;
        let flags = [
            "--quiet",
            "--quiet",
            "--yes",
            "--no-install-recommends",
            "--no-remove",
        ];
        if let Some(suite) = self.backports.as_ref().filter(|_| newest) {
            let newest = cmd!(
                sh,
                "apt-get install {flags...} --target-release {suite} {package}"
            );
            if self.own(newest).run().is_ok() {
                return Ok(());
            }
        }
        Ok(self
            .own(cmd!(sh, "apt-get install {flags...} {package}"))
            .run()?)
    }

    /// The dependency of `package` whose name begins with `prefix`.
    ///
    /// # Errors
    /// When there is no such dependency.
    pub(super) fn dependency(&self, repo: &Repo, package: &str, prefix: &str) -> Result<String> {
        let sh = &repo.shell;
        let text = self
            .own(cmd!(sh, "apt-cache depends {package}"))
            .quiet()
            .read()?;
        let mut dependencies = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("Depends: "));
        let found = dependencies.find(|name| name.starts_with(prefix));
        Ok(found
            .ok_or_else(|| format!("{package} depends on no {prefix}..."))?
            .to_owned())
    }

    /// The content of the one file in `package` whose path matches `pattern`, such as `./bin/x*`.
    ///
    /// # Errors
    /// When the package cannot be downloaded, or has no such file.
    pub(super) fn file(&self, repo: &Repo, package: &str, pattern: &str) -> Result<Vec<u8>> {
        let [content] = self.files(repo, package, [pattern])?;
        Ok(content)
    }

    /// As [`Apt::file`], for several files of one package.
    ///
    /// # Errors
    /// When the package cannot be downloaded, or lacks one of the files.
    pub(super) fn files<const N: usize>(
        &self,
        repo: &Repo,
        package: &str,
        patterns: [&str; N],
    ) -> Result<[Vec<u8>; N]> {
        let sh = &repo.shell;
        let folder = self.folder.join(package);
        sh.remove_path(&folder)?;
        sh.create_dir(&folder)?;
        {
            let _there = sh.push_dir(&folder);
            self.own(cmd!(sh, "apt-get --quiet --quiet download {package}"))
                .run()?;
        }
        let fetched = sh.read_dir(&folder)?;
        let archive = fetched
            .first()
            .ok_or_else(|| format!("apt gave no {package}"))?;
        // Decompressed once, as that takes longer than all that follows.
        let files = folder.join("files.tar");
        let decompressed = Command::new("dpkg-deb")
            .arg("--fsys-tarfile")
            .arg(archive)
            .stdout(File::create(&files)?)
            .status()?;
        if !decompressed.success() {
            return Err(format!("dpkg-deb {}: {decompressed}", archive.display()).into());
        }
        let mut contents = [const { Vec::new() }; N];
        for (content, pattern) in contents.iter_mut().zip(patterns) {
            *content = extract(&files, pattern).map_err(|why| format!("{package}: {why}"))?;
        }
        sh.remove_path(&folder)?;
        Ok(contents)
    }
}

/// Extracts one file from an archive.
fn extract(files: &Path, pattern: &str) -> Result<Vec<u8>> {
    let unpacked = Command::new("tar")
        .args(["--extract", "--to-stdout", "--wildcards", "--file"])
        .args([files, Path::new(pattern)])
        .output()?;
    if unpacked.status.success() {
        Ok(unpacked.stdout)
    } else {
        Err(String::from_utf8_lossy(&unpacked.stderr).into())
    }
}

/// The name of the release's backports, and their source stanza: a copy of the machine's first stanza with
/// another suite.
fn backports(stanzas: &str) -> Option<(String, String)> {
    let first: Vec<_> = stanzas
        .lines()
        .take_while(|line| !line.trim().is_empty())
        .collect();
    let release = first
        .iter()
        .find_map(|line| line.strip_prefix("Suites:")?.split_whitespace().next())?;
    let suite = format!("{release}-backports");
    let stanza: String = first
        .iter()
        .map(|line| {
            if line.starts_with("Suites:") {
                format!("Suites: {suite}\n")
            } else {
                format!("{line}\n")
            }
        })
        .collect();
    Some((suite, stanza))
}

#[cfg(test)]
mod tests {
    //! Tests of the stanza for the backports.

    use super::backports;

    #[test]
    fn backports_come_from_where_the_release_comes_from() {
        let own = "Types: deb\nURIs: http://mirror/debian\nSuites: stable stable-updates\n\
                   Components: main\n\nTypes: deb\nSuites: stable-security\n";
        let (suite, stanza) = backports(own).unwrap();
        assert_eq!(suite, "stable-backports");
        assert_eq!(
            stanza,
            "Types: deb\nURIs: http://mirror/debian\nSuites: stable-backports\nComponents: main\n"
        );
    }

    #[test]
    fn without_a_release_there_are_none() {
        assert_eq!(backports(""), None);
        assert_eq!(backports("Types: deb\n\nSuites: late\n"), None);
    }
}
