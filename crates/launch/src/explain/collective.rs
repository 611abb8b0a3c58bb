//! `oxmpi explain COLLECTIVE`: the algorithm that serves a call, its expected time, and why other algorithms do not.
//!
//! No job is started and nothing is measured: the choice comes from the functions that a job calls.

mod node_protocols;
mod options;
mod phased;
mod show;
#[cfg(test)]
mod tests;

use std::ffi::OsString;

use oxmpi_coll::catalog::{Call, Collective, SharedMemory};
use oxmpi_coll::choice::{Choice, ChoiceStep, ChoiceTable, Tuning, cyclic, expected};
use oxmpi_coll::nodes::Nodes;
use oxmpi_coll::placement::Placement;
use oxmpi_settings::{Origin, Values};

use crate::node_sizes::NodeSizes;
use node_protocols::NodeProtocols;
use options::Options;

pub(super) use options::is_collective;

/// Everything that the command prints.
struct CollectiveExplained {
    options: Options,
    machine: String,
    per_node: u32,
    call: Call,
    /// Whether a blocking barrier uses the node barrier in shared memory instead of the chosen algorithm.
    has_node_barrier: bool,
    /// How the ranks serve the call in the memory that they share; `None`: they do not.
    node_protocols: Option<NodeProtocols>,
    /// The choice for a blocking call, and its expected picoseconds.
    chosen: (Choice, u64),
    /// The reason for the choice.
    why: String,
    /// The other algorithms that suit, each with its best parameters.
    others: Vec<(Choice, u64)>,
    /// The algorithms that do not suit, and what they need.
    unsuited: Vec<(&'static str, String)>,
    /// The choice for each range of sizes, and its expected picoseconds at the first size.
    steps: Vec<(ChoiceStep, u64)>,
}

/// The text for arguments that begin with the name of a collective.
///
/// # Errors
/// A wrong argument or setting.
pub(super) fn run(arguments: &[OsString], values: &Values) -> Result<String, String> {
    let options = match options::parse(arguments)? {
        Some(options) => options,
        None => return Ok(options::OPTIONS.help()),
    };
    let rules = values.rules().map_err(|bad| bad.to_string())?;
    let (machine, costs, sizes) = options.machine(values)?;
    let tuning = Tuning {
        rules,
        machine: costs,
        ..values.tuning()
    };
    let nodes = sizes.nodes(options.order, options.ranks);
    if let Nodes::Listed(nodes) = &nodes
        && let Some(times) = options.strategy_times(nodes, &tuning, values)?
    {
        let of = (&machine[..], &sizes);
        let explained = phased::explain(&options, of, (nodes, times), &tuning, values)?;
        return Ok(match options.json {
            true => explained.json(),
            false => explained.text(),
        });
    }
    let place = nodes.placement();
    let tuning = Tuning {
        per_node: match sizes {
            NodeSizes::Each(each) => each,
            NodeSizes::Listed(_) => place.per_node(),
        },
        order: place.order(),
        ..tuning
    };
    let is_even = matches!(nodes, Nodes::Even(_));
    let explained = explain(options, machine, (tuning, is_even), values)?;
    Ok(if explained.options.json {
        show::json(&explained)
    } else {
        show::text(&explained)
    })
}

fn explain(
    options: Options,
    machine: String,
    (tuning, nodes_share): (Tuning, bool),
    values: &Values,
) -> Result<CollectiveExplained, String> {
    let per_node = tuning.per_node;
    let call = options.call()?;
    let is_of_jobs = options.is_of_jobs();
    let has_node_barrier =
        is_of_jobs && call.size <= per_node && values.has_node_barrier(&call, &tuning);
    let call = call.with_shared_memory(match is_of_jobs && nodes_share {
        true => {
            let place = Placement::new(tuning.order, call.size, per_node);
            values.node_groups(&call, place, &tuning)
        }
        false => SharedMemory::None,
    });
    let refused = |why: oxmpi_coll::catalog::Unsuited| why.to_string();
    let table = ChoiceTable::new(&call, &tuning).map_err(refused)?;
    let cost = |call: &Call, choice: &Choice| {
        let model = tuning.model(call.size);
        choice.algorithm.cost(call, &choice.parameters, &model)
    };
    let choice = *table.choice(call.bytes());
    let chosen = (choice, cost(&call, &choice));
    let mut others: Vec<(Choice, u64)> = Vec::new();
    for (other, time) in expected(&call, &tuning).map_err(refused)? {
        let same = |one: &&mut (Choice, u64)| one.0.algorithm == other.algorithm;
        match others.iter_mut().find(same) {
            Some(known) if known.1 <= time => {}
            Some(known) => *known = (other, time),
            None => others.push((other, time)),
        }
    }
    others.retain(|(other, _)| other.algorithm != choice.algorithm);
    others.sort_by_key(|&(_, time)| time);
    let unsuited = call.collective.algorithms().filter_map(|one| {
        let why = one.suits(&call).err()?;
        Some((one.name(), why.to_string()))
    });
    let at = |step: &ChoiceStep| {
        let mut call = call;
        call.count = step.from.div_ceil(call.element_bytes);
        call
    };
    let steps = table.steps().iter();
    let steps = steps.map(|step| (*step, cost(&at(step), &step.choice)));
    let shares_node = call.shared_memory == SharedMemory::All;
    let node_protocols = shares_node
        .then(|| NodeProtocols::of(call.collective, call.size, values))
        .flatten();
    let why = why(values, &tuning, &call, chosen, &others);
    Ok(CollectiveExplained {
        machine,
        per_node,
        call,
        has_node_barrier,
        node_protocols,
        chosen,
        why,
        unsuited: unsuited.collect(),
        steps: steps.collect(),
        others,
        options,
    })
}

/// The reason for the choice.
fn why(
    values: &Values,
    tuning: &Tuning,
    call: &Call,
    chosen: (Choice, u64),
    others: &[(Choice, u64)],
) -> String {
    let algorithm = chosen.0.algorithm;
    if tuning.forced.get(call.collective) == Some(algorithm) {
        let own = values.get(&format!("{}_algorithm", call.collective.name()));
        let setting = match own.origin {
            Origin::Default => values.get("coll_plain"),
            _ => own,
        };
        return format!(
            "set by {} = {} ({})",
            setting.setting.name, setting.text, setting.origin
        );
    }
    if call.shared_memory == SharedMemory::All {
        return "all ranks share the memory of a node".into();
    }
    let by_rule = tuning.rules.iter().any(|rule| {
        let (shortest, longest) = rule.bytes;
        let (fewest, most) = rule.ranks;
        rule.algorithm == algorithm
            && (shortest..=longest).contains(&call.bytes())
            && (fewest..=most).contains(&call.size)
    });
    match others.first() {
        _ if by_rule => format!("set by a rule in {}", values.get("coll_rules").text),
        _ if cyclic::decides(call, tuning) => {
            "by the decision tree for cyclic placement, learned from simulations".into()
        }
        None => "no other algorithm suits".into(),
        _ if call.collective == Collective::Barrier => "expected to be the fastest".into(),
        Some((_, time)) if *time < chosen.1 => {
            "the fastest at a power of two next to this size".into()
        }
        Some(_) => "expected to be the fastest".into(),
    }
}
