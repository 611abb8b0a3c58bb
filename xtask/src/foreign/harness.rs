//! What all checks share: where things are built, the libraries, and how a program is run on one of them.

use crate::commands::Tail;
use crate::compare::{Implementation, peers};
use crate::guest::apt::Apt;
use crate::install::LIBRARY;
use crate::python::Python;
use crate::{Repo, Result, install};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use xshell::cmd;

/// The name of our library in tables.
pub(super) const OURS: &str = "oxmpi";

pub(super) struct Harness<'a> {
    pub(super) repo: &'a Repo,
    /// Where programs are built.
    pub(super) folder: PathBuf,
    /// Where oxmpi is installed for them.
    pub(super) prefix: PathBuf,
    /// Whether the user has installed it there.
    pub(super) is_installed: bool,
    /// Ours first.
    pub(super) libraries: Vec<Implementation>,
    /// Whether there is time for all cases.
    pub(super) thorough: bool,
}

/// A program to run on one library.
pub(super) struct Job<'a> {
    pub(super) library: &'a Implementation,
    pub(super) ranks: u32,
    /// Seconds after which it is killed.
    pub(super) limit: u32,
    /// Where it runs.
    pub(super) folder: &'a Path,
    /// The name of its log.
    pub(super) name: String,
    pub(super) environment: Vec<(String, OsString)>,
}

/// How a job ended.
pub(super) struct Ended {
    /// `None`: a signal ended it.
    pub(super) code: Option<i32>,
    /// What it wrote, to both of its outputs.
    pub(super) text: String,
    pub(super) seconds: f32,
    pub(super) log: PathBuf,
}

impl<'a> Harness<'a> {
    /// Builds oxmpi unless it is `installed`, and installs the `others`: mpich, intel.
    pub(super) fn prepare(
        repo: &'a Repo,
        installed: Option<&Path>,
        others: &[String],
        thorough: bool,
    ) -> Result<Self> {
        let folder = repo.root.join("target/foreign");
        let prefix = match installed {
            Some(prefix) => std::path::absolute(prefix)?,
            None => {
                let prefix = folder.join("prefix");
                // Other steps use this build, too; `cargo xtask install` optimises more.
                let built = repo.runtime()?;
                install::write(repo, &prefix, &built.join("oxmpi"), &built.join(LIBRARY))?;
                prefix
            }
        };
        repo.shell.create_dir(folder.join("logs"))?;
        let mut libraries = vec![Implementation {
            name: OURS,
            launcher: Some(prefix.join("bin/oxmpi")),
            environment: vec![("LD_LIBRARY_PATH", prefix.join("lib").into())],
            unbound: &["run", "--oversubscribe"],
            ..Implementation::default()
        }];
        for other in others {
            libraries.extend(match other.as_str() {
                "mpich" => peers::mpich(repo, &BTreeSet::new())?,
                "intel" => peers::intel(repo, &BTreeSet::new())?,
                _ => return Err(format!("{other}: the other libraries are mpich and intel").into()),
            });
        }
        Ok(Self {
            repo,
            folder,
            prefix,
            is_installed: installed.is_some(),
            libraries,
            thorough,
        })
    }

    /// The virtual environment of all checks, with these packages of PyPI installed.
    ///
    /// # Errors
    /// When pip fails.
    pub(super) fn python(&self, packages: &[&str]) -> Result<Python> {
        Python::with(&self.repo.shell, &self.folder.join("venv"), packages)
    }

    /// The compiler wrapper for C or C++.
    pub(super) fn wrapper(&self, name: &str) -> PathBuf {
        self.prefix.join("bin").join(name)
    }

    /// The unpacked source of a Debian package: the folder `part` of its archive, fetched once.
    ///
    /// # Errors
    /// When apt cannot fetch it.
    pub(super) fn source(&self, package: &str, version: &str, part: &str) -> Result<PathBuf> {
        let sh = &self.repo.shell;
        let to = self.folder.join(package);
        if sh.path_exists(&to) {
            return Ok(to.join(part));
        }
        let apt = Apt::sources(self.repo, self.folder.join("debian"))?;
        let archive = apt.source(self.repo, package, version)?;
        let fresh = self.folder.join(format!("{package}.unpacked"));
        sh.remove_path(&fresh)?;
        sh.create_dir(&fresh)?;
        let wanted = format!("*/{part}");
        let wanted: &[&str] = if part.is_empty() {
            &[]
        } else {
            &["--wildcards", &wanted]
        };
        cmd!(
            sh,
            "tar --extract --file {archive} --directory {fresh} --strip-components=1 {wanted...}"
        )
        .run()?;
        // A folder of this name is complete.
        std::fs::rename(&fresh, &to)?;
        sh.remove_path(archive)?;
        Ok(to.join(part))
    }

    /// Runs a command that builds something, and returns its output, which is shown only when it fails.
    ///
    /// # Errors
    /// When it fails: the end of its output.
    pub(super) fn build(&self, name: &str, folder: &Path, mut command: Command) -> Result<String> {
        println!("building {name}");
        let log = self.log(&format!("build-{name}"));
        let (out, err) = both(&log)?;
        let status = command
            .current_dir(folder)
            .env("LD_LIBRARY_PATH", self.prefix.join("lib"))
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .status()?;
        let said = read(&log)?;
        if !status.success() {
            let mut tail = Tail::default();
            said.lines().for_each(|line| tail.hear(line));
            return Err(
                format!("{name} is not built ({status}); {}:\n{tail}", log.display()).into(),
            );
        }
        Ok(said)
    }

    pub(super) fn log(&self, name: &str) -> PathBuf {
        let name = name.replace(['/', ' '], "-");
        self.folder.join("logs").join(format!("{name}.log"))
    }

    /// The words that start a job on a library, with its environment.
    pub(super) fn launcher(&self, library: &Implementation, ranks: u32) -> Vec<OsString> {
        let mut words: Vec<OsString> = library.launcher.iter().map(OsString::from).collect();
        words.extend(library.unbound.iter().map(OsString::from));
        words.extend(["-n".into(), ranks.to_string().into()]);
        words
    }

    /// Runs a program to its end or to its limit.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn run(&self, job: &Job, program: &Path, arguments: &[&str]) -> Result<Ended> {
        let mut words = self.launcher(job.library, job.ranks);
        words.push(program.into());
        words.extend(arguments.iter().map(OsString::from));
        self.watch(job, &words)
    }

    /// Runs any command in the environment of a library, to its end or to its limit.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn watch(&self, job: &Job, words: &[OsString]) -> Result<Ended> {
        let log = self.log(&format!("{}-{}-{}", job.name, job.ranks, job.library.name));
        let (out, err) = both(&log)?;
        let start = Instant::now();
        let library = job.library;
        let status = Command::new("timeout")
            .args(["--kill-after=10", &job.limit.to_string()])
            .args(words)
            .current_dir(job.folder)
            .envs(
                library
                    .environment
                    .iter()
                    .map(|(name, value)| (name, value)),
            )
            .envs(library.crowded.iter().copied())
            .envs(job.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .status()?;
        Ok(Ended {
            code: status.code(),
            text: read(&log)?,
            seconds: start.elapsed().as_secs_f32(),
            log,
        })
    }
}

/// A new file for both outputs of a command.
fn both(log: &Path) -> Result<(File, File)> {
    let out = File::create(log)?;
    let err = out.try_clone()?;
    Ok((out, err))
}

/// A text that may have bytes of no encoding.
fn read(path: &Path) -> Result<String> {
    Ok(String::from_utf8_lossy(&std::fs::read(path)?).into_owned())
}
