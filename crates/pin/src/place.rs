//! The whole way from settings to a placement.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Machine};

use crate::cut::Cut;
use crate::deal::deal;
use crate::explain::explain;
use crate::intel::{Domain, Shape};
use crate::node::Node;
use crate::placement::{Placement, RankPlace, Warning, WarningCode};
use crate::settings::Settings;

/// Places `ranks` ranks on `machine`.
///
/// `inherited` is the mask that the launcher itself was given (by a cgroup, `taskset` or a batch
/// system), as the operating system numbers processors; `None` stands for all processors. Ranks
/// never leave it. More ranks than domains start again at the first domain. Nothing makes it fail:
/// what cannot be done as asked is done as nearly as possible, with a warning.
///
/// The rules are those of Intel's Developer Reference for Linux, `I_MPI_PIN_DOMAIN` and
/// `I_MPI_PIN_ORDER`. Where it is silent: a size that does not divide the processors leaves the rest
/// unused; when the sockets have not enough whole domains, `bunch` becomes `compact`, except that
/// domains of size `auto` shrink to fit into the sockets (as in Intel MPI, which leaves powers of two
/// to `compact`).
///
/// # Cost
/// About ranks times processors; allocates. For set-up only.
pub fn place(
    machine: &Machine,
    settings: &Settings,
    inherited: Option<&CpuSet>,
    ranks: u32,
) -> Placement {
    let mut warnings = Vec::new();
    let (allowed, mut explanation) = allowed(machine, inherited, &mut warnings);
    let dealt = if ranks == 0 || allowed.is_empty() {
        explanation += "There is nothing to place.";
        Vec::new()
    } else {
        let (domains, why) = domains(machine, settings, &allowed, ranks as usize, &mut warnings);
        explanation += &why;
        domains
    };
    let places = (0..ranks).zip(dealt.iter().cycle());
    let ranks = places
        .map(|(rank, cpus)| RankPlace {
            rank,
            cpus: cpus.clone(),
        })
        .collect();
    Placement {
        ranks,
        allowed,
        explanation,
        warnings,
    }
}

/// The processors that the job may use, and a sentence if those are not all.
fn allowed(
    machine: &Machine,
    inherited: Option<&CpuSet>,
    warnings: &mut Vec<Warning>,
) -> (CpuSet, String) {
    let all = machine.online() & machine.allowed();
    let mask = inherited.unwrap_or(&all);
    let left = &all & mask;
    if left.is_empty() {
        let text = format!(
            "the inherited mask ({mask}) names no processor of this machine ({all}); it is not \
             respected: start the job with a mask of this machine's processors to insist"
        );
        let args = [mask.to_string(), all.to_string()].into();
        warnings.push(Warning {
            code: WarningCode::MaskElsewhere,
            args,
            text,
        });
        return (all.clone(), String::new());
    }
    let online = machine.online().len();
    let why = match left.len() == online {
        true => String::new(),
        false => format!(
            "The inherited mask leaves {left}: {} of {online} processors. ",
            left.len()
        ),
    };
    (left, why)
}

/// The domains in the order of ranks, and why they are these.
fn domains(
    machine: &Machine,
    settings: &Settings,
    allowed: &CpuSet,
    ranks: usize,
    warnings: &mut Vec<Warning>,
) -> (Vec<CpuSet>, String) {
    let unpinned = |reason: &str| {
        let why = format!("{reason}: not pinned, every rank may use all of {allowed}.");
        ([allowed.clone()].into(), why)
    };
    match settings.domain {
        _ if !settings.pin => return unpinned("Pinning is off"),
        Domain::Shape(Shape::Node) => return unpinned("Domain node is the whole node"),
        Domain::Auto if ranks == 1 => {
            return unpinned("Domain size auto of one rank is the whole node");
        }
        _ => {}
    }
    let node = Node::new(machine, allowed.clone());
    if let Domain::Size(asked) = settings.domain
        && asked as usize > allowed.len()
    {
        let text = format!(
            "a domain of {asked} processors was asked, {} are allowed ({allowed}): each domain gets \
             all of them; allow more processors (mask of the job) to insist",
            allowed.len()
        );
        let args = [asked.to_string(), allowed.len().to_string()].into();
        warnings.push(Warning {
            code: WarningCode::SizeClipped,
            args,
            text,
        });
    }
    let cut = Cut::new(machine, &node, settings.domain, ranks);
    let shrink = settings.domain == Domain::Auto && !ranks.is_power_of_two();
    let dealt = deal(&node, &cut, settings.order, ranks, shrink);
    let why = explain(settings, &node, &cut, &dealt, ranks);
    (dealt.domains, why)
}
