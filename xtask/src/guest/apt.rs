//! Debian packages and their sources through apt, with package lists and a cache of its own; only
//! [`Apt::install`] changes anything outside the repository.

use crate::{Repo, Result};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use xshell::{Cmd, cmd};

/// The file in which Debian names its package sources.
const SOURCES: &str = "/etc/apt/sources.list.d/debian.sources";

/// Fresh package lists: of the machine's suite, and of its backports where they exist.
pub(crate) struct Apt {
    folder: PathBuf,
    /// The backports suite, which has newer versions than the release.
    backports: Option<String>,
}

/// The release whose sources the foreign programs come from, whatever release this machine has.
const SOURCE_SUITE: &str = "bookworm";

impl Apt {
    /// Downloads the lists to `folder`.
    ///
    /// # Errors
    /// When there is no apt, or it cannot reach its servers.
    pub(super) fn open(repo: &Repo, folder: PathBuf) -> Result<Apt> {
        let stanzas = repo.shell.read_file(SOURCES).unwrap_or_default();
        if let Some(release) = release(&stanzas) {
            let suite = format!("{release}-backports");
            let list = stanza(&stanzas, "deb", &suite);
            let apt = Apt {
                folder: folder.clone(),
                backports: Some(suite),
            };
            if apt.update(repo, Some(&list)).is_ok() {
                return Ok(apt);
            }
        }
        let apt = Apt {
            folder,
            backports: None,
        };
        apt.update(repo, None)?;
        Ok(apt)
    }

    /// Downloads the lists of source packages to `folder`.
    ///
    /// # Errors
    /// As [`Apt::open`].
    pub(crate) fn sources(repo: &Repo, folder: PathBuf) -> Result<Apt> {
        let stanzas = repo.shell.read_file(SOURCES)?;
        let apt = Apt {
            folder,
            backports: None,
        };
        apt.update(repo, Some(&stanza(&stanzas, "deb-src", SOURCE_SUITE)))?;
        Ok(apt)
    }

    /// Downloads the lists of the machine's sources and of those that `list` names.
    fn update(&self, repo: &Repo, list: Option<&str>) -> Result {
        let sh = &repo.shell;
        for part in ["lists/partial", "cache/archives/partial"] {
            sh.create_dir(self.folder.join(part))?;
        }
        let folder = self.folder.display();
        let mut settings = format!(
            "Dir::State::Lists \"{folder}/lists\";\nDir::Cache \"{folder}/cache\";\n\
             APT::Sandbox::User \"\";\n"
        );
        if let Some(list) = list {
            sh.write_file(self.folder.join("own.sources"), list)?;
            settings += &format!("Dir::Etc::SourceList \"{folder}/own.sources\";\n");
        }
        sh.write_file(self.folder.join("apt.conf"), settings)?;
        Ok(self.own(cmd!(sh, "apt-get --quiet --quiet update")).run()?)
    }

    /// The archive of the original source of `package`, in this folder.
    ///
    /// # Errors
    /// When apt refuses, or has another version than `version`.
    pub(crate) fn source(&self, repo: &Repo, package: &str, version: &str) -> Result<PathBuf> {
        let sh = &repo.shell;
        let _there = sh.push_dir(&self.folder);
        self.own(cmd!(
            sh,
            "apt-get --quiet --quiet --tar-only source {package}"
        ))
        .run()?;
        let beginning = format!("{package}_{version}");
        let files = sh.read_dir(&self.folder)?;
        let found = files.into_iter().find(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&beginning) && name.contains(".orig.tar.")
        });
        Ok(found.ok_or_else(|| format!("apt has no {package} {version}"))?)
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
    pub(crate) fn may_install(repo: &Repo, packages: &[&str]) -> Result {
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
        let archive = self.download(repo, package, &folder)?;
        // Decompressed once, as that takes longer than all that follows.
        let files = folder.join("files.tar");
        let decompressed = Command::new("dpkg-deb")
            .arg("--fsys-tarfile")
            .arg(&archive)
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

    /// Unpacks a package to the folder `into`.
    ///
    /// # Errors
    /// When it cannot be downloaded.
    pub(super) fn unpack(&self, repo: &Repo, package: &str, into: &Path) -> Result {
        let sh = &repo.shell;
        let folder = self.folder.join(package);
        let archive = self.download(repo, package, &folder)?;
        cmd!(sh, "dpkg-deb --extract {archive} {into}").run()?;
        Ok(sh.remove_path(&folder)?)
    }

    /// Downloads a package to `folder`, which is emptied before.
    fn download(&self, repo: &Repo, package: &str, folder: &Path) -> Result<PathBuf> {
        let sh = &repo.shell;
        sh.remove_path(folder)?;
        sh.create_dir(folder)?;
        let _there = sh.push_dir(folder);
        self.own(cmd!(sh, "apt-get --quiet --quiet download {package}"))
            .run()?;
        let fetched = sh.read_dir(folder)?.into_iter().next();
        Ok(fetched.ok_or_else(|| format!("apt gave no {package}"))?)
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

/// The first stanza of package sources.
fn first(stanzas: &str) -> impl Iterator<Item = &str> {
    stanzas.lines().take_while(|line| !line.trim().is_empty())
}

/// The release that the first stanza names.
fn release(stanzas: &str) -> Option<&str> {
    first(stanzas).find_map(|line| line.strip_prefix("Suites:")?.split_whitespace().next())
}

/// A copy of the first stanza with other types and another suite.
fn stanza(stanzas: &str, types: &str, suite: &str) -> String {
    first(stanzas)
        .map(|line| match line.split_once(':') {
            Some(("Types", _)) => format!("Types: {types}\n"),
            Some(("Suites", _)) => format!("Suites: {suite}\n"),
            _ => format!("{line}\n"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    //! Tests of the stanza for the backports.

    use super::{release, stanza};

    const OWN: &str = "Types: deb\nURIs: http://mirror/debian\nSuites: stable stable-updates\n\
                       Components: main\n\nTypes: deb\nSuites: stable-security\n";

    #[test]
    fn other_suites_come_from_where_the_release_comes_from() {
        assert_eq!(release(OWN), Some("stable"));
        assert_eq!(
            stanza(OWN, "deb-src", "late"),
            "Types: deb-src\nURIs: http://mirror/debian\nSuites: late\nComponents: main\n"
        );
    }

    #[test]
    fn without_a_release_there_is_none() {
        assert_eq!(release(""), None);
        assert_eq!(release("Types: deb\n\nSuites: late\n"), None);
    }
}
