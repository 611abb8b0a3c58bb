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

pub(crate) use placement::Probe;
pub(crate) use programs::Implementation;

use crate::{Repo, Result, Verb};
use figures::{Figures, Pick};
use rounds::MeasuredRun;
use std::collections::BTreeSet;
use std::path::PathBuf;
use works::{Asked, Work};

pub(crate) const VERB: Verb = Verb {
    name: "compare",
    usage: "[--what LIST] [--sizes LIST] [--operations LIST] [--ranks LIST] [--rounds N] [--against LIST] \
            [--lock FILE] [--publish]",
    summary: "Run the same kernels on MPICH, Open MPI and Intel MPI, in turn with ours",
    help: "
Installs the peers from PyPI into target/peers, builds the C programs of crates/bench/peers with their
compilers and ours from crates/runtime/examples/peers, and runs all of them in turn, round by round.
Before and after each run a probe measures how near the two processors are; a run during which that
changed is dropped, and only runs with the same placement are compared. A peer that cannot be installed
is skipped with a message. The raw data is written to target/compare/runs.json.

  --what LIST    any of pingpong, rewritten, cold, posted, sendrecv, exchange, rate, network,
                 stream, crowd, barrier, collectives, memory, threads, init, start; all by default
  --sizes LIST   message lengths in bytes of pingpong and rewritten, by default
                 8,64,1024,8192,65536,1048576,4194304, of network, by default
                 8,1024,8192,65536,262144,1048576,4194304, of stream, by default
                 8,1024,8192,65536,1048576, and of collectives, by default 8,1024,65536,1048576
  --operations LIST
                 of collectives, any of barrier, bcast, reduce, allreduce, allgather, alltoall,
                 gather, scatter, reduce_scatter_block; all by default
  --ranks LIST   only these numbers of ranks, where there are several
  --rounds N     runs to keep of each; 5 by default
  --against LIST any of mpich, openmpi, openmpi-ucx, intel, floor; all by default
  --lock FILE    lock FILE, as flock(1) does, for each round, so that comparisons take turns
  --publish      keep the rows, the tables and the machine under crates/bench/runs/DATE-KIND

pingpong is one way between two ranks; rewritten the same with the message written before each send,
cold with buffers larger than the caches, posted with receives posted before; sendrecv and exchange are
those of the Intel MPI Benchmarks; rate is one message of a window of 64; network and
stream are pingpong and rate between ranks that talk by TCP over the loopback device; crowd is 8 B between two of 4
and 8 ranks while the others wait in a barrier; barrier has 2, 4 and 8 ranks; collectives are those of
the Intel MPI Benchmarks, 2, 4 and 8 ranks, the time of the slowest rank; memory is that of
8 ranks after MPI_Init; threads is ours alone, a rank that sends to itself by one thread and by two; init
is MPI_Init and MPI_Finalize of 2 ranks; start is the whole command that runs `true` twice. The floor is
two processes without MPI (crates/bench/peers/floor), in the same rounds.

Over TCP MPICH runs with ch4:ofi's tcp provider (its ch4:ucx would take shared memory), Intel MPI with
the same provider of MPICH's package, Open MPI with ob1 over btl/tcp; UCX is left out, since it
does not use the loopback device.

MPICH runs with MPIR_CVAR_NOLOCAL=1 where ranks share processors: its intra-node collectives spin, so
that a barrier of four takes milliseconds and one of eight may never end.

A summary follows the tables of each benchmark: every aim, the figure, its bound, and whether it is
met. A real-time class (`chrt -r 1 cargo xtask compare`) protects against other work on the machine;
jobs with more ranks than processors leave that class: for them, run the command in a control group
that has nearly all shares of the processors.",
    run,
};

/// The parsed arguments.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    works: Vec<Work>,
    rounds: usize,
    /// Names of the implementations to compare with; `None`: all of them.
    against: Option<Vec<String>>,
    lock: Option<PathBuf>,
    publish: bool,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options> {
        let mut what = "all".to_owned();
        let mut asked = Asked::default();
        let (mut rounds, mut against, mut lock, mut publish) = (5, None, None, false);
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .cloned()
                    .ok_or_else(|| format!("{word} needs a value"))
            };
            match word.as_str() {
                "--what" => what = value()?,
                "--sizes" => asked.sizes = list(&value()?),
                "--operations" => asked.operations = value()?,
                "--ranks" => {
                    let numbers = list(&value()?).into_iter();
                    asked.ranks = numbers
                        .map(|number| whole(word, &number))
                        .collect::<Result<_>>()?;
                }
                "--rounds" => rounds = whole(word, &value()?)?,
                "--against" => against = Some(list(&value()?)),
                "--lock" => lock = Some(value()?.into()),
                "--publish" => publish = true,
                other => {
                    return Err(
                        format!("'{other}' is no option; see `cargo xtask help compare`").into(),
                    );
                }
            }
        }
        for size in &asked.sizes {
            if !size.parse().is_ok_and(|bytes: u32| bytes <= 1 << 30) {
                return Err(format!("--sizes '{size}': whole numbers up to 1073741824").into());
            }
        }
        for name in asked.operations.split(',') {
            if !works::COLLECTIVES.split(',').any(|known| known == name) {
                let why = format!("--operations '{name}': there are {}", works::COLLECTIVES);
                return Err(why.into());
            }
        }
        let mut works = Vec::new();
        for word in what.split(',') {
            let names = if word == "all" {
                &works::NAMES
            } else {
                &[word][..]
            };
            for name in names {
                works.extend(Work::named(name, &asked)?);
            }
        }
        Ok(Options {
            works,
            rounds,
            against,
            lock,
            publish,
        })
    }
}

/// Splits a list at its commas.
fn list(text: &str) -> Vec<String> {
    text.split(',').map(String::from).collect()
}

/// Parses the number of an option.
fn whole(option: &str, text: &str) -> Result<usize> {
    let number = text.parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| format!("{option} '{text}': a whole number above 0").into())
}

fn run(repo: &Repo, arguments: &[String]) -> Result {
    let options = Options::parse(arguments)?;
    let ours = options.works.iter().map(|work| work.program);
    let mut needed: BTreeSet<&str> = ours.filter(|program| !program.is_empty()).collect();
    let mut implementations = vec![programs::ours(repo, &needed)?];
    needed.remove(works::OURS_ALONE);
    implementations.extend(peers::prepare(repo, &needed));
    implementations.push(programs::floor(repo)?);
    implementations = chosen(implementations, options.against.as_deref())?;
    let probe = Probe::build(repo)?;
    let mut runs: Vec<MeasuredRun> = Vec::new();
    let mut text = String::new();
    for work in &options.works {
        let new = rounds::interleave(work, &implementations, &probe, &options)?;
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
