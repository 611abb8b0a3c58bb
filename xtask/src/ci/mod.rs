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
pub(crate) mod rdma;

use crate::commands::{run_check, run_tests};
use crate::steps::{Step, chosen, run_all, step_name};
use crate::tally::Tally;
use crate::{Repo, Result, asm, bench, build, foreign, fuzz, loom, tidy, tune_tables};
use nodes::Nodes;
use rdma::RdmaJobs;
use std::time::Duration;
use xshell::cmd;

/// Run every check that `test` leaves out: lint, proofs, models, fuzzing, packages alone
///
/// Steps, in order; name some to run only those:
///
///     lint      cargo fmt --check, clippy and rustdoc without a warning
///     tidy      the rules of the design
///     features  every crate checked with each set of its features, and the runtime tested without any
///     hwloc     the system's hwloc as a source of topo, compared with our own on this machine
///     no_std    each no_std crate linked without std (and alloc, where promised), and the check itself checked
///     alone     each library packed, used from outside the workspace, its README run and its tests built there
///               (`long` runs them)
///     asm       the machine code that sends an 8 B message, compared with the checked-in listings
///     plans     every collective algorithm proved on all numbers of ranks to 512 (`long`: 1,024), and on random
///               ones: to 2^20 for algorithms of few steps, else to 4,096, halved until few ranks stand for all or
///               all take at most 3 million steps (`long`: any number); a circulant schedule for 1,000,003 ranks in
///               20 us; 700,000 ranks simulated in a minute of processor time each; and the simulator's figures:
///               choices, cost forms, guidelines and claims
///     loom      the model checker on rings and flags; `long` also weakens each of their memory orderings in
///               turn and checks that a model fails
///     fuzzing   each fuzz target for 5 seconds
///     main job  cargo xtask build, then what cargo xtask bench runs
///     ranks     every example as a job of 1, 2, 3, 4, 8, 16 and 64 ranks
///     kills     kill -9 of a rank 50 times and of the launcher 10 times, with the time to the job's end
///     abi       foreign programs on the C ABI: NetPIPE, FFTW, mpi4py, part of MPICH's tests; the library's names, mpi.h,
///               its wrappers under CMake and meson, a program that swaps libraries, a PMPI tool
///     hosts     the tests of real ranks once more, each job over four hosts: network namespaces that are
///               joined by a bridge; some through proxies that delay, split and stall the data (`long` runs
///               all); and the cost of starting 8 to 64 ranks over them, messages and time
///     managers  jobs under the Hydras of MPICH, Debian and Intel, under Open MPI's prterun and under Slurm
///               of two nodes; programs of MPICH and Intel MPI under ours
///     guests    emulated machines of 16 processors, as hwloc and `oxmpi` see them from inside, and ranks
///               and OpenMP threads there, where `oxmpi pin` says they run
///     rdma      emulated machines with a soft-RoCE device: two processes play ping-pong through oxmpi-verbs in one
///               and between two, beside rdma-core's own; its declarations, compared with the C header; jobs over
///               two that exchange their messages by verbs
///     nodes     jobs over two emulated machines on a network that loses packets and delays them
///
/// A step that needs something this machine lacks is skipped and named; with `--no-skip` that is a failure
/// where apt, pip or cargo could install it. The last line is `N passed, N failed, N skipped`; each test
/// and each other check counts as one.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CiOptions {
    /// Count a skipped step as failed where apt, pip or cargo could install what it lacks
    #[arg(long)]
    no_skip: bool,
    /// The steps to run; all by default
    #[arg(value_name = "STEP", value_parser = step_name(STEPS), hide_possible_values = true)]
    steps: Vec<String>,
}

const STEPS: &[Step] = &[
    ("lint", |repo| lint::check(repo).map(Into::into)),
    ("tidy", |repo| tidy::check(repo).map(Into::into)),
    ("features", |repo| lint::features(repo).map(Into::into)),
    ("hwloc", hwloc::agrees),
    ("no_std", |repo| no_std::prove(repo).map(Into::into)),
    ("alone", |repo| {
        alone::check(repo, alone::Tests::Built).map(Into::into)
    }),
    ("asm", asm::check),
    ("plans", |repo| {
        let (sh, packages) = (&repo.shell, repo.for_users());
        let examples = repo.release(&PLANS)?.join("examples");
        let mut tally = run_check(cmd!(sh, "{examples}/many"))?;
        tally += run_check(cmd!(sh, "{examples}/schedules 1000003"))?;
        let trees = repo.root.join(tune_tables::FOLDER);
        tally += run_check(cmd!(sh, "{examples}/tables --check {trees} scan"))?;
        tally += run_tests(cmd!(
            sh,
            "cargo test --release {packages...} --test figures"
        ))?;
        tally += plans(repo, &["--up-to", "512"])?;
        tally += plans(repo, &["--beyond"])?;
        Ok(tally.into())
    }),
    ("loom", |repo| loom::check(repo).map(Into::into)),
    ("fuzzing", |repo| fuzz::each(repo, |_| true, 5)),
    ("main job", |repo| main_job(repo).map(Into::into)),
    ("ranks", |repo| ranks::ours(repo).map(Into::into)),
    ("kills", |repo| ranks::killed(repo, 50).map(Into::into)),
    ("abi", foreign::ci),
    ("hosts", hosts::check),
    ("managers", managers::check),
    ("guests", guests::check),
    ("rdma", |repo| RDMA.check(repo)),
    ("nodes", |repo| TWO_NODES.check(repo)),
];

/// The examples that prove and simulate collective algorithms.
const PLANS: [&str; 8] = [
    "--example",
    "many",
    "--example",
    "schedules",
    "--example",
    "plans",
    "--example",
    "tables",
];

/// Tests that take a minute or two under emulation.
const TWO_NODES: Nodes = Nodes {
    count: 2,
    groups: &["traffic::", "modes::"],
    others: &[],
    cut: None,
    limit: Duration::from_secs(1200),
};

/// Tests that take a minute under emulation on one guest, and one over two.
const RDMA: RdmaJobs = RdmaJobs {
    skipped: &[
        "conformance::plain",
        "conformance::by_rdmacm",
        "conformance::network::alive",
    ],
    groups: &[
        "modes::a_",
        "order::",
        "collectives::by_value::",
        "endings::a_rank_that_exits_without_leaving",
        "endings::a_transfer_in_flight",
        "endings::waiting_for_a_rank",
    ],
    others: &[],
    most_ranks: usize::MAX,
    limit: 900,
    each_path: false,
};

pub(crate) fn run(repo: &Repo, options: &CiOptions) -> Result {
    run_all(repo, &chosen(STEPS, &options.steps), options.no_skip)
}

/// Proves every collective algorithm, in optimised code.
pub(crate) fn plans(repo: &Repo, arguments: &[&str]) -> Result<Tally> {
    let examples = repo.release(&PLANS)?.join("examples");
    run_check(cmd!(repo.shell, "{examples}/plans {arguments...}"))
}

fn main_job(repo: &Repo) -> Result<Tally> {
    let built = build::run(repo)?;
    bench::with(repo, &built.join("oxmpi"), &bench::BenchOptions::default())?;
    Ok(Tally {
        passed: 2,
        ..Tally::default()
    })
}
