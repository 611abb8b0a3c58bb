//! The sentences that explain a placement by the rules of Intel MPI 2021.

use alloc::format;
use alloc::string::String;

use oxmpi_topo::CpuSet;

use crate::intel::{Domain, Order, Size};
use crate::placement::count;

/// Explains how `domains` for `ranks` ranks were made from `all` processors. `domain` is the setting, `None`
/// for a list of processors; `order` is `None` where the order has no effect.
pub(super) fn explain(
    domain: Option<&Domain>,
    order: Option<Order>,
    all: usize,
    domains: &[CpuSet],
    ranks: usize,
) -> String {
    let mut why = format!(
        "{} on {} by the rules of Intel MPI 2021: ",
        count(ranks, "rank"),
        count(all, "processor")
    );
    if domains.is_empty() {
        return why + "no rank is pinned.";
    }
    let offered = count(domains.len(), "domain");
    let sized = |size: &str| match domains.iter().map(CpuSet::len).max() {
        Some(most) => format!(
            "{offered} of up to {}, domain size {size}",
            count(most, "processor")
        ),
        None => String::new(),
    };
    why += &match domain {
        None => format!(
            "{} of the list, one for each rank",
            count(domains.len(), "processor")
        ),
        Some(Domain::Masks(_)) => format!("{offered} as the masks say"),
        Some(shape @ Domain::Shape(_)) => format!("{offered}, one for each {shape}"),
        Some(Domain::Size(Size::Auto, _)) if ranks > all => sized("auto, the smallest"),
        Some(Domain::Size(Size::Auto, _)) => sized(&format!("auto = {all}/{ranks}")),
        Some(size) => sized(&format!("{size}")),
    };
    why += &match (domain, order) {
        (None | Some(Domain::Masks(_)), _) => String::new(),
        (_, Some(order)) => format!("; order {order}"),
        (_, None) => "; in the order of the machine, as always on a part of it".into(),
    };
    why.push('.');
    if ranks > domains.len() {
        why += &format!(" The ranks share {offered} in turn.");
    }
    why
}
