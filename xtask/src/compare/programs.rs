//! The programs that are compared, built for every implementation, and how to start them.

use crate::{Repo, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use xshell::cmd;

/// The programs that every implementation has: `crates/bench/peers/NAME.c` and its Rust twin.
const PROGRAMS: [&str; 8] = [
    "pingpong", "posted", "sendrecv", "exchange", "rate", "crowd", "barrier", "init",
];

/// One implementation, ready to run.
#[derive(Default)]
pub(crate) struct Implementation {
    pub(crate) name: &'static str,
    /// The command that starts a job; `None`: programs are started by hand.
    pub(crate) launcher: Option<PathBuf>,
    /// Variables that a job gets.
    pub(crate) environment: Vec<(&'static str, OsString)>,
    /// The launcher's options for one rank on each core.
    pub(crate) bound: &'static [&'static str],
    /// Its options for more ranks than cores.
    pub(crate) crowded: &'static [&'static str],
    /// Whether barriers of more ranks than cores take it milliseconds, or for ever.
    pub(crate) collapses: bool,
    /// Where its programs lie.
    pub(crate) programs: PathBuf,
    /// What its programs' names begin with.
    pub(crate) prefix: &'static str,
    pub(crate) version: String,
}

impl Implementation {
    /// The command that runs `program` on `ranks`, ended after a minute. More ranks than cores never
    /// run in a real-time class, where those that wait would starve the others.
    pub(crate) fn command(&self, ranks: usize, crowded: bool, program: &Path) -> Command {
        let mut command = Command::new("timeout");
        command.args(["-k", "5", "60"]);
        if crowded && in_realtime_class() {
            command.args(["chrt", "--other", "0"]);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(launcher) = &self.launcher {
            let options = if crowded { self.crowded } else { self.bound };
            command.arg(launcher).args(options);
            command.args(["-n", &ranks.to_string()]);
        }
        command.arg(program);
        command
    }

    /// Where one of its programs lies.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.programs.join(format!("{}{name}", self.prefix))
    }
}

/// Whether this process, and so what it starts, runs in a real-time class (`SCHED_FIFO` or `SCHED_RR`):
/// field 41 of `/proc/self/stat`, counted behind the name in brackets, which may hold spaces.
fn in_realtime_class() -> bool {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let policy = behind_name.split_whitespace().nth(41 - 3);
    matches!(policy, Some("1" | "2"))
}

/// Ours: the Rust twins.
pub(super) fn ours(repo: &Repo) -> Result<Implementation> {
    let (launcher, programs) = (repo.oxmpi()?, repo.examples()?);
    let version = repo.packages.iter().find(|package| package.name == "oxmpi");
    Ok(Implementation {
        name: "oxmpi",
        launcher: Some(launcher),
        bound: &["run", "--bind-to", "core"],
        crowded: &["run", "--oversubscribe"],
        programs,
        prefix: "peer_",
        version: version.map_or_else(String::new, |package| package.version.clone()),
        ..Implementation::default()
    })
}

/// Builds the C programs with an MPI library's compiler, and gives their folder.
pub(super) fn with_mpi(repo: &Repo, name: &str, compiler: &Path) -> Result<PathBuf> {
    let sh = &repo.shell;
    let folder = repo.root.join("target/compare").join(name);
    sh.create_dir(&folder)?;
    for name in PROGRAMS {
        let source = repo.root.join(format!("crates/bench/peers/{name}.c"));
        let program = folder.join(name);
        cmd!(sh, "{compiler} -O2 -o {program} {source}")
            .quiet()
            .run()?;
    }
    Ok(folder)
}
