//! From domains to ranks: the orders.

use alloc::vec::Vec;

use oxmpi_topo::CpuSet;

use crate::cut::Cut;
use crate::intel::Order;
use crate::node::Node;

/// The domains of a job in the order of its ranks; rank `i` gets domain `i` modulo their number.
pub(crate) struct Dealt {
    /// At least one domain, none empty.
    pub(crate) domains: Vec<CpuSet>,
    /// How they were found.
    pub(crate) how: How,
}

/// How domains were dealt to ranks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// In the order of the machine, as asked.
    Compact,
    /// In proportion to the sockets: so many ranks on each.
    Bunch(Vec<usize>),
    /// In proportion to the sockets, with domains of `auto` made smaller to fit into them.
    Shrunk(Vec<usize>, usize),
    /// In the order of the machine, since the sockets have not enough whole domains.
    NoRoom,
}

/// Deals the domains of `cut` to `ranks` ranks. `shrink` allows smaller domains than `cut` says.
pub(crate) fn deal(node: &Node, cut: &Cut, order: Order, ranks: usize, shrink: bool) -> Dealt {
    let bunch = match order {
        Order::Bunch => bunch(node, cut, ranks, shrink),
        Order::Compact => None,
    };
    bunch.unwrap_or_else(|| {
        let how = if order == Order::Compact {
            How::Compact
        } else {
            How::NoRoom
        };
        Dealt {
            domains: cut.everywhere(node),
            how,
        }
    })
}

/// `None` when the sockets do not offer enough domains.
fn bunch(node: &Node, cut: &Cut, ranks: usize, shrink: bool) -> Option<Dealt> {
    let offers: Vec<Vec<CpuSet>> = node
        .sockets
        .iter()
        .map(|socket| cut.inside(node, socket))
        .collect();
    let offered: Vec<usize> = offers.iter().map(Vec::len).collect();
    let total: usize = offered.iter().sum();
    if ranks <= total {
        let shares = proportional(ranks, &offered);
        let taken = offers
            .into_iter()
            .zip(&shares)
            .flat_map(|(domains, &share)| domains.into_iter().take(share));
        return Some(Dealt {
            domains: taken.collect(),
            how: How::Bunch(shares),
        });
    }
    // Domains larger than any socket have to span sockets: only the order of the machine makes sense.
    let &Cut::Size(size) = cut else { return None };
    if !shrink || total == 0 {
        return None;
    }
    let lens: Vec<usize> = node.sockets.iter().map(CpuSet::len).collect();
    let shares = proportional(ranks, &lens);
    let fits = lens
        .iter()
        .zip(&shares)
        .filter(|(_, share)| **share > 0)
        .map(|(len, share)| len / share)
        .min()?;
    let smaller = Cut::Size(size.min(fits));
    if fits == 0 {
        return None;
    }
    let domains = node
        .sockets
        .iter()
        .zip(&shares)
        .flat_map(|(socket, &share)| smaller.inside(node, socket).into_iter().take(share))
        .collect();
    Some(Dealt {
        domains,
        how: How::Shrunk(shares, size.min(fits)),
    })
}

/// `ranks` shared out in proportion to `weights` by largest remainders, the first of equals first.
/// No share exceeds its weight as long as `ranks` does not exceed their sum. Some weight is not 0.
fn proportional(ranks: usize, weights: &[usize]) -> Vec<usize> {
    let total: u128 = weights.iter().map(|&w| w as u128).sum();
    let exact = |w: usize| w as u128 * ranks as u128;
    let mut shares: Vec<usize> = weights
        .iter()
        .map(|&w| (exact(w) / total) as usize)
        .collect();
    let mut by_remainder: Vec<usize> = (0..weights.len()).collect();
    by_remainder.sort_by_key(|&i| core::cmp::Reverse(exact(weights[i]) % total));
    let left = ranks - shares.iter().sum::<usize>();
    by_remainder.iter().take(left).for_each(|&i| shares[i] += 1);
    shares
}
