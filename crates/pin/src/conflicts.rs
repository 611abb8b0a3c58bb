//! Warnings about a placement before the job starts: shared processors, split NUMA nodes, ranks far from the
//! network.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Kind, Machine};

use crate::numa::{NumaDomain, numa_domains, numa_domains_of};
use crate::placement::{Placement, RankPlace, Warning, WarningCode, count};
use crate::rdma;

/// The conflicts of a placement, each kind at most once, with the first rank that has it as the example. `threads` is the
/// value of `OMP_NUM_THREADS` of each rank.
///
/// - [`ThreadsExceedDomain`](WarningCode::ThreadsExceedDomain): a rank has fewer processors than threads.
/// - [`ProcessorShared`](WarningCode::ProcessorShared): ranks, each counted with its threads, outnumber the processors that
///   they have together. Ranks that share a domain with a processor for each of them are no conflict.
/// - [`SiblingShared`](WarningCode::SiblingShared): ranks outnumber the cores that they have together while another core is idle.
/// - [`DomainAcrossNuma`](WarningCode::DomainAcrossNuma): a rank has processors of several
///   [NUMA domains](NumaDomain), but not all processors of each.
/// - [`FarFromRdma`](WarningCode::FarFromRdma): a rank has no processor near an active RDMA port.
///
/// Ranks that are not pinned have no other conflicts than the first two: the kernel's scheduler moves them.
///
/// # Cost
/// About ranks times processors of a rank, ranks times domains, and ranks times NUMA nodes; allocates. For set-up only.
pub fn conflicts(
    machine: &Machine,
    placement: &Placement,
    threads: impl Fn(u32) -> Option<u32>,
) -> Vec<Warning> {
    let ranks = placement.ranks.iter();
    let threads: Vec<u32> = ranks
        .map(|place| threads(place.rank).unwrap_or(1))
        .collect();
    let few_processors = too_many_threads(placement, &threads);
    let crowd = crowd(processor_demands(placement, &threads));
    if !placement.is_pinned() {
        let crowded = crowd.map(|ranks| oversubscribed(placement, &ranks, &threads));
        return few_processors.into_iter().chain(crowded).collect();
    }
    let shared = match crowd {
        Some(ranks) => processor_shared(placement, &ranks, &threads),
        None => sibling_shared(machine, placement),
    };
    let warnings = [
        few_processors,
        shared,
        across_numa(machine, placement),
        far_from_rdma(machine, &placement.ranks),
    ];
    warnings.into_iter().flatten().collect()
}

fn too_many_threads(placement: &Placement, threads: &[u32]) -> Option<Warning> {
    let mut ranks = placement.ranks.iter().zip(threads);
    let (place, threads) = ranks.find(|(place, threads)| place.cpus.len() < **threads as usize)?;
    let RankPlace { rank, cpus } = place;
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

/// The processors or cores of a rank, and how many of them it needs: at least 1, at most all.
struct Demand<'a> {
    place: &'a RankPlace,
    domain: CpuSet,
    needed: usize,
}

/// A processor for each thread; a rank with more threads than processors needs all of them.
fn processor_demands<'a>(placement: &'a Placement, threads: &[u32]) -> Vec<Demand<'a>> {
    let ranks = placement.ranks.iter().zip(threads);
    let demand = |(place, &threads): (&'a RankPlace, &u32)| Demand {
        place,
        domain: place.cpus.clone(),
        needed: (threads.max(1) as usize).min(place.cpus.len()),
    };
    ranks.map(demand).collect()
}

/// The ranks that need more than they have together: those inside one rank's domain, or all. `None` if each can have
/// what it needs. By Hall's theorem that is exact for domains of which any two are nested or disjoint.
fn crowd(demands: Vec<Demand<'_>>) -> Option<Vec<&RankPlace>> {
    let mut domains: Vec<(&CpuSet, usize)> = Vec::new();
    for Demand { domain, needed, .. } in &demands {
        match domains.iter_mut().find(|(known, _)| *known == domain) {
            Some((_, sum)) => *sum += needed,
            None => domains.push((domain, *needed)),
        }
    }
    let all = domains.iter().map(|(domain, _)| *domain);
    let all = all.fold(CpuSet::new(), |all, domain| &all | domain);
    let is_crowded = |within: &&CpuSet| {
        let inside = domains
            .iter()
            .filter(|(domain, _)| domain.is_subset(within));
        inside.map(|(_, needed)| needed).sum::<usize>() > within.len()
    };
    let mut sets = domains.iter().map(|(domain, _)| *domain).chain([&all]);
    let crowded = sets.find(is_crowded)?;
    let inside = demands
        .iter()
        .filter(|demand| demand.domain.is_subset(crowded));
    Some(inside.map(|demand| demand.place).collect())
}

