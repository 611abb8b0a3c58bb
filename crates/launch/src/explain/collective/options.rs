//! The command line of `oxmpi explain COLLECTIVE`.

use std::ffi::{OsStr, OsString};

use lexopt::prelude::*;
use oxmpi::settings::Values;
use oxmpi_coll::catalog::{Call, Collective};
use oxmpi_coll::machine::Machine;
use oxmpi_coll::sim::{Order, Workload};
use oxmpi_text::size;

use crate::sim::machine;

/// The help.
pub(super) const HELP: &str = "\
Usage: oxmpi explain COLLECTIVE SIZE -n RANKS [OPTION...]

Says which algorithm serves a collective call, how long it is expected to take, which one comes next, why others do
not suit, and at which sizes another one takes over. No job is started. Two examples:

  oxmpi explain allreduce 64KiB -n 96
  oxmpi explain barrier -n 12288 --machine gemini --per-node 16

COLLECTIVE is MPI's name in lower case. SIZE is what one rank gives: a block of gather, scatter, allgather and alltoall,
the whole vector of bcast, reduce, allreduce and scan. A barrier has none.

How it is chosen: each algorithm of the catalog with each of its parameters has a formula for its time: rounds, bytes
between nodes and inside, bytes that are reduced and copied, with the costs of the machine (LogGP). The fastest is taken.
Sizes are compared from 1 B on, doubled each time, from 4 KiB on in two steps; between two of them one takes over from
the other where it costs no more. `oxmpi sim` runs the same plans step by step and says how good the formulas are.

A job of several nodes finds out by itself which ranks are where; here --per-node and --placement say so. Ranks that are
on nodes in no regular way are taken for one a node.

Where all ranks share a node, most blocking calls need no messages: the node's shared memory serves them (team), and on
several nodes it may inside each. What serves calls that are started or prepared is said besides; shm_collectives=off has
messages for all.

How to change it: allreduce_algorithm=ring for all sizes (`oxmpi settings _algorithm` lists the names, also those of Intel
MPI, MPICH and Open MPI that mean the same); coll_rules=FILE for sizes and ranks; coll_machine, and latency, overhead
and bandwidth in coll_node_... and coll_network_..., for the costs. Try one before a job has it:

  OXMPI_ALLREDUCE_ALGORITHM=ring oxmpi explain allreduce 64KiB -n 96

Options:
  -n RANKS            ranks of the communicator
  --per-node N        ranks of a node; left out: all on one, or with --machine as many as that has
  --placement ORDER   block (left out): a node is filled before the next; cyclic: one rank to each in turn
  --machine NAME      gemini, slingshot, ndr, zen4, or a JSON file with the costs of yours (docs/formats.md); left out:
                      the settings coll_machine, coll_node_...
  --ordered           the operation does not commute
  --exact             the operation gives the same bits in every order, as sums of integers do
  --json              JSON, described in docs/formats.md
";

/// What the user asked for.
pub(super) struct Options {
    pub(super) collective: Collective,
    pub(super) bytes: u64,
    pub(super) ranks: u32,
    pub(super) per_node: Option<u32>,
    pub(super) order: Order,
    machine: Option<String>,
    commutative: bool,
    exact: bool,
    pub(super) json: bool,
}

/// Whether the word names a collective.
pub(in crate::explain) fn is_collective(word: &OsStr) -> bool {
    Collective::ALL.into_iter().any(|one| word == one.name())
}

