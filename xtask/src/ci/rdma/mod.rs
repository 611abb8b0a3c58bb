//! RDMA on real kernel drivers: emulated machines with a soft-RoCE or a soft-iWARP device, where processes exchange messages
//! through `oxmpi-verbs`, and rdma-core's own do beside them.

pub(crate) mod instructions;

use super::nodes::Programs;
use crate::commands::run_check;
use crate::guest::{BuiltPrograms, Ending, GuestMachine, GuestRun, Host, Job, which};
use crate::steps::StepOutcome;
use crate::tally::Tally;
use crate::{Repo, Result};
use std::path::PathBuf;
use std::time::Duration;
use xshell::cmd;

/// The scripts: what makes the device, what one guest and each of two joined guests then do, and jobs over both: tests of
/// ranks, messages on each path, and what cannot be connected.
const DEVICE: &str = include_str!("device.sh");
const ALONE: &str = include_str!("alone.sh");
const JOINED: &str = include_str!("joined.sh");
const RANKS: &str = include_str!("ranks.sh");
const PATHS: &str = include_str!("paths.sh");
const ERRORS: &str = include_str!("errors.sh");
/// Tests and jobs that rdmacm connects, in one guest and in several.
const ALONE_BY_RDMACM: &str = include_str!("alone_by_rdmacm.sh");
const RANKS_BY_RDMACM: &str = include_str!("ranks_by_rdmacm.sh");

/// For a boot and what one guest runs then: a minute or two, and ten times that on a busy host.
const LIMIT: Duration = Duration::from_secs(1200);

/// The tests on one guest's device, and the jobs of real ranks over two guests.
pub(crate) struct RdmaJobs {
    /// Tests on the device to leave out, by a part of their names.
    pub(crate) skipped: &'static [&'static str],
    /// The tests, by parts of their names.
    pub(crate) groups: &'static [&'static str],
    /// How long they may take in seconds.
    pub(crate) limit: u32,
    /// Jobs whose messages are forced on each path run, too.
    pub(crate) each_path: bool,
    /// Tests and jobs on soft-iWARP, and over three guests, where rdmacm connects.
    pub(crate) by_rdmacm: Option<ByRdmacm>,
}

/// What is run on devices whose connections rdmacm makes.
pub(crate) struct ByRdmacm {
    /// Tests of real ranks, by parts of their names.
    pub(crate) groups: &'static [&'static str],
    /// How long they may take in seconds.
    pub(crate) limit: u32,
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
        let equipped = Host::equip(repo).and_then(|host| {
            let parts = host.equip_rdma(repo)?;
            Ok((host, parts))
        });
        let (host, parts) = match equipped {
            Ok(equipped) => equipped,
            Err(lacking) => return Ok(lacking.into()),
        };
        let sh = &repo.shell;
        let strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"];
        let mut tally = run_check(cmd!(sh, "cc {strict...} {LAYOUTS}"))?;

        let mut job = Job {
            script: String::new(),
            files: programs(repo)?,
            placed: parts.placed,
        };
        job.files.extend(parts.files);
        let modules = format!("modules='{}'\nkind=rxe", parts.modules.join(" "));
        let skipped = self.skipped.iter().map(|name| format!("--skip {name} "));
        let skipped: String = skipped.collect();
        job.script = format!("{modules}\nskipped='{skipped}'\nnode=\n{DEVICE}\n{ALONE}");
        let machine = GuestMachine::NODE;
        let alone = host.boot(repo, "rdma", machine, &job, LIMIT)?;
        tally += read("one guest", &alone);

        let ranks = Programs::build(repo)?;
        let env = which("env").ok_or("no env on the path")?;
        job.files
            .extend([host.module("e1000"), ranks.ranks, ranks.remote_exec, env]);
        let (groups, limit) = (self.groups.join(" "), self.limit);
        let variables = format!(
            "{modules}\noxmpi={}\ngroups='{groups}'\nlimit={limit}",
            ranks.oxmpi.1
        );
        job.placed.push(ranks.oxmpi);
        let paths = if self.each_path { PATHS } else { "" };
        job.script = format!("{variables}\n{DEVICE}\n{JOINED}\n{RANKS}\n{paths}\n{ERRORS}");
        let whole = LIMIT + Duration::from_secs(limit.into());
        let joined = host.boot_joined("rdma-joined", 2, machine, &job, whole)?;
        for (node, run) in joined.iter().enumerate() {
            tally += read(&format!("node {node}"), run);
        }
        if let Some(by_rdmacm) = &self.by_rdmacm {
            job.files.push(host.equip_siw(repo)?);
            for (kind, nodes) in [("rxe", 3), ("siw", 1), ("siw", 2)] {
                let own = if kind == "siw" { " siw" } else { "" };
                let modules = format!("modules='{}{own}'", parts.modules.join(" "));
                tally += by_rdmacm.check(repo, &host, &mut job, (&modules, kind, nodes))?;
            }
        }
        Ok(tally.into())
    }
}

impl ByRdmacm {
    /// Runs tests on the device of one guest, or jobs over several.
    fn check(
        &self,
        repo: &Repo,
        host: &Host,
        job: &mut Job,
        (modules, kind, nodes): (&str, &str, usize),
    ) -> Result<Tally> {
        let oxmpi = job.placed.iter().map(|(_, inside)| inside);
        let oxmpi = oxmpi.into_iter().find(|inside| inside.ends_with("/oxmpi"));
        let variables = format!(
            "{modules}\nkind={kind}\noxmpi={}\ngroups='{}'\nlimit={}",
            oxmpi.ok_or("no oxmpi in the job")?,
            self.groups.join(" "),
            self.limit
        );
        let machine = GuestMachine::NODE;
        let whole = LIMIT + Duration::from_secs(self.limit.into());
        if nodes == 1 {
            job.script = format!("{variables}\nnode=\n{DEVICE}\n{ALONE_BY_RDMACM}");
            let run = host.boot(repo, &format!("rdma-{kind}"), machine, job, whole)?;
            return Ok(read(&format!("{kind}, one guest"), &run));
        }
        job.script = format!("{variables}\n{DEVICE}\n{RANKS_BY_RDMACM}");
        let name = format!("rdma-{kind}-{nodes}");
        let joined = host.boot_joined(&name, nodes, machine, job, whole)?;
        let mut tally = Tally::default();
        for (node, run) in joined.iter().enumerate() {
            tally += read(&format!("{kind}, node {node} of {nodes}"), run);
        }
        Ok(tally)
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
fn read(name: &str, run: &GuestRun) -> Tally {
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