/// The two first of `crowd` that overlap. There are such, as no rank needs more than it has.
fn first_overlap<'a>(crowd: &[&'a RankPlace]) -> Option<(&'a RankPlace, &'a RankPlace)> {
    let mut takers: BTreeMap<usize, &RankPlace> = BTreeMap::new();
    crowd.iter().find_map(|rank| {
        let taken = |cpu| {
            let first = *takers.entry(cpu).or_insert(rank);
            (first.rank != rank.rank).then_some((first, *rank))
        };
        rank.cpus.iter().find_map(taken)
    })
}

/// The number of ranks, with their threads if some rank has several.
fn ranks_and_threads(threads: &[u32]) -> String {
    let ranks = threads.len();
    let all = || threads.iter().map(|&threads| u64::from(threads.max(1)));
    match all().max() {
        None | Some(1) => format!("{ranks} ranks"),
        Some(most) if all().all(|each| each == most) => {
            format!("{ranks} ranks with {most} threads each (OMP_NUM_THREADS)")
        }
        Some(_) => format!(
            "{ranks} ranks with {} threads together (OMP_NUM_THREADS)",
            all().sum::<u64>()
        ),
    }
}

/// Ranks that may use all processors and are more than these, each counted with its threads.
fn oversubscribed(placement: &Placement, crowd: &[&RankPlace], threads: &[u32]) -> Warning {
    let allowed = &placement.allowed;
    let rank = |at: usize| crowd.get(at).map_or(0, |place| place.rank);
    Warning::new(
        WarningCode::ProcessorShared,
        [&rank(0), &rank(1), allowed, &CpuSet::new()],
        format!(
            "{} on {} ({allowed}): they take turns; start fewer, or pass --oversubscribe if this is intended",
            ranks_and_threads(threads),
            count(allowed.len(), "processor"),
        ),
    )
}

fn processor_shared(
    placement: &Placement,
    crowd: &[&RankPlace],
    threads: &[u32],
) -> Option<Warning> {
    let (first, second) = first_overlap(crowd)?;
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
            "{} on {}: rank {} shares processors {both} with rank {}, and other ranks may share some, too{idle_too}; \
             pass --oversubscribe if this is intended",
            ranks_and_threads(threads),
            count(placement.allowed.len(), "processor"),
            second.rank,
            first.rank,
        ),
    ))
}

/// Ranks that have a processor each, but not a core, while a core is idle.
fn sibling_shared(machine: &Machine, placement: &Placement) -> Option<Warning> {
    let cores = machine.objects(Kind::Core).enumerate();
    let core_of: BTreeMap<usize, usize> = cores
        .flat_map(|(place, core)| core.cpus().iter().map(move |cpu| (cpu, place)))
        .collect();
    let cores_of = |cpus: &CpuSet| -> CpuSet {
        let cores = cpus.iter().filter_map(|cpu| core_of.get(&cpu));
        cores.copied().collect()
    };
    let used = placement.ranks.iter();
    let used = used.fold(CpuSet::new(), |used, rank| &used | &cores_of(&rank.cpus));
    let is_idle = |core: &usize| !used.contains(*core);
    let idle = cores_of(&placement.allowed).iter().find(is_idle)?;
    let demands = placement.ranks.iter().map(|place| Demand {
        place,
        domain: cores_of(&place.cpus),
        needed: 1,
    });
    let crowd = crowd(demands.collect())?;
    let (first, second, core) = crowd.iter().enumerate().find_map(|(at, second)| {
        let shared = |first: &&RankPlace| {
            let both = &cores_of(&first.cpus) & &cores_of(&second.cpus);
            both.first().map(|core| (first.rank, second.rank, core))
        };
        crowd[..at].iter().find_map(shared)
    })?;
    let cpus = |core| Some(machine.objects(Kind::Core).nth(core)?.cpus() & &placement.allowed);
    let idle = cpus(idle)?;
    let cpus = machine.objects(Kind::Core).nth(core)?.cpus();
    Some(Warning::new(
        WarningCode::SiblingShared,
        [&first, &second, &cpus, &idle],
        format!(
            "ranks {first} and {second} share a core (its hardware threads are {cpus}) while another is idle ({idle}); \
             I_MPI_PIN_DOMAIN=core or --bind-to core gives each rank a core of its own",
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
