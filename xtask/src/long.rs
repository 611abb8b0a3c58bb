//! `cargo xtask long`: checks that take hours or need a quiet machine, run by hand before a release.

use crate::ci::nodes::Nodes;
use crate::ci::rdma::by_rdmacm::ByRdmacm;
use crate::ci::rdma::{RdmaJobs, figures, instructions};
use crate::ci::{self, alone, hosts, ranks};
use crate::commands::run_tests;
use crate::steps::{Step, StepOutcome, chosen, run_each, step_name};
use crate::tally::Tally;
use crate::{Repo, Result, foreign, fuzz, loom, mutants, semver};
use std::fmt::Write;
use std::time::Duration;
use xshell::cmd;

/// Run the checks that take hours, by hand before a release
///
/// Steps, in order; name some to run only those:
///
///     operations  ten million random operations on two or three engines, joined by a fabric that delays,
///                 refuses and reorders, compared with the oracle of matching: a minute
///     frames      the fuzz target `frames` for ten minutes
///     segment     the fuzz target `segment`, a hostile rank in shared memory, for ten minutes
///     parsers     every other fuzz target for ten minutes each
///     kills       kill -9 of a rank 500 times and of the launcher 100 times: minutes
///     windows     a million random accesses to windows in random epochs by every path, compared with a model, and
///                 kill -9 of a rank in them at 200 random steps: minutes
///     alone       each library's tests, run from its package outside the workspace: minutes
///     proxies     every test of real ranks over four hosts, through proxies that delay and split: minutes
///     datatypes   a hundred thousand random datatypes of the C ABI, compared with their type maps: minutes
///     memory      a million steps that map, unmap, move, discard and free memory, and fork, among transfers on
///                 a fake RDMA device: a minute or two
///     orderings   weakens each memory ordering of rings and flags in turn; a model must fail: minutes
///     plans       proves every collective algorithm as `ci` does, with each variant of algorithms whose ranks
///                 are alike, and random numbers of ranks with any number of steps: a quarter of an hour on
///                 two processors, and 12 GiB of memory
///     large       bcast and allgathers of 2^32 + 7 bytes and more between two ranks, in blocks of more than
///                 2^31, every byte checked: a minute, and 10 GiB of free memory
///     nodes       jobs over three emulated machines on a network that loses packets and delays them:
///                 an hour
///     instructions  those of a short message by RDMA outside the device, by callgrind: a minute or two
///     rdma        as in `ci`, with messages forced on each path, the memory that 16 ranks register, and all tests
///                 of real ranks that can run in guests, in jobs of up to 4 ranks: an hour, on a quiet machine
///     rdmacm      jobs whose connections rdmacm makes: on soft-RoCE in three guests, on soft-iWARP in one and two:
///                 half an hour
///     figures     messages by RDMA in one guest, beside rdma-core's ib_write_lat and ib_write_bw and Debian's Open MPI by
///                 libfabric, which must not be faster: ten minutes, on a quiet machine
///     abi         all foreign programs on the C ABI, and on MPICH and Intel MPI beside it: an hour
///
/// The steps, the machine, the commit and the times are written to `runs/DATE-long.txt`: commit that file.
#[derive(clap::Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub(crate) struct LongOptions {
    #[command(subcommand)]
    other: Option<LongCheck>,
    /// The steps to run; all by default
    #[arg(value_name = "STEP", value_parser = step_name(STEPS), hide_possible_values = true)]
    steps: Vec<String>,
}

/// A check that is not part of a run of all steps.
#[derive(clap::Subcommand)]
enum LongCheck {
    Mutants(mutants::MutantsOptions),
    Semver(semver::SemverOptions),
    Abi(foreign::AbiOptions),
}

/// Seconds for one fuzz target.
const SECONDS: u32 = 600;

/// The tests of real ranks that can run in guests, on any number of them.
const IN_GUESTS: &[&str] = &[
    "collectives::algorithms::",
    "collectives::blocks::",
    "collectives::by_value::",
    "collectives::exchanges::",
    "collectives::forms::",
    "collectives::mistakes::",
    "collectives::neighbors::",
    "collectives::persistent::",
    "collectives::placed::",
    "collectives::reductions::",
    "collectives::reproducible::",
    "collectives::started::",
    "communicators::",
    "contexts::",
    "flood::",
    "control_group::",
    "groups::",
    "inter::",
    "layouts::",
    "mistakes::",
    "modes::",
    "order::",
    "owned::",
    "persistent::",
    "proc_null::",
    "requests::",
    "streams::",
    "threads::",
    "traffic::",
    "waiting::",
];

/// Those of these groups that look at processes of another guest by their numbers, or at memory that only TCP takes.
const ON_ONE_MACHINE: &[&str] = &[
    "control_group::a_link_beyond_the_address_space",
    "streams::errors_name_a_killed_rank",
    "streams::ranks_wait_for_a_stopped_rank",
    "waiting::a_waiting_rank_sleeps",
];

/// Those of these groups, besides, for which ranks have to share the memory of their node.
const BY_NODE: &[&str] = &[
    "collectives::placed::ranks_",
    "communicators::parts_by_node",
];

/// Them on three guests.
const THREE_NODES: Nodes = Nodes {
    count: 3,
    groups: IN_GUESTS,
    others: &[ON_ONE_MACHINE],
    cut: Some("ip link set eth0 down"),
    limit: Duration::from_secs(3 * 3600),
};

