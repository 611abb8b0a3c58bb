//! Why ranks were placed so, in words.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use oxmpi_topo::CpuSet;

use crate::cut::Cut;
use crate::deal::{Dealt, How};
use crate::intel::Domain;
use crate::node::Node;
use crate::settings::Settings;

/// How `settings` led to `cut`, and `cut` to `dealt`, for `ranks` ranks on `node`.
pub(crate) fn explain(
    settings: &Settings,
    node: &Node,
    cut: &Cut,
    dealt: &Dealt,
    ranks: usize,
) -> String {
    let all = node.compact.len();
    let mut why = format!("{} on {}: ", count(ranks, "rank"), count(all, "processor"));
    why += &match (settings.domain, cut) {
        (Domain::Auto, Cut::Size(size)) if ranks > all => {
            format!("domain size auto = {size}, the smallest")
        }
        (Domain::Auto, Cut::Size(size)) => format!("domain size auto = {all}/{ranks} = {size}"),
        (_, Cut::Size(size)) => format!("domain size {size}"),
        (domain, Cut::Shapes(domains)) => {
            format!("{}, one for each {domain}", count(domains.len(), "domain"))
        }
    };
    let sockets = node.sockets.len();
    why += &match &dealt.how {
        How::Compact => {
            "; order compact: domains follow each other through the machine".to_string()
        }
        How::Bunch(_) if sockets == 1 => {
            "; order bunch: side by side on the one socket".to_string()
        }
        How::Bunch(shares) => format!(
            "; order bunch: {} ranks on the {sockets} sockets",
            joined(shares)
        ),
        How::Shrunk(shares, size) => format!(
            "; order bunch: {} ranks on the {sockets} sockets, so that domains shrink to {size} to fit into them",
            joined(shares)
        ),
        How::NoRoom => {
            "; order bunch becomes compact: the sockets have no room for so many whole domains"
                .to_string()
        }
    };
    why.push('.');
    let domains = dealt.domains.len();
    if ranks > domains {
        why += &format!(" The ranks share {} in turn.", count(domains, "domain"));
    }
    let used = dealt
        .domains
        .iter()
        .take(ranks)
        .map(CpuSet::len)
        .sum::<usize>();
    if used < all {
        why += &format!(
            " {} of {} stay unused.",
            all - used,
            count(all, "processor")
        );
    }
    why
}

fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

fn joined(shares: &[usize]) -> String {
    shares
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" + ")
}
