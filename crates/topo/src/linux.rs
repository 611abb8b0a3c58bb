//! Reads a machine from Linux's /proc and /sys.
//!
//! Files are read through [`Files`], so that a recorded machine is read like the running one. There is a
//! module for each source of facts: online processors (`cpus`), packages, dies, clusters and cores
//! (`topology`), `caches`, `numa` with kinds of memory (`tiers`), `core_kinds`, `devices` (on `pci` buses and
//! by `classes`), names and versions (`infos`), and what this process may use (`allowed`). A missing file,
//! which is usual on old kernels, small machines and in containers, leaves out a fact; a file with invalid
//! content is an error that names it.
//!
//! Source: the kernel's Documentation/ABI/stable/sysfs-devices-system-cpu and
//! sysfs-devices-node; proc(5), cpuset(7), cgroups(7); and what hwloc 2.9 makes of its recorded
//! machines.

mod allowed;
mod caches;
mod classes;
mod core_kinds;
mod cpus;
mod devices;
mod files;
mod infos;
mod numa;
mod pci;
mod read;
mod recording;
#[cfg(feature = "std")]
mod root;
mod tiers;
mod topology;

#[cfg(test)]
mod tests;

pub use files::Files;
pub use recording::Recording;
#[cfg(feature = "std")]
pub use root::Root;

use crate::cpuset::CpuSet;
use crate::error::SyntaxError;
use crate::facts::Facts;
use crate::kind::Kind;
use crate::machine::Machine;
use crate::source::Source;
use crate::tree::Tree;
use alloc::vec::Vec;
use read::Reader;

/// The directory with a directory `nodeN` for each NUMA node.
const NODES: &str = "/sys/devices/system/node";

impl Machine {
    /// The machine that /proc and /sys under `files` describe: all online processors, also those that this
    /// process may not use, see [`allowed`](Self::allowed), [`default_view`](Self::default_view) and
    /// [`bound`](Self::bound).
    ///
    /// Without any file, the machine has one processor.
    ///
    /// # Errors
    ///
    /// Names the file with invalid content, or with a processor above [`LARGEST_CPU`](Self::LARGEST_CPU).
    ///
    /// # Cost
    ///
    /// Opens up to 30 small files for each core and ten for each PCI function, a few microseconds each; the
    /// benchmark `discovery` measures it.
    pub fn from_linux(files: &impl Files) -> Result<Self, SyntaxError> {
        let files = Reader::new(files);
        let cpus = cpus::read(&files)?;
        let mut facts: Vec<Facts> = cpus.online.iter().map(Facts::pu).collect();
        facts.extend(topology::read(&files, &cpus.online)?);
        let core_kinds = core_kinds::read(&files, &cpus.online, &facts)?;
        infos::tell_packages(&files, &mut facts);
        facts.extend(caches::read(&files, &cpus.online)?);
        let mut numa = numa::read(&files, &cpus.online)?;
        facts.append(&mut numa.facts);
        let devices = devices::read(&files, &cpus.online, &facts)?;
        facts.extend(devices::groups(&devices));

        let mut notes: Vec<_> = numa.note.take().into_iter().collect();
        let mut tree = Tree::nest(facts, &mut notes);
        devices::attach(devices, &mut tree);
        tree.facts.infos = infos::of_machine(&files);
        let mut machine = tree.flatten(Source::Linux);
        machine.core_kinds = core_kinds;
        machine.distances = numa.distances(&machine).into_iter().collect();
        machine.notes = notes;
        machine.offline = cpus.offline;
        let allowed = allowed::read(&files)?;
        let within =
            |all: &CpuSet, part: Option<CpuSet>| part.map_or(all.clone(), |part| all & &part);
        machine.allowed = within(&machine.allowed, allowed.cpus);
        // Control groups list only nodes with memory.
        let without_memory = machine.objects(Kind::Numa);
        let without_memory = without_memory.filter(|node| node.local_memory() == Some(0));
        let without_memory: CpuSet = without_memory
            .filter_map(|node| Some(node.os()? as usize))
            .collect();
        machine.allowed_memory = &within(&machine.allowed_memory, allowed.memory) | &without_memory;
        machine.bound = allowed.bound.map(|bound| &bound & machine.online());
        Ok(machine)
    }

    /// The machine this process runs on, see [`from_linux`](Self::from_linux).
    ///
    /// # Errors
    ///
    /// As `from_linux`.
    #[cfg(feature = "std")]
    pub fn this() -> Result<Self, SyntaxError> {
        Self::from_linux(&Root::live())
    }
}
