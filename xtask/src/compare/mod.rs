//! `cargo xtask compare`: runs the same kernels on oxmpi and on other MPI libraries, in turn.

mod command;
mod figures;
mod lines;
pub(crate) mod peers;
mod placement;
mod programs;
pub(crate) mod publish;
mod rounds;
mod tables;
mod targets;
mod works;

pub(crate) use figures::median_of;
pub(crate) use placement::Probe;
pub(crate) use programs::Implementation;

use crate::{Repo, Result};
use clap::value_parser;
use figures::{Figures, Pick};
use rounds::MeasuredRun;
use std::collections::BTreeSet;
use std::path::PathBuf;
use works::{Variants, Work};

/// Run the same kernels on MPICH, Open MPI and Intel MPI, in turn with ours in Rust and in C
///
/// Installs the peers from PyPI into target/peers, builds the C programs of crates/bench/peers with their
/// compilers and ours from crates/runtime/examples/peers, and runs all of them in turn, round by round.
/// Before and after each run a probe measures how near the two processors are; a run during which that
/// changed is dropped, and only runs with the same placement are compared. A peer that cannot be installed
/// is skipped with a message, and one that fails in a benchmark is left out of it. The raw data is written to target/compare/runs.json.
///
/// pingpong is one way between two ranks; rewritten the same with the message written before each send,
/// cold with buffers larger than the caches, posted with receives posted before; sendrecv and exchange are
/// those of the Intel MPI Benchmarks; rate is one message of a window of 64; network and
/// stream are pingpong and rate between ranks that talk by TCP over the loopback device; rma is one-sided
/// communication in windows (the kernels are at the head of crates/bench/peers/rma.c), rma-crowd that of 4 and 8 ranks,
/// rma-network that of two by TCP, in memory of the program; crowd is 8 B between two of 4
/// and 8 ranks while the others wait in a barrier; barrier has 2, 4 and 8 ranks; collectives are those of
/// the Intel MPI Benchmarks, 2, 4 and 8 ranks, the time of the slowest rank; memory is that of
/// 8 ranks after MPI_Init; threads is ours alone, a rank that sends to itself by one thread and by two; init
/// is MPI_Init and MPI_Finalize of 2 ranks; start is the whole command that runs `true` twice. The floor is
/// two processes without MPI (crates/bench/peers/floor), in the same rounds.
///
/// Over TCP MPICH runs with ch4:ofi's tcp provider (its ch4:ucx would take shared memory), Intel MPI with
/// the same provider of MPICH's package, Open MPI with ob1 over btl/tcp; UCX is left out, since it
/// does not use the loopback device.
///
/// oxmpi-c is the C programs on our library of the C ABI; mpich-abi and intel run on such libraries, too.
///
/// MPICH runs with MPIR_CVAR_NOLOCAL=1 where ranks share processors: its intra-node collectives spin, so
/// that a barrier of four takes milliseconds and one of eight may never end.
///
/// A summary follows the tables of each benchmark: every aim, the figure, its bound, and whether it is
/// met. A real-time class (`chrt -r 1 cargo xtask compare`) protects against other work on the machine;
/// jobs with more ranks than processors leave that class: for them, run the command in a control group
/// that has nearly all shares of the processors.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CompareOptions {
    /// The benchmarks
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "all", value_parser = Work::names())]
    what: Vec<String>,
    #[command(flatten)]
    variants: Variants,
    /// Runs to keep of each
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u16).range(1..))]
    rounds: u16,
    /// The implementations to compare with, any of oxmpi-c, mpich, mpich-abi, openmpi, openmpi-ucx, intel, floor; all by default
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    against: Option<Vec<String>>,
    /// Lock FILE, as flock(1) does, for each round, so that comparisons take turns
    #[arg(long, value_name = "FILE")]
    lock: Option<PathBuf>,
    /// Keep the rows, the tables and the machine under crates/bench/runs/DATE-KIND
    #[arg(long)]
    publish: bool,
}

impl CompareOptions {
    /// The benchmarks that are asked for.
    fn works(&self) -> Vec<Work> {
        let named = |name: &String| Work::named(name, &self.variants);
        self.what.iter().flat_map(named).collect()
    }
}

pub(crate) fn run(repo: &Repo, options: &CompareOptions) -> Result {
    let works = options.works();
    let ours = works.iter().map(|work| work.program);
    let mut needed: BTreeSet<&str> = ours.filter(|program| !program.is_empty()).collect();
    let mut implementations = vec![programs::ours(repo, &needed)?];
    needed.remove(works::OURS_ALONE);
    let against = options.against.as_deref();
    // It is built for minutes, so only where it is asked for.
    if against.is_none_or(|names| names.iter().any(|name| name == programs::OURS_IN_C)) {
        implementations.push(programs::ours_in_c(repo, &needed)?);
    }
    implementations.extend(peers::prepare(repo, &needed));
    implementations.push(programs::floor(repo)?);
    implementations = chosen(implementations, against)?;
    let probe = Probe::build(repo)?;
    let mut runs: Vec<MeasuredRun> = Vec::new();
    let mut text = String::new();
    for work in &works {
        let new = rounds::interleave(work, &implementations, &probe, options)?;
        let tables = tables::tables(work, &implementations, &new);
        println!("{tables}");
        text += &tables;
        runs.extend(new);
    }
    let summaries = summaries(&runs);
    println!("{summaries}");
    text += &summaries;
    let raw = publish::keep_raw(repo, &probe, &implementations, &runs)?;
    println!("raw data: {}", raw.display());
    if options.publish {
        let folder = publish::publish(repo, &probe, &implementations, &runs, &text)?;
        println!("kept under {}", folder.display());
    }
    let wrong = runs
        .iter()
        .flat_map(|run| &run.rows)
        .filter(|row| !row.right)
        .count();
    if wrong == 0 {
        Ok(())
    } else {
        Err(format!("wrong data in {wrong} rows").into())
    }
}

/// Our programs first, then the implementations to compare with.
fn chosen(all: Vec<Implementation>, against: Option<&[String]>) -> Result<Vec<Implementation>> {
    let Some(against) = against else {
        return Ok(all);
    };
    if let Some(unknown) = against
        .iter()
        .find(|name| !all.iter().any(|i| i.name == **name))
    {
        let names: Vec<&str> = all.iter().skip(1).map(|i| i.name).collect();
        return Err(format!("--against '{unknown}': there are {}", names.join(", ")).into());
    }
    let mut left = all.into_iter();
    let ours = left.next();
    let asked = left.filter(|i| against.iter().any(|name| *name == i.name));
    Ok(ours.into_iter().chain(asked).collect())
}

/// The verdict on each aim, for each placement with runs.
fn summaries(runs: &[MeasuredRun]) -> String {
    let mut placements: BTreeSet<&str> = runs.iter().filter_map(|run| run.tag).collect();
    if placements.len() > 1 {
        placements.remove("any");
    }
    let summary = |placement| {
        let figures = Figures::new(runs, placement, Pick::Median);
        targets::summary(placement, &figures)
    };
    placements
        .into_iter()
        .map(summary)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests;
