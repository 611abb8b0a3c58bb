//! The report in the wording of LLVM's runtimes, 14 to 19.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use oxmpi_topo::{CpuSet, Source};

use crate::openmp::layers;
use crate::openmp::map::{Level, Map, Row};
use crate::openmp::report::{BindingSource, Facts, respected, uniform};

/// Internal threads of the runtime: their numbers follow that of the first thread.
const HIDDEN: usize = 8;

/// The lines of the report, with `<PID>` and `<TID>` for the numbers of processes and threads.
pub(super) fn lines(facts: &Facts<'_>) -> Vec<String> {
    let how = match facts.machine.source() {
        Source::Cpuinfo => "parsing /proc/cpuinfo.".to_string(),
        Source::Flat => "using \"flat\" OS <-> physical proc mapping.".to_string(),
        Source::CpuidGlobal | Source::CpuidLocal => "decoding x2APIC ids.".to_string(),
        other => format!("using {other}."),
    };
    let mut lines = Vec::new();
    if facts.binding_source != BindingSource::Disabled {
        let mask = Runs(facts.mask);
        lines.push(format!(
            "KMP_AFFINITY: Initial OS proc set {}: {mask}",
            respected(facts)
        ));
    }
    lines.push(format!("KMP_AFFINITY: {how}"));
    match facts.whole {
        Some(whole) => {
            lines.extend(topology("KMP_AFFINITY", facts, whole));
            lines.extend(topology("KMP_HW_SUBSET", facts, facts.map));
        }
        None => lines.extend(topology("KMP_AFFINITY", facts, facts.map)),
    }
    // The settings that made the places, bound the first thread, and bound the other threads.
    let [places, first, others] = match facts.binding_source {
        BindingSource::Places => ["OMP_PLACES", "OMP_PROC_BIND", "OMP_PROC_BIND"],
        BindingSource::Policy => ["KMP_AFFINITY", "KMP_AFFINITY", "OMP_PROC_BIND"],
        _ => ["KMP_AFFINITY"; 3],
    };
    let is_bound = !matches!(
        facts.binding_source,
        BindingSource::None | BindingSource::Disabled
    );
    if is_bound && facts.folded > 0 && facts.folded < facts.map.depth() {
        lines.push(format!(
            "{places}: Threads may migrate across {} innermost levels of machine",
            facts.folded
        ));
    }
    if let Some(taken) = facts.taken {
        lines.extend(topology("OMP_PLACES", facts, taken));
    }
    let hidden = match facts.binding_source {
        BindingSource::Balanced => 0,
        _ => HIDDEN,
    };
    let bound = facts.bound.iter().enumerate();
    lines.extend(bound.map(|(thread, cpus)| {
        let (name, number) = match thread {
            0 => (first, 0),
            _ => (others, thread + hidden),
        };
        let set = Runs(cpus);
        format!("{name}: pid <PID> tid <TID> thread {number} bound to OS proc set {set}")
    }));
    lines
}

/// The lines about a map, under the name of the setting that made it.
fn topology(name: &str, facts: &Facts<'_>, map: &Map) -> Vec<String> {
    let line = |text: fmt::Arguments<'_>| format!("{name}: {text}");
    let is_whole = facts.binding_source != BindingSource::Disabled;
    let mut lines = Vec::from([
        line(format_args!("{} available OS procs", map.rows.len())),
        line(format_args!("{} topology", uniform(map))),
    ]);
    if is_whole {
        let layers = layers::equivalent(facts.machine, map).into_iter();
        lines.extend(layers.map(|(layer, level)| {
            let (layer, level) = (layer.name(), words(level).0);
            line(format_args!(
                "topology layer \"{layer}\" is equivalent to \"{level}\"."
            ))
        }));
    }
    lines.push(line(format_args!(
        "{} ({} total cores)",
        shape(map),
        map.cores()
    )));
    if is_whole {
        lines.push(line(format_args!("OS proc to physical thread map:")));
        let maps = |row: &Row| {
            let levels = map.all.iter().zip(&row.ids);
            let words = levels.map(|(level, id)| format!("{} {id} ", words(*level).0));
            let place: String = words.collect();
            line(format_args!("OS proc {} maps to {place}", row.cpu))
        };
        lines.extend(map.rows.iter().map(maps));
    }
    lines
}

/// A set of numbers as `0-3,5,6`: three or more consecutive numbers form a range.
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

/// Singular and plural of a level's name.
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
        let (singular, plural) = words(*level);
        let word = if *count == 1 { singular } else { plural };
        text += &match around {
            None => format!("{count} {word}"),
            Some(around) => format!(" x {count} {word}/{around}"),
        };
        around = Some(singular);
    }
    text
}
