//! Jobs over several hosts, which are network namespaces of this machine.

mod fault_proxy;
mod interfaces;
mod namespaces;
mod startup;

use crate::commands::run_tests;
use crate::guest::which;
use crate::steps::StepOutcome;
use crate::tally::Tally;
use crate::{Repo, Result};
use fault_proxy::FaultProxy;
use namespaces::Namespaces;
use std::time::Instant;
use xshell::{Cmd, cmd};

/// Tests that together take every path of a message between hosts, by parts of their names.
const PATHS: &[&str] = &[
    "collectives::blocks::",
    "communicators::",
    "flood::",
    "inter::",
    "modes::",
    "order::",
    "requests::",
    "streams::",
    "traffic::",
    "transports::",
    "window",
];

/// Runs the tests of real ranks with each job spread over four hosts: on a sound network, with one host cut
/// off, and some through proxies that delay and split the data and then stall. Prints the cost of starting
/// jobs.
///
/// # Errors
/// When a test cannot be started.
pub(super) fn check(repo: &Repo) -> Result<StepOutcome> {
    let hosts = match make(repo) {
        Ok(hosts) => hosts,
        Err(lacking) => return Ok(lacking),
    };
    let mut tally = timed("a network as it should be", || {
        run_tests(tests(repo, &hosts))
    })?;
    tally += timed("what a start takes", || startup::check(repo, &hosts))?;
    tally += timed("bridges with one address", || {
        interfaces::check(repo, &hosts)
    })?;
    let proxied = timed("through proxies", || through_proxies(repo, &hosts, PATHS));
    // This test takes one host off the network for good, so it runs last and alone.
    tally += timed("a host is cut off", || {
        run_tests(cut_off(tests(repo, &hosts), &hosts.cut()))
    })?;
    match proxied? {
        Ok(more) => {
            tally += more;
            Ok(tally.into())
        }
        Err(lacking) => {
            println!("{tally} without proxies");
            Ok(lacking)
        }
    }
}

/// Runs all tests of real ranks over four hosts through the proxies.
///
/// # Errors
/// As [`check`].
pub(crate) fn proxied(repo: &Repo) -> Result<StepOutcome> {
    let hosts = match make(repo) {
        Ok(hosts) => hosts,
        Err(lacking) => return Ok(lacking),
    };
    Ok(match through_proxies(repo, &hosts, &[])? {
        Ok(tally) => tally.into(),
        Err(lacking) => lacking,
    })
}

/// Makes four hosts.
fn make(repo: &Repo) -> Result<Namespaces, StepOutcome> {
    Namespaces::make(&repo.root.join("target/hosts"), 4)
        .map_err(|why| StepOutcome::Skipped(format!("no network namespaces: {why}")))
}

/// The tests, with each job spread over the hosts.
fn tests<'r>(repo: &'r Repo, hosts: &Namespaces) -> Cmd<'r> {
    let sh = &repo.shell;
    cmd!(sh, "cargo test --quiet --workspace --test ranks").env("OXMPI_TEST_HOSTS", hosts.command())
}

/// Runs the tests that contain one of `names`, or all, through proxies, which stall one host in the end.
/// Otherwise says what is missing.
fn through_proxies(
    repo: &Repo,
    hosts: &Namespaces,
    names: &[&str],
) -> Result<Result<Tally, StepOutcome>> {
    let fault_proxy = match FaultProxy::build(repo, hosts) {
        Ok(fault_proxy) => fault_proxy,
        Err(why) if which("nft").is_none() => {
            let need = "proxies need nft: `apt-get install nftables`";
            return Ok(Err(StepOutcome::Skipped(format!("{need} ({why})"))));
        }
        Err(why) => return Err(why),
    };
    let mut tally = run_tests(tests(repo, hosts).arg("--").args(names))?;
    // The proxy's kernel answers for hosts behind it, so the ranks must ask their peers themselves.
    let stalled =
        cut_off(tests(repo, hosts), &fault_proxy.stall()).env("OXMPI_TCP_STALL_TIMEOUT", "5s");
    tally += run_tests(stalled)?;
    Ok(Ok(tally))
}

/// The test that loses a host; `cut` is the command that cuts it off.
fn cut_off<'r>(tests: Cmd<'r>, cut: &str) -> Cmd<'r> {
    tests.env("OXMPI_TEST_CUT", cut).args(["--", "cut_off"])
}

/// Prints how long a step took.
fn timed<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = run();
    println!("{what}: {} s", start.elapsed().as_secs());
    result
}
