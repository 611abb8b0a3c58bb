//! The benchmark programs, built for each implementation, and how to start them.

use crate::{Repo, Result, install};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use xshell::cmd;

/// The name of our implementation.
pub(crate) const OURS: &str = "oxmpi";

/// The name of our implementation in tables where its programs are those in C.
pub(crate) const OURS_IN_C: &str = "oxmpi-c";

/// The name of the floor: two processes without MPI.
pub(crate) const FLOOR: &str = "floor";

/// The implementations that are no peers.
pub(crate) const NO_PEERS: [&str; 3] = [OURS, OURS_IN_C, FLOOR];

/// One implementation, ready to run.
#[derive(Default)]
pub(crate) struct Implementation {
    pub(crate) name: &'static str,
    /// The launcher's command; `None`: the programs are started without one.
    pub(crate) launcher: Option<PathBuf>,
    /// Environment variables of a job.
    pub(crate) environment: Vec<(&'static str, OsString)>,
    /// Further variables of a job whose ranks talk by TCP over the loopback device; `None`: the
    /// implementation cannot do that.
    pub(crate) network: Vec<(&'static str, OsString)>,
    /// The launcher's options for one rank on each core.
    pub(crate) bound: &'static [&'static str],
    /// Its options for more ranks than cores.
    pub(crate) unbound: &'static [&'static str],
    /// Further variables of a job with more ranks than cores.
    pub(crate) crowded: &'static [(&'static str, &'static str)],
    /// The folder of its programs: those of `crates/bench/peers`, or their Rust twins.
    pub(crate) programs: PathBuf,
    /// The prefix of its programs' names.
    pub(crate) prefix: &'static str,
    pub(crate) version: String,
}

impl Implementation {
    /// Whether this is the floor, which is a single program.
    pub(crate) fn bare(&self) -> bool {
        self.name == FLOOR
    }

    /// The path of one of its programs.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        let name = if self.bare() { FLOOR } else { name };
        self.programs.join(format!("{}{name}", self.prefix))
    }
}

/// Builds the Rust twins of `programs`.
pub(super) fn ours(repo: &Repo, programs: &BTreeSet<&str>) -> Result<Implementation> {
    let sh = &repo.shell;
    let names = programs.iter().map(|name| format!("--example=peer_{name}"));
    let names: Vec<String> = names.collect();
    if !names.is_empty() {
        cmd!(sh, "cargo build --release --package oxmpi {names...}").run()?;
    }
    Ok(Implementation {
        programs: repo.root.join("target/release/examples"),
        prefix: "peer_",
        ..launched(repo, OURS)?
    })
}

/// Builds the C `programs` with `oxmpicc`, on the library as users install it.
pub(super) fn ours_in_c(repo: &Repo, programs: &BTreeSet<&str>) -> Result<Implementation> {
    let prefix = repo.root.join("target/compare/prefix");
    install::lay(repo, &prefix)?;
    Ok(Implementation {
        programs: with_mpi(repo, programs, OURS_IN_C, &prefix.join("bin/oxmpicc"))?,
        ..launched(repo, OURS_IN_C)?
    })
}

/// Our launcher and its options.
fn launched(repo: &Repo, name: &'static str) -> Result<Implementation> {
    let version = repo.packages.iter().find(|package| package.name == "oxmpi");
    Ok(Implementation {
        name,
        launcher: Some(repo.oxmpi()?),
        network: vec![
            ("OXMPI_TRANSPORTS", "tcp".into()),
            ("OXMPI_TCP_INCLUDE", "lo".into()),
        ],
        bound: &["run", "--bind-to", "core"],
        unbound: &["run", "--oversubscribe"],
        version: version.map_or_else(String::new, |package| package.version.clone()),
        ..Implementation::default()
    })
}

/// Builds the floor's program.
pub(super) fn floor(repo: &Repo) -> Result<Implementation> {
    let sh = &repo.shell;
    let folder = repo.root.join("target/compare").join(FLOOR);
    sh.create_dir(&folder)?;
    let program = folder.join(FLOOR);
    let mut sources = sh.read_dir(repo.root.join("crates/bench/peers/floor"))?;
    sources.retain(|file| file.extension().is_some_and(|extension| extension == "c"));
    cmd!(sh, "cc -O2 -o {program} {sources...}").quiet().run()?;
    Ok(Implementation {
        name: FLOOR,
        programs: folder,
        ..Implementation::default()
    })
}

/// Builds the C `programs` with an MPI library's compiler, and returns their folder.
pub(super) fn with_mpi(
    repo: &Repo,
    programs: &BTreeSet<&str>,
    name: &str,
    compiler: &Path,
) -> Result<PathBuf> {
    let sh = &repo.shell;
    let folder = repo.root.join("target/compare").join(name);
    sh.create_dir(&folder)?;
    for name in programs {
        let source = repo.root.join(format!("crates/bench/peers/{name}.c"));
        let program = folder.join(name);
        cmd!(sh, "{compiler} -O2 -o {program} {source}")
            .quiet()
            .run()?;
    }
    Ok(folder)
}
