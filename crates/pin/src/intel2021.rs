//! Places ranks by the rules of Intel MPI 2021's launcher, which differ from its reference in many places.
//!
//! The rules were observed on machines of 2 to 72 processors, with releases up to 2021.14. Inputs that seemed
//! to crash the launcher get a placement here.

mod blocks;
mod explain;
mod list;
mod share;

use alloc::string::String;
use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Kind, Machine};

use crate::intel::{Cell, Domain, Layout, Order, ProcessorList, Shape, Size};
use crate::placement::Warning;
use crate::processors::{Lead, Processors};
use crate::settings::Settings;
use crate::warnings::{clipped, list_outside_machine, mask_outside_machine};
use explain::explain;
use share::{bunch, share, spread, uniform};

pub(crate) use blocks::{aligned, chunks};
pub(crate) use list::domains as list_of;

/// The domains that ranks take in turn, `None` if no rank is pinned; and the reason in words. `allowed` is
/// the inherited mask, `ranks` at least 1.
pub(crate) fn place(
    machine: &Machine,
    allowed: &CpuSet,
    settings: &Settings,
    ranks: usize,
    warnings: &mut Vec<Warning>,
) -> (Option<Vec<CpuSet>>, String) {
    let everything = machine.online();
    let restricted = settings.respect_cpuset && (allowed != everything || !machine.is_uniform());
    let mut processors = match restricted {
        true => Processors::in_places_of_first(machine, allowed),
        false => Processors::new(machine, everything),
    };
    if settings.cell == Some(Cell::Core) {
        processors = processors.first_of_cores();
    }
    let mut excluded = false;
    if !settings.exclude.is_empty() {
        let left = processors.without(&settings.exclude);
        excluded = !left.compact.is_empty() && left.compact.len() < processors.compact.len();
        if excluded {
            processors = left;
        }
    }
    // The launcher cuts a part of a machine in the machine's order, whatever order is asked.
    let order = (!restricted && !excluded).then_some(settings.order);
    let all = processors.compact.len();
    let default = Domain::default();
    let domains: Vec<CpuSet> = match (&settings.domain, &settings.processors) {
        (Some(Domain::Masks(masks)), _) => {
            let inside = |mask: &CpuSet| {
                let inside = mask & everything;
                if inside.is_empty() {
                    warnings.push(mask_outside_machine(mask, everything));
                    return everything.clone();
                }
                inside
            };
            masks.iter().map(inside).collect()
        }
        (Some(Domain::Shape(shape)), _) => shapes(&processors, *shape, order, ranks),
        (Some(Domain::Size(size, layout)), _) => {
            let size = match size {
                Size::Auto => (all / ranks).max(1),
                Size::Omp => settings.omp_threads.map_or(all, |threads| threads as usize),
                Size::Number(number) => (*number as usize).max(1),
            };
            if size > all {
                warnings.push(clipped(
                    size,
                    &processors.platform.iter().copied().collect(),
                ));
            }
            sizes(&processors, size.min(all), *layout, order, ranks)
        }
        (None, Some(ProcessorList::These(list))) => {
            let beyond = list.iter().flatten().filter(|cpu| **cpu >= all);
            let beyond: CpuSet = beyond.copied().collect();
            if !beyond.is_empty() {
                warnings.push(list_outside_machine(&beyond, all, allowed));
            }
            let rank_cpus =
                |cpu: &Option<usize>| cpu.map_or_else(|| everything.clone(), CpuSet::one);
            match beyond.is_empty() {
                true => list.iter().map(rank_cpus).collect(),
                false => Vec::new(),
            }
        }
        (None, Some(ProcessorList::Of(members))) => {
            // With cells of hardware threads, `allcores` means all of these.
            let cores = match settings.cell {
                Some(Cell::Unit) => processors.clone(),
                _ => processors.first_of_cores(),
            };
            list::domains(members, &processors, &cores, settings.order, ranks)
        }
        (None, None) => {
            let size = (all / ranks).max(1);
            sizes(&processors, size, Layout::Compact, order, ranks)
        }
    };
    let domain = match &settings.processors {
        Some(_) => settings.domain.as_ref(),
        None => Some(settings.domain.as_ref().unwrap_or(&default)),
    };
    let why = explain(domain, order, all, &domains, ranks);
    ((!domains.is_empty()).then_some(domains), why)
}

/// One domain for each part of `shape`, in the order asked; `None` is the order of the machine.
fn shapes(
    processors: &Processors,
    shape: Shape,
    order: Option<Order>,
    ranks: usize,
) -> Vec<CpuSet> {
    let mut domains = processors.parts(shape, true);
    match order {
        None | Some(Order::Compact) => {}
        Some(Order::Range) => domains.sort_by_key(CpuSet::first),
        Some(Order::Scatter) => processors.sort(&mut domains, &processors.scatter, Lead::Smallest),
        Some(order @ (Order::Bunch | Order::Spread)) => {
            let groups = processors.groups(Kind::Numa);
            let shares = share(ranks, groups.len());
            let inside = groups.iter().map(|group| {
                let group: CpuSet = group.iter().copied().collect();
                let inside = domains.iter().filter(|domain| domain.is_subset(&group));
                inside.cloned().collect::<Vec<_>>()
            });
            let inside: Vec<Vec<CpuSet>> = inside.collect();
            if inside
                .iter()
                .zip(&shares)
                .all(|(inside, share)| inside.len() >= *share)
            {
                let chosen = inside
                    .into_iter()
                    .zip(shares)
                    .flat_map(|(mut inside, share)| {
                        if order == Order::Spread {
                            processors.sort(&mut inside, &processors.scatter, Lead::Smallest);
                        }
                        inside.truncate(share);
                        processors.sort(&mut inside, &processors.compact, Lead::Smallest);
                        inside
                    });
                return chosen.collect();
            }
        }
    }
    domains
}

/// Domains of `size` processors, in the order asked; `None` is the order of the machine.
fn sizes(
    processors: &Processors,
    size: usize,
    layout: Layout,
    order: Option<Order>,
    ranks: usize,
) -> Vec<CpuSet> {
    let compact = || chunks(&processors.compact, size, false);
    let list = processors.listed(layout);
    match order {
        None => compact(),
        Some(Order::Compact) if layout == Layout::Compact => compact(),
        Some(Order::Compact) => {
            let mut domains = chunks(list, size, true);
            processors.sort(&mut domains, &processors.compact, Lead::Smallest);
            domains
        }
        Some(Order::Range) => {
            let mut domains = chunks(list, size, true);
            domains.sort_by_key(CpuSet::first);
            domains
        }
        Some(Order::Scatter) => {
            let mut domains = aligned(list, size, processors);
            processors.sort(&mut domains, &processors.scatter, Lead::Smallest);
            domains
        }
        Some(Order::Bunch) => bunch(processors, size, ranks)
            .or_else(|| uniform(processors, size, ranks))
            .unwrap_or_else(compact),
        Some(Order::Spread) => spread(processors, size, ranks)
            .or_else(|| uniform(processors, size, ranks))
            .unwrap_or_else(compact),
    }
}
