//! Reads packages, dies, clusters, cores, and books and drawers of IBM Z, from
//! `/sys/devices/system/cpu/cpuN/topology`.

use super::Files;
use super::cpus::CPUS;
use super::read::Reader;
use crate::cpuset::CpuSet;
use crate::error::SyntaxError;
use crate::facts::Facts;
use crate::kind::Kind;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A kind of object that the kernel describes at each of its processors.
struct Level {
    kind: Kind,
    /// The subtype of groups of this level.
    subtype: Option<&'static str>,
    /// The file with the object's processors, and the file's name in older kernels.
    sets: &'static [&'static str],
    /// The file with the object's number.
    id: &'static str,
}

const LEVELS: [Level; 6] = [
    Level {
        kind: Kind::Group,
        subtype: Some("Drawer"),
        sets: &["drawer_siblings"],
        id: "drawer_id",
    },
    Level {
        kind: Kind::Group,
        subtype: Some("Book"),
        sets: &["book_siblings"],
        id: "book_id",
    },
    Level {
        kind: Kind::Package,
        subtype: None,
        sets: &["package_cpus", "core_siblings"],
        id: "physical_package_id",
    },
    Level {
        kind: Kind::Die,
        subtype: None,
        sets: &["die_cpus"],
        id: "die_id",
    },
    Level {
        kind: Kind::Group,
        subtype: Some("Cluster"),
        sets: &["cluster_cpus"],
        id: "cluster_id",
    },
    Level {
        kind: Kind::Core,
        subtype: None,
        sets: &["core_cpus", "thread_siblings"],
        id: "core_id",
    },
];

impl Level {
    /// Whether an object of this level does not really exist: on machines without dies or clusters, the
    /// kernel gives each processor one of its own.
    fn is_made_up(&self, cpus: &CpuSet) -> bool {
        matches!(self.kind, Kind::Die | Kind::Group) && cpus.len() <= 1
    }
}

/// Reads all levels. Without any file, each processor is a core of one package.
pub(super) fn read(
    files: &Reader<'_, impl Files>,
    online: &CpuSet,
) -> Result<Vec<Facts>, SyntaxError> {
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
) -> Result<Vec<Facts>, SyntaxError> {
    let path = |cpu: usize, name: &str| format!("{CPUS}/cpu{cpu}/topology/{name}");
    let (mut objects, mut known) = (Vec::new(), CpuSet::new());
    // A kernel has the same files for all processors.
    let is_there = |name: &&&str| {
        let mut first = online.iter().take(1);
        first.any(|cpu| files.text(&path(cpu, name)).is_some())
    };
    let Some(name) = level.sets.iter().find(is_there) else {
        return Ok(objects);
    };
    for cpu in online {
        if known.contains(cpu) {
            continue;
        }
        let Some(set) = files.mask(&path(cpu, name))? else {
            continue;
        };
        let mut set = &set & online;
        if level.is_made_up(&set) {
            continue;
        }
        let id = |cpu| files.number(&path(cpu, level.id));
        let os = id(cpu)?;
        if level.kind == Kind::Core && is_compute_unit(cpu, &set, os, id)? {
            set = CpuSet::one(cpu);
        }
        known = &known | &set;
        let mut facts = Facts::new(level.kind, os, set);
        facts.subtype = level.subtype.map(String::from);
        objects.push(facts);
    }
    Ok(objects)
}

/// Removes the dies of machines without any: the kernel makes each package a die, or numbers dies -1.
fn drop_false_dies(facts: &mut Vec<Facts>) {
    let packages = facts.iter().filter(|object| object.kind == Kind::Package);
    let packages: BTreeSet<CpuSet> = packages.map(|package| package.cpus.clone()).collect();
    let is_false = |die: &Facts| die.os.is_none() || packages.contains(&die.cpus);
    facts.retain(|object| object.kind != Kind::Die || !is_false(object));
}

/// Whether the siblings of a core are cores that share some units, as on AMD's family 15h: their numbers
/// differ.
fn is_compute_unit(
    cpu: usize,
    siblings: &CpuSet,
    os: Option<u32>,
    id: impl Fn(usize) -> Result<Option<u32>, SyntaxError>,
) -> Result<bool, SyntaxError> {
    match siblings.iter().find(|sibling| *sibling != cpu) {
        Some(sibling) => Ok(id(sibling)? != os),
        None => Ok(false),
    }
}
