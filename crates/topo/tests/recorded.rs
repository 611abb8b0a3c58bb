//! Recorded machines give the same objects as in hwloc 2.9.
//!
//! `machines/NAME.files` has a machine's files with its topology, `machines/NAME.json` hwloc's machine.
//! `OXMPI_RECORDED=DIR cargo test -p oxmpi-topo --test integration recorded::` also compares every `DIR/NAME/{proc,sys}`
//! with `DIR/NAME.json`.
#![cfg(feature = "std")]

use crate::hwlocs::{hwlocs, ours};
use crate::listing::with_extension;
use crate::recording::recording;
use oxmpi_topo::linux::{Files, Root};
use oxmpi_topo::{Kind, Machine};
use std::path::Path;
use std::{env, fs};

/// The expected files do not have these.
const LEFT_OUT: [Kind; 3] = [Kind::Group, Kind::L2i, Kind::L3i];

/// The lines in which both differ, or why the machine cannot be read.
fn difference(files: &impl Files, json: &str) -> Vec<String> {
    let machine = match Machine::from_linux(files) {
        Ok(machine) => machine,
        Err(error) => return vec![error.to_string()],
    };
    let (ours, hwlocs) = (ours(&machine, &LEFT_OUT), hwlocs(json));
    let without = |a: &[String], b: &[String], sign: &str| -> Vec<String> {
        let only = a.iter().filter(|line| !b.contains(line));
        only.map(|line| format!("{sign} {line}")).collect()
    };
    let mut lines = without(&ours, &hwlocs, "ours");
    lines.extend(without(&hwlocs, &ours, "hwloc's"));
    if lines.is_empty() && ours != hwlocs {
        let at = ours.iter().zip(&hwlocs).position(|(a, b)| a != b);
        let (a, b) = (&ours[at.unwrap_or(0)], &hwlocs[at.unwrap_or(0)]);
        lines.push(format!("other order: ours {a}, hwloc's {b}"));
    }
    lines.extend(machine.notes().map(String::from));
    lines
}

#[test]
fn recorded_machines_are_as_hwloc_sees_them() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    let mut count = 0;
    for path in with_extension(&directory, "files") {
        let files = recording(&fs::read_to_string(&path).unwrap());
        let json = fs::read_to_string(path.with_extension("json")).unwrap();
        assert_eq!(difference(&files, &json), [""; 0], "{}", path.display());
        count += 1;
    }
    assert_eq!(count, 29, "recordings are gone");
}

/// More machines than the repository holds: unpacked recordings in the directory that the variable
/// `OXMPI_RECORDED` names.
#[test]
fn further_recorded_machines_are_as_hwloc_sees_them() {
    let Some(directory) = env::var_os("OXMPI_RECORDED") else {
        return;
    };
    let mut wrong = 0;
    for path in with_extension(Path::new(&directory), "json") {
        let root = Root::new(path.with_extension(""));
        let lines = difference(&root, &fs::read_to_string(&path).unwrap());
        println!("{}: {} differences", path.display(), lines.len());
        let first = lines.iter().take(12);
        first.for_each(|line| println!("    {line}"));
        wrong += usize::from(!lines.is_empty());
    }
    assert_eq!(wrong, 0, "machines that differ");
}
