//! The command line of `oxmpi explain COLLECTIVE`.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use oxmpi_coll::catalog::{Call, Collective, SharedMemory};
use oxmpi_coll::choice::Tuning;
use oxmpi_coll::machine::Machine;
use oxmpi_coll::nodes::NodeMap;
use oxmpi_coll::phased::StrategyTimes;
use oxmpi_coll::sim::{Order, Workload};
use oxmpi_settings::Values;
use oxmpi_text::size;

use crate::diagnostics::collective;
use crate::node_sizes::NodeSizes;
use crate::options::*;
use crate::sim::machine_model;

#[rustfmt::skip]
pub(super) const OPTIONS: OptionTable<Options> = OptionTable {
    command: "oxmpi explain COLLECTIVE",
    intro: "\
Usage: oxmpi explain COLLECTIVE SIZE -n RANKS [OPTION...]

Prints which algorithm serves a collective call, its expected time, the next best algorithm, why other
algorithms do not suit, and the sizes at which another algorithm takes over. No job is started. Two examples:

  oxmpi explain allreduce 64KiB -n 96
  oxmpi explain barrier -n 12288 --machine gemini --per-node 16

COLLECTIVE is MPI's name in lower case. SIZE is the contribution of one rank: one block of gather, scatter,
allgather and alltoall; the whole vector of bcast, reduce, allreduce and scan. A barrier has no size.

The choice: each algorithm of the catalog, with each of its parameters, has a cost formula in the LogGP model
of the machine: rounds, bytes between and inside nodes, bytes reduced and copied. The algorithm with the
lowest cost is taken. Costs are compared at powers of two of the size, from 4 KiB on also halfway between
them. `oxmpi sim` runs the same plans step by step and shows how good the formulas are. They know little about
cyclic placement: there a decision tree, learned from such simulations, chooses for most collectives.

A job on several nodes finds out by itself which ranks share a node; here --per-node and --placement tell.
On nodes of different sizes, or with ranks in any other order, barrier, bcast, gather, scatter, reduce,
allreduce and allgather go in phases, inside the nodes and between one rank of each, unless an algorithm
without phases is expected to take less. Other collectives then treat each rank as a node.

Where all ranks share a node, the node's shared memory serves most calls without messages (intra-node); on
several nodes it may serve the part inside each node. Nonblocking calls go by messages until the ranks have
made a barrier or another collective that all wait for. shm_collectives=off uses messages for all calls. How
bytes move in that memory is a table by size (in the node), in which trials decide between some protocols;
shm_collective_protocol names one that goes first.

To change the choice: allreduce_algorithm=ring for all sizes (`oxmpi settings _algorithm` lists the names,
also those of Intel MPI, MPICH and Open MPI); coll_rules=FILE by sizes and ranks; coll_machine and the
latency, overhead and bandwidth in coll_node_... and coll_network_... for the costs. Try a value before a job
uses it:

  OXMPI_ALLREDUCE_ALGORITHM=ring oxmpi explain allreduce 64KiB -n 96
",
    groups: &[OptionGroup { title: "Options", rows: &[
        value(&["n", "np"], &["RANKS"], "size of the communicator",
            |o, v| v.set(&mut o.ranks, count)),
        value(&["per-node", "ppn"], &["N"], "ranks of a node, or of every node in turn, such as 4+3+4; default: all on one node, or with \
            --machine as many as that machine has", |o, v| v.set(&mut o.per_node, |text| NodeSizes::parse(text, u32::MAX))),
        value(&["placement"], &["ORDER"], "block (default): ranks fill one node before the next; cyclic: one rank to each node in turn",
            |o, v| v.set(&mut o.order, order)),
        value(&["machine"], &["NAME"], "gemini, slingshot, ndr, zen4, or a JSON file with the costs of your machine (docs/formats.md); \
            default: the settings coll_machine and coll_node_...",
            |o, v| { o.machine = Some(v.text()?.into()); Ok(()) }),
        flag(&["ordered"], "the operation does not commute", |o| o.commutative = false),
        flag(&["exact"], "the operation gives the same bits in every order, as sums of integers do", |o| o.exact = true),
        flag(&["json"], "print JSON (docs/formats.md)", |o| o.json = true),
        help(),
    ] }],
    operands: Operands::Each(|o, v| { o.words.push(v.text()?.into()); Ok(()) }),    ..OptionTable::GNU
};

/// The command line, and the call that it describes.
pub(super) struct Options {
    pub(super) collective: Collective,
    /// Bytes of one rank's contribution.
    pub(super) bytes: u64,
    pub(super) ranks: u32,
    per_node: Option<NodeSizes>,
    pub(super) order: Order,
    machine: Option<String>,
    commutative: bool,
    exact: bool,
    pub(super) json: bool,
    /// The collective and the size, as typed.
    words: Vec<String>,
}

