//! Places ranks by Open MPI's `--cpu-set`, `--map-by` and `--bind-to`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use oxmpi_text::{Error, Span};
use oxmpi_topo::{CpuSet, Kind, Machine};

use super::{BindTo, By, Level, MapBy};
use crate::placement::{Warning, WarningCode, count};
use crate::processors::Processors;

/// The options of one job. Defaults of options that are not given:
///
/// - Ranks are mapped by `slot`: they take the parts they are bound to in the order of the machine.
/// - Ranks are bound to what they are mapped by; with `slot`, `node` or `PE=n` to cores, and with nothing but `--cpu-set` to
///   one hardware thread each.
///
/// Open MPI's own defaults depend on its release and on the number of ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// `--cpu-set`: the processors of the job by their logical numbers (their index in the order of the
    /// machine, as `lstopo` counts them), as a set: the order in the option does not matter.
    pub cpu_set: Option<CpuSet>,
    /// `--map-by`.
    pub map_by: Option<MapBy>,
    /// `--bind-to`.
    pub bind_to: Option<BindTo>,
}

/// Reads `--cpu-set`: numbers and ranges such as `0-3,8`.
///
/// # Errors
/// A syntax error, or an empty list.
pub fn cpu_set(text: &str) -> Result<CpuSet, Error> {
    let set = CpuSet::parse_list(text).map_err(|error| error.cause())?;
    match set.is_empty() {
        true => Err(Error::new(Span::whole(text), CPU_SET)),
        false => Ok(set),
    }
}

const CPU_SET: &str = "logical numbers of processors such as 0-3,8";

/// Numbers of `--cpu-set` that the machine does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownProcessors {
    /// The numbers that are missing.
    pub numbers: CpuSet,
    /// The number of processors of the machine.
    pub count: usize,
}

impl fmt::Display for UnknownProcessors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { numbers, count } = self;
        let last = count.saturating_sub(1);
        write!(
            f,
            "no processors {numbers} here: expected logical numbers from 0 to {last}, the {count} processors of this machine \
             in its order"
        )
    }
}

impl core::error::Error for UnknownProcessors {}

impl Mapping {
    /// Checks that the machine has all processors of `--cpu-set`. Placing leaves out missing ones, with a
    /// warning.
    ///
    /// # Errors
    /// The missing processors.
    pub fn check(&self, machine: &Machine) -> Result<(), UnknownProcessors> {
        let count = machine.objects(Kind::Pu).count();
        let wanted = self.cpu_set.iter().flatten();
        let numbers: CpuSet = wanted.filter(|number| *number >= count).collect();
        match numbers.is_empty() {
            true => Ok(()),
            false => Err(UnknownProcessors { numbers, count }),
        }
    }

    /// The name of an option that is given, for warnings about what it overrides; empty if none is given.
    pub fn option(&self) -> &'static str {
        let given = [
            (self.bind_to.is_some(), "--bind-to"),
            (self.map_by.is_some(), "--map-by"),
            (self.cpu_set.is_some(), "--cpu-set"),
        ];
        let option = given.into_iter().find(|(is_given, _)| *is_given);
        option.map_or("", |(_, option)| option)
    }

    /// Whether the placement depends on the caches of the machine.
    pub(crate) fn needs_caches(&self) -> bool {
        let by = self.map_by.and_then(|map_by| match map_by.by {
            By::Level(level) => Some(level),
            By::Slot | By::Node => None,
        });
        let levels = [by, self.level()];
        levels.into_iter().flatten().any(Level::is_cache)
    }

    /// The level that each rank is bound to; `None` if ranks are not bound.
    fn level(&self) -> Option<Level> {
        let parts = self.map_by.and_then(|map_by| map_by.parts);
        match (self.bind_to, self.map_by.map(|map_by| map_by.by)) {
            (Some(BindTo::None), _) => None,
            (Some(BindTo::Level(level)), _) => Some(level),
            (None, Some(By::Level(level))) if parts.is_none() => Some(level),
            (None, None) if self.cpu_set.is_some() => Some(Level::HwThread),
            (None, _) => Some(Level::Core),
        }
    }
}

/// The domains that ranks take in turn (rank `i` takes domain `i` modulo their number), and the reason in
/// words. At least one domain. `allowed` are the processors of the job, not empty.
pub(crate) fn place(
    machine: &Machine,
    allowed: &CpuSet,
    mapping: &Mapping,
    ranks: usize,
    warnings: &mut Vec<Warning>,
) -> (Vec<CpuSet>, String) {
    let usable = usable(machine, allowed, mapping, warnings);
    let of_set = match &mapping.cpu_set {
        Some(numbers) => format!(" (logical numbers {numbers})"),
        None => String::new(),
    };
    let ranks_on = format!(
        "{} on {}{of_set}",
        count(ranks, "rank"),
        count(usable.len(), "processor")
    );
    let Some(level) = mapping.level() else {
        let why = format!("{ranks_on}: not bound, as asked; every rank may use all of {usable}.");
        return (Vec::from([usable]), why);
    };
    let processors = Processors::new(machine, &usable);
    let level = there(level, machine, warnings);
    let parts = level.parts(&processors);
    let by = mapping.map_by.map_or(By::Slot, |map_by| map_by.by);
    let each = mapping.map_by.and_then(|map_by| map_by.parts).unwrap_or(1) as usize;
    if each > parts.len() {
        warnings.push(too_many_parts(each, level, parts.len()));
    }
    let each = each.min(parts.len());
    let objects = match by {
        By::Slot | By::Node => Vec::from([usable.clone()]),
        By::Level(by) => there(by, machine, warnings).parts(&processors),
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
    let domains = in_turn(&offers);
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

/// The processors of `--cpu-set` that the job may use; without the option, all that it may use.
fn usable(
    machine: &Machine,
    allowed: &CpuSet,
    mapping: &Mapping,
    warnings: &mut Vec<Warning>,
) -> CpuSet {
    let Some(numbers) = &mapping.cpu_set else {
        return allowed.clone();
    };
    if let Err(unknown) = mapping.check(machine) {
        warnings.push(Warning::new(
            WarningCode::NoSuchProcessor,
            [&unknown.numbers],
            format!("--cpu-set: {unknown}; they are ignored"),
        ));
    }
    let pus = machine.objects(Kind::Pu).filter_map(|pu| pu.cpus().first());
    let chosen = pus
        .enumerate()
        .filter(|(place, _)| numbers.contains(*place));
    let chosen: CpuSet = chosen.map(|(_, cpu)| cpu).collect();
    let outside = &chosen - allowed;
    if !outside.is_empty() {
        warnings.push(Warning::new(WarningCode::NotAllowed, [&outside, &allowed], format!(
                "the system's processors {outside} of --cpu-set {numbers} are not allowed ({allowed} are) and are \
                 ignored; widen the job's affinity mask or change the option"
            )));
    }
    let usable = &chosen & allowed;
    match usable.is_empty() {
        true => allowed.clone(),
        false => usable,
    }
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
fn in_turn(offers: &[Vec<CpuSet>]) -> Vec<CpuSet> {
    let turns = offers.iter().map(Vec::len).max().unwrap_or(0);
    (0..turns)
        .flat_map(|turn| offers.iter().filter_map(move |offer| offer.get(turn)))
        .cloned()
        .collect()
}
