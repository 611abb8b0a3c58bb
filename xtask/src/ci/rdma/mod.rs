//! RDMA on real kernel drivers: emulated machines with a soft-RoCE or a soft-iWARP device, where processes exchange messages
//! through `oxmpi-verbs`, and rdma-core's own do beside them.

pub(crate) mod by_rdmacm;
pub(crate) mod figures;
mod guests;
pub(crate) mod instructions;

use self::guests::{Guests, LIMIT, Run};
use super::nodes::left_out;
use crate::commands::run_check;
use crate::guest::GuestMachine;
use crate::steps::StepOutcome;
use crate::{Repo, Result};
use std::time::Duration;
use xshell::cmd;

/// The scripts: what one guest and each of two joined guests do, and jobs over both: messages on each path, the memory of 16
/// ranks, tests of ranks, and what cannot be connected.
const ALONE: &str = include_str!("alone.sh");
const JOINED: &str = include_str!("joined.sh");
const OVER_BOTH: &str = include_str!("over_both.sh");
const PATHS: &str = include_str!("paths.sh");
const MEMORY: &str = include_str!("memory.sh");
const RANKS: &str = include_str!("ranks.sh");
const ERRORS: &str = include_str!("errors.sh");

/// The tests on one guest's device, and the jobs of real ranks over two guests.
pub(crate) struct RdmaJobs {
    /// Tests on the device to leave out, by a part of their names.
    pub(crate) skipped: &'static [&'static str],
    /// The tests, by parts of their names.
    pub(crate) groups: &'static [&'static str],
    /// Tests of these groups to leave out.
    pub(crate) others: &'static [&'static [&'static str]],
    /// The most ranks of a job among them that could have any number.
    pub(crate) most_ranks: usize,
    /// How long they may take in seconds.
    pub(crate) limit: u32,
    /// Jobs whose messages are forced on each path run, too, and 16 ranks whose registered memory is read.
    pub(crate) each_path: bool,
}

/// The C declarations that ours are compared with.
const LAYOUTS: &str = "crates/verbs/src/ffi/layouts.c";

impl RdmaJobs {
    /// Compares our declarations of libibverbs with its header, then runs programs and tests on the device, and
    /// programs and jobs between two such machines.
    ///
    /// # Errors
    /// When programs or guests cannot be made.
    pub(crate) fn check(&self, repo: &Repo) -> Result<StepOutcome> {
        Guests::with(repo, |guests| {
            let sh = &repo.shell;
            let strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"];
            let mut tally = run_check(cmd!(sh, "cc {strict...} {LAYOUTS}"))?;

            let skipped = self.skipped.iter().map(|name| format!("--skip {name} "));
            let skipped: String = skipped.collect();
            tally += guests.run(&Run {
                name: "rdma",
                kind: "rxe",
                nodes: 1,
                memory: GuestMachine::NODE.memory,
                script: format!("skipped='{skipped}'\n{ALONE}"),
                limit: LIMIT,
            })?;

            let oxmpi = guests.add_ranks()?;
            let variables = format!(
                "oxmpi={oxmpi}\ngroups='{} {}'\nmost_ranks={}\nlimit={}",
                self.groups.join(" "),
                left_out(self.others),
                self.most_ranks,
                self.limit
            );
            let (paths, memory) = if self.each_path {
                (PATHS, MEMORY)
            } else {
                ("", "")
            };
            tally += guests.run(&Run {
                name: "rdma-joined",
                kind: "rxe",
                nodes: 2,
                // For 16 ranks.
                memory: 1536,
                script: [&variables, JOINED, OVER_BOTH, paths, memory, RANKS, ERRORS].join("\n"),
                limit: LIMIT + Duration::from_secs(self.limit.into()),
            })?;
            Ok(tally)
        })
    }
}