/// Whether the word is to name a collective: it is no option.
pub(in crate::explain) fn is_collective(word: &OsStr) -> bool {
    !word.as_encoded_bytes().starts_with(b"-")
}

/// Reads the arguments. `None`: print the help.
///
/// # Errors
/// A sentence that says what is wrong.
pub(super) fn parse(arguments: &[OsString]) -> Result<Option<Options>, String> {
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
        words: Vec::new(),
    };
    if OPTIONS.read_without_help(arguments, &mut options)? != Parsed::Run(&[]) {
        return Ok(None);
    }
    let words = &options.words;
    let name = words
        .first()
        .ok_or("the collective is missing, such as oxmpi explain allreduce 64KiB -n 96")?;
    options.collective = collective(name)?;
    let typed = (options.ranks > 0).then_some(options.ranks);
    let ranks = match &options.per_node {
        Some(sizes) => sizes.ranks(typed)?,
        None => typed,
    };
    options.ranks = ranks.ok_or("the number of ranks is missing: add -n 96")?;
    options.bytes = match (words.get(1), options.collective) {
        (None, Collective::Barrier) => 0,
        (None, one) => {
            return Err(format!(
                "the size is missing, such as oxmpi explain {one} 64KiB -n 96"
            ));
        }
        (Some(_), Collective::Barrier) => return Err("a barrier has no size: leave it out".into()),
        (Some(text), _) => size(text).map_err(|why| why.show(text).to_string())?,
    };
    if let Some(word) = words.get(2) {
        return Err(format!(
            "unexpected argument `{word}`: a collective has one size"
        ));
    }
    if options.exact && !options.commutative {
        return Err("--exact and --ordered exclude each other: an exact operation commutes".into());
    }
    Ok(Some(options))
}

fn count(text: &str) -> Result<u32, &'static str> {
    match text.parse() {
        Ok(count @ 1..) => Ok(count),
        _ => Err("a communicator has from 1 to 4294967295 ranks"),
    }
}

fn order(text: &str) -> Result<Order, String> {
    match text {
        "block" => Ok(Order::Block),
        "cyclic" => Ok(Order::Cyclic),
        _ => Err("a placement is block or cyclic".into()),
    }
}

impl Options {
    /// The machine's name and costs, and the sizes of its nodes. One that is named says how many ranks a node has,
    /// unless the user does.
    pub(super) fn machine(&self, values: &Values) -> Result<(String, Machine, NodeSizes), String> {
        let (name, machine, each) = match &self.machine {
            Some(name) => {
                let (name, machine) = machine_model::find(name)?;
                (name, machine, machine.per_node)
            }
            None => {
                let name = values.get("coll_machine").text.clone();
                (name, values.tuning().machine, self.ranks)
            }
        };
        let sizes = self.per_node.clone().unwrap_or(NodeSizes::Each(each));
        Ok((name, machine, sizes))
    }

    /// The placement of ranks on nodes.
    pub(super) const fn placement(&self) -> &'static str {
        match self.order {
            Order::Block => "block",
            Order::Cyclic => "cyclic",
        }
    }

    /// Whether the machine is that on which jobs run, and none that is named.
    pub(super) const fn is_of_jobs(&self) -> bool {
        self.machine.is_none()
    }

    /// The expected times of the call on nodes of different sizes; see [`Values::strategy_times`].
    ///
    /// # Errors
    /// When no algorithm suits.
    pub(super) fn strategy_times(
        &self,
        nodes: &Arc<NodeMap>,
        tuning: &Tuning,
        values: &Values,
    ) -> Result<Option<StrategyTimes>, String> {
        let times = values.strategy_times(&self.shared_call()?, nodes, tuning);
        times.map_err(|why| why.to_string())
    }

    /// The call; its ranks share the memory of their nodes on the machine on which jobs run.
    pub(super) fn shared_call(&self) -> Result<Call, String> {
        Ok(self.call()?.with_shared_memory(match self.is_of_jobs() {
            true => SharedMemory::OnNodes,
            false => SharedMemory::None,
        }))
    }

    /// The call of rank 0, which is the root where there is one.
    pub(super) fn call(&self) -> Result<Call, String> {
        let work = Workload::new(self.collective, self.ranks, self.bytes);
        let call = work.call(0).ok_or_else(|| {
            format!(
                "{} depends on the neighbours of each rank and has one algorithm: linear",
                self.collective
            )
        })?;
        let call = call.with_commutative(self.commutative);
        Ok(if self.exact { call.exactly() } else { call })
    }
}
