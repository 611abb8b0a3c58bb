//! Warnings about a placement before the job starts: shared processors, split NUMA nodes, ranks far from the
//! network.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Kind, Machine};

use crate::numa::{NumaDomain, numa_domains, numa_domains_of};
use crate::placement::{Placement, RankPlace, Warning, WarningCode, count};
use crate::rdma;

/// The conflicts of a placement, each kind at most once, with the first rank that has it as the example.
///
/// - [`ThreadsExceedDomain`](WarningCode::ThreadsExceedDomain): a rank has fewer processors than `threads`,
///   the value of `OMP_NUM_THREADS`.
/// - [`ProcessorShared`](WarningCode::ProcessorShared): pinning puts two ranks on one processor, or ranks that are not pinned
///   outnumber the processors, each counted with its `threads`.
/// - [`SiblingShared`](WarningCode::SiblingShared): two ranks have hardware threads of one core while another core is idle.
/// - [`DomainAcrossNuma`](WarningCode::DomainAcrossNuma): a rank has processors of several
///   [NUMA domains](NumaDomain), but not all processors of each.
/// - [`FarFromRdma`](WarningCode::FarFromRdma): a rank has no processor near an active RDMA port.
///
/// Ranks that are not pinned have no other conflicts: the kernel's scheduler moves them.
///
/// # Cost
/// About ranks times processors of a rank, and ranks times NUMA nodes; allocates. For set-up only.
pub fn conflicts(machine: &Machine, placement: &Placement, threads: Option<u32>) -> Vec<Warning> {
    let ranks = &placement.ranks;
    let few_processors = threads.and_then(|threads| too_many_threads(placement, threads));
    if !placement.is_pinned() {
        let warnings = [
            few_processors,
            oversubscribed(placement, threads.unwrap_or(1)),
        ];
        return warnings.into_iter().flatten().collect();
    }
    let warnings = [
        few_processors,
        processor_shared(placement),
        sibling_shared(machine, placement),
        across_numa(machine, placement),
        far_from_rdma(machine, ranks),
    ];
    warnings.into_iter().flatten().collect()
}

fn too_many_threads(placement: &Placement, threads: u32) -> Option<Warning> {
    let mut ranks = placement.ranks.iter();
    let rank = ranks.find(|rank| rank.cpus.len() < threads as usize)?;
    let RankPlace { rank, cpus } = rank;
    let processors = count(cpus.len(), "processor");
    let advice = match *cpus == placement.allowed {
        true => "reduce OMP_NUM_THREADS, or widen the job's affinity mask",
        false => {
            "pin fewer ranks or larger domains (I_MPI_PIN_DOMAIN=omp) to give each thread its own"
        }
    };
    Some(Warning::new(
        WarningCode::ThreadsExceedDomain,
        [&rank, &threads, &cpus],
        format!(
            "OMP_NUM_THREADS asks for {threads} threads, rank {rank} has {processors} ({cpus}): threads share \
             them; {advice}"
        ),
    ))
}

/// Ranks that may use all processors and are more than these, each counted with its threads.
fn oversubscribed(placement: &Placement, threads: u32) -> Option<Warning> {
    let Placement { ranks, allowed, .. } = placement;
    let [first, second, ..] = &ranks[..] else {
        return None;
    };
    if ranks.len().saturating_mul(threads as usize) <= allowed.len() {
        return None;
    }
    let threads_too = match threads {
        0 | 1 => "".into(),
        threads => format!(" with {threads} threads each (OMP_NUM_THREADS)"),
    };
    Some(Warning::new(
        WarningCode::ProcessorShared,
        [&first.rank, &second.rank, allowed, &CpuSet::new()],
        format!(
            "{} ranks{threads_too} on {} ({allowed}): they take turns; start fewer, or pass --oversubscribe if this is intended",
            ranks.len(),
            count(allowed.len(), "processor"),
        ),
    ))
}

/// The first rank that overlaps an earlier one, that earlier rank, and the number of what both use. `takes`
/// maps a processor to that number.
fn first_overlap(
    ranks: &[RankPlace],
    takes: impl Fn(usize) -> Option<usize>,
) -> Option<(&RankPlace, &RankPlace, usize)> {
    let mut takers: BTreeMap<usize, &RankPlace> = BTreeMap::new();
    ranks.iter().find_map(|rank| {
        let taken = |cpu| {
            let resource = takes(cpu)?;
            let first = *takers.entry(resource).or_insert(rank);
            (first.rank != rank.rank).then_some((first, rank, resource))
        };
        rank.cpus.iter().find_map(taken)
    })
}

