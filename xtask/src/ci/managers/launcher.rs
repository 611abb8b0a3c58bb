//! A manager as a command line, and the jobs that each of them must run.

use super::super::ranks::ended;
use crate::tally::Tally;
use crate::{Repo, Result};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// Sizes of the jobs; most are more than the processors of a small machine.
const SIZES: [u32; 4] = [1, 2, 3, 8];

/// What a rank that aborts asks the job to end with.
const ABORTED: i32 = 7;

/// What makes each rank a node of its own, which meets the others in the network.
const APART: [&str; 2] = ["env", "OXMPI_TRANSPORTS=tcp"];

/// What a rank is killed by.
const SIGKILL: i32 = 9;

/// Our programs.
pub(super) struct Programs {
    pub(super) oxmpi: PathBuf,
    hello: PathBuf,
    ending: PathBuf,
}

impl Programs {
    pub(super) fn build(repo: &Repo) -> Result<Programs> {
        let examples = repo.examples()?;
        Ok(Programs {
            oxmpi: repo.oxmpi()?,
            hello: examples.join("hello"),
            ending: examples.join("manager_ending"),
        })
    }
}

/// How a manager starts a job.
pub(super) struct Launcher {
    /// Who it is, for people.
    pub(super) name: &'static str,
    /// The command line up to `-n`.
    pub(super) words: Vec<OsString>,
    /// Variables for it and its ranks.
    pub(super) environment: Vec<(&'static str, OsString)>,
}

impl Launcher {
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

    /// PingPong between two ranks and Allreduce among all, with proof of the data, started by `before`.
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

    /// A job that the last of three ranks ends: it must end as a whole, with `code`. For a signal
    /// some managers give its number, and some what a shell gives. `srun` gives the highest of all
    /// ranks, and those that it had to kill count; then it must name the rank that ended with `code`.
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

    /// Runs a job that must end well, and gives what it printed.
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
