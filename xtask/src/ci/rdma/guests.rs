//! Guests with a device each: what runs there, and how it is run and counted.

use super::super::nodes::Programs;
use crate::guest::{BuiltPrograms, Ending, GuestMachine, GuestRun, Host, Job, which};
use crate::steps::StepOutcome;
use crate::tally::Tally;
use crate::{Repo, Result};
use std::path::PathBuf;
use std::time::Duration;
use xshell::cmd;

/// What makes the device; each script runs after it.
const DEVICE: &str = include_str!("device.sh");

/// For a boot and what one guest runs then: a minute or two, and ten times that on a busy host.
pub(super) const LIMIT: Duration = Duration::from_secs(1200);

/// What guests are made of.
pub(super) struct Guests<'a> {
    pub(super) repo: &'a Repo,
    pub(super) host: Host,
    /// Programs, modules and libraries.
    pub(super) job: Job,
    /// Names of the modules, in load order.
    modules: String,
}

/// A run of guests.
pub(super) struct Run<'a> {
    /// The folder of their logs.
    pub(super) name: &'a str,
    /// The kind of their devices: `rxe` or `siw`.
    pub(super) kind: &'a str,
    /// How many guests: one of its own, or several on a network.
    pub(super) nodes: usize,
    /// MiB of each.
    pub(super) memory: u32,
    pub(super) script: String,
    pub(super) limit: Duration,
}

impl<'a> Guests<'a> {
    /// Runs `check` where this host can boot guests.
    ///
    /// # Errors
    /// When programs or guests cannot be made.
    pub(super) fn with(
        repo: &'a Repo,
        check: impl FnOnce(&mut Guests<'a>) -> Result<Tally>,
    ) -> Result<StepOutcome> {
        let equipped = Host::equip(repo).and_then(|host| {
            let parts = host.equip_rdma(repo)?;
            Ok((host, parts))
        });
        let (host, parts) = match equipped {
            Ok(equipped) => equipped,
            Err(lacking) => return Ok(lacking.into()),
        };
        let mut files = programs(repo)?;
        files.extend(parts.files);
        let job = Job {
            script: String::new(),
            files,
            placed: parts.placed,
            tree: None,
        };
        let modules = parts.modules.join(" ");
        check(&mut Guests {
            repo,
            host,
            job,
            modules,
        })
        .map(Into::into)
    }

    /// Adds the tests of real ranks and what starts them, and returns the path of `oxmpi` in the guests.
    ///
    /// # Errors
    /// When they cannot be built.
    pub(super) fn add_ranks(&mut self) -> Result<String> {
        let ranks = Programs::build(self.repo)?;
        let env = which("env").ok_or("no env on the path")?;
        let e1000 = self.host.module("e1000");
        let files = [e1000, ranks.ranks, ranks.remote_exec, env];
        self.job.files.extend(files);
        let oxmpi = ranks.oxmpi.1.clone();
        self.job.placed.push(ranks.oxmpi);
        Ok(oxmpi)
    }

    /// Adds the module of soft-iWARP.
    ///
    /// # Errors
    /// When it cannot be built.
    pub(super) fn add_siw(&mut self) -> Result {
        self.job.files.push(self.host.equip_siw(self.repo)?);
        self.modules += " siw";
        Ok(())
    }

    /// Runs guests, shows their consoles, and counts the checks that they report.
    ///
    /// # Errors
    /// When they cannot be booted.
    pub(super) fn run(&mut self, run: &Run<'_>) -> Result<Tally> {
        let runs = self.boot(run)?;
        let count = runs.len();
        let mut tally = Tally::default();
        for (node, guest) in runs.iter().enumerate() {
            tally += read(&format!("{}, node {node} of {count}", run.name), guest);
        }
        Ok(tally)
    }

    /// Runs guests.
    ///
    /// # Errors
    /// When they cannot be booted.
    pub(super) fn boot(&mut self, run: &Run<'_>) -> Result<Vec<GuestRun>> {
        let own = if run.nodes == 1 { "node=" } else { "" };
        self.job.script = format!(
            "modules='{}'\nkind={}\n{own}\n{DEVICE}\n{}",
            self.modules, run.kind, run.script
        );
        let machine = GuestMachine {
            memory: run.memory,
            ..GuestMachine::NODE
        };
        let (host, job) = (&self.host, &self.job);
        match run.nodes {
            1 => Ok(vec![
                host.boot(self.repo, run.name, machine, job, run.limit)?,
            ]),
            nodes => host.boot_joined(run.name, nodes, machine, job, run.limit),
        }
    }
}

/// Builds the example and the tests.
fn programs(repo: &Repo) -> Result<Vec<PathBuf>> {
    let sh = &repo.shell;
    let all = ["--quiet", "--workspace"];
    let example = cmd!(sh, "cargo build {all...} --example verbs_pingpong");
    let tests = cmd!(sh, "cargo test {all...} --test verbs --no-run");
    let built = BuiltPrograms::of(example)?.and(BuiltPrograms::of(tests)?);
    let bare = |name| Ok(built.bare(repo, name, "rdma-programs")?.0);
    ["verbs_pingpong", "verbs"].into_iter().map(bare).collect()
}

/// Shows a guest's console, and counts the checks that it reports.
pub(super) fn read(name: &str, run: &GuestRun) -> Tally {
    println!("---- {name}\n{}", run.console);
    let mut tally = count(&run.console);
    if run.ending != Ending::Job(0) {
        tally += Tally::failed(format!("{name}: {}:\n{}", run.ending, run.console));
    }
    tally
}

/// Counts the checks that the guest reports.
fn count(console: &str) -> Tally {
    let mut tally = Tally::default();
    for line in console.lines() {
        if line.starts_with("passed: ") {
            tally += Tally::ONE;
        } else if let Some(name) = line.strip_prefix("failed: ") {
            tally += Tally::failed(name);
        } else {
            tally += Tally::read(line).unwrap_or_default();
        }
    }
    tally
}

#[cfg(test)]
mod tests {
    //! Tests of the count of a guest's report.

    use super::count;

    #[test]
    fn each_reported_check_counts() {
        let console = "the device is up after 5 s\npassed: pingpong 1, the client\nfailed: x (status 1)\n\
                       test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured\n";
        let tally = count(console);
        assert_eq!((tally.passed, tally.failed), (5, 1));
        assert_eq!(tally.findings, ["x (status 1)"]);
    }
}
