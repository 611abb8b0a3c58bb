//! Reads kinds of cores from `/sys/devices/cpu_core` and similar, and `cpuN/cpufreq`, `cpu_capacity` and
//! `acpi_cppc`.

use super::Files;
use super::cpus::CPUS;
use super::read::Reader;
use crate::core_kind::CoreKind;
use crate::cpuset::CpuSet;
use crate::error::SyntaxError;
use crate::facts::Facts;
use crate::kind::Kind;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Directories of performance counters that Intel has for one kind of core each, the slowest kind first.
const COUNTERS: [(&str, &str); 3] = [
    ("/sys/devices/cpu_lowpower/cpus", "IntelLowPower"),
    ("/sys/devices/cpu_atom/cpus", "IntelAtom"),
    ("/sys/devices/cpu_core/cpus", "IntelCore"),
];

/// Maximum frequencies that differ by less than this part of the smaller (one tenth) are of one kind: some
/// cores of a kind may run a little faster than others.
const SPREAD: u32 = 10;

/// The facts of one core. The order is that of the kinds, the slowest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Core {
    /// Index in `COUNTERS` plus one, 0 for none.
    counter: usize,
    capacity: u32,
    max_khz: u32,
    base_khz: u32,
}

/// Reads the kinds, the slowest first; none if the kernel has no information.
pub(super) fn read(
    files: &Reader<'_, impl Files>,
    online: &CpuSet,
    facts: &[Facts],
) -> Result<Vec<CoreKind>, SyntaxError> {
    let mut counters = Vec::new();
    for (place, (path, _)) in COUNTERS.iter().enumerate() {
        counters.extend(files.list(path)?.map(|cpus| (place + 1, cpus)));
    }
    let number = |cpu: usize, name: &str| files.number(&format!("{CPUS}/cpu{cpu}/{name}"));
    // A kernel has the same files for all cores.
    let mut names = Vec::new();
    for name in [CAPACITY, MAX, BASE] {
        let first = online.first().map(|cpu| number(cpu, name)).transpose()?;
        names.extend(first.flatten().map(|_| name));
    }
    let mut cores = Vec::new();
    for core in facts.iter().filter(|object| object.kind == Kind::Core) {
        let Some(cpu) = core.cpus.first() else {
            continue;
        };
        let value = |name| match names.contains(&name) {
            true => Ok(number(cpu, name)?.unwrap_or(0)),
            false => Ok(0),
        };
        let counter = counters.iter().find(|(_, cpus)| cpus.contains(cpu));
        let known = Core {
            counter: counter.map_or(0, |(place, _)| *place),
            capacity: value(CAPACITY)?,
            max_khz: value(MAX)?,
            base_khz: value(BASE)?,
        };
        cores.push((known, &core.cpus));
    }
    // Reading this file is slow on some machines, so it is read only where cores are known to differ.
    if !names.contains(&BASE) && cores.windows(2).any(|pair| pair[0].0 != pair[1].0) {
        for (core, cpus) in &mut cores {
            let nominal = cpus.first().map(|cpu| number(cpu, NOMINAL)).transpose()?;
            let mhz = nominal.flatten().unwrap_or(0);
            core.base_khz = mhz.saturating_mul(1000);
        }
    }
    even_out(&mut cores);
    let mut kinds: BTreeMap<Core, CpuSet> = BTreeMap::new();
    for (core, cpus) in cores
        .into_iter()
        .filter(|(core, _)| *core != Core::default())
    {
        let kind = kinds.entry(core).or_default();
        *kind = &*kind | cpus;
    }
    Ok(kinds
        .into_iter()
        .map(|(core, cpus)| core.kind(cpus))
        .collect())
}

const CAPACITY: &str = "cpu_capacity";
const MAX: &str = "cpufreq/cpuinfo_max_freq";
const BASE: &str = "cpufreq/base_frequency";
const NOMINAL: &str = "acpi_cppc/nominal_freq";

/// Gives cores with the same base frequency the smallest of their maximum frequencies and capacities, if
/// these are near.
fn even_out(cores: &mut [(Core, &CpuSet)]) {
    let mut least: BTreeMap<(usize, u32), Core> = BTreeMap::new();
    let mut most: BTreeMap<(usize, u32), u32> = BTreeMap::new();
    for (core, _) in cores.iter() {
        let same = (core.counter, core.base_khz);
        let least = least.entry(same).or_insert(*core);
        least.max_khz = least.max_khz.min(core.max_khz);
        least.capacity = least.capacity.min(core.capacity);
        let most = most.entry(same).or_default();
        *most = core.max_khz.max(*most);
    }
    for (core, _) in cores.iter_mut().filter(|(core, _)| core.base_khz > 0) {
        let same = (core.counter, core.base_khz);
        let (least, most) = (least[&same], most[&same]);
        if most > least.max_khz && most - least.max_khz < least.max_khz / SPREAD {
            *core = least;
        }
    }
}

impl Core {
    fn kind(self, cpus: CpuSet) -> CoreKind {
        let known = |number: u32| Some(number).filter(|number| *number > 0);
        let name = self.counter.checked_sub(1).map(|place| COUNTERS[place].1);
        CoreKind {
            cpus,
            name: name.map(String::from),
            capacity: known(self.capacity),
            rank: None,
            base_mhz: known(self.base_khz / 1000),
            max_mhz: known(self.max_khz / 1000),
            infos: Vec::new(),
        }
    }
}
