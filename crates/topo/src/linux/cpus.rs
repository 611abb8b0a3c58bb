//! Reads which processors exist and which are online.

use super::Files;
use super::read::Reader;
use crate::cpuset::CpuSet;
use crate::error::SyntaxError;
use crate::machine::Machine;
use alloc::format;

pub(super) const CPUS: &str = "/sys/devices/system/cpu";

pub(super) struct Cpus {
    pub(super) online: CpuSet,
    pub(super) offline: CpuSet,
}

/// Reads the lists of newer kernels, or else each processor's directory; one processor if there is neither.
pub(super) fn read(files: &Reader<'_, impl Files>) -> Result<Cpus, SyntaxError> {
    if let Some(online) = files.list(&format!("{CPUS}/online"))? {
        let present = files.list(&format!("{CPUS}/present"))?;
        let offline = present.map_or_else(CpuSet::new, |present| &present - &online);
        return Ok(Cpus { online, offline });
    }
    let (mut online, mut offline) = (CpuSet::new(), CpuSet::new());
    let numbers = files.numbered(CPUS, "cpu");
    for cpu in numbers
        .into_iter()
        .take_while(|cpu| *cpu <= Machine::LARGEST_CPU)
    {
        // Processors that cannot be set offline have no such file.
        match files.number(&format!("{CPUS}/cpu{cpu}/online"))? {
            Some(0) => offline.insert(cpu),
            _ => online.insert(cpu),
        }
    }
    if online.is_empty() {
        online.insert(0);
    }
    Ok(Cpus { online, offline })
}
