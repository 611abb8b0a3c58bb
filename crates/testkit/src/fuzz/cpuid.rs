//! Fuzz body of cpuid dumps: a text is refused with its file, or gives a dump that parses back equal, and
//! from it a machine with all processors or an error.

use oxmpi_topo::cpuid::{Cpuid, Dump};
use oxmpi_topo::{CpuSet, Machine};
use std::collections::BTreeMap;

/// Parses `data` as the files of a dump, and makes the machine of all processors and that of the first one's
/// view. A line `puN` begins the file of processor N; the text before the first such line is that of
/// processor 0.
///
/// # Panics
/// On a finding.
pub fn cpuid(data: &[u8]) {
    let files = files(&String::from_utf8_lossy(data));
    let dump = match Dump::read(&files, "/") {
        Ok(dump) => dump,
        Err(error) => {
            let file = error.file().expect("a file or the directory");
            assert!(file.starts_with('/'), "{error}");
            return;
        }
    };
    let written: BTreeMap<String, String> = dump
        .files()
        .map(|(name, text)| (format!("/{name}"), text))
        .collect();
    let again = Dump::read(&written, "/").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again, dump);

    let cpus = dump.processors();
    if let Ok(machine) = Machine::from_cpuid(&dump) {
        check(&machine, &cpus);
    }
    let more = CpuSet::range(0, 64);
    if let Ok(machine) = Machine::from_local_cpuid(&dump, &more) {
        check(&machine, &more);
    }
}

fn files(text: &str) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut name = String::from("/pu0");
    for line in text.lines() {
        if line.starts_with("pu") {
            name = format!("/{line}");
            files.entry(name.clone()).or_default();
        } else {
            let file = files.entry(name.clone()).or_default();
            file.extend([line, "\n"]);
        }
    }
    files
}

fn check(machine: &Machine, cpus: &CpuSet) {
    assert_eq!(machine.online(), cpus);
    for object in machine.iter() {
        let around = object.parent().map(|parent| parent.cpus());
        assert!(around.is_none_or(|around| object.cpus().is_subset(around)));
    }
}
