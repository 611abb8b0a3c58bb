//! Divides ranks among NUMA nodes and sockets by the rules of Intel MPI 2021.

use alloc::vec;
use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Kind};

use super::blocks::{aligned, chunks};
use crate::processors::{Lead, Processors};

/// Divides `ranks` into `groups` shares that differ by at most one, the larger first.
pub(super) fn share(ranks: usize, groups: usize) -> Vec<usize> {
    let groups = groups.max(1);
    let share = |group| ranks / groups + usize::from(group < ranks % groups);
    (0..groups).map(share).collect()
}

/// The processors of each NUMA node with its number of ranks; `None` if domains of `size` do not fit.
fn fitting(processors: &Processors, size: usize, ranks: usize) -> Option<Vec<(Vec<usize>, usize)>> {
    let groups = processors.groups(Kind::Numa);
    let shares = share(ranks, groups.len());
    let socket = processors
        .groups(Kind::Package)
        .iter()
        .map(Vec::len)
        .max()?;
    let pairs: Vec<_> = groups.into_iter().zip(shares).collect();
    let fits = |(group, share): &(Vec<usize>, usize)| share * size <= group.len();
    (size <= socket && pairs.iter().all(fits)).then_some(pairs)
}

/// Domains of each NUMA node's ranks side by side. `None` if they do not fit.
pub(super) fn bunch(processors: &Processors, size: usize, ranks: usize) -> Option<Vec<CpuSet>> {
    let shares = fitting(processors, size, ranks)?;
    let domains = shares.iter().flat_map(|(group, share)| {
        let domains = chunks(group, size, false).into_iter();
        domains.take(*share)
    });
    Some(domains.collect())
}

/// Domains of each NUMA node's ranks far from each other. `None` if they do not fit.
pub(super) fn spread(processors: &Processors, size: usize, ranks: usize) -> Option<Vec<CpuSet>> {
    let shares = fitting(processors, size, ranks)?;
    let mut all = Vec::new();
    for (group, share) in shares {
        let mut domains = aligned(&group, size, processors);
        processors.sort(&mut domains, &processors.scatter, Lead::Smallest);
        if domains.len() < share {
            return None;
        }
        domains.truncate(share);
        processors.sort(&mut domains, &processors.compact, Lead::Smallest);
        all.append(&mut domains);
    }
    Some(all)
}

/// The same number of domains in each socket, made smaller to fit. `None` if `ranks` is a power of two or
/// exceeds the processors: the caller then takes whole domains in the machine's order.
pub(super) fn uniform(processors: &Processors, size: usize, ranks: usize) -> Option<Vec<CpuSet>> {
    if ranks.is_power_of_two() {
        return None;
    }
    let sockets = processors.groups(Kind::Package);
    let slots = ranks.div_ceil(sockets.len());
    let nodes = processors.groups(Kind::Numa);
    let mut rooms = Vec::new();
    let mut size = size;
    for socket in &sockets {
        let inside: Vec<Vec<usize>> = nodes
            .iter()
            .map(|node| {
                node.iter()
                    .copied()
                    .filter(|cpu| socket.contains(cpu))
                    .collect()
            })
            .filter(|node: &Vec<usize>| !node.is_empty())
            .collect();
        let shares = share(slots, inside.len());
        for (node, share) in inside.iter().zip(&shares).filter(|(_, share)| **share > 0) {
            size = size.min(node.len() / share);
        }
        rooms.push((inside, shares));
    }
    if size == 0 {
        return None;
    }
    let mut all = vec![];
    for ((inside, shares), mut here) in rooms.into_iter().zip(share(ranks, sockets.len())) {
        for (node, share) in inside.iter().zip(shares) {
            let taken = share.min(here);
            here -= taken;
            all.extend(chunks(node, size, false).into_iter().take(taken));
        }
    }
    Some(all)
}