const STEPS: &[Step] = &[
    ("operations", |repo| operations(repo).map(Into::into)),
    ("frames", |repo| {
        fuzz::each(repo, |target| target == "frames", SECONDS)
    }),
    ("segment", |repo| {
        fuzz::each(repo, |target| target == "segment", SECONDS)
    }),
    ("parsers", |repo| {
        fuzz::each(
            repo,
            |target| !["frames", "segment"].contains(&target),
            SECONDS,
        )
    }),
    ("kills", |repo| ranks::killed(repo, 500).map(Into::into)),
    ("windows", |repo| ranks::windows(repo).map(Into::into)),
    ("alone", |repo| {
        alone::check(repo, alone::Tests::Run).map(Into::into)
    }),
    ("proxies", hosts::proxied),
    ("datatypes", |repo| datatypes(repo).map(Into::into)),
    ("memory", memory),
    ("orderings", |repo| loom::mutate(repo).map(Into::into)),
    ("plans", |repo| ci::plans(repo, &[]).map(Into::into)),
    ("large", large),
    ("nodes", |repo| THREE_NODES.check(repo)),
    ("instructions", instructions::count),
    ("rdma", |repo| RDMA.check(repo)),
    ("rdmacm", |repo| RDMACM.check(repo)),
    ("figures", figures::check),
    ("abi", foreign::long),
];

/// Them on two guests with soft-RoCE devices.
const RDMA: RdmaJobs = RdmaJobs {
    skipped: &[],
    groups: IN_GUESTS,
    others: &[ON_ONE_MACHINE, BY_NODE],
    most_ranks: 4,
    limit: 3 * 3600,
    each_path: true,
};

/// Those of jobs that rdmacm connects.
const RDMACM: ByRdmacm = ByRdmacm {
    groups: &["modes::", "order::", "collectives::by_value::"],
    limit: 1200,
};

/// Memory in KiB for the vectors of the two ranks of [`large`], with a margin.
const LARGE_KIB: u64 = 10 << 20;

pub(crate) fn run(repo: &Repo, options: &LongOptions) -> Result {
    match &options.other {
        Some(LongCheck::Mutants(options)) => return mutants::run(repo, options),
        Some(LongCheck::Semver(options)) => return semver::run(repo, options),
        Some(LongCheck::Abi(options)) => return foreign::run(repo, options),
        None => {}
    }
    let mut log = header(repo)?;
    let (lines, total) = run_each(repo, &chosen(STEPS, &options.steps), true);
    for line in &lines {
        writeln!(log, "{line}")?;
    }
    writeln!(log, "{total}")?;
    let date = cmd!(repo.shell, "date +%F").quiet().read()?;
    let path = format!("runs/{date}-long.txt");
    total.tell();
    println!("\n{log}\nwritten to {path}");
    repo.shell.write_file(repo.root.join(path), log)?;
    total.verdict()
}

/// The head of the log: commit, compiler, processors.
fn header(repo: &Repo) -> Result<String> {
    let sh = &repo.shell;
    let commit = cmd!(sh, "git describe --always --dirty").quiet().read()?;
    let compiler = cmd!(sh, "rustc --version").quiet().read()?;
    let processors = std::thread::available_parallelism()?;
    let info = sh.read_file("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown", |line| line.trim_start_matches([' ', '\t', ':']));
    Ok(format!(
        "cargo xtask long\ncommit {commit}, {compiler}, {processors} processors ({model})\n\n"
    ))
}

/// Random operations on joined engines, checked against the oracle.
fn operations(repo: &Repo) -> Result<Tally> {
    run_tests(
        cmd!(
            repo.shell,
            "cargo test --quiet --package oxmpi-wire --test integration oracle::"
        )
        .env("OXMPI_TEST_OPERATIONS", "10000000"),
    )
}

/// Random datatypes, packed, sent and described, checked against their type maps.
fn datatypes(repo: &Repo) -> Result<Tally> {
    run_tests(
        cmd!(
            repo.shell,
            "cargo test --quiet --package oxmpi-abi --lib random_datatypes_equal_their_typemaps"
        )
        .env("OXMPI_TEST_TYPES", "100000"),
    )
}

/// Memory that goes while an RDMA device has it registered.
fn memory(repo: &Repo) -> Result<StepOutcome> {
    let test = cmd!(
        repo.shell,
        "cargo test --quiet --package oxmpi-verbs --lib -- --nocapture no_registration_outlives_its_memory"
    )
    .env("OXMPI_TEST_MEMORY_STEPS", "1000000");
    let said = test.read()?;
    println!("{said}");
    let counts = said.lines().find(|line| line.contains("steps: "));
    let counts = counts.unwrap_or("memory cannot be watched here: nothing is cached");
    Ok(StepOutcome::Noted(Tally::ONE, counts.to_owned()))
}

/// Collectives of more bytes than 32 bits can count.
fn large(repo: &Repo) -> Result<StepOutcome> {
    let sh = &repo.shell;
    let memory = sh.read_file("/proc/meminfo").unwrap_or_default();
    let line = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let available = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    if let Some(available) = available.filter(|&kib| kib < LARGE_KIB) {
        let (has, needs) = (available >> 20, LARGE_KIB >> 20);
        return Ok(StepOutcome::Absent(format!(
            "{has} GiB of memory are available, and two ranks need {needs} GiB"
        )));
    }
    let built = repo.release(&["--bin", "oxmpi", "--example", "large"])?;
    let said = cmd!(
        sh,
        "timeout 600 {built}/oxmpi run -n 2 {built}/examples/large"
    )
    .read()?;
    println!("{said}");
    Ok(StepOutcome::Noted(Tally::ONE, said.replace('\n', "; ")))
}
