//! The sentences that explain a placement by the documented rules.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Kind};

use super::deal::{Candidates, DealMethod, DealtDomains};
use crate::intel::{Domain, Order, Size};
use crate::placement::count;
use crate::processors::Processors;

/// Explains how `domain` led to `candidates`, and how these were dealt to `ranks` ranks.
pub(super) fn explain(
    domain: &Domain,
    order: Order,
    processors: &Processors,
    candidates: &Candidates,
    dealt: &DealtDomains,
    ranks: usize,
) -> String {
    let all = processors.compact.len();
    let mut why = format!("{} on {}: ", count(ranks, "rank"), count(all, "processor"));
    why += &match (domain, candidates) {
        (Domain::Size(Size::Auto, _), Candidates::Sizes { size, .. }) if ranks > all => {
            format!("domain size auto = {size}, the smallest")
        }
        (Domain::Size(Size::Auto, _), Candidates::Sizes { size, .. }) => {
            format!("domain size auto = {all}/{ranks} = {size}")
        }
        (_, Candidates::Sizes { size, .. }) => format!("domain size {size}"),
        (domain, Candidates::Shapes(domains)) => {
            format!("{}, one for each {domain}", count(domains.len(), "domain"))
        }
    };
    if let Domain::Size(_, layout) = domain
        && *layout != crate::intel::Layout::Compact
    {
        why += &format!(", layout {layout}");
    }
    let sockets = processors.groups(Kind::Package).len();
    let shares = |shares: &[usize]| {
        format!(
            "; order {order}: {} ranks on the {sockets} sockets",
            joined(shares)
        )
    };
    why += &match &dealt.how {
        DealMethod::Everywhere => format!("; order {order}: {}", meaning(order)),
        DealMethod::Shared(_) if sockets == 1 && order == Order::Bunch => {
            "; order bunch: side by side on the one socket".to_string()
        }
        DealMethod::Shared(_) if sockets == 1 => {
            "; order spread: far from each other on the one socket".to_string()
        }
        DealMethod::Shared(each) => shares(each),
        DealMethod::Shrunk(each, size) => format!(
            "{}, so that domains shrink to {size} to fit into them",
            shares(each)
        ),
        DealMethod::NoRoom => {
            format!("; order {order} becomes compact: the sockets have too few whole domains")
        }
    };
    why.push('.');
    if let (Candidates::Sizes { size, .. }, DealMethod::Everywhere | DealMethod::NoRoom) =
        (candidates, &dealt.how)
        && let Some(rest) = dealt.domains.iter().find(|domain| domain.len() < *size)
    {
        why += &format!(
            " One domain has only what is left, {} ({rest}).",
            count(rest.len(), "processor")
        );
    }
    let domains = dealt.domains.len();
    if ranks > domains {
        why += &format!(" The ranks share {} in turn.", count(domains, "domain"));
    }
    let taken = dealt.domains.iter().take(ranks);
    let used = taken.map(CpuSet::len).sum::<usize>();
    if used < all {
        why += &format!(
            " {} of {} stay unused.",
            all - used,
            count(all, "processor")
        );
    }
    why
}

fn meaning(order: Order) -> &'static str {
    match order {
        Order::Range => "domains follow the system's numbers of their first processors",
        Order::Scatter => "domains that follow each other are far apart",
        _ => "domains follow each other through the machine",
    }
}

fn joined(shares: &[usize]) -> String {
    let shares = shares.iter().map(ToString::to_string);
    shares.collect::<Vec<_>>().join(" + ")
}
