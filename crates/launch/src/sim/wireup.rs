//! `oxmpi sim wireup`: how long a job takes until every rank knows the address of every other rank.

use std::ffi::OsString;
use std::fmt::Display;

use oxmpi_text::{Nanos, duration};
use oxmpi_wire::exchange::model::{
    WireUpCosts, WireUpJob, WireUpTime, counting, exchange, from_one_server,
};
use oxmpi_wire::exchange::rounds;

use crate::columns;
use crate::options::*;

#[rustfmt::skip]
const OPTIONS: OptionTable<Options> = OptionTable {
    command: "oxmpi sim wireup",
    intro: "\
Usage: oxmpi sim wireup -n RANKS [OPTION...]

Prints how long a job takes until every rank knows the address of every other rank, for two methods. The
method of oxmpi has two parts: rank 0 counts the nodes, for which the process manager answers about ten
requests of each rank; then the node leaders exchange addresses in rounds, and each leader gets one address a
round from the manager. In the other method every rank gets every other rank's address from the manager.
",
    groups: &[OptionGroup { title: "Options", rows: &[
        value(&["n", "ranks"], &["RANKS[,RANKS...]"], "numbers of ranks: 100000, or 64,4096,100000", |o, v| v.set(&mut o.ranks, numbers)),
        value(&["ppn"], &["N"], "ranks of a node; default: 64", |o, v| v.set(&mut o.per_node, |text| number(text, 65_536))),
        value(&["latency"], &["TIME"], "one way between two hosts; default: 20us, Ethernet through the kernels", |o, v| v.set(&mut o.costs.latency, time)),
        value(&["overhead"], &["TIME"], "processor time of a message at either end; default: 4us", |o, v| v.set(&mut o.costs.overhead, time)),
        value(&["bandwidth"], &["MBYTES"], "megabytes that a node sends in a second; default: 1250",
            |o, v| v.set(&mut o.costs.network, |text| number(text, 1_000_000).map(u64::from))),
        value(&["handshake"], &["TIME"], "processor time of a connection and its authentication with the job's key; default: 60us",
            |o, v| v.set(&mut o.costs.handshake, time)),
        value(&["greeting"], &["TIME"], "", |o, v| v.set(&mut o.costs.handshake, time)),
        value(&["serve"], &["TIME"], "time of the process manager for one request; default: 5us", |o, v| v.set(&mut o.costs.serve, time)),
        help(),
    ] }],
    outro: "\
The model: the process manager answers one request after another. A connection takes three round trips: TCP's
handshake, whose third packet carries the first bytes, and the two exchanges of the job's handshake. The ranks
of a node copy all addresses from the node's memory at 10 GB/s together. Each line of the table counts its own
time. The model leaves out the start of processes, the network between the adapters, and lost packets.
",    ..OptionTable::GNU
};

/// Longest time of an option in nanoseconds, so that sums fit in 64 bits.
const LONGEST: u64 = 60_000_000_000;

/// The command line.
struct Options {
    ranks: Vec<u32>,
    per_node: u32,
    costs: WireUpCosts,
}

/// The text to print: the table, or the help.
///
/// # Errors
/// A sentence that says what is wrong and what was expected.
pub(super) fn run(arguments: &[OsString]) -> Result<String, String> {
    let mut options = Options {
        ranks: Vec::new(),
        per_node: 64,
        costs: WireUpCosts::ETHERNET,
    };
    if OPTIONS.read(arguments, &mut options)? != Parsed::Run(&[]) {
        return Ok(OPTIONS.help());
    }
    if options.ranks.is_empty() {
        let why = "the number of ranks is missing, such as oxmpi sim wireup -n 100000";
        return Err(OPTIONS.with_help(why));
    }
    Ok(show(&options))
}

fn numbers(text: &str) -> Result<Vec<u32>, String> {
    text.split(',').map(|text| number(text, 1 << 24)).collect()
}

fn number(text: &str, most: u32) -> Result<u32, String> {
    let number = text.trim().parse().ok().filter(|n| (1..=most).contains(n));
    number.ok_or_else(|| format!("expected a whole number from 1 to {most}"))
}

fn time(text: &str) -> Result<u64, String> {
    let time = duration(text).map_err(|why| why.show(text).to_string())?;
    match time <= LONGEST {
        true => Ok(time),
        false => Err("expected a time of at most 1min".into()),
    }
}

/// Bytes of the address text that the ranks of a node share: a name and two addresses.
const COMMON: u32 = 60;

fn show(options: &Options) -> String {
    let head = [
        "ranks",
        "nodes",
        "method",
        "rounds",
        "requests",
        "messages",
        "their bytes",
        "leaders know",
        "all know",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for &ranks in &options.ranks {
        let job = WireUpJob {
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
        "{} ranks a node; {} one way, {} a message, {} MB/s, {} a handshake, {} a request",
        options.per_node,
        Nanos(costs.latency),
        Nanos(costs.overhead),
        costs.network,
        Nanos(costs.handshake),
        Nanos(costs.serve)
    );
    format!("wireup\n{model}\n\n{}", columns::aligned(&lines))
}

fn line(job: &WireUpJob, method: &str, rounds: u32, time: &WireUpTime) -> Vec<String> {
    let cells: [&dyn Display; 9] = [
        &job.ranks,
        &job.nodes(),
        &method,
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
