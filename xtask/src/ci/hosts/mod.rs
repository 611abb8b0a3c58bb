//! Jobs over several hosts, which are network namespaces of this machine.

mod fault_proxy;
mod namespaces;
mod startup;

use crate::commands::run_tests;
use crate::guest::which;
use crate::steps::Outcome;
use crate::tally::Tally;
use crate::{Repo, Result};
use fault_proxy::Storm;
use namespaces::Namespaces;
use std::time::Instant;
use xshell::{Cmd, cmd};

/// Tests in which every path of a message between hosts is taken, by parts of their names.
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
];

/// Runs the tests of real ranks with every job spread over four hosts: on a network as it should be, and with
/// a host cut off; some through proxies that delay and split what passes and then stall; and shows what the
/// start of jobs takes.
///
/// # Errors
/// When a test cannot be started.
pub(super) fn check(repo: &Repo) -> Result<Outcome> {
    let hosts = match make(repo) {
        Ok(hosts) => hosts,
        Err(lacking) => return Ok(lacking),
    };
    let mut tally = timed("a network as it should be", || {
        run_tests(tests(repo, &hosts))
    })?;
    tally += timed("what a start takes", || startup::check(repo, &hosts))?;
    let stormy = timed("through proxies", || through_proxies(repo, &hosts, PATHS));
    // Afterwards a host is lost to all, so this runs last and alone.
    tally += timed("a host is cut off", || {
        run_tests(cut_off(tests(repo, &hosts), &hosts.cut()))
    })?;
    match stormy? {
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
pub(crate) fn proxied(repo: &Repo) -> Result<Outcome> {
    let hosts = match make(repo) {
        Ok(hosts) => hosts,
        Err(lacking) => return Ok(lacking),
    };
    Ok(match through_proxies(repo, &hosts, &[])? {
        Ok(tally) => tally.into(),
        Err(lacking) => lacking,
    })
}

/// Four hosts.
fn make(repo: &Repo) -> Result<Namespaces, Outcome> {
    Namespaces::make(&repo.root.join("target/hosts"), 4)
        .map_err(|why| Outcome::Skipped(format!("no network namespaces: {why}")))
}

/// The tests, with every job spread over the hosts.
fn tests<'r>(repo: &'r Repo, hosts: &Namespaces) -> Cmd<'r> {
    let sh = &repo.shell;
    cmd!(sh, "cargo test --quiet --package oxmpi-launch --test ranks")
        .env("OXMPI_TEST_HOSTS", hosts.command())
}

/// Those of the tests that have one of `names`, or all, through proxies, which stall all of a host in the end.
/// Or what is lacking for that.
fn through_proxies(
    repo: &Repo,
    hosts: &Namespaces,
    names: &[&str],
) -> Result<Result<Tally, Outcome>> {
    let fault_proxy = match Storm::brew(repo, hosts) {
        Ok(fault_proxy) => fault_proxy,
        Err(why) if which("nft").is_none() => {
            let need = "proxies need nft: `apt-get install nftables`";
            return Ok(Err(Outcome::Skipped(format!("{need} ({why})"))));
        }
        Err(why) => return Err(why),
    };
    let mut tally = run_tests(tests(repo, hosts).arg("--").args(names))?;
    // A proxy's system answers for hosts behind it, so peers have to be asked themselves.
    let stalled = cut_off(tests(repo, hosts), &fault_proxy.stall()).env("OXMPI_TCP_STALL", "5s");
    tally += run_tests(stalled)?;
    Ok(Ok(tally))
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
