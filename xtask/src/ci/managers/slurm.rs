//! A Slurm cluster of two nodes on this machine, and `srun` with each of its two protocols.

use super::debian::{Debian, is_root};
use super::launcher::{Launcher, Programs};
use crate::tally::Tally;
use crate::{Repo, Result};
use std::ffi::OsString;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Starts the daemons. Arguments: the root of the packages, and the folder for everything they write.
const DAEMONS: &str = include_str!("slurm.sh");

/// The daemons' configuration; names in braces stand for values of this run.
const CONFIGURATION: &str = include_str!("slurm.conf");

/// Waits until both nodes are ready.
const READY: &str = "until [ \"$(sinfo -h -o '%T %D')\" = 'idle 2' ]; do sleep 0.1; done";

/// Runs jobs over both nodes.
pub(super) fn check(repo: &Repo, debian: &Debian, programs: &Programs) -> Result<Tally> {
    let slurm = Slurm::start(repo, debian)?;
    let mut tally = Tally::default();
    for (name, protocol) in [
        ("srun --mpi=pmi2", "--mpi=pmi2"),
        ("srun --mpi=pmix", "--mpi=pmix"),
    ] {
        let mut words = debian.inside()?;
        words.extend(
            [
                "srun",
                protocol,
                "--nodes=2",
                "--distribution=cyclic",
                "--quiet",
            ]
            .map(Into::into),
        );
        let launcher = Launcher {
            name,
            words,
            environment: slurm.environment(),
        };
        tally += launcher
            .check(programs)
            .map_err(|error| format!("{error}\n{}", slurm.logs()))?;
    }
    Ok(tally)
}

/// The running daemons, in a PID namespace that ends with this value and with this process.
struct Slurm {
    daemons: Child,
    folder: PathBuf,
}

impl Slurm {
    fn start(repo: &Repo, debian: &Debian) -> Result<Slurm> {
        let folder = repo.scratch("slurm")?;
        let configuration = folder.join("slurm.conf");
        repo.shell.write_file(&configuration, settings(&folder)?)?;
        let script = folder.join("daemons.sh");
        repo.shell.write_file(&script, DAEMONS)?;
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "unshare"]);
        if !is_root()? {
            command.arg("--map-root-user");
        }
        command.args(["--mount", "--pid", "--mount-proc", "--fork", "--kill-child"]);
        command.arg("sh").args([&script, &debian.root, &folder]);
        command.env("SLURM_CONF", &configuration);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(std::fs::File::create(folder.join("daemons.log"))?);
        let slurm = Slurm {
            daemons: command.spawn()?,
            folder,
        };
        let mut ready = Command::new("timeout");
        ready.arg("30").args(debian.inside()?);
        ready.args(["sh", "-c", READY]).envs(slurm.environment());
        if ready.stderr(Stdio::null()).status()?.success() {
            return Ok(slurm);
        }
        Err(format!("the nodes are not ready after 30 s\n{}", slurm.logs()).into())
    }

    fn environment(&self) -> Vec<(&'static str, OsString)> {
        vec![("SLURM_CONF", self.folder.join("slurm.conf").into())]
    }

    /// The last lines of the daemons' logs.
    fn logs(&self) -> String {
        let said = std::fs::read_to_string(self.folder.join("daemons.log")).unwrap_or_default();
        let lines: Vec<&str> = said.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        // Killing the first process of the namespace ends all daemons and ranks; it fails only when that
        // one has ended.
        let _ = self.daemons.kill();
        let _ = self.daemons.wait();
    }
}

/// The configuration for `folder`, with unused ports.
fn settings(folder: &Path) -> Result<String> {
    let free = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0"));
    let mut text = CONFIGURATION.replace("{folder}", &folder.display().to_string());
    for (name, listener) in ["{controller}", "{n0}", "{n1}"].iter().zip(free) {
        let port = listener?.local_addr()?.port();
        text = text.replace(name, &port.to_string());
    }
    Ok(text)
}
