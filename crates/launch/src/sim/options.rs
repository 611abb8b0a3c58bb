//! The command line of `oxmpi sim`.

use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;

use lexopt::prelude::*;
use oxmpi_coll::catalog::{Collective, Parameters};
use oxmpi_coll::choice::Tuning;
use oxmpi_coll::sim::{Machine, Order, Placement, Setup};
use oxmpi_text::size;

use super::machine;
use super::named::{Named, Own, named, radix};
use crate::complain;

/// The most ranks that a simulation has.
const RANKS_MAX: u32 = 1 << 24;

/// The most bytes of all ranks of a node together: with more, times would leave 64 bits.
const BYTES_MAX: u128 = 1 << 44;

const HELP: &str = "oxmpi sim --help";

const NAMES: &[&str] = &[
    "--algorithm",
    "--flags",
    "--force",
    "--goal",
    "--help",
    "--json",
    "--machine",
    "--match-ns",
    "--placement",
    "--ppn",
    "--radix",
    "--ranks",
    "--serial-copies",
    "--sizes",
    "--svg",
    "--version",
];

/// What the user asked for.
#[derive(Debug, PartialEq)]
pub(super) enum Wish {
    /// Simulate.
    Run(Box<Options>),
    /// Print the help.
    Help,
    /// Print the version.
    Version,
}

/// What varies from one simulation to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sweep {
    /// The number of ranks.
    Ranks,
    /// The size.
    Sizes,
}

/// Which algorithms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// The one that would be chosen.
    Chosen,
    /// All that suit.
    All,
    /// Those of these names.
    Named(Vec<Named>),
}

/// Simulations, and how they are shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Options {
    pub(super) collective: Collective,
    pub(super) machine_name: String,
    pub(super) machine: Machine,
    /// Ranks of a node.
    pub(super) per_node: u32,
    pub(super) order: Order,
    /// Picoseconds for an entry of a queue.
    pub(super) matching: u64,
    pub(super) flags: bool,
    pub(super) serial_copies: bool,
    pub(super) which: Which,
    /// The radix of algorithms that have one; 0: their own.
    pub(super) radix: u32,
    /// Numbers of ranks, and bytes: one of both at least, and one of one of them.
    pub(super) ranks: Vec<u32>,
    pub(super) sizes: Vec<u64>,
    pub(super) sweep: Option<Sweep>,
    pub(super) json: bool,
    pub(super) svg: Option<PathBuf>,
    pub(super) goal: Option<PathBuf>,
    /// Whether files are overwritten.
    pub(super) force: bool,
}

impl Options {
    /// Each number of ranks with each size.
    pub(super) fn points(&self) -> impl Iterator<Item = (u32, u64)> {
        let sizes = |&ranks| self.sizes.iter().map(move |&bytes| (ranks, bytes));
        self.ranks.iter().flat_map(sizes)
    }

    /// What an algorithm is told: what the user says of it, or of all, else what it was chosen with.
    pub(super) fn over(&self, own: Own, chosen: Parameters) -> Parameters {
        let radixes = [own.radix, self.radix, chosen.radix];
        Parameters {
            radix: radixes.into_iter().find(|&radix| radix > 0).unwrap_or(0),
            per_node: self.per_node,
            order: self.order,
            ..chosen
        }
    }

    /// Whether some algorithm has flags of its own.
    pub(super) fn has_own_flags(&self) -> bool {
        match &self.which {
            Which::Named(all) => all.iter().any(|one| one.own.flags),
            Which::Chosen | Which::All => false,
        }
    }

    /// What the choice goes by.
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

    /// The machine with so many ranks on it.
    pub(super) fn setup(&self, ranks: u32) -> Setup {
        let placement = Placement::new(self.order, ranks, self.per_node);
        Setup::new(self.machine, placement)
            .with_matching(self.matching)
            .with_flags(self.flags)
            .with_serial_copies(self.serial_copies)
    }
}

/// What was typed, not yet put together.
#[derive(Default)]
struct Typed {
    positional: Vec<String>,
    ranks: Option<u32>,
    machine: Option<String>,
    per_node: Option<u32>,
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

/// Reads the command line, and the file of a machine if it names one.
///
/// # Errors
/// A sentence that says what is wrong and what would have been right.
pub(super) fn parse(arguments: Vec<OsString>) -> Result<Wish, String> {
    let mut typed = Typed::default();
    match read(arguments, &mut typed) {
        Ok(Some(wish)) => return Ok(wish),
        Ok(None) => {}
        Err(lexopt::Error::UnexpectedOption(option)) => {
            return Err(complain::unknown_text(
                "option",
                &option,
                NAMES.iter().copied(),
                HELP,
            ));
        }
        Err(why) => return Err(complain::with_help(why, HELP)),
    }
    let options = assemble(typed).map_err(|why| complain::with_help(why, HELP))?;
    Ok(Wish::Run(Box::new(options)))
}

fn read(arguments: Vec<OsString>, typed: &mut Typed) -> Result<Option<Wish>, lexopt::Error> {
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Short('n') | Long("np") => typed.ranks = Some(parser.value()?.parse_with(ranks)?),
            Long("machine") => typed.machine = Some(parser.value()?.string()?),
            Long("ppn") => typed.per_node = Some(parser.value()?.parse_with(per_node)?),
            Long("placement") => typed.order = Some(parser.value()?.parse_with(order)?),
            Long("match-ns") => typed.matching = parser.value()?.parse_with(nanoseconds)?,
            Long("flags") => typed.flags = true,
            Long("serial-copies") => typed.serial_copies = true,
            Long("radix") => typed.radix = parser.value()?.parse_with(radix)?,
            Long("algorithm") => typed.algorithm = Some(parser.value()?.string()?),
            Long("ranks") => typed.rank_range = Some(parser.value()?.parse_with(rank_range)?),
            Long("sizes") => typed.size_range = Some(parser.value()?.parse_with(size_range)?),
            Long("json") => typed.json = true,
            Long("svg") => typed.svg = Some(parser.value()?.into()),
            Long("goal") => typed.goal = Some(parser.value()?.into()),
            Long("force") => typed.force = true,
            Long("help") | Short('h') => return Ok(Some(Wish::Help)),
            Long("version") | Short('V') => return Ok(Some(Wish::Version)),
            Value(word) => typed.positional.push(word.string()?),
            other => return Err(other.unexpected()),
        }
    }
    Ok(None)
}

