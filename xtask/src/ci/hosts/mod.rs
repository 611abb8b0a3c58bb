//! Jobs over several hosts, which are network namespaces of this machine.

mod namespaces;
mod startup;
mod storm;

use crate::commands::run_tests;
use crate::guest::which;
use crate::steps::Outcome;
use crate::tally::Tally;
use crate::{Repo, Result};
use namespaces::Namespaces;
use std::time::Instant;
use storm::Storm;
use xshell::{Cmd, cmd};

/// Runs the tests of real ranks with every job spread over four hosts: on a network as it should be,
/// through proxies that delay and split what passes and then stall, and with a host cut off;
/// and shows what the start of jobs takes.
///
/// # Errors
/// When a test cannot be started.
pub(super) fn check(repo: &Repo) -> Result<Outcome> {
    let hosts = match Namespaces::make(&repo.root.join("target/hosts"), 4) {
        Ok(hosts) => hosts,
        Err(why) => return Ok(Outcome::Skipped(format!("no network namespaces: {why}"))),
    };
    let tests = || {
        let sh = &repo.shell;
        cmd!(sh, "cargo test --quiet --package oxmpi-launch --test ranks")
            .env("OXMPI_TEST_HOSTS", hosts.command())
    };
    let mut tally = timed("a network as it should be", || run_tests(tests()))?;
    tally += timed("what a start takes", || startup::check(repo, &hosts))?;
    let stormy = timed("through proxies", || through_proxies(repo, &hosts, &tests));
    // Afterwards a host is lost to all, so this runs last and alone.
    tally += timed("a host is cut off", || {
        run_tests(cut_off(tests(), &hosts.cut()))
    })?;
    match stormy {
        Ok(more) => {
            tally += more;
            Ok(tally.into())
        }
        Err(why) if which("nft").is_none() => {
            println!("{tally} without proxies");
            let need = "proxies need nft: `apt-get install nftables`";
            Ok(Outcome::Skipped(format!("{need} ({why})")))
        }
        Err(why) => Err(why),
    }
}

/// The same tests through proxies, which stall all of a host in the end.
fn through_proxies<'r>(
    repo: &'r Repo,
    hosts: &Namespaces,
    tests: &impl Fn() -> Cmd<'r>,
) -> Result<Tally> {
    let storm = Storm::brew(repo, hosts)?;
    let mut tally = run_tests(tests())?;
    // A proxy's system answers for hosts behind it, so peers have to be asked themselves.
    let stalled = cut_off(tests(), &storm.stall()).env("OXMPI_TCP_STALL", "5s");
    tally += run_tests(stalled)?;
    Ok(tally)
}

/// The test that loses a host, by the command `cut`.
fn cut_off<'r>(tests: Cmd<'r>, cut: &str) -> Cmd<'r> {
    tests.env("OXMPI_TEST_CUT", cut).args(["--", "cut_off"])
}

/// Says how long something took.
fn timed<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = run();
    println!("{what}: {} s", start.elapsed().as_secs());
    result
}
