//! Deals domains to ranks in the order that `I_MPI_PIN_ORDER` asks for.

use alloc::vec::Vec;
use core::cmp::Reverse;

use oxmpi_topo::{CpuSet, Kind};

use crate::intel::{Layout, Order};
use crate::intel2021::{aligned, chunks};
use crate::processors::{Lead, Processors};

/// By which method the domains were dealt to ranks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DealMethod {
    /// Over the whole node, in the order asked.
    Everywhere,
    /// In proportion to the sockets: the number of ranks on each.
    Shared(Vec<usize>),
    /// In proportion to the sockets (the number of ranks on each), with domains of size `auto` reduced to
    /// this size to fit.
    Shrunk(Vec<usize>, usize),
    /// Over the whole node in the machine's order, because the sockets have too few whole domains.
    NoRoom,
}

/// The domains of a job before they are dealt: those of a shape, or a size to cut.
pub(super) enum Candidates {
    /// Ready domains, in the order of the machine.
    Shapes(Vec<CpuSet>),
    /// Domains of `size` processors each; `size` is at most the number of processors.
    Sizes {
        size: usize,
        layout: Layout,
        /// Whether domains may shrink so that each socket's share of ranks fits into it.
        shrinks: bool,
    },
}

/// The domains of a job in the order of its ranks; rank `i` gets domain `i` modulo their number.
pub(super) struct DealtDomains {
    /// At least one domain, none empty.
    pub(super) domains: Vec<CpuSet>,
    /// The method that made them.
    pub(super) how: DealMethod,
}

/// Deals domains to `ranks` ranks. Sockets that overlap `near` come first.
pub(super) fn deal(
    processors: &Processors,
    candidates: &Candidates,
    order: Order,
    ranks: usize,
    near: &CpuSet,
) -> DealtDomains {
    let shared = match order {
        Order::Bunch | Order::Spread => share(processors, candidates, order, ranks, near),
        _ => None,
    };
    shared.unwrap_or_else(|| {
        let how = match order {
            Order::Bunch | Order::Spread => DealMethod::NoRoom,
            _ => DealMethod::Everywhere,
        };
        let domains = everywhere(processors, candidates, order);
        DealtDomains { domains, how }
    })
}

/// The domains of the whole node, in an order that is independent of the number of ranks.
fn everywhere(processors: &Processors, candidates: &Candidates, order: Order) -> Vec<CpuSet> {
    let mut domains = match candidates {
        Candidates::Shapes(domains) => domains.clone(),
        Candidates::Sizes { size, layout, .. } => {
            let list = processors.listed(*layout);
            match order {
                Order::Scatter => aligned(list, *size, processors),
                _ => chunks(
                    list,
                    *size,
                    *layout != Layout::Compact || order == Order::Range,
                ),
            }
        }
    };
    match order {
        Order::Range => domains.sort_by_key(CpuSet::first),
        Order::Scatter => processors.sort(&mut domains, &processors.scatter, Lead::First),
        Order::Compact => processors.sort(&mut domains, &processors.compact, Lead::First),
        Order::Bunch | Order::Spread => {}
    }
    domains
}

/// The domains inside one socket, in the order in which ranks take them.
fn inside(
    processors: &Processors,
    candidates: &Candidates,
    order: Order,
    socket: &[usize],
) -> Vec<CpuSet> {
    let within: CpuSet = socket.iter().copied().collect();
    let mut domains = match candidates {
        Candidates::Sizes {
            size,
            layout: Layout::Compact,
            ..
        } if order == Order::Spread => match *size > socket.len() {
            true => Vec::new(),
            false => aligned(socket, *size, processors),
        },
        Candidates::Sizes {
            size,
            layout: Layout::Compact,
            ..
        } => chunks(socket, *size, false),
        _ => {
            // The last domain of a list may be smaller than asked: it is not used here.
            let least = match candidates {
                Candidates::Shapes(_) => 0,
                Candidates::Sizes { size, .. } => *size,
            };
            let all = everywhere(processors, candidates, Order::Bunch);
            all.into_iter()
                .filter(|domain| domain.len() >= least && domain.is_subset(&within))
                .collect()
        }
    };
    if order == Order::Spread {
        processors.sort(&mut domains, &processors.scatter, Lead::First);
    }
    domains
}

/// Shares out ranks to the sockets in proportion to their domains; `None` when the sockets have too few
/// domains.
fn share(
    processors: &Processors,
    candidates: &Candidates,
    order: Order,
    ranks: usize,
    near: &CpuSet,
) -> Option<DealtDomains> {
    let mut sockets = processors.groups(Kind::Package);
    let is_far = |socket: &Vec<usize>| !socket.iter().any(|cpu| near.contains(*cpu));
    sockets.sort_by_key(|socket| !near.is_empty() && is_far(socket));
    let offers: Vec<Vec<CpuSet>> = sockets
        .iter()
        .map(|socket| inside(processors, candidates, order, socket))
        .collect();
    let offered: Vec<usize> = offers.iter().map(Vec::len).collect();
    if ranks <= offered.iter().sum() {
        let shares = proportional(ranks, &offered);
        let mut domains = Vec::new();
        for (mut offer, share) in offers.into_iter().zip(&shares) {
            offer.truncate(*share);
            if order == Order::Spread {
                processors.sort(&mut offer, &processors.compact, Lead::First);
            }
            domains.append(&mut offer);
        }
        // Other layouts have their own order: figures 6 and 7 of the reference.
        if let Candidates::Sizes { size, layout, .. } = candidates
            && *layout != Layout::Compact
        {
            let list = chunks(processors.listed(*layout), *size, true);
            domains.sort_by_cached_key(|domain| list.iter().position(|other| other == domain));
        }
        return Some(DealtDomains {
            domains,
            how: DealMethod::Shared(shares),
        });
    }
    // Domains larger than any socket must span sockets: then only the machine's order makes sense.
    let Candidates::Sizes {
        size,
        shrinks: true,
        ..
    } = candidates
    else {
        return None;
    };
    if ranks.is_power_of_two() || offered.iter().all(|count| *count == 0) {
        return None;
    }
    let lens: Vec<usize> = sockets.iter().map(Vec::len).collect();
    let shares = proportional(ranks, &lens);
    let rooms = lens.iter().zip(&shares).filter(|(_, share)| **share > 0);
    let size = rooms.map(|(len, share)| len / share).min()?.min(*size);
    if size == 0 {
        return None;
    }
    let domains = sockets
        .iter()
        .zip(&shares)
        .flat_map(|(socket, share)| chunks(socket, size, false).into_iter().take(*share));
    Some(DealtDomains {
        domains: domains.collect(),
        how: DealMethod::Shrunk(shares, size),
    })
}

/// Shares out `ranks` in proportion to `weights` by largest remainders; of equal remainders the first wins.
/// No share exceeds its weight while `ranks` is at most the sum. At least one weight is not 0.
fn proportional(ranks: usize, weights: &[usize]) -> Vec<usize> {
    let total: u128 = weights.iter().map(|&weight| weight as u128).sum();
    let exact = |weight: usize| weight as u128 * ranks as u128;
    let mut shares: Vec<usize> = weights
        .iter()
        .map(|&weight| (exact(weight) / total) as usize)
        .collect();
    let mut by_remainder: Vec<usize> = (0..weights.len()).collect();
    by_remainder.sort_by_key(|&i| Reverse(exact(weights[i]) % total));
    let left = ranks - shares.iter().sum::<usize>();
    by_remainder.iter().take(left).for_each(|&i| shares[i] += 1);
    shares
}
