//! `oxmpi info`: prints this machine and its transports, and why each transport is used or not.

mod abi;
mod rdma;
mod show;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
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

use self::rdma::RdmaInfo;

#[rustfmt::skip]
const OPTIONS: OptionTable<Options> = OptionTable {
    command: "oxmpi info",
    intro: "\
Usage: oxmpi info [--json]
       oxmpi info --rdma [--json] [--report FILE]
       oxmpi info --abi
       oxmpi info --param btl openib [--level N] [--parsable]

Prints the version, this machine as ranks see it, the process manager that started this process, and for each
transport whether it is used, why, and the system facilities that it needs. --rdma prints the RDMA devices
with their ports and limits, what memory may be locked, and whether RDMA is used or why not. --report writes
that to a file, with the system, its kernel and interfaces: compare those of a good and a bad node.
",
    groups: &[OptionGroup { title: "Options", rows: &[
        flag(&["json"], "print JSON (docs/formats.md)", |o| o.json = true),
        flag(&["rdma"], "print RDMA devices, their ports, and limits of memory", |o| o.rdma = true),
        flag(&["abi"], "print which functions of MPI the C library lacks", |o| o.abi = true),
        value(&["report"], &["FILE"], "write what is needed to compare the RDMA of two hosts to this file",
            |o, v| { o.report = Some(v.path()); Ok(()) }),
        pair(&["param"], &["btl", "openib"], "print the parameters of openib that are settings here, as ompi_info does",
            |o, framework, component| {
                if (framework.text()?, component.text()?) != ("btl", "openib") {
                    return Err("--param knows btl openib; `oxmpi settings NAME` finds others".into());
                }
                o.param = true;
                Ok(())
            }),
        value(&["level"], &["N"], "with --param: all levels are printed, whatever the number",
            |_, v| v.parse(str::parse::<u8>).map(drop)),
        flag(&["parsable"], "with --param: lines mca:btl:openib:param:NAME:value:VALUE", |o| o.parsable = true),
        help(),
    ] }],    ..OptionTable::GNU
};

/// The command line.
#[derive(Default)]
struct Options {
    json: bool,
    rdma: bool,
    abi: bool,
    report: Option<PathBuf>,
    param: bool,
    parsable: bool,
}

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
    let mut options = Options::default();
    let text = match OPTIONS.read(&arguments, &mut options) {
        Ok(Parsed::Run(_)) => run(&options),
        Ok(Parsed::Help | Parsed::Version) => Ok(OPTIONS.help()),
        Err(why) => Err(CommandError::Usage(why)),
    };
    match text {
        Ok(text) => diagnostics::print(text),
        Err(why) => diagnostics::exit_code(Err(why)),
    }
}

/// The text to print.
fn run(options: &Options) -> Result<String, CommandError> {
    if options.param {
        let values = process_settings::values().map_err(CommandError::Usage)?;
        let line = |(name, value): (&str, String)| match options.parsable {
            true => format!("mca:btl:openib:param:{name}:value:{value}\n"),
            false => format!("{name} = {value}\n"),
        };
        return Ok(rdma::openib(&values).into_iter().map(line).collect());
    }
    if let Some(path) = &options.report {
        let written = std::fs::write(path, rdma::report(&selection()));
        written.map_err(|why| CommandError::Io(format!("{}: {why}", path.display())))?;
        return Ok(format!("wrote {}\n", path.display()));
    }
    Ok(match options {
        Options { abi: true, .. } => abi::text(),
        Options {
            rdma: true,
            json: true,
            ..
        } => RdmaInfo::collect(&selection()).json(),
        Options { rdma: true, .. } => RdmaInfo::collect(&selection()).text(),
        Options { json: true, .. } => show::json(&collect()),
        _ => show::text(&collect()),
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
