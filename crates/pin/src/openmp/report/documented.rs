//! The report in the wording of Intel's "Thread Affinity Interface (Linux* and Windows*)".

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use oxmpi_topo::CpuSet;

use crate::openmp::map::{Level, Row};
use crate::openmp::report::{Facts, respected, uniform};

/// The lines of the report; the set of processors is on a line of its own.
pub(super) fn lines(facts: &Facts<'_>) -> Vec<String> {
    let map = facts.map;
    let mut lines = Vec::from([
        line(&format_args!(
            "Affinity capable, using {}",
            facts.machine.source()
        )),
        line(&format_args!("Initial OS proc set {}:", respected(facts))),
        braces(facts.mask),
        line(&format_args!(
            "{} available OS procs - {} topology of",
            map.rows.len(),
            uniform(map)
        )),
        line(&format_args!(
            "{} packages x {} cores/pkg x {} threads/core ({} total cores)",
            map.ratio(Level::Package),
            map.ratio(Level::Core),
            map.ratio(Level::Thread),
            map.cores()
        )),
        line(&"OS proc to physical thread map ([] => level not in map):"),
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
    let maps = |row: &Row| line(&format_args!("OS proc {} maps to {}", row.cpu, place(row)));
    lines.extend(map.rows.iter().map(maps));
    let bound = facts.bound.iter().enumerate();
    lines.extend(bound.map(|(thread, cpus)| {
        let set = braces(cpus);
        line(&format_args!(
            "Internal thread {thread} bound to OS proc set {set}"
        ))
    }));
    lines
}

/// A line with the prefix of all lines.
fn line(text: &dyn core::fmt::Display) -> String {
    format!("KMP_AFFINITY: {text}")
}

/// `{0,1,2}`.
fn braces(set: &CpuSet) -> String {
    let numbers: Vec<String> = set.iter().map(|cpu| cpu.to_string()).collect();
    format!("{{{}}}", numbers.join(","))
}
