//! Measures a placement: how many neighbouring ranks share a core, a cache or a NUMA node, and which
//! processors are idle.

use alloc::vec;
use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Kind, Machine};

use crate::numa::{NumaDomain, numa_domains, numa_domains_of};
use crate::placement::{Placement, RankPlace};

/// The kinds of objects whose sharing is counted, the smallest first.
const SHARED: [Kind; 4] = [Kind::Core, Kind::L2, Kind::L3, Kind::Numa];

/// The quality of a placement in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metrics {
    /// Pairs of consecutive ranks: one less than the ranks.
    pub pairs: usize,
    /// For cores, L2 caches, L3 caches and NUMA nodes that the machine has: the pairs whose ranks can both
    /// run on one.
    pub shared: Vec<(Kind, usize)>,
    /// Pairs whose ranks have no [NUMA domain](NumaDomain) in common; 0 if the machine has no NUMA nodes.
    pub numa_crossings: usize,
    /// Ranks whose processors are in several [NUMA domains](NumaDomain).
    pub across_numa: Vec<u32>,
    /// Allowed processors that no rank has.
    pub idle: CpuSet,
    /// Ranks that share a processor with another rank while some processor is idle.
    pub oversubscribed: Vec<u32>,
}

impl Metrics {
    /// Measures a placement on the machine it was made for.
    ///
    /// # Cost
    /// About ranks times cores; allocates. For reports, not for the start of a job.
    pub fn new(machine: &Machine, placement: &Placement) -> Self {
        let ranks = &placement.ranks;
        let kinds = SHARED
            .into_iter()
            .filter(|kind| machine.objects(*kind).len() > 0);
        let domains = numa_domains(machine);
        let parts = |kind: Kind| -> Vec<&CpuSet> {
            match kind {
                Kind::Numa => domains.iter().map(|domain| &domain.cpus).collect(),
                _ => machine.objects(kind).map(|object| object.cpus()).collect(),
            }
        };
        let shared: Vec<(Kind, usize)> = kinds
            .map(|kind| (kind, sharing(&parts(kind), ranks)))
            .collect();
        let pairs = ranks.len().saturating_sub(1);
        let near = shared.iter().find(|(kind, _)| *kind == Kind::Numa);
        let used = ranks
            .iter()
            .fold(CpuSet::new(), |used, rank| &used | &rank.cpus);
        let idle = &placement.allowed - &used;
        let oversubscribed = match idle.is_empty() {
            true => Vec::new(),
            false => oversubscribed(ranks),
        };
        Self {
            pairs,
            numa_crossings: near.map_or(0, |(_, near)| pairs - near),
            across_numa: across_numa(&domains, ranks),
            shared,
            idle,
            oversubscribed,
        }
    }
}

/// The pairs of consecutive ranks that can both run on one of these parts of the machine.
fn sharing(parts: &[&CpuSet], ranks: &[RankPlace]) -> usize {
    let pairs = ranks.windows(2).filter(|pair| {
        let mut parts = parts.iter();
        parts.any(|cpus| pair.iter().all(|rank| rank.cpus.intersects(cpus)))
    });
    pairs.count()
}

/// The ranks whose processors are in several NUMA domains.
fn across_numa(domains: &[NumaDomain], ranks: &[RankPlace]) -> Vec<u32> {
    let is_across = |rank: &&RankPlace| numa_domains_of(domains, &rank.cpus).nth(1).is_some();
    let across = ranks.iter().filter(is_across);
    across.map(|rank| rank.rank).collect()
}

/// The ranks with a processor that another rank has, too.
fn oversubscribed(ranks: &[RankPlace]) -> Vec<u32> {
    let last = ranks.iter().filter_map(|rank| rank.cpus.last()).max();
    let mut users = vec![0_u32; last.map_or(0, |last| last + 1)];
    for cpu in ranks.iter().flat_map(|rank| &rank.cpus) {
        users[cpu] += 1;
    }
    let is_oversubscribed = |rank: &&RankPlace| rank.cpus.iter().any(|cpu| users[cpu] > 1);
    let oversubscribed = ranks.iter().filter(is_oversubscribed);
    oversubscribed.map(|rank| rank.rank).collect()
}
