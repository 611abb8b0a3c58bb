//! The command line of `oxmpi sim`.

use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use oxmpi_coll::catalog::{Collective, Parameters};
use oxmpi_coll::choice::Tuning;
use oxmpi_coll::nodes::{NodeMap, Nodes};
use oxmpi_coll::sim::{Machine, Order, Placement, Setup};
use oxmpi_text::size;

use super::algorithm_name::{AlgorithmName, AlgorithmOptions, parse_name, radix};
use super::machine_model;
use crate::diagnostics;
use crate::node_sizes::NodeSizes;
use crate::options::*;

/// The largest number of ranks.
const RANKS_MAX: u32 = 1 << 24;

/// The largest number of bytes of all ranks of a node; times of more bytes overflow 64 bits.
const BYTES_MAX: u128 = 1 << 44;

#[rustfmt::skip]
pub(super) const OPTIONS: OptionTable<Typed> = OptionTable {
    command: "oxmpi sim",
    intro: "\
Usage: oxmpi sim COLLECTIVE SIZE -n RANKS [OPTION...]
       oxmpi sim wireup -n RANKS [OPTION...]

Simulates a collective: runs the plans that a job would run on simulated ranks, nodes and network, and prints
the time when the last rank completes. A million ranks take seconds. Two examples:

  oxmpi sim allreduce 64KiB -n 1000 --algorithm all
  oxmpi sim gatherv 8 --ranks 16..12000 --match-ns 1 --algorithm all --svg gatherv.svg

The second form simulates how long a job takes until its ranks know each other's addresses; see `oxmpi sim
wireup --help`.

COLLECTIVE is MPI's name in lower case. SIZE is the contribution of one rank: one block of gather, scatter,
allgather and alltoall; the whole vector of bcast, reduce, allreduce and scan. A barrier has no size.
",
    groups: &[
        OptionGroup { title: "Simulation", rows: &[
            value(&["n", "np"], &["RANKS"], "number of ranks", |o, v| v.set(&mut o.ranks, ranks)),
            value(&["ranks"], &["A..B"], "from A to B ranks, doubled each time", |o, v| v.set(&mut o.rank_range, rank_range)),
            value(&["sizes"], &["A..B"], "from A to B bytes, doubled each time", |o, v| v.set(&mut o.size_range, size_range)),
            value(&["algorithm"], &["NAMES"], "names from the catalog, separated by commas; all: every algorithm that suits; classical: the default \
                of other libraries for gatherv and scatterv, with all messages in flight at once; in-network (barrier, allreduce) and \
                nic-atomic (barrier): formulas for offload to the network; phased: on nodes of different sizes, inside them and between them; \
                default: the algorithm that a job would choose. NAME:4 sets \
                the radix of one algorithm; NAME+flags or NAME:4+flags gives only this algorithm flags",
                |o, v| { o.algorithm = Some(v.text()?.into()); Ok(()) }),
            value(&["radix"], &["N"], "the radix of algorithms that have one, at most the largest that they take; default: their own", |o, v| v.set(&mut o.radix, radix)),
            value(&["machine"], &["NAME"], "gemini (default), slingshot, ndr or zen4; this: the costs by which jobs on this machine choose, as \
                `oxmpi settings --tune` measures them; or a JSON file with the costs of your machine (docs/formats.md)",
                |o, v| { o.machine = Some(v.text()?.into()); Ok(()) }),
            value(&["per-node", "ppn"], &["N"], "ranks of a node, or of every node in turn, such as 4+3+4; default: that of the machine",
                |o, v| v.set(&mut o.per_node, |text| NodeSizes::parse(text, 65_536))),
            value(&["placement"], &["ORDER"], "block (default): ranks fill one node before the next; cyclic: one rank to each node in turn",
                |o, v| v.set(&mut o.order, order)),
            value(&["match-ns"], &["X"], "nanoseconds for each queue entry that matching visits; default: 0, as with matching by hash",
                |o, v| v.set(&mut o.matching, nanoseconds)),
            flag(&["flags"], "messages of at most 8 B are flags written to the receiver's memory, without matching", |o| o.flags = true),
            flag(&["serial-copies"], "a rank copies the messages from its own node one after another; default: these copies overlap", |o| o.serial_copies = true),
        ] },
        OptionGroup { title: "Output", rows: &[
            flag(&["json"], "print JSON (docs/formats.md)", |o| o.json = true),
            value(&["svg"], &["FILE"], "a picture: time over ranks or over sizes", |o, v| { o.svg = Some(v.path()); Ok(()) }),
            value(&["goal"], &["FILE"], "the schedule of one algorithm in GOAL, for LogGOPSim and its successors", |o, v| { o.goal = Some(v.path()); Ok(()) }),
            flag(&["force"], "overwrite files", |o| o.force = true),
            help(), version(),
        ] },
    ],
    outro: "\
The table has one line for each simulation: the time when the last rank completes, the mean over all ranks,
all messages, the messages between nodes and their bytes, and the queue entries that matching visited.

The model: each rank has a processor, busy `send` for each message it sends and `recv` for each message it
receives. Each node has an adapter whose two directions serve one message after another, in `gap` or in `byte`
for each byte. A message travels for `latency`. A message above the eager limit is announced and fetched
(rendezvous). The model leaves out the network between the adapters, noise, caches, and the memory limits of
nodes.
",
    operands: Operands::Each(|o, v| { o.operands.push(v.text()?.into()); Ok(()) }),    ..OptionTable::GNU
};

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub(super) enum SimRequest {
    /// Simulate.
    Run(Box<Options>),
    /// Print the help.
    Help,
    /// Print the version.
    Version,
}

/// The parameter that varies from one simulation to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SweptParameter {
    /// The number of ranks.
    Ranks,
    /// The size.
    Sizes,
}

/// Which algorithms are simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AlgorithmSelection {
    /// The one that a job would choose.
    Chosen,
    /// All algorithms that suit.
    All,
    /// The algorithms of these names.
    Named(Vec<AlgorithmName>),
}

/// The simulations, and their output.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Options {
    pub(super) collective: Collective,
    pub(super) machine_name: String,
    pub(super) machine: Machine,
    /// The ranks of nodes, and their order, as typed.
    pub(super) node_sizes: NodeSizes,
    pub(super) typed_order: Order,
    /// Ranks of a node, and their order; 1 where nodes have different sizes.
    pub(super) per_node: u32,
    pub(super) order: Order,
    /// The nodes, where they have different sizes.
    pub(super) nodes: Option<Arc<NodeMap>>,
    /// Picoseconds for a queue entry that matching visits.
    pub(super) matching: u64,
    pub(super) flags: bool,
    pub(super) serial_copies: bool,
    pub(super) which: AlgorithmSelection,
    /// The radix of all algorithms that have one; 0: their own.
    pub(super) radix: u32,
    /// The numbers of ranks and the sizes in bytes; only one of the two has several values.
    pub(super) ranks: Vec<u32>,
    pub(super) sizes: Vec<u64>,
    pub(super) sweep: Option<SweptParameter>,
    pub(super) json: bool,
    pub(super) svg: Option<PathBuf>,
    pub(super) goal: Option<PathBuf>,
    /// Whether to overwrite files.
    pub(super) force: bool,
}

impl Options {
    /// Each number of ranks with each size.
    pub(super) fn points(&self) -> impl Iterator<Item = (u32, u64)> {
        let sizes = |&ranks| self.sizes.iter().map(move |&bytes| (ranks, bytes));
        self.ranks.iter().flat_map(sizes)
    }

    /// The parameters of an algorithm: its own options, else those for all, else those of the choice.
    pub(super) fn over(&self, own: AlgorithmOptions, chosen: Parameters) -> Parameters {
        let radixes = [own.radix, self.radix, chosen.radix];
        Parameters {
            radix: radixes.into_iter().find(|&radix| radix > 0).unwrap_or(0),
            per_node: self.per_node,
            order: self.order,
            ..chosen
        }
    }

    /// Whether an algorithm has `+flags`.
    pub(super) fn has_own_flags(&self) -> bool {
        match &self.which {
            AlgorithmSelection::Named(all) => all.iter().any(|one| one.own.flags),
            AlgorithmSelection::Chosen | AlgorithmSelection::All => false,
        }
    }

    /// The tuning by which an algorithm is chosen.
    pub(super) fn tuning(&self) -> Tuning {
        Tuning {
            machine: self.machine,
            per_node: self.per_node,
            order: self.order,
            serial_copies: self.serial_copies,
            flags: self.flags,
            ..Tuning::default()
        }
    }

    /// The machine with `ranks` ranks.
    pub(super) fn setup(&self, ranks: u32) -> Setup {
        let placement = Placement::new(self.order, ranks, self.per_node);
        Setup::new(self.machine, placement)
            .with_matching(self.matching)
            .with_flags(self.flags)
            .with_serial_copies(self.serial_copies)
    }
}

/// The options as typed, before they are checked against each other.
#[derive(Default)]
pub(super) struct Typed {
    operands: Vec<String>,
    ranks: Option<u32>,
    machine: Option<String>,
    per_node: Option<NodeSizes>,
    order: Option<Order>,
    matching: u64,
    flags: bool,
    serial_copies: bool,
    algorithm: Option<String>,
    radix: u32,
    rank_range: Option<(u64, u64)>,
    size_range: Option<(u64, u64)>,
    json: bool,
    svg: Option<PathBuf>,
    goal: Option<PathBuf>,
    force: bool,
}

/// Reads the command line, and the machine's file if it names one.
///
/// # Errors
/// A sentence that says what is wrong and what was expected.
pub(super) fn parse(arguments: &[OsString]) -> Result<SimRequest, String> {
    let mut typed = Typed::default();
    match OPTIONS.read(arguments, &mut typed)? {
        Parsed::Help => Ok(SimRequest::Help),
        Parsed::Version => Ok(SimRequest::Version),
        Parsed::Run(_) => {
            let options = assemble(typed).map_err(|why| OPTIONS.with_help(why))?;
            Ok(SimRequest::Run(Box::new(options)))
        }
    }
}

fn ranks(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|n| (1..=RANKS_MAX).contains(n));
    number.ok_or_else(|| format!("a simulation has from 1 to {RANKS_MAX} ranks"))
}

fn order(text: &str) -> Result<Order, &'static str> {
    match text {
        "block" => Ok(Order::Block),
        "cyclic" => Ok(Order::Cyclic),
        _ => Err("a placement is block or cyclic"),
    }
}

fn nanoseconds(text: &str) -> Result<u64, &'static str> {
    let number = text.parse().ok().filter(|n| (0.0..=1e6).contains(n));
    let picoseconds = number.map(|ns: f64| (ns * 1000.0).round() as u64);
    picoseconds.ok_or("an entry of a queue costs from 0 to 1000000 nanoseconds")
}

/// The two ends of `A..B`.
fn range(text: &str, number: fn(&str) -> Result<u64, String>) -> Result<(u64, u64), String> {
    let (from, to) = text.split_once("..").ok_or("a range is written A..B")?;
    let (from, to) = (number(from)?, number(to)?);
    if from > to {
        return Err(format!(
            "the range {from}..{to} is empty: write {to}..{from}"
        ));
    }
    Ok((from, to))
}

fn rank_range(text: &str) -> Result<(u64, u64), String> {
    range(text, |text| ranks(text).map(u64::from))
}

fn size_range(text: &str) -> Result<(u64, u64), String> {
    let (from, to) = range(text, bytes)?;
    if from == 0 {
        return Err("the first size is doubled, so it cannot be 0".into());
    }
    Ok((from, to))
}

fn bytes(text: &str) -> Result<u64, String> {
    size(text).map_err(|why| why.show(text).to_string())
}

/// From the first number to the last one, doubled each time.
fn doubled((from, to): (u64, u64)) -> Vec<u64> {
    let mut all: Vec<u64> = std::iter::successors(Some(from), |n| n.checked_mul(2))
        .take_while(|&n| n < to)
        .collect();
    all.push(to);
    all
}

fn assemble(typed: Typed) -> Result<Options, String> {
    let mut words = typed.operands.into_iter();
    let name = words
        .next()
        .ok_or("the collective is missing, such as oxmpi sim allreduce 64KiB -n 1000")?;
    let collective = diagnostics::collective(&name)?;
    let size = words.next().map(|text| bytes(&text)).transpose()?;
    if let Some(word) = words.next() {
        return Err(format!(
            "unexpected argument `{word}`: a collective has one size"
        ));
    }
    let sweep = match (typed.rank_range, typed.size_range) {
        (Some(_), Some(_)) => {
            return Err("--ranks and --sizes exclude each other: vary one of them".into());
        }
        (Some(_), None) => Some(SweptParameter::Ranks),
        (None, Some(_)) => Some(SweptParameter::Sizes),
        (None, None) => None,
    };
    let machine_name = typed.machine.unwrap_or_else(|| "gemini".into());
    let (machine_name, machine) = machine_model::find(&machine_name)?;
    let node_sizes = typed.per_node.unwrap_or(NodeSizes::Each(machine.per_node));
    let typed_order = typed.order.unwrap_or(Order::Block);
    if matches!(node_sizes, NodeSizes::Listed(_)) && typed.rank_range.is_some() {
        return Err("a list of nodes has one number of ranks: leave --ranks out".into());
    }
    let ranks = match (node_sizes.ranks(typed.ranks)?, typed.rank_range) {
        (Some(_), Some(_)) => return Err("-n and --ranks exclude each other: leave one out".into()),
        (None, None) => {
            return Err("the number of ranks is missing: add -n 1000 or --ranks 16..4096".into());
        }
        (Some(ranks), None) => vec![ranks],
        (None, Some(range)) => doubled(range).into_iter().map(|n| n as u32).collect(),
    };
    let sizes = match (size, typed.size_range) {
        (Some(_), Some(_)) => {
            return Err("a size and --sizes exclude each other: leave one out".into());
        }
        (None, None) if collective == Collective::Barrier => vec![0],
        (None, None) => {
            return Err(format!(
                "the size is missing, such as `oxmpi sim {name} 64KiB` or --sizes 8..1MiB"
            ));
        }
        _ if collective == Collective::Barrier => {
            return Err("a barrier has no size: leave it out".into());
        }
        (Some(size), None) => vec![size],
        (None, Some(range)) => doubled(range),
    };
    if ranks[0] > RANKS_MAX {
        return Err(format!("a simulation has from 1 to {RANKS_MAX} ranks"));
    }
    let nodes = node_sizes.nodes(typed_order, ranks[0]);
    let place = nodes.placement();
    let which = which(typed.algorithm)?;
    let options = Options {
        collective,
        machine_name,
        machine,
        per_node: match node_sizes {
            NodeSizes::Each(each) => each,
            NodeSizes::Listed(_) => place.per_node(),
        },
        order: place.order(),
        nodes: match nodes {
            Nodes::Even(_) => None,
            Nodes::Listed(map) => Some(map),
        },
        node_sizes,
        typed_order,
        matching: typed.matching,
        flags: typed.flags,
        serial_copies: typed.serial_copies,
        which,
        radix: typed.radix,
        ranks,
        sizes,
        sweep,
        json: typed.json,
        svg: typed.svg,
        goal: typed.goal,
        force: typed.force,
    };
    check(&options)?;
    Ok(options)
}

fn which(algorithm: Option<String>) -> Result<AlgorithmSelection, String> {
    Ok(match algorithm.as_deref() {
        None => AlgorithmSelection::Chosen,
        Some("all") => AlgorithmSelection::All,
        Some(names) => {
            AlgorithmSelection::Named(names.split(',').map(parse_name).collect::<Result<_, _>>()?)
        }
    })
}

/// Checks the options against each other.
fn check(options: &Options) -> Result<(), String> {
    let most = |all: &mut dyn Iterator<Item = u64>| all.max().unwrap_or(0);
    let ranks = most(&mut options.ranks.iter().copied().map(u64::from));
    let size = most(&mut options.sizes.iter().copied());
    let bytes = u128::from(ranks) * u128::from(size) * u128::from(options.per_node);
    if bytes > BYTES_MAX {
        return Err(format!(
            "{ranks} ranks with {size} bytes each are too many: a node would move more than {BYTES_MAX} bytes"
        ));
    }
    if options.svg.is_some() && options.sweep.is_none() {
        return Err(
            "--svg draws time over ranks or over sizes: add --ranks 16..4096 or --sizes 8..1MiB"
                .into(),
        );
    }
    if options.goal.is_some() && options.sweep.is_some() {
        return Err("--goal writes one schedule: leave --ranks and --sizes out".into());
    }
    Ok(())
}

impl Options {
    /// The name of the placement.
    pub(super) fn order_name(&self) -> impl Display {
        match self.typed_order {
            Order::Block => "block",
            Order::Cyclic => "cyclic",
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_option_has_one_row_and_a_short_help() {
        super::OPTIONS.assert_sound();
    }
}
