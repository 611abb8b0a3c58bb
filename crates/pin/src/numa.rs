//! NUMA domains: the one rule by which tables, metrics and warnings count the NUMA nodes of a rank.

use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Kind, Machine};

/// The processors whose nearest memory is the same NUMA node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumaDomain {
    /// The operating system's number of the node; of several local memories (DRAM and HBM) the smallest.
    pub node: u32,
    /// The processors.
    pub cpus: CpuSet,
}

/// The NUMA domains of a machine, in the order of their first processors. They are disjoint, also where a
/// processor has several local memories: then it is in the domain of the first. A processor without memory of its
/// own is in none.
///
/// # Cost
/// A walk down the tree for each processor; allocates. For reports and set-up.
pub fn numa_domains(machine: &Machine) -> Vec<NumaDomain> {
    let mut domains: Vec<NumaDomain> = Vec::new();
    let pus = machine.objects(Kind::Pu);
    for (pu, numa) in pus.filter_map(|pu| Some((pu, pu.nearest_numa()?))) {
        let node = numa.os().unwrap_or(numa.logical());
        match domains.iter_mut().find(|domain| domain.node == node) {
            Some(domain) => domain.cpus = &domain.cpus | pu.cpus(),
            None => domains.push(NumaDomain {
                node,
                cpus: pu.cpus().clone(),
            }),
        }
    }
    domains
}

/// The domains that have some of these processors; a rank on them is across NUMA nodes if there are several.
pub fn numa_domains_of<'a>(
    domains: &'a [NumaDomain],
    cpus: &'a CpuSet,
) -> impl Iterator<Item = &'a NumaDomain> {
    let meets = |domain: &&NumaDomain| domain.cpus.intersects(cpus);
    domains.iter().filter(meets)
}
