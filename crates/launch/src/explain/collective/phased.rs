//! The explanation of a collective that goes in phases on nodes of different sizes.

use std::sync::Arc;

use oxmpi_coll::catalog::Call;
use oxmpi_coll::choice::{Choice, Tuning};
use oxmpi_coll::nodes::NodeMap;
use oxmpi_coll::phased::{PhaseRanks, PhaseWork, Strategy, StrategyTimes, phase_time};
use oxmpi_settings::Values;
use oxmpi_text::Size;
use serde_json::{Value, json};

use super::node_protocols::NodeProtocols;
use super::options::Options;
use super::show::{micros, parameters_json, with_parameters};
use crate::columns::aligned;
use crate::node_sizes::NodeSizes;

/// One phase: who takes part, and by which algorithm of which collective they do.
struct Phase {
    ranks: &'static str,
    size: u32,
    /// `None`: signals.
    by: Option<(Call, Choice, u64)>,
    /// Of a phase in the memory of a node.
    node_protocols: Option<NodeProtocols>,
}

/// What the command prints of a call in phases.
pub(super) struct PhasesExplained<'a> {
    options: &'a Options,
    machine: &'a str,
    sizes: &'a NodeSizes,
    times: StrategyTimes,
    phases: Vec<Phase>,
}

/// The phases of the leader of the largest node.
///
/// # Errors
/// When no algorithm suits.
pub(super) fn explain<'a>(
    options: &'a Options,
    (machine, sizes): (&'a str, &'a NodeSizes),
    (nodes, times): (&Arc<NodeMap>, StrategyTimes),
    tuning: &Tuning,
    values: &Values,
) -> Result<PhasesExplained<'a>, String> {
    let mut call = options.shared_call()?;
    call.rank = nodes.ranks_on(nodes.largest())[0];
    let plan = values.phased_plan(&call, nodes, tuning);
    let plan = plan.map_err(|why| why.to_string())?;
    let size = |ranks| match ranks {
        PhaseRanks::OfNode(node) => nodes.ranks_on(node).len() as u32,
        PhaseRanks::Leaders { .. } => nodes.count(),
        PhaseRanks::Slots => nodes.size(),
    };
    let phase = |(ranks, work)| Phase {
        ranks: match (ranks, work) {
            (_, PhaseWork::SignalsUp) => "each node, to one rank",
            (_, PhaseWork::SignalsDown) => "each node, from one rank",
            (PhaseRanks::OfNode(_), _) => "each node",
            (PhaseRanks::Leaders { .. }, _) => "one rank of each node",
            (PhaseRanks::Slots, _) => "all ranks",
        },
        size: size(ranks),
        by: match work {
            PhaseWork::Collective(call, choice) => {
                let time = phase_time(ranks, &call, &choice, tuning);
                Some((call, choice, time))
            }
            PhaseWork::SignalsUp | PhaseWork::SignalsDown => None,
        },
        node_protocols: match work {
            PhaseWork::Collective(call, choice) if !choice.algorithm.is_by_messages() => {
                NodeProtocols::of(call.collective, size(ranks), values)
            }
            _ => None,
        },
    };
    Ok(PhasesExplained {
        options,
        machine,
        sizes,
        times,
        phases: plan.phases().map(phase).collect(),
    })
}

impl PhasesExplained<'_> {
    pub(super) fn text(&self) -> String {
        let options = self.options;
        let of = match options.bytes {
            0 => String::new(),
            bytes => format!(" of {}", Size(bytes)),
        };
        let mut rows = vec![
            [
                "ranks",
                "at most",
                "collective",
                "algorithm",
                "expected",
                "in the node",
            ]
            .map(String::from)
            .to_vec(),
        ];
        rows.extend(self.phases.iter().map(|phase| {
            let (ranks, size) = (phase.ranks.to_string(), phase.size.to_string());
            match &phase.by {
                None => vec![
                    ranks,
                    size,
                    "signals".into(),
                    "knomial".into(),
                    String::new(),
                    String::new(),
                ],
                Some((call, choice, time)) => {
                    let by = with_parameters(choice);
                    let by = if by.is_empty() { by } else { format!(", {by}") };
                    let algorithm = format!("{}{by}", choice.algorithm.name());
                    let collective = call.collective.name().into();
                    let protocols = phase.node_protocols.as_ref();
                    let in_node = protocols.map_or_else(String::new, |all| all.at(call.bytes()));
                    vec![ranks, size, collective, algorithm, micros(*time), in_node]
                }
            }
        }));
        let (choice, time) = self.times.whole;
        let whole = format!(
            "{} in the order of nodes, {}",
            choice.algorithm.name(),
            micros(time)
        );
        let phased = format!("in phases, {}", micros(self.times.phased));
        let (chosen, other) = match self.times.best() {
            Strategy::Phased => (phased, whole),
            Strategy::InSlots(_) => (whole, phased),
        };
        format!(
            "{}{of} on {} ranks: {chosen}\n  expected to be the faster strategy on nodes of different sizes\n  next best: {other}\n  \
             costs: {}, nodes of {} ranks, {} placement\n\nphases:\n{}",
            options.collective,
            options.ranks,
            self.machine,
            self.sizes,
            options.placement(),
            aligned(&rows)
        )
    }

    /// The format `oxmpi-explain-collective` of docs/formats.md, with `phases` and `whole` in place of the choice.
    pub(super) fn json(&self) -> String {
        let phases = self.phases.iter().map(|phase| {
            let mut row = json!({ "ranks": phase.ranks, "size": phase.size });
            if let Some((call, choice, time)) = &phase.by {
                row["collective"] = call.collective.name().into();
                row["algorithm"] = choice.algorithm.name().into();
                row["parameters"] = parameters_json(choice);
                row["expected_ps"] = (*time).into();
                if let Some(protocols) = &phase.node_protocols {
                    row["node_protocols"] = protocols.names_at(call.bytes()).into();
                }
            }
            row
        });
        let (whole, whole_time) = self.times.whole;
        let document = json!({
            "format": "oxmpi-explain-collective",
            "version": 1,
            "collective": self.options.collective.name(),
            "bytes": self.options.bytes,
            "ranks": self.options.ranks,
            "nodes": self.sizes.listed(),
            "placement": self.options.placement(),
            "machine": self.machine,
            "in_phases": self.times.best() == Strategy::Phased,
            "phases_expected_ps": self.times.phased,
            "whole": {
                "algorithm": whole.algorithm.name(),
                "parameters": parameters_json(&whole),
                "expected_ps": whole_time,
            },
            "phases": phases.collect::<Vec<Value>>(),
        });
        format!("{document:#}\n")
    }
}
