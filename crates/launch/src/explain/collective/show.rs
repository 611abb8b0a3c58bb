//! Prints the explanation of a collective as text and as JSON.

use oxmpi_coll::catalog::{Collective, SharedMemory};
use oxmpi_coll::choice::Choice;
use oxmpi_text::Size;
use serde_json::{Value, json};

use super::CollectiveExplained;
use crate::columns::aligned;

/// Picoseconds as microseconds.
pub(super) fn micros(picoseconds: u64) -> String {
    format!("{:.3} us", picoseconds as f64 / 1e6)
}

/// The description of the node barrier.
const IN_NODE: &str = "the node's shared memory, without messages";

/// The stages of an algorithm that consists of other algorithms.
fn stages(choice: &Choice) -> impl Iterator<Item = Choice> {
    let whole = choice.parameters.over(choice.algorithm.row());
    let stages = whole.stages.into_iter().flatten();
    stages.map(move |stage| Choice {
        algorithm: stage.algorithm,
        parameters: stage.within(&whole),
    })
}

/// The parameters that the algorithm takes, with their values.
fn parameters(choice: &Choice) -> Vec<(&'static str, u64)> {
    let own = choice.algorithm.row().parameters;
    let used = choice.parameters.over(choice.algorithm.row());
    let all = [
        ("radix", own.radix.into(), used.radix.into()),
        (
            "gather_radix",
            own.gather_radix.into(),
            used.gather_radix.into(),
        ),
        ("blocks", own.blocks.into(), used.blocks.into()),
        ("window", own.window.into(), used.window.into()),
        ("segment", own.segment, used.segment),
        ("cutoff", own.cutoff, used.cutoff),
        ("per_node", own.per_node.into(), used.per_node.into()),
    ];
    let taken = all.into_iter().filter(|&(_, own, _)| own > 0);
    taken.map(|(name, _, used)| (name, used)).collect()
}

pub(super) fn with_parameters(choice: &Choice) -> String {
    let shown = parameters(choice).into_iter();
    let shown = shown.map(|(name, value)| format!("{name} {value}"));
    let stages = stages(choice).map(|stage| {
        let by = with_parameters(&stage);
        let by = if by.is_empty() {
            by
        } else {
            format!(" ({by})")
        };
        format!("{}{by}", stage.algorithm)
    });
    shown.chain(stages).collect::<Vec<_>>().join(", ")
}

pub(super) fn text(explained: &CollectiveExplained) -> String {
    let CollectiveExplained {
        options,
        call,
        chosen: (choice, time),
        ..
    } = explained;
    let of = match options.collective {
        Collective::Barrier => String::new(),
        _ => format!(" of {}", Size(options.bytes)),
    };
    let (asked, algorithm) = (options.collective, choice.algorithm.name());
    let (size, time_text) = (call.size, micros(*time));
    let mut text = format!("{asked}{of} on {size} ranks: ");
    if explained.has_node_barrier {
        text += &format!("{IN_NODE}\n  nonblocking, before any call that all ranks wait for: ");
    }
    text += &format!("{algorithm}, {time_text}\n  {}\n", explained.why);
    if let Some(protocols) = &explained.node_protocols {
        text += &format!("  in the node: {}\n", protocols.at(call.bytes()));
    }
    if let Some((next, later)) = explained.others.first() {
        text += &format!(
            "  next best: {}, {}\n",
            next.algorithm.name(),
            micros(*later)
        );
    }
    text += &format!(
        "  costs: {}, {} ranks a node, {} placement\n\n",
        explained.machine,
        explained.per_node,
        explained.options.placement()
    );
    let head = [
        "algorithm",
        "parameters",
        "expected",
        "relative time",
        "suits",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    let all = std::iter::once(&explained.chosen).chain(&explained.others);
    rows.extend(all.map(|(one, took)| {
        vec![
            one.algorithm.name().into(),
            with_parameters(one),
            micros(*took),
            format!("{:.2}", *took as f64 / (*time).max(1) as f64),
            one.algorithm.about().into(),
        ]
    }));
    text += &aligned(&rows);
    if !explained.unsuited.is_empty() {
        text += "\nnot suited:\n";
        for (_, why) in &explained.unsuited {
            text += &format!("  {why}\n");
        }
    }
    if let Some(protocols) = &explained.node_protocols {
        text += "\nin the node, by size; a protocol with a condition goes before one without:\n";
        text += &protocols.text();
    }
    if options.collective != Collective::Barrier {
        text += "\nby size:\n";
        let head = ["from", "algorithm", "parameters", "expected there"];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(explained.steps.iter().map(|(step, took)| {
            vec![
                format!("{} B", step.from),
                step.choice.algorithm.name().into(),
                with_parameters(&step.choice),
                micros(*took),
            ]
        }));
        text += &aligned(&rows);
    }
    text
}

/// The parameters in the form of a rule.
pub(super) fn parameters_json(choice: &Choice) -> Value {
    let numbers = parameters(choice).into_iter();
    let numbers = numbers.map(|(name, value)| (name.to_owned(), Value::from(value)));
    let stages = stages(choice).map(|stage| {
        let mut shown = parameters_json(&stage);
        shown["algorithm"] = stage.algorithm.name().into();
        (stage.algorithm.collective().name().to_owned(), shown)
    });
    Value::Object(numbers.chain(stages).collect())
}

/// The format `oxmpi-explain-collective` of docs/formats.md.
pub(super) fn json(explained: &CollectiveExplained) -> String {
    let one = |choice: &Choice, time: u64| {
        json!({
            "algorithm": choice.algorithm.name(),
            "parameters": parameters_json(choice),
            "expected_ps": time,
        })
    };
    let others = explained
        .others
        .iter()
        .map(|(choice, time)| one(choice, *time));
    let unsuited = explained.unsuited.iter();
    let unsuited = unsuited.map(|(name, why)| json!({"algorithm": name, "why": why}));
    let steps = explained.steps.iter().map(|(step, time)| {
        let mut row = one(&step.choice, *time);
        row["from_bytes"] = step.from.into();
        row
    });
    let (choice, time) = &explained.chosen;
    let mut whole = json!({
        "format": "oxmpi-explain-collective",
        "version": 1,
        "collective": explained.options.collective.name(),
        "bytes": explained.options.bytes,
        "ranks": explained.call.size,
        "per_node": explained.per_node,
        "placement": explained.options.placement(),
        "machine": explained.machine,
        "in_node": explained.has_node_barrier || explained.call.shared_memory == SharedMemory::All,
        "chosen": one(choice, *time),
        "why": explained.why,
        "others": others.collect::<Vec<_>>(),
        "unsuited": unsuited.collect::<Vec<_>>(),
        "by_size": steps.collect::<Vec<_>>(),
    });
    if let Some(protocols) = &explained.node_protocols {
        whole["node_protocols"] = protocols.names_at(explained.call.bytes()).into();
        whole["node_protocols_by_size"] = protocols.json().into();
    }
    format!("{whole:#}\n")
}
