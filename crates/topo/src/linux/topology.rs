//! Packages, dies and cores: `/sys/devices/system/cpu/cpuN/topology`.

use super::Files;
use super::cpus::CPUS;
use super::read::Reader;
use crate::cpuset::CpuSet;
use crate::error::Error;
use crate::kind::Kind;
use crate::object::Facts;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

/// A kind of object that the kernel describes at each of its processors.
struct Level {
    kind: Kind,
    /// File with its processors.
    set: &'static str,
    /// The name of that file in older kernels.
    old_set: Option<&'static str>,
    /// File with its number.
    id: &'static str,
}

const LEVELS: [Level; 3] = [
    Level {
        kind: Kind::Package,
        set: "package_cpus",
        old_set: Some("core_siblings"),
        id: "physical_package_id",
    },
    Level {
        kind: Kind::Die,
        set: "die_cpus",
        old_set: None,
        id: "die_id",
    },
    Level {
        kind: Kind::Core,
        set: "core_cpus",
        old_set: Some("thread_siblings"),
        id: "core_id",
    },
];

/// Where the kernel says nothing at all, each processor is a core of one package.
pub(super) fn read(files: &Reader<'_, impl Files>, online: &CpuSet) -> Result<Vec<Facts>, Error> {
    let mut facts = Vec::new();
    for level in &LEVELS {
        facts.extend(objects(files, online, level)?);
    }
    drop_false_dies(&mut facts);
    if facts.is_empty() {
        facts.push(Facts::new(Kind::Package, Some(0), online.clone()));
        let core = |cpu| Facts::new(Kind::Core, Some(cpu as u32), CpuSet::one(cpu));
        facts.extend(online.iter().map(core));
    }
    Ok(facts)
}

fn objects(
    files: &Reader<'_, impl Files>,
    online: &CpuSet,
    level: &Level,
) -> Result<Vec<Facts>, Error> {
    let mut objects = Vec::new();
    let mut known = CpuSet::new();
    for cpu in online {
        if known.contains(cpu) {
            continue;
        }
        let path = |cpu, name| format!("{CPUS}/cpu{cpu}/topology/{name}");
        let set = match (files.mask(&path(cpu, level.set))?, level.old_set) {
            (None, Some(old)) => files.mask(&path(cpu, old))?,
            (set, _) => set,
        };
        let Some(set) = set else {
            continue;
        };
        let id = |cpu| files.number(&path(cpu, level.id));
        let (mut set, os) = (&set & online, id(cpu)?);
        if level.kind == Kind::Core && is_compute_unit(cpu, &set, os, id)? {
            set = CpuSet::one(cpu);
        }
        known = &known | &set;
        objects.push(Facts::new(level.kind, os, set));
    }
    Ok(objects)
}

/// Takes out the dies of machines without any: the kernel makes one of each package, or gives them
/// the number -1.
fn drop_false_dies(facts: &mut Vec<Facts>) {
    let packages = facts.iter().filter(|object| object.kind == Kind::Package);
    let packages: BTreeSet<CpuSet> = packages.map(|package| package.cpus.clone()).collect();
    let is_false = |die: &Facts| die.os.is_none() || packages.contains(&die.cpus);
    facts.retain(|object| object.kind != Kind::Die || !is_false(object));
}

/// Whether what the kernel calls siblings are cores of their own that share some units, as on AMD's
/// family 15h: their numbers differ.
fn is_compute_unit(
    cpu: usize,
    siblings: &CpuSet,
    os: Option<u32>,
    id: impl Fn(usize) -> Result<Option<u32>, Error>,
) -> Result<bool, Error> {
    match siblings.iter().find(|sibling| *sibling != cpu) {
        Some(sibling) => Ok(id(sibling)? != os),
        None => Ok(false),
    }
}
