//! RDMA on a real kernel driver: an emulated machine with a soft-RoCE device, where processes exchange messages
//! through `oxmpi-verbs`, and rdma-core's own do beside them.

use crate::commands::run_check;
use crate::guest::{BuiltPrograms, Ending, GuestMachine, Host, Job};
use crate::steps::StepOutcome;
use crate::tally::Tally;
use crate::{Repo, Result};
use std::time::Duration;
use xshell::cmd;

/// The script of the guest.
const JOB: &str = include_str!("job.sh");

/// The guest needs half a minute, on a busy host three.
const LIMIT: Duration = Duration::from_secs(240);

/// The C declarations that ours are compared with.
const LAYOUTS: &str = "crates/verbs/src/ffi/layouts.c";

/// Compares our declarations of libibverbs with its header, then runs programs and tests on the device.
///
/// # Errors
/// When programs or the guest cannot be made.
pub(super) fn check(repo: &Repo) -> Result<StepOutcome> {
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

    let package = ["--quiet", "--package", "oxmpi-verbs"];
    let example = cmd!(sh, "cargo build {package...} --example pingpong");
    let tests = cmd!(sh, "cargo test {package...} --test integration --no-run");
    let built = BuiltPrograms::of(example)?.and(BuiltPrograms::of(tests)?);
    let mut files = parts.files;
    for name in ["pingpong", "integration"] {
        files.push(built.bare(repo, name, "rdma")?.0);
    }
    let job = Job {
        script: format!("modules='{}'\n{JOB}", parts.modules.join(" ")),
        files,
        placed: parts.placed,
    };
    let run = host.boot(repo, "rdma", GuestMachine::NODE, &job, LIMIT)?;
    println!("{}", run.console);
    tally += read(&run.console);
    if run.ending != Ending::Job(0) {
        tally += Tally::failed(format!("{}:\n{}", run.ending, run.console));
    }
    Ok(tally.into())
}

/// Counts the checks that the guest reports.
fn read(console: &str) -> Tally {
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
    //! Tests of the reader of the guest's report.

    use super::read;

    #[test]
    fn each_reported_check_counts() {
        let console = "the device is up after 5 s\npassed: pingpong 1, the client\nfailed: x (status 1)\n\
                       test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured\n";
        let tally = read(console);
        assert_eq!((tally.passed, tally.failed), (5, 1));
        assert_eq!(tally.findings, ["x (status 1)"]);
    }
}
