//! Instructions of a short message by RDMA: all that runs outside of the device, which a test of `oxmpi-verbs` fakes.

use crate::guest::{BuiltPrograms, which};
use crate::steps::StepOutcome;
use crate::tally::Tally;
use crate::{Repo, Result};
use xshell::cmd;

/// The test, which sends two messages a round.
const TEST: &str = "transport::tests::short_path::short_messages";

/// Rounds of two runs: the start-up of the process is the same in both.
const ROUNDS: [u64; 2] = [1000, 3000];

/// Of a send and a receive of 8 bytes: what issue 37 allows.
const MOST: u64 = 300;

/// Counts them with callgrind, and fails if they are too many.
///
/// # Errors
/// When the test is not built or does not run.
pub(crate) fn count(repo: &Repo) -> Result<StepOutcome> {
    if which("valgrind").is_none() {
        let why = "valgrind is missing: apt-get install valgrind";
        return Ok(StepOutcome::Skipped(why.into()));
    }
    let sh = &repo.shell;
    let package = ["--quiet", "--package", "oxmpi-verbs", "--release"];
    let tests = BuiltPrograms::of(cmd!(sh, "cargo test {package...} --lib --no-run"))?;
    let tests = tests
        .executable("oxmpi_verbs")
        .ok_or("no tests of oxmpi-verbs")?;
    // Counting stops when a function of the device begins, and goes on when it returns. Their names are whole: functions
    // inside of them, whose names only begin so, would let it go on.
    let device = ["post_send", "post_recv", "post_srq_recv", "poll_cq"];
    let device = &device.map(|name| format!("--toggle-collect=*::fake::requests::{name}"));
    let callgrind = [
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        // After the functions, which make callgrind begin without counting.
        "--collect-atstart=yes",
    ];
    let mut counts = Vec::new();
    for rounds in ROUNDS {
        let run = cmd!(
            sh,
            "valgrind {device...} {callgrind...} {tests} --exact {TEST} --test-threads=1"
        );
        let run = run.env("OXMPI_TEST_ROUNDS", rounds.to_string());
        counts.push(collected(&run.read_stderr()?)?);
    }
    let count = (counts[1] - counts[0]) / (2 * (ROUNDS[1] - ROUNDS[0]));
    let note = format!("{count} instructions outside the device for 8 B sent and received");
    let tally = match count <= MOST {
        true => Tally::ONE,
        false => Tally::failed(format!("{note}; at most {MOST} are allowed")),
    };
    Ok(StepOutcome::Noted(tally, note))
}

/// The number that callgrind says at its end.
///
/// # Errors
/// When there is none.
fn collected(said: &str) -> Result<u64> {
    let numbers = said
        .lines()
        .filter_map(|line| line.split_once("Collected : "));
    let number = numbers
        .map(|(_, number)| number.trim().parse().ok())
        .next_back();
    Ok(number.flatten().ok_or("callgrind has counted nothing")?)
}

#[cfg(test)]
mod tests {
    use super::collected;

    #[test]
    fn the_number_is_that_of_the_summary() {
        let said = "==1== Events    : Ir\n==1== Collected : 33375634\n==1== \n";
        assert_eq!(collected(said).ok(), Some(33_375_634));
        assert!(collected("test result: ok").is_err());
    }
}
