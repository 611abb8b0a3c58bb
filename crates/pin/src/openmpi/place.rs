//! Places ranks by Open MPI's options.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use oxmpi_topo::{CpuSet, Kind, Machine};

use super::{BindTo, Level, MapTarget, Mapping, MappingError};
use crate::placement::{Warning, WarningCode, count};
use crate::processors::Processors;

/// The domains that ranks take in turn (rank `i` takes domain `i` modulo their number), and the reason in
/// words. At least one domain. `allowed` are the processors of the job, not empty.
pub(crate) fn place(
    machine: &Machine,
    allowed: &CpuSet,
    mapping: &Mapping,
    ranks: usize,
    warnings: &mut Vec<Warning>,
) -> (Vec<CpuSet>, String) {
    if let Err(wrong) = mapping.check_options() {
        let text = format!("{wrong}; --bind-to is ignored");
        let args: [&dyn fmt::Display; 2] = [&"--bind-to", &"--map-by"];
        warnings.push(Warning::new(WarningCode::SettingOverridden, args, text));
    }
    let (one_by_one, usable) = usable(machine, allowed, mapping, warnings);
    let of_set = match &mapping.cpu_set {
        Some(numbers) => format!(" (logical numbers {numbers})"),
        None => String::new(),
    };
    let ranks_on = format!(
        "{} on {}{of_set}",
        count(ranks, "rank"),
        count(usable.len(), "processor")
    );
    if mapping.elements().is_none() && !one_by_one.is_empty() {
        match mapping.bind_to {
            Some(BindTo::OrderedCpuList) => {
                let why = format!("{ranks_on}: each bound to one, in the order of the list.");
                return (one_by_one, why);
            }
            Some(BindTo::CpuList) => {
                let why = format!("{ranks_on}: each bound to all processors of the list.");
                return (Vec::from([usable]), why);
            }
            _ => {}
        }
    }
    let Some(level) = mapping.level() else {
        let why = format!("{ranks_on}: not bound, as asked; every rank may use all of {usable}.");
        return (Vec::from([usable]), why);
    };
    let processors = Processors::new(machine, &usable);
    let level = there(level, machine, warnings);
    let parts = level.parts(&processors);
    let by = mapping.by().unwrap_or(MapTarget::Slot);
    let each = mapping.elements().unwrap_or(1) as usize;
    if each > parts.len() {
        warnings.push(too_many_parts(each, level, parts.len()));
    }
    let each = each.min(parts.len());
    let objects = match by {
        MapTarget::Slot | MapTarget::Node => Vec::from([usable.clone()]),
        MapTarget::Level(by) => there(by, machine, warnings).parts(&processors),
    };
    let parts_of = |object: &CpuSet| {
        let here = parts.iter().filter(|part| part.intersects(object));
        let here: Vec<&CpuSet> = here.collect();
        let groups = here.chunks_exact(each);
        groups.map(union).collect::<Vec<CpuSet>>()
    };
    let mut offers: Vec<Vec<CpuSet>> = objects.iter().map(parts_of).collect();
    // If parts are larger than the level that ranks are mapped by, ranks take them one after the other.
    if offers.iter().all(Vec::is_empty) {
        offers = Vec::from([parts_of(&usable)]);
    }
    let domains = interleaved(&offers);
    let several = match each {
        1 => String::new(),
        each => format!(" ({each} each)"),
    };
    let mut why = format!(
        "{ranks_on}: mapped by {by}, bound to {level}{several}, which makes {}.",
        count(domains.len(), "place")
    );
    if ranks > domains.len() {
        why += " The ranks share them in turn.";
    }
    (domains, why)
}

/// The processors of `--cpu-set` that the job may use, one by one in the order of the option and as a set; without the
/// option, none and all that the job may use.
fn usable(
    machine: &Machine,
    allowed: &CpuSet,
    mapping: &Mapping,
    warnings: &mut Vec<Warning>,
) -> (Vec<CpuSet>, CpuSet) {
    let Some(list) = &mapping.cpu_set else {
        return (Vec::new(), allowed.clone());
    };
    if let Err(unknown) = mapping.check_processors(machine) {
        let text = format!("{unknown}; they are ignored");
        if let MappingError::UnknownProcessors { numbers, .. } = &unknown {
            warnings.push(Warning::new(WarningCode::NoSuchProcessor, [numbers], text));
        }
    }
    let pus = machine.objects(Kind::Pu).map(|pu| pu.cpus().first());
    let pus: Vec<Option<usize>> = pus.collect();
    let listed = list
        .numbers()
        .iter()
        .filter_map(|number| *pus.get(*number)?);
    let listed: Vec<usize> = listed.collect();
    let chosen: CpuSet = listed.iter().copied().collect();
    let outside = &chosen - allowed;
    if !outside.is_empty() {
        warnings.push(Warning::new(WarningCode::NotAllowed, [&outside, &allowed], format!(
                "the system's processors {outside} of --cpu-set {list} are not allowed ({allowed} are) and are \
                 ignored; widen the job's affinity mask or change the option"
            )));
    }
    let usable = &chosen & allowed;
    if usable.is_empty() {
        return (Vec::new(), allowed.clone());
    }
    let one_by_one = listed.into_iter().filter(|cpu| usable.contains(*cpu));
    (one_by_one.map(CpuSet::one).collect(), usable)
}

/// The level, or `core` with a warning if the machine has no such level.
fn there(level: Level, machine: &Machine, warnings: &mut Vec<Warning>) -> Level {
    let there = level.on(machine);
    if there != level {
        warnings.push(Warning::new(
            WarningCode::NoSuchLevel,
            [&level],
            format!("this machine has no information on any {level}; {there} is used instead"),
        ));
    }
    there
}

fn too_many_parts(asked: usize, level: Level, count: usize) -> Warning {
    Warning::new(
        WarningCode::SizeClipped,
        [&asked, &count],
        format!(
            "PE={asked} exceeds the number of allowed parts ({level}: {count}): each rank gets all of them; reduce it, or \
             widen --cpu-set or the job's affinity mask"
        ),
    )
}

fn union(parts: &[&CpuSet]) -> CpuSet {
    parts.iter().fold(CpuSet::new(), |all, part| &all | *part)
}

/// The first domain of each list, then the second of each list, and so on.
fn interleaved(offers: &[Vec<CpuSet>]) -> Vec<CpuSet> {
    let rounds = offers.iter().map(Vec::len).max().unwrap_or(0);
    (0..rounds)
        .flat_map(|round| offers.iter().filter_map(move |offer| offer.get(round)))
        .cloned()
        .collect()
}
