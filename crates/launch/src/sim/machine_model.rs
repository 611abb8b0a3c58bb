//! The model of the simulated machine: a named machine, this machine by its settings, or a file with costs.

use std::path::Path;

use oxmpi_coll::sim::{self, Machine};
use oxmpi_os::file::{HANDWRITTEN_MAX, read_text};
use serde::Deserialize;

use crate::diagnostics::did_you_mean;
use crate::process_settings;

/// The file of a machine (`docs/formats.md`).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MachineFile {
    name: String,
    network: PathCosts,
    node: PathCosts,
    per_node: u32,
    eager_bytes: u64,
}

/// The costs of one path, in nanoseconds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PathCosts {
    latency_ns: f64,
    send_ns: f64,
    recv_ns: f64,
    #[serde(default)]
    gap_ns: f64,
    byte_ns: f64,
}

/// The name of this machine.
const THIS: &str = "this";

/// The name and the costs of the machine of that name or in that file.
///
/// # Errors
/// A sentence that says what is wrong and lists the machines.
pub(crate) fn find(named: &str) -> Result<(String, Machine), String> {
    if let Some(machine) = Machine::named(named) {
        return Ok((named.into(), machine));
    }
    if named == THIS {
        return this().map(|machine| (THIS.into(), machine));
    }
    if !Path::new(named).exists() {
        let names = Machine::NAMED.map(|row| row.0);
        let hint = did_you_mean(named, names.into_iter().chain([THIS]));
        let hint = hint.map_or(String::new(), |hint| format!("; {hint}"));
        return Err(format!(
            "`{named}` is neither a file nor a machine ({}, {THIS}){hint}",
            names.join(", ")
        ));
    }
    let text = read_text(named, HANDWRITTEN_MAX)
        .map_err(|why| format!("{named}: cannot be read: {why}"))?;
    read(&text).map_err(|why| format!("{named}: {why}"))
}

/// The costs by which jobs on this machine choose algorithms, as `oxmpi settings --tune` has fitted them.
fn this() -> Result<Machine, String> {
    Ok(process_settings::values()?.tuning().machine)
}

fn read(text: &str) -> Result<(String, Machine), String> {
    let file: MachineFile = serde_json::from_str(text).map_err(|why| why.to_string())?;
    if !(1..=65_536).contains(&file.per_node) {
        return Err(format!(
            "per_node is {}: a node has from 1 to 65536 ranks",
            file.per_node
        ));
    }
    let machine = Machine {
        network: path("network", &file.network)?,
        node: path("node", &file.node)?,
        per_node: file.per_node,
        eager: file.eager_bytes,
    };
    Ok((file.name, machine))
}

fn path(name: &str, costs: &PathCosts) -> Result<sim::PathCosts, String> {
    let cost = |field: &str, ns: f64, most: f64| {
        if (0.0..=most).contains(&ns) {
            Ok((ns * 1000.0).round() as u64)
        } else {
            Err(format!(
                "{name}.{field} is {ns:?}: from 0 to {most:?} nanoseconds"
            ))
        }
    };
    Ok(sim::PathCosts {
        latency: cost("latency_ns", costs.latency_ns, 1e9)?,
        send: cost("send_ns", costs.send_ns, 1e9)?,
        recv: cost("recv_ns", costs.recv_ns, 1e9)?,
        gap: cost("gap_ns", costs.gap_ns, 1e9)?,
        byte: cost("byte_ns", costs.byte_ns, 100.0)?,
    })
}

#[cfg(test)]
mod tests {
    use super::{find, read};

    #[test]
    fn a_file_sets_the_costs_of_a_machine() {
        let text = r#"{"name": "mine", "per_node": 2, "eager_bytes": 4096,
            "network": {"latency_ns": 1000, "send_ns": 100, "recv_ns": 200, "gap_ns": 10, "byte_ns": 0.1},
            "node": {"latency_ns": 100.5, "send_ns": 10, "recv_ns": 20, "byte_ns": 0.05}}"#;
        let (name, machine) = read(text).unwrap();
        assert_eq!(
            (name.as_str(), machine.per_node, machine.eager),
            ("mine", 2, 4096)
        );
        assert_eq!(
            (machine.network.byte, machine.node.latency, machine.node.gap),
            (100, 100_500, 0)
        );
        for (wrong, right) in [
            (
                text.replace("0.05", "-1"),
                "node.byte_ns is -1.0: from 0 to 100.0 nanoseconds",
            ),
            (
                text.replace("\"per_node\": 2", "\"per_node\": 0"),
                "per_node is 0: a node has",
            ),
            (
                text.replace("latency_ns", "latency"),
                "unknown field `latency`",
            ),
            (
                text.replace("1000,", "1e300,"),
                "network.latency_ns is 1e300: from 0 to 1000000000.0 nanoseconds",
            ),
            (text.trim_end_matches('}').into(), "EOF"),
        ] {
            let why = read(&wrong).unwrap_err();
            assert!(why.contains(right), "{why}");
        }
    }

    #[test]
    fn machines_have_names() {
        assert_eq!(find("ndr").unwrap().0, "ndr");
        for (wrong, right) in [
            ("slingshott", "this); did you mean `slingshot`?"),
            ("xyzzy", "this)"),
            ("/dev/zero", "longer than 1 MiB, the limit for such a file"),
        ] {
            let why = find(wrong).unwrap_err();
            assert!(why.ends_with(right), "{why}");
        }
    }
}
