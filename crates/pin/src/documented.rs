//! Places ranks as Intel's Developer Reference for Linux says ("Interoperability with OpenMP API"):
//! `I_MPI_PIN_DOMAIN`, `I_MPI_PIN_ORDER`. Where the reference says nothing, the rules of Intel MPI 2021
//! apply, see [`intel2021`](crate::intel2021).

mod deal;
mod explain;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Machine};

use crate::intel::{Cell, Domain, Layout, ProcessorList, Shape, Size};
use crate::intel2021::list_of;
use crate::placement::{Warning, count};
use crate::processors::Processors;
use crate::rdma;
use crate::settings::Settings;
use crate::warnings::{all_excluded, clipped, mask_elsewhere, not_allowed};
use deal::{Candidates, DealMethod, deal};
use explain::explain;

/// The domains that ranks take in turn (rank `i` takes domain `i` modulo their number), and the reason in
/// words. At least one domain. `allowed` are the processors of the job, not empty; `ranks` is at least 1.
pub(crate) fn place(
    machine: &Machine,
    allowed: &CpuSet,
    settings: &Settings,
    ranks: usize,
    warnings: &mut Vec<Warning>,
) -> (Vec<CpuSet>, String) {
    let mut processors = Processors::new(machine, allowed);
    if !settings.exclude.is_empty() {
        let left = processors.without(&settings.exclude);
        match left.compact.is_empty() {
            true => warnings.push(all_excluded(allowed, &settings.exclude)),
            false => processors = left,
        }
    }
    if settings.cell == Some(Cell::Core) {
        processors = processors.first_of_cores();
    }
    let near = match settings.respect_hca {
        true => rdma::near(machine),
        false => CpuSet::new(),
    };
    match (&settings.domain, &settings.processors) {
        (Some(domain), list) => {
            if list.is_some() {
                let (list, domain) = ("I_MPI_PIN_PROCESSOR_LIST", "I_MPI_PIN_DOMAIN");
                warnings.push(Warning::overridden(list, domain));
            }
            domains(
                &processors,
                domain,
                settings,
                ranks,
                &CpuSet::new(),
                warnings,
            )
        }
        (None, Some(ProcessorList::These(list))) => these(&processors, list, warnings),
        (None, Some(ProcessorList::Of(members))) => {
            let cores = processors.first_of_cores();
            let mut cells = list_of(members, &processors, &cores, settings.order, ranks);
            // A stable sort: processors near the device come first, otherwise in the same order.
            cells.sort_by_key(|cell| !near.is_empty() && !cell.intersects(&near));
            let why = format!(
                "{} on {} of the list, one for each rank{}.",
                count(ranks, "rank"),
                count(cells.len(), "processor"),
                beside(&near)
            );
            (cells, why)
        }
        (None, None) => domains(
            &processors,
            &Domain::default(),
            settings,
            ranks,
            &near,
            warnings,
        ),
    }
}

fn beside(near: &CpuSet) -> String {
    match near.is_empty() {
        true => String::new(),
        false => format!(", those near the RDMA device ({near}) first"),
    }
}

/// The domains of a shape, of a size, or of masks. Sockets that overlap `near` come first.
fn domains(
    processors: &Processors,
    domain: &Domain,
    settings: &Settings,
    ranks: usize,
    near: &CpuSet,
    warnings: &mut Vec<Warning>,
) -> (Vec<CpuSet>, String) {
    let allowed: CpuSet = processors.compact.iter().copied().collect();
    let all = processors.compact.len();
    let unpinned = |reason: &str| {
        let why = format!("{reason}: not pinned, every rank may use all of {allowed}.");
        (Vec::from([allowed.clone()]), why)
    };
    let candidates = match domain {
        Domain::Shape(Shape::Node) => return unpinned("Domain node is the whole node"),
        Domain::Masks(list) => return masks(&allowed, list, warnings),
        Domain::Size(Size::Auto, _) if ranks == 1 => {
            return unpinned("Domain size auto of one rank is the whole node");
        }
        Domain::Size(Size::Omp, _) if settings.omp_threads.is_none() => {
            return unpinned("Domain size omp without OMP_NUM_THREADS is the whole node");
        }
        Domain::Shape(shape) => Candidates::Shapes(processors.parts(*shape, false)),
        Domain::Size(size, layout) => {
            let (size, shrinks) = match size {
                Size::Auto => ((all / ranks).max(1), true),
                Size::Omp => (
                    settings.omp_threads.map_or(all, |threads| threads as usize),
                    false,
                ),
                Size::Number(number) => (*number as usize, false),
            };
            if size > all {
                warnings.push(clipped(size, &allowed));
            }
            let size = size.min(all);
            Candidates::Sizes {
                size,
                layout: *layout,
                shrinks: shrinks && *layout == Layout::Compact,
            }
        }
    };
    let dealt = deal(processors, &candidates, settings.order, ranks, near);
    let why = explain(
        domain,
        settings.order,
        processors,
        &candidates,
        &dealt,
        ranks,
    );
    (dealt.domains, why + &beside_note(near, &dealt.how))
}

fn beside_note(near: &CpuSet, how: &DealMethod) -> String {
    match (near.is_empty(), how) {
        (false, DealMethod::Shared(..) | DealMethod::Shrunk(..)) => {
            format!(" The sockets near the RDMA device ({near}) come first.")
        }
        _ => String::new(),
    }
}

/// One domain for each mask, and one more for the processors that no mask has.
fn masks(allowed: &CpuSet, masks: &[CpuSet], warnings: &mut Vec<Warning>) -> (Vec<CpuSet>, String) {
    let mut rest = allowed.clone();
    let mut domains = Vec::new();
    for mask in masks {
        let domain = mask & allowed;
        rest = &rest - mask;
        if domain.is_empty() {
            warnings.push(mask_elsewhere(mask, allowed));
        } else {
            domains.push(domain);
        }
    }
    let mut why = format!("{} as the masks say", count(domains.len(), "domain"));
    if domains.is_empty() {
        return (
            Vec::from([allowed.clone()]),
            format!("No mask is usable: not pinned, every rank may use all of {allowed}."),
        );
    }
    if !rest.is_empty() {
        why += &format!(", and one more of the processors they leave ({rest})");
        domains.push(rest);
    }
    (domains, why + ".")
}

/// One processor of `list` for each rank; `None` in the list leaves a rank unpinned.
fn these(
    processors: &Processors,
    list: &[Option<usize>],
    warnings: &mut Vec<Warning>,
) -> (Vec<CpuSet>, String) {
    let allowed: CpuSet = processors.compact.iter().copied().collect();
    let outside: CpuSet = list
        .iter()
        .flatten()
        .copied()
        .filter(|cpu| !allowed.contains(*cpu))
        .collect();
    if !outside.is_empty() {
        warnings.push(not_allowed(&outside, &allowed));
    }
    let kept = list
        .iter()
        .filter(|cpu| cpu.is_none_or(|cpu| allowed.contains(cpu)));
    let domains: Vec<CpuSet> = kept
        .map(|cpu| cpu.map_or(allowed.clone(), CpuSet::one))
        .collect();
    match domains.is_empty() {
        true => (
            Vec::from([allowed.clone()]),
            format!(
                "No processor of the list is allowed: not pinned, every rank may use all of {allowed}."
            ),
        ),
        false => {
            let why = format!(
                "{} as the list says, one for each rank.",
                count(domains.len(), "processor")
            );
            (domains, why)
        }
    }
}
