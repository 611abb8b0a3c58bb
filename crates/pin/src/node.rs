//! The processors that a job may use, in the order of the machine's tree.

use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Kind, Machine};

/// What a job may use of one machine.
pub(crate) struct Node {
    /// The processors, as their operating system numbers, neighbours in the machine side by side.
    pub(crate) compact: Vec<usize>,
    /// The same as a set.
    pub(crate) allowed: CpuSet,
    /// What is left of each package, in the order of the machine.
    pub(crate) sockets: Vec<CpuSet>,
}

impl Node {
    /// The part of `machine` that `allowed` leaves.
    pub(crate) fn new(machine: &Machine, allowed: CpuSet) -> Self {
        let compact = processors(machine)
            .filter(|&cpu| allowed.contains(cpu))
            .collect();
        let sockets = parts(machine, Kind::Package, &allowed);
        Self {
            compact,
            allowed,
            sockets,
        }
    }

    /// The processors of `set` in compact order.
    pub(crate) fn compact_in<'a>(&'a self, set: &'a CpuSet) -> impl Iterator<Item = usize> + 'a {
        self.compact
            .iter()
            .copied()
            .filter(|&cpu| set.contains(cpu))
    }
}

/// The processors of `machine` in the order of its tree.
pub(crate) fn processors(machine: &Machine) -> impl Iterator<Item = usize> {
    machine.objects(Kind::Pu).filter_map(|pu| pu.cpus().first())
}

/// What `allowed` leaves of every object of `kind`. Processors of no such object come last: together
/// as one more part, but as cores each alone. Objects of the same processors (memory of several
/// sorts) are one part.
pub(crate) fn parts(machine: &Machine, kind: Kind, allowed: &CpuSet) -> Vec<CpuSet> {
    let mut parts = Vec::new();
    let mut rest = allowed.clone();
    for object in machine.objects(kind) {
        let part = object.cpus() & &rest;
        if !part.is_empty() {
            rest = &rest - &part;
            parts.push(part);
        }
    }
    match kind {
        Kind::Core => parts.extend(rest.iter().map(CpuSet::one)),
        _ if rest.is_empty() => {}
        _ => parts.push(rest),
    }
    parts
}
