//! `oxmpi sim wireup`: how long a job takes until every rank knows where every other one is.

use std::ffi::OsString;
use std::fmt::Display;

use lexopt::prelude::*;
use oxmpi_text::{Nanos, duration};
use oxmpi_wire::exchange::model::{Costs, Job, Time, counting, exchange, from_one_server};
use oxmpi_wire::exchange::rounds;

use crate::table;

pub(super) const HELP: &str = "\
oxmpi sim wireup: how long a job takes until every rank knows where every other one is

Usage: oxmpi sim wireup -n RANKS [OPTION...]

Two ways are held against each other. Ours has two parts: rank 0 counts the nodes, for which the process manager answers
some ten requests of each rank; then the leaders of nodes exchange addresses in rounds, each of them getting one address
a round from the manager. The other way is that every rank gets every other one's address from there.

  -n RANKS[,RANKS...]   numbers of ranks: 100000, or 64,4096,100000
  --ppn N               ranks of a node; left out: 64
  --latency TIME        one way between two hosts; left out: 20us, Ethernet through the kernels
  --overhead TIME       of a processor for a message, on either side; left out: 4us
  --bandwidth MBYTES    that a node sends in a second; left out: 1250
  --greeting TIME       of a processor for a connection and the proof that it knows the job's key; left out: 60us
  --serve TIME          of the manager's server for one request; left out: 5us

The model: the server answers one request after another. A connection takes three round trips (TCP's handshake, of which
the third packet carries the first words, and the two exchanges of the greeting). The ranks of a node copy all addresses
from its memory at 10 GB/s together. Each line counts its own time; the start of processes, the network between the
adapters and lost packets are left out.
";

/// Longest time of an option: beyond, sums could leave 64 bits.
const LONGEST: u64 = 60_000_000_000;

/// What was typed.
struct Options {
    ranks: Vec<u32>,
    per_node: u32,
    costs: Costs,
}

/// The table, or the help.
///
/// # Errors
/// A sentence that says what is wrong and what would have been right.
pub(super) fn run(arguments: Vec<OsString>) -> Result<String, String> {
    let options = parse(arguments).map_err(|why| why.to_string())?;
    Ok(options.map_or_else(|| HELP.to_owned(), |options| show(&options)))
}

fn parse(arguments: Vec<OsString>) -> Result<Option<Options>, lexopt::Error> {
    let mut options = Options {
        ranks: Vec::new(),
        per_node: 64,
        costs: Costs::ETHERNET,
    };
    let costs = &mut options.costs;
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Short('n') | Long("ranks") => options.ranks = parser.value()?.parse_with(numbers)?,
            Long("ppn") => options.per_node = parser.value()?.parse_with(|t| number(t, 65_536))?,
            Long("latency") => costs.latency = parser.value()?.parse_with(time)?,
            Long("overhead") => costs.overhead = parser.value()?.parse_with(time)?,
            Long("bandwidth") => {
                costs.network = parser.value()?.parse_with(|t| number(t, 1_000_000))?.into();
            }
            Long("greeting") => costs.greeting = parser.value()?.parse_with(time)?,
            Long("serve") => costs.serve = parser.value()?.parse_with(time)?,
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    if options.ranks.is_empty() {
        return Err("how many ranks? Say oxmpi sim wireup -n 100000".into());
    }
    Ok(Some(options))
}

fn numbers(text: &str) -> Result<Vec<u32>, String> {
    text.split(',').map(|text| number(text, 1 << 24)).collect()
}

fn number(text: &str, most: u32) -> Result<u32, String> {
    let number = text.trim().parse().ok().filter(|n| (1..=most).contains(n));
    number.ok_or_else(|| format!("a whole number from 1 to {most} is needed"))
}

fn time(text: &str) -> Result<u64, String> {
    let time = duration(text).map_err(|why| why.show(text).to_string())?;
    match time <= LONGEST {
        true => Ok(time),
        false => Err("a time of at most 1min is needed".into()),
    }
}

/// Bytes of the text that the ranks of a node have in common: a name and two addresses.
const COMMON: u32 = 60;

fn show(options: &Options) -> String {
    let head = [
        "ranks",
        "nodes",
        "way",
        "rounds",
        "requests",
        "messages",
        "their bytes",
        "leaders know",
        "all know",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for &ranks in &options.ranks {
        let job = Job {
            ranks,
            per_node: options.per_node,
            common: COMMON,
        };
        let nodes = job.nodes();
        let ours = exchange(&job, &options.costs);
        let server = from_one_server(&job, &options.costs);
        let before = counting(&job, &options.costs);
        lines.push(line(&job, "counting nodes", 0, &before));
        lines.push(line(&job, "leaders in rounds", rounds(nodes), &ours));
        lines.push(line(&job, "all from one server", 0, &server));
    }
    let costs = &options.costs;
    let model = format!(
        "{} ranks a node; {} one way, {} a message, {} MB/s, {} a greeting, {} a request",
        options.per_node,
        Nanos(costs.latency),
        Nanos(costs.overhead),
        costs.network,
        Nanos(costs.greeting),
        Nanos(costs.serve)
    );
    format!("wireup\n{model}\n\n{}", table::aligned(&lines))
}

fn line(job: &Job, way: &str, rounds: u32, time: &Time) -> Vec<String> {
    let cells: [&dyn Display; 9] = [
        &job.ranks,
        &job.nodes(),
        &way,
        &rounds,
        &time.gets,
        &time.messages,
        &time.bytes,
        &seconds(time.leaders),
        &seconds(time.all),
    ];
    cells.map(ToString::to_string).to_vec()
}

/// Nanoseconds as seconds, to a tenth of a millisecond.
fn seconds(nanos: u64) -> String {
    format!("{:.4} s", nanos as f64 / 1e9)
}
