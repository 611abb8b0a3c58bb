//! Jobs over several emulated machines, on a network that loses and delays packets.

mod programs;

use crate::guest::{Ending, Host, Job, Machine, which};
use crate::steps::Outcome;
use crate::tally::Tally;
use crate::{Repo, Result};
use programs::Programs;
use std::time::Duration;

/// What each guest does.
const JOB: &str = include_str!("job.sh");

/// How many guests, and which tests.
pub(crate) struct Nodes {
    pub(crate) count: usize,
    /// Parts of the names of tests that need neither files nor processes of the machine that they were
    /// started on.
    pub(crate) groups: &'static [&'static str],
    /// The command by which the last guest leaves the network in the end, for the test of that.
    pub(crate) cut: Option<&'static str>,
    /// How long the guests may live.
    pub(crate) limit: Duration,
}

impl Nodes {
    /// Runs tests of real ranks with every job spread over guests whose network loses one packet of a
    /// hundred and delays each by 5 ms; then, if there is a way, the one in which a host is cut off.
    ///
    /// # Errors
    /// When programs or guests cannot be made.
    pub(crate) fn check(&self, repo: &Repo) -> Result<Outcome> {
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
                // Busybox has both, but not with what is needed of them.
                here("env")?,
                here("tc")?,
                host.adapter.clone(),
                host.netem.clone(),
            ],
            placed: vec![programs.oxmpi],
        };
        let machine = Machine::NODE;
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
        // Parts of names fit these too, which kill processes by the numbers that they have on one machine.
        let others = "--skip collectives::kill";
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
