//! The settings that describe the costs of the machine to the choice of algorithms.

use oxmpi_text::{Error, Level, Setting, Span, Words, duration, size};

use crate::machine::Machine;

/// The value that leaves a cost to the machine.
const AUTO: &str = "auto";

const MACHINES: Words = Words(&{
    let mut names = [""; Machine::NAMED.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Machine::NAMED[at].0;
        at += 1;
    }
    names
});

/// The machine with this name.
///
/// # Errors
///
/// If there is none; the error lists the machines.
pub fn machine(text: &str) -> Result<Machine, Error> {
    MACHINES.find(text).map(|at| Machine::NAMED[at].2)
}

/// Parses a duration of at most one second, in picoseconds; `None` for `auto`.
///
/// # Errors
///
/// If it is anything else.
pub fn latency(text: &str) -> Result<Option<u64>, Error> {
    if text == AUTO {
        return Ok(None);
    }
    let expected = "auto, or a duration to 1s";
    match duration(text)? {
        ns @ 0..=1_000_000_000 => Ok(Some(ns * 1000)),
        _ => Err(Error::new(Span::whole(text), expected)),
    }
}

/// Parses bytes per second into picoseconds per byte, at least 1; `None` for `auto`.
///
/// # Errors
///
/// If it is no size, or less than 10 MB/s.
pub fn bandwidth(text: &str) -> Result<Option<u64>, Error> {
    if text == AUTO {
        return Ok(None);
    }
    let expected = "auto, or bytes a second, at least 10M";
    match size(text)? {
        bytes @ 10_000_000.. => Ok(Some((1_000_000_000_000 / bytes).max(1))),
        _ => Err(Error::new(Span::whole(text), expected)),
    }
}

/// Makes the settings of a path's costs: inside a node (`node`) or between nodes (`network`).
macro_rules! path {
    ($name:literal, $where:literal, $besides:literal) => {
        [
            Setting {
                name: concat!("coll_", $name, "_latency"),
                aliases: &[],
                default: AUTO,
                kind: "duration",
                level: Level::Expert,
                short: concat!(
                    "how long a message travels ",
                    $where,
                    ", for the choice of algorithms"
                ),
                long: "`auto` takes it from coll_machine. Every rank must have the same value.",
                check: |text| latency(text).map(drop),
            },
            Setting {
                name: concat!("coll_", $name, "_overhead"),
                aliases: &[],
                default: AUTO,
                kind: "duration",
                level: Level::Expert,
                short: concat!(
                    "how long a processor is busy with sending or receiving a message ",
                    $where
                ),
                long: "For the choice of algorithms. `auto` takes it from coll_machine. Every rank must \
                       have the same value.",
                check: |text| latency(text).map(drop),
            },
            Setting {
                name: concat!("coll_", $name, "_bandwidth"),
                aliases: &[],
                default: AUTO,
                kind: "bytes",
                level: Level::Expert,
                short: concat!(
                    "bytes per second between two ranks ",
                    $where,
                    ", for the choice of algorithms"
                ),
                long: concat!(
                    $besides,
                    "`auto` takes it from coll_machine. Every rank must have the same value."
                ),
                check: |text| bandwidth(text).map(drop),
            },
        ]
    };
}

const NODE: [Setting; 3] = path!(
    "node",
    "inside a node",
    "Reductions are assumed to be as fast, copies within a rank four times as fast. "
);

const NETWORK: [Setting; 3] = path!("network", "between nodes", "");

/// The settings of costs.
pub(super) const COSTS: [Setting; 7] = [
    Setting {
        name: "coll_machine",
        aliases: &[],
        default: "zen4",
        kind: "word",
        level: Level::Tuning,
        short: "the machine by whose costs algorithms are chosen",
        long: "The costs of messages, bytes, copies and reductions, in a node and between nodes. `oxmpi \
               sim --help` lists the machines, docs/simulations has their numbers. Every rank must have \
               the same value.",
        check: |text| machine(text).map(drop),
    },
    NODE[0],
    NODE[1],
    NODE[2],
    NETWORK[0],
    NETWORK[1],
    NETWORK[2],
];
