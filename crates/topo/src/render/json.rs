//! Writes machines as JSON. Fields are in the order of the structures here.
//!
//! ```
//! # use oxmpi_topo::Machine;
//! let machine = Machine::from_synthetic("core:2 pu:1")?;
//! let json = machine.to_json("two cores");
//! assert!(json.starts_with(r#"{"format":"oxmpi-topo","version":1,"machine":"two cores","source":"synthetic""#));
//! assert!(json.contains(r#"{"type":"Core","cpus":"1","os":1}"#));
//! # Ok::<(), oxmpi_topo::SyntaxError>(())
//! ```

mod devices;
mod objects;
mod tables;

use crate::cpuset::CpuSet;
use crate::facts::Info;
use crate::levels::Groups;
use crate::machine::Machine;
use crate::source::Source;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;
use devices::DeviceJson;
use objects::{DetailsJson, ObjectJson};
use serde::{Serialize, Serializer};
use tables::{CoreKindJson, DistancesJson};

impl Machine {
    /// The machine as one line of JSON, with all facts: objects in depth-first order with NUMA nodes before
    /// children, their details, devices, distances, kinds of cores. `name` is the machine's name in the
    /// output.
    ///
    /// The format is described in `docs/formats.md`; fields may be added without a change of `version`.
    pub fn to_json(&self, name: &str) -> String {
        // Serialization cannot fail: keys are texts, and writing to memory does not fail.
        serde_json::to_string(&MachineJson::of(self, name)).unwrap_or_default()
    }
}

#[derive(Serialize)]
struct MachineJson<'m> {
    format: &'static str,
    version: u32,
    machine: &'m str,
    source: &'static str,
    generator: &'static str,
    objects: Vec<ObjectJson<'m>>,
    details: Vec<DetailsJson<'m>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    devices: Vec<DeviceJson<'m>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    distances: Vec<DistancesJson<'m>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    core_kinds: Vec<CoreKindJson<'m>>,
    offline: Shown<&'m CpuSet>,
    allowed: Shown<&'m CpuSet>,
    allowed_memory: Shown<&'m CpuSet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<Shown<&'m CpuSet>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<&'m str>,
}

#[derive(Serialize)]
struct InfoJson<'m> {
    name: &'m str,
    value: &'m str,
}

/// Serializes a value as its `Display` text.
struct Shown<T>(T);

impl<T: Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'m> MachineJson<'m> {
    fn of(machine: &'m Machine, name: &'m str) -> Self {
        let groups = Groups::of(machine);
        Self {
            format: "oxmpi-topo",
            version: 1,
            machine: name,
            source: word(machine.source()),
            generator: concat!("oxmpi-topo ", env!("CARGO_PKG_VERSION")),
            objects: machine.iter().map(ObjectJson::of).collect(),
            details: machine
                .iter()
                .map(|it| DetailsJson::of(it, &groups))
                .collect(),
            devices: machine.devices().map(DeviceJson::of).collect(),
            distances: machine.distances().iter().map(DistancesJson::of).collect(),
            core_kinds: machine.core_kinds().iter().map(CoreKindJson::of).collect(),
            offline: Shown(machine.offline()),
            allowed: Shown(machine.allowed()),
            allowed_memory: Shown(machine.allowed_memory()),
            bound: machine.bound().map(Shown),
            notes: machine.notes().collect(),
        }
    }
}

/// The stable word of a source, for programs.
fn word(source: Source) -> &'static str {
    match source {
        Source::Linux => "linux",
        Source::Xml => "xml",
        Source::Synthetic => "synthetic",
        Source::CpuidGlobal => "x86",
        Source::CpuidLocal => "x86-local",
        Source::Cpuinfo => "cpuinfo",
        Source::Flat => "flat",
        Source::Hwloc => "hwloc",
    }
}

fn infos(infos: &[Info]) -> Vec<InfoJson<'_>> {
    let pairs = infos.iter().map(|Info { name, value }| (name, value));
    pairs
        .map(|(name, value)| InfoJson { name, value })
        .collect()
}
