//! `oxmpi info`: prints this machine and its transports, and why each transport is used or not.

mod show;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use oxmpi_os::{affinity, cpu, host, limit, probe};
use oxmpi_settings::transports::opened;
use oxmpi_topo::linux::Root;
use oxmpi_topo::{CpuSet, Kind, Machine};
use oxmpi_wire::transports::{self, Selection};

use crate::diagnostics::{self, CommandError};
use crate::options::*;
use crate::process_manager::with_start;
use crate::process_settings;
use crate::topo;

#[rustfmt::skip]
const OPTIONS: OptionTable<bool> = OptionTable {
    command: "oxmpi info",
    intro: "\
Usage: oxmpi info [--json]

Prints the version, this machine as ranks see it, the process manager that started this process, and for each
transport whether it is used, why, and the system facilities that it needs.
",
    groups: &[OptionGroup { title: "Options", rows: &[
        flag(&["json"], "print JSON (docs/formats.md)", |json| *json = true),
        help(),
    ] }],    ..OptionTable::GNU
};

/// Everything that the command prints.
struct SystemInfo {
    version: &'static str,
    host: String,
    /// The number of objects of each kind, outermost first; an error if the machine cannot be read.
    machine: Result<Vec<(Kind, usize)>, String>,
    /// The source of the machine's topology and the notes on it.
    topology: Vec<String>,
    /// Processors in the mask of this process.
    allowed: CpuSet,
    /// Processors that may run at once, by the mask and the control groups.
    granted: usize,
    /// Available bytes of memory, and the limit that says so.
    memory: Option<limit::AvailableMemory>,
    /// The process manager that started this process, or what is wrong with its variables.
    manager: String,
    transports: Vec<TransportInfo>,
}

/// A transport, and whether jobs on this host use it.
struct TransportInfo {
    name: &'static str,
    used: bool,
    why: String,
    parts: Vec<Facility>,
}

/// A facility of the system that a transport needs.
struct Facility {
    name: &'static str,
    purpose: &'static str,
    found: bool,
    /// The consequence.
    note: String,
}

/// Runs `oxmpi info` with these arguments.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    let mut json = false;
    diagnostics::print(match OPTIONS.read(&arguments, &mut json) {
        Ok(Parsed::Run(_)) if json => show::json(&collect()),
        Ok(Parsed::Run(_)) => show::text(&collect()),
        Ok(Parsed::Help | Parsed::Version) => OPTIONS.help(),
        Err(why) => return diagnostics::exit_code(Err(CommandError::Usage(why))),
    })
}

/// Collects the information from the system.
fn collect() -> SystemInfo {
    let mask = affinity::current().unwrap_or_default();
    let selection = selection();
    let machine = topo::read(&Root::live());
    SystemInfo {
        version: env!("CARGO_PKG_VERSION"),
        host: host::name(),
        topology: machine.iter().flat_map(sources).collect(),
        machine: machine.map(|machine| counts(&machine)),
        allowed: affinity::cpus(&mask).collect(),
        granted: cpu::granted(),
        memory: limit::available(),
        manager: with_start(|found| match found {
            Ok(start) => start.to_string(),
            Err(why) => why.to_string(),
        }),
        transports: vec![shm(&selection), verbs(&selection), tcp(&selection)],
    }
}

/// The source of a machine's topology, and the notes on it.
fn sources(machine: &Machine) -> Vec<String> {
    let source = machine.source().to_string();
    let notes = machine.notes().map(String::from);
    std::iter::once(source).chain(notes).collect()
}

/// The numbers of objects that determine the paths of messages.
fn counts(machine: &Machine) -> Vec<(Kind, usize)> {
    let kinds = [Kind::Package, Kind::Numa, Kind::L3, Kind::Core, Kind::Pu];
    let count = |kind| (kind, machine.objects(kind).len());
    kinds
        .into_iter()
        .map(count)
        .filter(|(_, n)| *n > 0)
        .collect()
}

/// The transports that the settings select on this host; an error if a setting is wrong.
fn selection() -> Result<Selection, String> {
    Ok(opened(&process_settings::values()?))
}

/// Whether `transport` is used, and why.
fn transport_choice(
    selection: &Result<Selection, String>,
    transport: transports::Transport,
) -> (bool, String) {
    let all = match selection {
        Ok(selection) => &selection.transports,
        Err(why) => return (false, why.clone()),
    };
    let of_it = all.iter().filter(|v| v.name == transport.name());
    of_it
        .map(|v| (v.taken, v.why.clone()))
        .next()
        .unwrap_or_default()
}

/// Shared memory between the ranks of one machine.
fn shm(selection: &Result<Selection, String>) -> TransportInfo {
    let part = |name, purpose, tried: io::Result<()>, without: &str| Facility {
        name,
        purpose,
        found: tried.is_ok(),
        note: tried.map_or_else(|why| format!("{without} ({why})"), |()| "used".into()),
    };
    let memfd = part(
        "memfd",
        "memory shared without a file",
        probe::memfd(),
        "ranks of a node use tcp instead",
    );
    let pidfd = part(
        "pidfd",
        "detecting the death of a rank",
        probe::pidfd(),
        "ranks cannot join a job",
    );
    let futex = part(
        "futex",
        "sleeping until a message arrives",
        probe::futex(),
        "waiting ranks sleep for short times instead",
    );
    let membarrier = part(
        "membarrier",
        "waking sleeping receivers without cost for senders",
        probe::membarrier(),
        "sleeps are short instead",
    );
    let single_copy = part(
        "process_vm_readv",
        "long messages with a single copy, where that is fastest",
        probe::process_vm_readv(),
        "copies through shared memory instead",
    );
    let (taken, why) = transport_choice(selection, transports::Transport::Shared);
    let works = pidfd.found;
    TransportInfo {
        name: "shm",
        used: taken && works,
        why: if works {
            why
        } else {
            "the system does not provide pidfd, which it needs".into()
        },
        parts: vec![memfd, pidfd, futex, membarrier, single_copy],
    }
}

/// RDMA between machines.
fn verbs(selection: &Result<Selection, String>) -> TransportInfo {
    let ports = |selection: &Selection| selection.adapters.join(", ");
    network("verbs", transports::Transport::Verbs, selection, ports)
}

/// TCP between machines.
fn tcp(selection: &Result<Selection, String>) -> TransportInfo {
    let interfaces = |selection: &Selection| selection.interfaces.join(", ");
    network("tcp", transports::Transport::Tcp, selection, interfaces)
}

/// A network between machines; `devices` are those that it goes through.
fn network(
    name: &'static str,
    transport: transports::Transport,
    selection: &Result<Selection, String>,
    devices: fn(&Selection) -> String,
) -> TransportInfo {
    let (used, why) = transport_choice(selection, transport);
    let through = selection.as_ref().ok().filter(|_| used).map(devices);
    TransportInfo {
        name,
        used,
        why: match through {
            Some(devices) => format!("{why}; through {devices}"),
            None => why,
        },
        parts: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
