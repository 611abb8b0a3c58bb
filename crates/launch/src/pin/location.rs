//! Descriptions of processor sets by packages, cores, threads and NUMA nodes.

use std::collections::BTreeMap;

use oxmpi_pin::{NumaDomain, numa_domains_of};
use oxmpi_topo::{CpuSet, Kind, Machine, Object};

/// The location of the processors: `package 0`, `package 1 core 4-5`, `core 0 thread 1`. Cores and packages have their logical
/// numbers.
pub(super) fn describe(machine: &Machine, cpus: &CpuSet) -> String {
    if machine.online().is_subset(cpus) {
        return "the whole machine".into();
    }
    let packages = machine.objects(Kind::Package);
    if packages.len() == 0 {
        return inside(machine.root(), cpus);
    }
    let mut whole = CpuSet::new();
    let mut parts = Vec::new();
    for package in packages.filter(|package| package.cpus().intersects(cpus)) {
        match package.cpus().is_subset(cpus) {
            true => whole.insert(package.logical() as usize),
            false => parts.push(format!(
                "package {} {}",
                package.logical(),
                inside(package, cpus)
            )),
        }
    }
    if !whole.is_empty() {
        parts.insert(0, format!("package {whole}"));
    }
    parts.join("; ")
}

/// The cores inside an object, with their threads unless all are in the set; processors if there are no cores.
fn inside(object: Object<'_>, cpus: &CpuSet) -> String {
    let mut cores: BTreeMap<CpuSet, CpuSet> = BTreeMap::new();
    for core in object.inside(Kind::Core) {
        let here = core.cpus() & cpus;
        if here.is_empty() {
            continue;
        }
        // An empty set stands for all threads.
        let threads = match here == *core.cpus() {
            true => CpuSet::new(),
            false => core_threads(core, &here),
        };
        cores
            .entry(threads)
            .or_default()
            .insert(core.logical() as usize);
    }
    if cores.is_empty() {
        return format!("processor {}", object.cpus() & cpus);
    }
    let mut parts: Vec<(CpuSet, CpuSet)> = cores.into_iter().collect();
    parts.sort_by_key(|(_, cores)| cores.first());
    let part = |(threads, cores): &(CpuSet, CpuSet)| match threads.is_empty() {
        true => format!("core {cores}"),
        false => format!("core {cores} thread {threads}"),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

fn core_threads(core: Object<'_>, cpus: &CpuSet) -> CpuSet {
    let here = core
        .inside(Kind::Pu)
        .filter(|pu| pu.cpus().intersects(cpus));
    here.filter_map(Object::thread)
        .map(|thread| thread as usize)
        .collect()
}

/// The NUMA nodes whose domains have some of these processors, by the operating system's numbers; `-` where there are none.
pub(super) fn numa_nodes(domains: &[NumaDomain], cpus: &CpuSet) -> String {
    let near = numa_domains_of(domains, cpus);
    let numbers: CpuSet = near.map(|domain| domain.node as usize).collect();
    match numbers.is_empty() {
        true => "-".into(),
        false => numbers.to_string(),
    }
}

/// The processors of each thread; consecutive threads with the same set are counted: `4 x 0-3`.
pub(super) fn threads(threads: &[CpuSet]) -> String {
    let runs = threads.chunk_by(|one, next| one == next);
    let run = |run: &[CpuSet]| match run {
        [one] => one.to_string(),
        _ => format!("{} x {}", run.len(), run[0]),
    };
    runs.map(run).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
