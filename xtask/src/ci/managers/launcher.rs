//! A process manager as a command line, and the jobs that each manager must run.

use super::super::ranks::ended;
use crate::tally::Tally;
use crate::{Repo, Result};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// Sizes of the jobs; most have more ranks than a small machine has processors.
const SIZES: [u32; 4] = [1, 2, 3, 8];

/// The exit code with which a rank aborts its job.
const ABORTED: i32 = 7;

/// The setting that makes each rank a node of its own, so that all talk by TCP.
const APART: [&str; 2] = ["env", "OXMPI_TRANSPORTS=tcp"];

/// The signal that kills a rank.
const SIGKILL: i32 = 9;

/// The programs of oxmpi that the jobs run.
pub(super) struct Programs {
    pub(super) oxmpi: PathBuf,
    hello: PathBuf,
    ending: PathBuf,
}

impl Programs {
    pub(super) fn build(repo: &Repo) -> Result<Programs> {
        let built = repo.runtime()?;
        Ok(Programs {
            oxmpi: built.join("oxmpi"),
            hello: built.join("examples/hello"),
            ending: built.join("examples/manager_ending"),
        })
    }
}

/// One process manager.
pub(super) struct Launcher {
    /// Its name, for messages.
    pub(super) name: &'static str,
    /// The command line up to `-n`.
    pub(super) words: Vec<OsString>,
    /// Environment variables of the manager and its ranks.
    pub(super) environment: Vec<(&'static str, OsString)>,
}

impl Launcher {
    /// A manager without variables of its own.
    pub(super) fn new(name: &'static str, words: Vec<OsString>) -> Launcher {
        let environment = Vec::new();
        Launcher {
            name,
            words,
            environment,
        }
    }

    /// Runs a job of each size, messages between two ranks and among all, and jobs that end badly.
    pub(super) fn check(&self, programs: &Programs) -> Result<Tally> {
        let mut tally = Tally::default();
        for size in SIZES {
            let said = self.run(size, &[programs.hello.clone().into()])?;
            for rank in 0..size {
                if !said.contains(&format!("rank {rank} of {size}")) {
                    let name = self.name;
                    return Err(format!("{name}: rank {rank} of {size} is missing:\n{said}").into());
                }
            }
            tally += Tally::ONE;
        }
        for size in [2, 4] {
            tally += self.messages(size, &[], programs)?;
        }
        tally += self.messages(4, &APART, programs)?;
        tally += self.bad_end(programs, &["abort", &ABORTED.to_string()], ABORTED)?;
        tally += self.bad_end(programs, &["kill"], SIGKILL)?;
        Ok(tally)
    }

    /// Runs PingPong between two ranks and Allreduce among all with checked data; `before` is the prefix of
    /// the command.
    fn messages(&self, size: u32, before: &[&str], programs: &Programs) -> Result<Tally> {
        const ASKED: &str = "bench PingPong Allreduce -iter 20 -msglog 3:12 -check";
        let asked = ASKED.split(' ').map(OsString::from);
        let before = before.iter().map(OsString::from);
        let words: Vec<OsString> = before
            .chain([programs.oxmpi.clone().into()])
            .chain(asked)
            .collect();
        let said = self.run(size, &words)?;
        let all = format!("#processes = {size}");
        let benchmarks = ["PingPong", "Allreduce", &all];
        match benchmarks.iter().find(|wanted| !said.contains(**wanted)) {
            None => Ok(Tally::ONE),
            Some(wanted) => Err(format!("{}: no {wanted} in\n{said}", self.name).into()),
        }
    }

    /// Runs a job that the last of three ranks ends, and checks that the whole job ends with `code`. For a
    /// signal some managers return its number, and some 128 more, as a shell. `srun` returns the highest
    /// code of all ranks, those it killed included; then its output must name the rank that ended with
    /// `code`.
    fn bad_end(&self, programs: &Programs, how: &[&str], code: i32) -> Result<Tally> {
        let words: Vec<OsString> = [programs.ending.clone().into()]
            .into_iter()
            .chain(how.iter().map(OsString::from))
            .collect();
        let (mut command, name) = (self.command(3, &words), self.name);
        let output = ended(&mut command)?;
        let got = output.status.code().unwrap_or(-1);
        let said = String::from_utf8_lossy(&output.stderr);
        println!("{name}: {}: the job ends with {got}", how.join(" "));
        let killed = got == 128 + SIGKILL;
        let named = said.contains(&format!("Exited with exit code {code}"));
        if got == code || killed && (code == SIGKILL || named) {
            return Ok(Tally::ONE);
        }
        let how = how.join(" ");
        Err(format!("{name}: {how}: {}, expected {code}:\n{said}", output.status).into())
    }

    /// Runs a job that must succeed, and returns its output.
    pub(super) fn run(&self, size: u32, words: &[OsString]) -> Result<String> {
        let mut command = self.command(size, words);
        let output = ended(&mut command)?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            println!("{}: {size} ranks end well", self.name);
            return Ok(said);
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        let (name, status) = (self.name, output.status);
        Err(format!("{name}, {size} ranks of {words:?}: {status}:\n{said}{errors}").into())
    }

    fn command(&self, size: u32, words: &[OsString]) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        command.args(["-n", &size.to_string()]).args(words);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}
