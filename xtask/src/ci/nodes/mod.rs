//! Jobs over several emulated machines, on a network that loses and delays packets.

mod programs;

use crate::guest::{Ending, GuestMachine, Host, Job, which};
use crate::steps::StepOutcome;
use crate::tally::Tally;
use crate::{Repo, Result};
pub(super) use programs::Programs;
use std::time::Duration;

/// The script of each guest.
const JOB: &str = include_str!("job.sh");

/// The number of guests, and the tests to run.
pub(crate) struct Nodes {
    pub(crate) count: usize,
    /// Tests that need no files or processes of the machine they were started on, by parts of their names.
    pub(crate) groups: &'static [&'static str],
    /// Tests of these groups to leave out, likewise.
    pub(crate) others: &'static [&'static [&'static str]],
    /// The command by which the last guest leaves the network, for the test of a lost host.
    pub(crate) cut: Option<&'static str>,
    /// How long the guests may run.
    pub(crate) limit: Duration,
}

impl Nodes {
    /// Runs tests of real ranks with each job spread over guests whose network loses 1% of the packets and
    /// delays each by 5 ms; then, where a command for it is given, the test that cuts a host off.
    ///
    /// # Errors
    /// When programs or guests cannot be made.
    pub(crate) fn check(&self, repo: &Repo) -> Result<StepOutcome> {
        let host = match Host::equip(repo) {
            Ok(host) => host,
            Err(lacking) => return Ok(lacking.into()),
        };
        let programs = Programs::build(repo)?;
        let here = |name: &str| which(name).ok_or_else(|| format!("no {name} on the path"));
        let job = Job {
            script: self.script(),
            files: vec![
                programs.ranks,
                programs.remote_exec,
                // Busybox's versions of both lack the options needed here.
                here("env")?,
                here("tc")?,
                host.module("e1000"),
                host.module("sch_netem"),
            ],
            placed: vec![programs.oxmpi],
            tree: None,
        };
        let machine = GuestMachine::NODE;
        let runs = host.boot_joined("nodes", self.count, machine, &job, self.limit)?;
        let mut tally = Tally::default();
        for (node, run) in runs.iter().enumerate() {
            println!("---- node {node}\n{}", run.console);
            for result in run.console.lines().filter_map(Tally::read) {
                tally += result;
            }
            if run.ending != Ending::Job(0) {
                let finding = format!("node {node}: {}:\n{}", run.ending, run.console);
                tally += Tally::failed(finding);
            }
        }
        Ok(tally.into())
    }

    fn script(&self) -> String {
        // Parts of names also fit these tests, which kill processes by their numbers on one machine.
        let others = format!("--skip collectives::kill {}", left_out(self.others));
        let groups = self.groups.join(" ");
        let cut = match self.cut {
            None => String::new(),
            Some(cut) => {
                format!("&& OXMPI_TEST_CUT='{cut}' ranks --test-threads=1 --nocapture cut_off")
            }
        };
        format!(
            "tests() {{
                 ranks --test-threads=1 {groups} {others} {cut}
             }}
             {JOB}"
        )
    }
}

/// The arguments by which a test program leaves tests out.
pub(super) fn left_out(tests: &[&[&str]]) -> String {
    let skipped = tests.concat().into_iter();
    let skipped: Vec<String> = skipped.map(|test| format!("--skip {test}")).collect();
    skipped.join(" ")
}