/// Reads the arguments; none: help is wanted.
///
/// # Errors
/// A sentence about what is wrong.
pub(super) fn parse(arguments: Vec<OsString>) -> Result<Option<Options>, String> {
    let mut parser = lexopt::Parser::from_args(arguments);
    let (mut words, mut ranks) = (Vec::new(), None);
    let mut options = Options {
        collective: Collective::Barrier,
        bytes: 0,
        ranks: 0,
        per_node: None,
        order: Order::Block,
        machine: None,
        commutative: true,
        exact: false,
        json: false,
    };
    let wrong = |why: lexopt::Error| why.to_string();
    while let Some(argument) = parser.next().map_err(wrong)? {
        match argument {
            Short('n') | Long("np") => ranks = Some(count(&mut parser, "a communicator")?),
            Long("per-node" | "ppn") => options.per_node = Some(count(&mut parser, "a node")?),
            Long("machine") => options.machine = Some(text(&mut parser)?),
            Long("placement") => options.order = order(&text(&mut parser)?)?,
            Long("ordered") => options.commutative = false,
            Long("exact") => options.exact = true,
            Long("json") => options.json = true,
            Long("help") | Short('h') => return Ok(None),
            Value(word) => words.push(word.string().map_err(wrong)?),
            other => return Err(other.unexpected().to_string()),
        }
    }
    let named = |one: &Collective| words.first().is_some_and(|word| word == one.name());
    let collective = Collective::ALL.into_iter().find(named);
    options.collective =
        collective.ok_or("name a collective: oxmpi explain allreduce 64KiB -n 96")?;
    options.ranks = ranks.ok_or("how many ranks? Say -n 96")?;
    options.bytes = match (words.get(1), options.collective) {
        (None, Collective::Barrier) => 0,
        (None, one) => {
            return Err(format!(
                "how many bytes? Say oxmpi explain {one} 64KiB -n 96"
            ));
        }
        (Some(_), Collective::Barrier) => return Err("a barrier has no size: leave it out".into()),
        (Some(text), _) => size(text).map_err(|why| why.show(text).to_string())?,
    };
    if let Some(word) = words.get(2) {
        return Err(format!("`{word}` is too much: a collective has one size"));
    }
    if options.exact && !options.commutative {
        return Err("--exact and --ordered do not go together: what is exact commutes".into());
    }
    Ok(Some(options))
}

fn text(parser: &mut lexopt::Parser) -> Result<String, String> {
    let value = parser.value().map_err(|why| why.to_string())?;
    value.string().map_err(|why| why.to_string())
}

fn count(parser: &mut lexopt::Parser, what: &str) -> Result<u32, String> {
    let text = text(parser)?;
    match text.parse() {
        Ok(count @ 1..) => Ok(count),
        _ => Err(format!("`{text}`: {what} has from 1 to 4294967295 ranks")),
    }
}

fn order(text: &str) -> Result<Order, String> {
    match text {
        "block" => Ok(Order::Block),
        "cyclic" => Ok(Order::Cyclic),
        _ => Err(format!("`{text}` is no placement: block or cyclic")),
    }
}

impl Options {
    /// The machine's name and costs. One that is named says how many ranks a node has, unless the
    /// user does.
    pub(super) fn machine(&self, values: &Values) -> Result<(String, Machine, u32), String> {
        match &self.machine {
            Some(name) => {
                let (name, machine) = machine::find(name)?;
                Ok((name, machine, self.per_node.unwrap_or(machine.per_node)))
            }
            None => {
                let name = values.get("coll_machine").text.clone();
                let machine = values.tuning().machine;
                Ok((name, machine, self.per_node.unwrap_or(self.ranks)))
            }
        }
    }

    /// Whether the machine is that on which jobs run, and none that is named.
    pub(super) const fn is_of_jobs(&self) -> bool {
        self.machine.is_none()
    }

    /// The call of rank 0, which is the root where there is one.
    pub(super) fn call(&self) -> Result<Call, String> {
        let work = Workload::new(self.collective, self.ranks, self.bytes);
        let call = work.call(0).ok_or_else(|| {
            format!(
                "{} depends on each rank's neighbours, and has one algorithm: linear",
                self.collective
            )
        })?;
        let call = call.with_commutative(self.commutative);
        Ok(if self.exact { call.exactly() } else { call })
    }
}
