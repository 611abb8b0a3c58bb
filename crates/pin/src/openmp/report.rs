//! What a runtime prints under `verbose`, in the wording of the document and in today's.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Source};

use crate::openmp::Levels;
use crate::openmp::map::{Level, Map, Row};

/// What there is to report of one team.
pub(crate) struct Facts<'a> {
    pub(crate) source: Source,
    pub(crate) map: &'a Map,
    /// The mask that the process came with.
    pub(crate) mask: &'a CpuSet,
    pub(crate) respected: bool,
    /// How many of the innermost levels one place takes in.
    pub(crate) folded: usize,
    /// The threads' processors; none where they are not bound.
    pub(crate) bound: &'a [CpuSet],
}

/// The lines, without the prefix `OMP: Info #N: `.
pub(crate) fn lines(facts: &Facts<'_>, levels: Levels) -> Vec<String> {
    let lines = match levels {
        Levels::Documented => documented(facts),
        Levels::Current => current(facts),
    };
    lines
        .into_iter()
        .map(|line| format!("KMP_AFFINITY: {line}"))
        .collect()
}

fn respected(facts: &Facts<'_>) -> &'static str {
    match facts.respected {
        true => "respected",
        false => "not respected",
    }
}

/// `{0,1,2}`.
fn braces(set: &CpuSet) -> String {
    let numbers: Vec<String> = set.iter().map(|cpu| cpu.to_string()).collect();
    format!("{{{}}}", numbers.join(","))
}

fn documented(facts: &Facts<'_>) -> Vec<String> {
    let map = facts.map;
    let uniform = if map.is_uniform() {
        "Uniform"
    } else {
        "Nonuniform"
    };
    let mut lines = Vec::from([
        format!("Affinity capable, using {}", facts.source),
        format!(
            "Initial OS proc set {}:\n{}",
            respected(facts),
            braces(facts.mask)
        ),
        format!(
            "{} available OS procs - {uniform} topology of",
            map.rows.len()
        ),
        format!(
            "{} packages x {} cores/pkg x {} threads/core ({} total cores)",
            map.ratio(Level::Package),
            map.ratio(Level::Core),
            map.ratio(Level::Thread),
            map.cores()
        ),
        "OS proc to physical thread map ([] => level not in map):".to_string(),
    ]);
    let word = |level| match level {
        Level::Package => "package",
        Level::Die => "die",
        Level::Core => "core",
        Level::Thread => "thread",
    };
    let place = |row: &Row| {
        let levels = map.all.iter().zip(&row.ids);
        let words = levels.map(|(level, id)| match map.levels.contains(level) {
            true => format!("{} {id}", word(*level)),
            false => format!("[{} {id}]", word(*level)),
        });
        words.collect::<Vec<_>>().join(" ")
    };
    let maps = |row: &Row| format!("OS proc {} maps to {}", row.cpu, place(row));
    lines.extend(map.rows.iter().map(maps));
    let bound = facts.bound.iter().enumerate();
    let bound = bound.map(|(thread, cpus)| {
        format!(
            "Internal thread {thread} bound to OS proc set {}",
            braces(cpus)
        )
    });
    lines.extend(bound);
    lines
}

fn current(facts: &Facts<'_>) -> Vec<String> {
    let map = facts.map;
    let how = match facts.source {
        Source::Cpuinfo => "parsing /proc/cpuinfo.".to_string(),
        Source::Flat => "using \"flat\" OS <-> physical proc mapping.".to_string(),
        Source::CpuidGlobal | Source::CpuidLocal => "decoding x2APIC ids.".to_string(),
        other => format!("using {other}."),
    };
    let uniform = if map.is_uniform() {
        "Uniform"
    } else {
        "Nonuniform"
    };
    let mut lines = Vec::from([
        format!("Initial OS proc set {}: {}", respected(facts), facts.mask),
        how,
        format!("{} available OS procs", map.rows.len()),
        format!("{uniform} topology"),
        format!("{} ({} total cores)", shape(map), map.cores()),
        "OS proc to physical thread map:".to_string(),
    ]);
    let maps = |row: &Row| {
        let levels = map.all.iter().zip(&row.ids);
        let words = levels.map(|(level, id)| format!("{} {id} ", words(*level).0));
        let place: String = words.collect();
        format!("OS proc {} maps to {place}", row.cpu)
    };
    lines.extend(map.rows.iter().map(maps));
    if facts.folded > 0 && facts.folded < map.depth() {
        lines.push(format!(
            "Threads may migrate across {} innermost levels of machine",
            facts.folded
        ));
    }
    let bound = facts.bound.iter().enumerate();
    let bound = bound.map(|(thread, cpus)| {
        format!("pid <PID> tid <TID> thread {thread} bound to OS proc set {cpus}")
    });
    lines.extend(bound);
    lines
}

/// One and many of a level.
fn words(level: Level) -> (&'static str, &'static str) {
    match level {
        Level::Package => ("socket", "sockets"),
        Level::Die => ("die", "dice"),
        Level::Core => ("core", "cores"),
        Level::Thread => ("thread", "threads"),
    }
}

/// `2 sockets x 2 cores/socket x 2 threads/core`.
fn shape(map: &Map) -> String {
    let mut around = None;
    let mut text = String::new();
    for (level, count) in map.levels.iter().zip(&map.ratios) {
        let (one, many) = words(*level);
        let word = if *count == 1 { one } else { many };
        text += &match around {
            None => format!("{count} {word}"),
            Some(around) => format!(" x {count} {word}/{around}"),
        };
        around = Some(one);
    }
    text
}
