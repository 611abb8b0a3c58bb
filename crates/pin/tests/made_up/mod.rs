//! The made-up machines of recordings of runtimes, and the columns of the recordings.

use std::collections::BTreeMap;

use oxmpi_topo::Machine;

/// The recordings; the first lines describe the columns.
pub(crate) const ROWS: &str = include_str!("../openmp.txt");

/// The columns of each line that is not a comment.
pub(crate) fn rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').collect())
}

/// A machine as the text of /proc/cpuinfo would show it.
fn machine(processors: &str) -> Machine {
    let record = |processor: &str| {
        let [cpu, package, core, thread] =
            processor.split(':').collect::<Vec<_>>().try_into().unwrap();
        format!(
            "processor : {cpu}\nphysical id : {package}\ncore id : {core}\nthread id : {thread}\n\n"
        )
    };
    let text: String = processors.split(' ').map(record).collect();
    Machine::from_cpuinfo(&text).unwrap()
}

/// All machines by name.
pub(crate) fn machines() -> BTreeMap<&'static str, Machine> {
    let named = |row: Vec<&'static str>| (row[0] == "machine").then(|| (row[1], machine(row[2])));
    rows(ROWS).filter_map(named).collect()
}
