//! The sources that describe this machine.

use std::fs;
use std::io::ErrorKind;

use oxmpi_os::{affinity, cpuid};
use oxmpi_topo::cpuid::Dump;
use oxmpi_topo::linux::{Files, Root};
use oxmpi_topo::probe::{Probe, Probed, Refusal};
use oxmpi_topo::{CpuSet, Machine};

use crate::diagnostics::{self, choose};

/// A source of `--source`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MachineSource {
    /// /proc and /sys; if processors are missing there, the same as `Probe`.
    #[default]
    Linux,
    /// The instruction cpuid on every processor.
    Cpuid,
    /// The instruction cpuid on one processor; the others are taken to be alike.
    CpuidLocal,
    /// The file /proc/cpuinfo.
    Cpuinfo,
    /// No source: every processor is a package.
    Flat,
    /// The system's hwloc.
    Hwloc,
    /// The first source that answers of cpuid, cpuid-local, cpuinfo and flat.
    Probe,
}

const NAMES: [(&str, MachineSource); 7] = [
    ("linux", MachineSource::Linux),
    ("cpuid", MachineSource::Cpuid),
    ("cpuid-local", MachineSource::CpuidLocal),
    ("cpuinfo", MachineSource::Cpuinfo),
    ("flat", MachineSource::Flat),
    ("hwloc", MachineSource::Hwloc),
    ("probe", MachineSource::Probe),
];

impl MachineSource {
    /// The source of this name.
    ///
    /// # Errors
    /// A sentence with all names.
    pub(super) fn named(name: &str) -> Result<Self, String> {
        choose("source", name, &NAMES)
    }

    /// This machine by the source.
    ///
    /// # Errors
    /// If the source does not exist or cannot be read.
    pub(super) fn read(self) -> Result<Machine, String> {
        match self {
            Self::Linux => read(&Root::live()),
            Self::Probe => {
                let probed = probe()?;
                for (source, refusal) in &probed.refused {
                    diagnostics::error(format_args!("{source}: {refusal}"));
                }
                Ok(probed.machine)
            }
            Self::Cpuid => of_cpuid().map_err(|refusal| refusal.to_string()),
            Self::CpuidLocal => of_local_cpuid().map_err(|refusal| refusal.to_string()),
            Self::Cpuinfo => {
                let text = cpuinfo().map_err(|refusal| refusal.to_string())?;
                Machine::from_cpuinfo(&text).map_err(|why| why.to_string())
            }
            Self::Flat => Ok(Machine::flat(&processors()?)),
            Self::Hwloc => of_hwloc(),
        }
    }
}

/// The processors that this process may run on.
///
/// # Errors
/// The error of the system.
pub(crate) fn processors() -> Result<CpuSet, String> {
    let mask = affinity::current();
    let mask = mask.map_err(|why| format!("cannot read the CPU mask of this process: {why}"))?;
    Ok(affinity::cpus(&mask).collect())
}

/// The answers to cpuid of all processors in the mask of this process.
///
/// # Errors
/// If the processors have no cpuid, or a processor cannot be used.
pub(super) fn dump() -> Result<Dump, Refusal> {
    let processors = processors().map_err(Refusal::Absent)?;
    visit(&processors)
}

fn visit(processors: &CpuSet) -> Result<Dump, Refusal> {
    let mut dump = Dump::new();
    let visit = cpuid::visit(processors, |cpu, here| {
        dump.record(cpu, |leaf, subleaf| here.ask(leaf, subleaf).into());
    });
    let visit = visit.map_err(|why| match why.kind() {
        ErrorKind::Unsupported => Refusal::Absent("these processors have no cpuid".into()),
        _ => Refusal::Absent(why.to_string()),
    })?;
    match visit.refused.first() {
        Some((cpu, why)) => Err(Refusal::Absent(format!("processor {cpu}: {why}"))),
        None => Ok(dump),
    }
}

fn of_cpuid() -> Result<Machine, Refusal> {
    Ok(Machine::from_cpuid(&dump()?)?)
}

fn of_local_cpuid() -> Result<Machine, Refusal> {
    let processors = processors().map_err(Refusal::Absent)?;
    let first = processors.iter().take(1).collect();
    Ok(Machine::from_local_cpuid(&visit(&first)?, &processors)?)
}

fn cpuinfo() -> Result<String, Refusal> {
    let path = "/proc/cpuinfo";
    fs::read_to_string(path).map_err(|why| Refusal::Absent(format!("{path}: {why}")))
}

/// The first source that answers, in the order of OpenMP runtimes.
fn probe() -> Result<Probed, String> {
    with_probe(|probe| probe.run())
}

/// The machine of these files, or that of another source if it lacks processors that this process may use.
///
/// # Errors
/// A sentence with the name of the file, or that the mask of this process cannot be read.
pub(crate) fn read(files: &impl Files) -> Result<Machine, String> {
    let machine = Machine::from_linux(files);
    let machine = machine.map_err(|error| format!("cannot read this machine: {error}"))?;
    with_probe(|probe| probe.or_else(machine))
}

fn with_probe<T>(ask: impl FnOnce(Probe<'_>) -> T) -> Result<T, String> {
    Ok(ask(Probe {
        processors: &processors()?,
        global: &of_cpuid,
        local: &of_local_cpuid,
        cpuinfo: &cpuinfo,
    }))
}

#[cfg(feature = "hwloc")]
fn of_hwloc() -> Result<Machine, String> {
    Machine::from_hwloc().ok_or("the system's hwloc returned no machine".into())
}

#[cfg(not(feature = "hwloc"))]
fn of_hwloc() -> Result<Machine, String> {
    Err("this command was built without hwloc; build oxmpi-launch with the feature `hwloc`".into())
}