fn ranks(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|n| (1..=RANKS_MAX).contains(n));
    number.ok_or_else(|| format!("a simulation has from 1 to {RANKS_MAX} ranks"))
}

fn per_node(text: &str) -> Result<u32, &'static str> {
    let number = text.parse().ok().filter(|n| (1..=65_536).contains(n));
    number.ok_or("a node has from 1 to 65536 ranks")
}

fn order(text: &str) -> Result<Order, &'static str> {
    match text {
        "block" => Ok(Order::Block),
        "cyclic" => Ok(Order::Cyclic),
        _ => Err("ranks are placed in `block` or `cyclic` order"),
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
            "the range goes down from {from}: write {to}..{from}"
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
        return Err("sizes are doubled from the first one, which is then not 0".into());
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
    let mut words = typed.positional.into_iter();
    let name = words
        .next()
        .ok_or("name a collective: oxmpi sim allreduce 64KiB -n 1000")?;
    let collective = collective(&name)?;
    let size = words.next().map(|text| bytes(&text)).transpose()?;
    if let Some(word) = words.next() {
        return Err(format!("`{word}` is too much: a collective has one size"));
    }
    let sweep = match (typed.rank_range, typed.size_range) {
        (Some(_), Some(_)) => {
            return Err("--ranks and --sizes do not go together: vary one of them".into());
        }
        (Some(_), None) => Some(Sweep::Ranks),
        (None, Some(_)) => Some(Sweep::Sizes),
        (None, None) => None,
    };
    let ranks = match (typed.ranks, typed.rank_range) {
        (Some(_), Some(_)) => return Err("-n and --ranks say the same: leave one out".into()),
        (None, None) => return Err("how many ranks? Say -n 1000, or --ranks 16..4096".into()),
        (Some(ranks), None) => vec![ranks],
        (None, Some(range)) => doubled(range).into_iter().map(|n| n as u32).collect(),
    };
    let sizes = match (size, typed.size_range) {
        (Some(_), Some(_)) => return Err("a size and --sizes say the same: leave one out".into()),
        (None, None) if collective == Collective::Barrier => vec![0],
        (None, None) => {
            return Err(format!(
                "how many bytes? Say `oxmpi sim {name} 64KiB`, or --sizes 8..1MiB"
            ));
        }
        (Some(size), None) => vec![size],
        (None, Some(range)) => doubled(range),
    };
    let machine_name = typed.machine.unwrap_or_else(|| "gemini".into());
    let (machine_name, machine) = machine::find(&machine_name)?;
    let which = which(typed.algorithm)?;
    let options = Options {
        collective,
        machine_name,
        machine,
        per_node: typed.per_node.unwrap_or(machine.per_node),
        order: typed.order.unwrap_or(Order::Block),
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

fn collective(name: &str) -> Result<Collective, String> {
    let mut all = Collective::ALL.into_iter();
    all.find(|collective| collective.name() == name)
        .ok_or_else(|| {
            let names = Collective::ALL.map(Collective::name);
            let near = oxmpi_text::nearest(name, names);
            let near = near.map_or(".".into(), |near| format!("; did you mean `{near}`?"));
            format!(
                "`{name}` is no collective{near} There are {}",
                names.join(", ")
            )
        })
}

fn which(algorithm: Option<String>) -> Result<Which, String> {
    Ok(match algorithm.as_deref() {
        None => Which::Chosen,
        Some("all") => Which::All,
        Some(names) => Which::Named(names.split(',').map(named).collect::<Result<_, _>>()?),
    })
}

/// What fits together only as a whole.
fn check(options: &Options) -> Result<(), String> {
    let most = |all: &mut dyn Iterator<Item = u64>| all.max().unwrap_or(0);
    let ranks = most(&mut options.ranks.iter().copied().map(u64::from));
    let size = most(&mut options.sizes.iter().copied());
    let bytes = u128::from(ranks) * u128::from(size) * u128::from(options.per_node);
    if bytes > BYTES_MAX {
        return Err(format!(
            "{ranks} ranks with {size} bytes each are too much: a node would move more than {BYTES_MAX} bytes"
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
    /// What the placement is called.
    pub(super) fn order_name(&self) -> impl Display {
        match self.order {
            Order::Block => "block",
            Order::Cyclic => "cyclic",
        }
    }
}
