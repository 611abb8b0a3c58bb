//! What a runtime prints under `verbose`, in the wording of the document and in today's.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use oxmpi_topo::{CpuSet, Machine, Source};

use crate::openmp::map::{Level, Map, Row};
use crate::openmp::{Levels, layers};

/// What there is to report of one team.
pub(crate) struct Facts<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) map: &'a Map,
    /// The mask that the process came with.
    pub(crate) mask: &'a CpuSet,
    pub(crate) respected: bool,
    /// How many of the innermost levels one place takes in.
    pub(crate) folded: usize,
    /// The threads' processors; none where they are not bound.
    pub(crate) bound: &'a [CpuSet],
    pub(crate) is_balanced: bool,
}

/// The lines, without the prefix `OMP: Info #N: `.
pub(crate) fn lines(facts: &Facts<'_>, levels: Levels) -> Vec<String> {
    match levels {
        Levels::Documented => documented(facts),
        Levels::Current => current(facts),
    }
}

/// A line as they begin.
fn line(text: impl fmt::Display) -> String {
    format!("KMP_AFFINITY: {text}")
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

fn uniform(map: &Map) -> &'static str {
    match map.is_uniform() {
        true => "Uniform",
        false => "Nonuniform",
    }
}

fn documented(facts: &Facts<'_>) -> Vec<String> {
    let map = facts.map;
    let mut lines = Vec::from([
        line(format_args!(
            "Affinity capable, using {}",
            facts.machine.source()
        )),
        line(format_args!("Initial OS proc set {}:", respected(facts))),
        braces(facts.mask),
        line(format_args!(
            "{} available OS procs - {} topology of",
            map.rows.len(),
            uniform(map)
        )),
        line(format_args!(
            "{} packages x {} cores/pkg x {} threads/core ({} total cores)",
            map.ratio(Level::Package),
            map.ratio(Level::Core),
            map.ratio(Level::Thread),
            map.cores()
        )),
        line("OS proc to physical thread map ([] => level not in map):"),
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
    let maps = |row: &Row| line(format_args!("OS proc {} maps to {}", row.cpu, place(row)));
    lines.extend(map.rows.iter().map(maps));
    let bound = facts.bound.iter().enumerate();
    lines.extend(bound.map(|(thread, cpus)| {
        let set = braces(cpus);
        line(format_args!(
            "Internal thread {thread} bound to OS proc set {set}"
        ))
    }));
    lines
}

/// Threads that LLVM's runtime keeps for itself: they have numbers behind the first thread's.
const HIDDEN: usize = 8;

fn current(facts: &Facts<'_>) -> Vec<String> {
    let map = facts.map;
    let how = match facts.machine.source() {
        Source::Cpuinfo => "parsing /proc/cpuinfo.".to_string(),
        Source::Flat => "using \"flat\" OS <-> physical proc mapping.".to_string(),
        Source::CpuidGlobal | Source::CpuidLocal => "decoding x2APIC ids.".to_string(),
        other => format!("using {other}."),
    };
    let mut lines = Vec::from([
        line(format_args!(
            "Initial OS proc set {}: {}",
            respected(facts),
            Runs(facts.mask)
        )),
        line(how),
        line(format_args!("{} available OS procs", map.rows.len())),
        line(format_args!("{} topology", uniform(map))),
    ]);
    for (layer, level) in layers::equivalent(facts.machine, map) {
        let (name, level) = (layer.name(), words(level).0);
        lines.push(line(format_args!(
            "topology layer \"{name}\" is equivalent to \"{level}\"."
        )));
    }
    lines.push(line(format_args!(
        "{} ({} total cores)",
        shape(map),
        map.cores()
    )));
    lines.push(line("OS proc to physical thread map:"));
    let maps = |row: &Row| {
        let levels = map.all.iter().zip(&row.ids);
        let words = levels.map(|(level, id)| format!("{} {id} ", words(*level).0));
        let place: String = words.collect();
        line(format_args!("OS proc {} maps to {place}", row.cpu))
    };
    lines.extend(map.rows.iter().map(maps));
    if facts.folded > 0 && facts.folded < map.depth() {
        lines.push(line(format_args!(
            "Threads may migrate across {} innermost levels of machine",
            facts.folded
        )));
    }
    let number = |thread: usize| match thread > 0 && !facts.is_balanced {
        true => thread + HIDDEN,
        false => thread,
    };
    let bound = facts.bound.iter().enumerate();
    lines.extend(bound.map(|(thread, cpus)| {
        let (thread, set) = (number(thread), Runs(cpus));
        line(format_args!(
            "pid <PID> tid <TID> thread {thread} bound to OS proc set {set}"
        ))
    }));
    lines
}

/// `0-3,5,6`: numbers, three and more in a row as a range.
struct Runs<'a>(&'a CpuSet);

impl fmt::Display for Runs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut numbers = self.0.iter().peekable();
        let mut comma = "";
        while let Some(first) = numbers.next() {
            let mut last = first;
            while let Some(next) = numbers.next_if_eq(&(last + 1)) {
                last = next;
            }
            match last - first {
                0 => write!(f, "{comma}{first}")?,
                1 => write!(f, "{comma}{first},{last}")?,
                _ => write!(f, "{comma}{first}-{last}")?,
            }
            comma = ",";
        }
        Ok(())
    }
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
