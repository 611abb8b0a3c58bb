//! [`place`]: from settings and a machine to the placement of all ranks of a node.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Machine};

use crate::placement::{Placement, RankPlace, Warning, WarningCode};
use crate::settings::{Compat, Settings};
use crate::{documented, intel2021, openmpi};

/// Places `ranks` ranks on `machine`.
///
/// `inherited` is the affinity mask of the launcher itself (from a cgroup, `taskset` or a batch system), by
/// the operating system's numbers; `None` means all processors. Ranks stay inside it unless the settings say
/// otherwise. If there are more ranks than domains, ranks start again at the first domain. Placing never
/// fails: a request that cannot be met is met as nearly as possible, with a warning.
///
/// The rules are those that [`Settings::compat`] names.
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
    let (mut allowed, mut explanation) = allowed(machine, settings, inherited, &mut warnings);
    let dealt = if ranks == 0 || allowed.is_empty() {
        explanation += "There is nothing to place.";
        Vec::new()
    } else if !settings.pin {
        explanation += &format!("Pinning is off: not pinned, every rank may use all of {allowed}.");
        vec![allowed.clone()]
    } else if let Some(mapping) = &settings.mapping {
        let (domains, why) =
            openmpi::place(machine, &allowed, mapping, ranks as usize, &mut warnings);
        explanation += &why;
        domains
    } else if settings.compat == Compat::Documented {
        let (domains, why) =
            documented::place(machine, &allowed, settings, ranks as usize, &mut warnings);
        explanation += &why;
        domains
    } else {
        let (domains, why) =
            intel2021::place(machine, &allowed, settings, ranks as usize, &mut warnings);
        let domains = domains.unwrap_or_else(|| vec![allowed.clone()]);
        explanation += &why;
        // The launcher of Intel MPI 2021 does not cut masks and lists to the inherited mask.
        allowed = domains
            .iter()
            .fold(allowed, |allowed, domain| &allowed | domain);
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

/// The processors that the job may use, and a sentence if these are not all.
fn allowed(
    machine: &Machine,
    settings: &Settings,
    inherited: Option<&CpuSet>,
    warnings: &mut Vec<Warning>,
) -> (CpuSet, String) {
    let all = machine.online() & machine.allowed();
    let mask = inherited.unwrap_or(&all);
    let left = &all & mask;
    if left.is_empty() {
        let text = format!(
            "the inherited mask ({mask}) has no processor of this machine ({all}) and is ignored; \
             start the job with a mask of this machine's processors"
        );
        warnings.push(Warning::new(WarningCode::MaskElsewhere, [mask, &all], text));
        return (all.clone(), String::new());
    }
    let online = machine.online().len();
    if left.len() == online {
        return (left, String::new());
    }
    if !settings.respect_cpuset {
        let why = format!("The inherited mask {left} is not respected, as asked. ");
        return (machine.online().clone(), why);
    }
    let why = format!(
        "The inherited mask leaves {left}: {} of {online} processors. ",
        left.len()
    );
    (left, why)
}
