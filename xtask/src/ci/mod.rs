//! `cargo xtask ci`: every check before a change lands that `cargo xtask test` leaves out.

pub(crate) mod alone;
mod guests;
pub(crate) mod hosts;
mod hwloc;
mod lint;
mod managers;
mod no_std;
pub(crate) mod nodes;
pub(crate) mod ranks;

use crate::commands::run_check;
use crate::steps::{Step, run_all};
use crate::tally::Tally;
use crate::{Repo, Result, Verb, asm, bench, build, fuzz, loom, tidy};
use nodes::Nodes;
use std::time::Duration;
use xshell::cmd;

pub(crate) const VERB: Verb = Verb {
    name: "ci",
    usage: "[--no-skip] [STEP...]",
    summary: "Run every check that `test` leaves out: lint, proofs, models, fuzzing, packages alone",
    help: "
Steps, in order; name some to run only those:

    lint      cargo fmt --check, clippy and rustdoc without a warning
    tidy      the rules of the design
    features  every crate built with each set of its features
    hwloc     the system's hwloc as a source of topo, compared with our own on this machine
    no_std    each no_std crate linked without std (and alloc, where promised), and the check itself checked
    alone     each library packed, used from outside the workspace, its README run and its tests built there
              (`long` runs them)
    asm       the machine code that sends an 8 B message, compared with the checked-in listings
    plans     every collective algorithm proved on all numbers of ranks to 1,024, and on random ones: to 2^20
              for algorithms of few steps, else to 4,096, halved until few ranks stand for all or all take
              at most 3 million steps (`long`: any number); a circulant schedule for 1,000,003 ranks in
              20 us; and 700,000 ranks simulated in a minute of processor time each
    loom      the model checker on rings and flags; `long` also weakens each of their memory orderings in
              turn and checks that a model fails
    fuzzing   each fuzz target for 5 seconds
    main job  cargo xtask build, then cargo xtask bench
    ranks     every example as a job of 1, 2, 3, 4, 8, 16 and 64 ranks
    kills     kill -9 of a rank 50 times and of the launcher 10 times, with the time to the job's end
    hosts     the tests of real ranks once more, each job over four hosts: network namespaces that are
              joined by a bridge; some through proxies that delay, split and stall the data (`long` runs
              all); and the cost of starting 8 to 64 ranks over them, messages and time
    managers  jobs under the Hydras of MPICH, Debian and Intel, under Open MPI's prterun and under Slurm
              of two nodes; programs of MPICH and Intel MPI under ours
    guests    emulated machines of 16 processors, as hwloc and `oxmpi` see them from inside, and ranks
              and OpenMP threads there, where `oxmpi pin` says they run
    nodes     jobs over two emulated machines on a network that loses packets and delays them

A step that needs something this machine lacks is skipped and named; with `--no-skip` that is a failure
where apt, pip or cargo could install it. The last line is `N passed, N failed, N skipped`; each test
and each other check counts as one.",
    run,
};

const STEPS: &[Step] = &[
    Step {
        name: "lint",
        run: |repo| lint::check(repo).map(Into::into),
    },
    Step {
        name: "tidy",
        run: |repo| tidy::check(repo).map(Into::into),
    },
    Step {
        name: "features",
        run: |repo| lint::features(repo).map(Into::into),
    },
    Step {
        name: "hwloc",
        run: hwloc::agrees,
    },
    Step {
        name: "no_std",
        run: |repo| no_std::prove(repo).map(Into::into),
    },
    Step {
        name: "alone",
        run: |repo| alone::check(repo, alone::Tests::Built).map(Into::into),
    },
    Step {
        name: "asm",
        run: asm::check,
    },
    Step {
        name: "plans",
        run: |repo| {
            let sh = &repo.shell;
            let mut tally = run_check(cmd!(
                sh,
                "cargo run --release --package oxmpi-coll --features sim --example many"
            ))?;
            tally += run_check(cmd!(
                sh,
                "cargo run --release --package oxmpi-coll --features sim --example schedules -- 1000003"
            ))?;
            tally += plans(repo, &["--up-to", "1024"])?;
            tally += plans(repo, &["--beyond"])?;
            Ok(tally.into())
        },
    },
    Step {
        name: "loom",
        run: |repo| loom::check(repo).map(Into::into),
    },
    Step {
        name: "fuzzing",
        run: |repo| fuzz::all(repo, 5),
    },
    Step {
        name: "main job",
        run: |repo| main_job(repo).map(Into::into),
    },
    Step {
        name: "ranks",
        run: |repo| ranks::ours(repo).map(Into::into),
    },
    Step {
        name: "kills",
        run: |repo| ranks::killed(repo, 50).map(Into::into),
    },
    Step {
        name: "hosts",
        run: hosts::check,
    },
    Step {
        name: "managers",
        run: managers::check,
    },
    Step {
        name: "guests",
        run: guests::check,
    },
    Step {
        name: "nodes",
        run: |repo| TWO_NODES.check(repo),
    },
];

/// Tests that take a minute or two under emulation.
const TWO_NODES: Nodes = Nodes {
    count: 2,
    groups: &["traffic::", "modes::"],
    cut: None,
    limit: Duration::from_secs(1200),
};

fn run(repo: &Repo, arguments: &[String]) -> Result {
    let no_skip = arguments.iter().any(|argument| argument == "--no-skip");
    let wanted: Vec<_> = arguments
        .iter()
        .filter(|argument| *argument != "--no-skip")
        .collect();
    if let Some(unknown) = wanted
        .iter()
        .find(|name| !STEPS.iter().any(|step| step.name == ***name))
    {
        let names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        return Err(format!("no step '{unknown}'; there are: {}", names.join(", ")).into());
    }
    let chosen: Vec<_> = STEPS
        .iter()
        .filter(|step| wanted.is_empty() || wanted.iter().any(|name| *name == step.name))
        .collect();
    run_all(repo, &chosen, no_skip)
}

/// Proves every collective algorithm, in optimised code.
pub(crate) fn plans(repo: &Repo, arguments: &[&str]) -> Result<Tally> {
    let sh = &repo.shell;
    run_check(cmd!(
        sh,
        "cargo run --release --package oxmpi-coll --features sim --example plans -- {arguments...}"
    ))
}

fn main_job(repo: &Repo) -> Result<Tally> {
    (build::VERB.run)(repo, &[])?;
    (bench::VERB.run)(repo, &[])?;
    Ok(Tally {
        passed: 2,
        ..Tally::default()
    })
}