fn processor_shared(placement: &Placement) -> Option<Warning> {
    let (first, second, _) = first_overlap(&placement.ranks, Some)?;
    let both = &first.cpus & &second.cpus;
    let used = placement.ranks.iter();
    let used = used.fold(CpuSet::new(), |used, rank| &used | &rank.cpus);
    let idle = &placement.allowed - &used;
    let idle_too = match idle.is_empty() {
        true => "".into(),
        false => format!(", while {idle} stay idle"),
    };
    Some(Warning::new(
        WarningCode::ProcessorShared,
        [&first.rank, &second.rank, &both, &idle],
        format!(
            "{} ranks on {}: rank {} shares processors {both} with rank {}, and other ranks may share some, too{idle_too}; \
             pass --oversubscribe if this is intended",
            placement.ranks.len(),
            count(placement.allowed.len(), "processor"),
            second.rank,
            first.rank,
        ),
    ))
}

fn sibling_shared(machine: &Machine, placement: &Placement) -> Option<Warning> {
    let cores = machine.objects(Kind::Core).enumerate();
    let core_of: BTreeMap<usize, usize> = cores
        .flat_map(|(place, core)| core.cpus().iter().map(move |cpu| (cpu, place)))
        .collect();
    let is_used = |core: &CpuSet| {
        placement
            .ranks
            .iter()
            .any(|rank| rank.cpus.intersects(core))
    };
    let (first, second, core) = first_overlap(&placement.ranks, |cpu| core_of.get(&cpu).copied())?;
    let cpus = machine.objects(Kind::Core).nth(core)?.cpus();
    // Two ranks on one processor get the warning ProcessorShared instead.
    if first.cpus.intersects(&second.cpus) {
        return None;
    }
    let idle = machine
        .objects(Kind::Core)
        .map(|core| core.cpus() & &placement.allowed)
        .find(|core| !core.is_empty() && !is_used(core))?;
    Some(Warning::new(
        WarningCode::SiblingShared,
        [&first.rank, &second.rank, &cpus, &idle],
        format!(
            "ranks {} and {} share a core (its hardware threads are {cpus}) while another is idle ({idle}); \
             I_MPI_PIN_DOMAIN=core or --bind-to core gives each rank a core of its own",
            first.rank, second.rank
        ),
    ))
}

fn across_numa(machine: &Machine, placement: &Placement) -> Option<Warning> {
    let domains = numa_domains(machine);
    let straddles = |rank: &&RankPlace| {
        let met = || numa_domains_of(&domains, &rank.cpus);
        let is_cut =
            |domain: &NumaDomain| !(&domain.cpus & &placement.allowed).is_subset(&rank.cpus);
        met().nth(1).is_some() && met().any(is_cut)
    };
    let RankPlace { rank, cpus } = placement.ranks.iter().find(straddles)?;
    Some(Warning::new(
        WarningCode::DomainAcrossNuma,
        [&rank, &cpus],
        format!(
            "the processors of rank {rank} ({cpus}) are in more than one NUMA node, so that some are far from its memory; \
             a size that divides a node's processors, or I_MPI_PIN_DOMAIN=numa, keeps ranks inside"
        ),
    ))
}

/// Warns of the ranks without a processor near an active RDMA port; `None` if there are none.
///
/// `ranks` may also come from the affinity masks of running ranks. [`conflicts`] includes this check.
pub fn far_from_rdma(machine: &Machine, ranks: &[RankPlace]) -> Option<Warning> {
    let near = rdma::near(machine);
    if near.is_empty() {
        return None;
    }
    let far = ranks.iter().filter(|rank| !rank.cpus.intersects(&near));
    let far: CpuSet = far.map(|rank| rank.rank as usize).collect();
    if far.is_empty() {
        return None;
    }
    Some(Warning::new(
        WarningCode::FarFromRdma,
        [&far, &near],
        format!(
            "ranks {far} run on another NUMA node than the active RDMA port (near processors {near}): their messages to other \
             hosts pass between NUMA nodes"
        ),
    ))
}
