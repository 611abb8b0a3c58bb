//! Fuzz body of recorded /proc and /sys: any files give a consistent machine, or an error that names one of
//! them.

use oxmpi_topo::linux::Recording;
use oxmpi_topo::{CpuSet, Machine};

/// Parses `data` as a recording, and makes the machine of its files.
///
/// # Panics
/// On a finding.
pub fn sysfs(data: &[u8]) {
    let files = match Recording::parse(&String::from_utf8_lossy(data)) {
        Ok(files) => files,
        Err(error) => {
            assert!(error.line().is_some(), "{error}");
            return;
        }
    };
    match Machine::from_linux(&files) {
        Ok(machine) => {
            check(&machine);
            check(&machine.default_view());
            check(&machine.restrict(&CpuSet::range(0, 3)));
        }
        Err(error) => {
            let file = error.file().expect("the file that does not read");
            assert!(files.iter().any(|(path, _, _)| path == file), "{error}");
        }
    }
}

fn check(machine: &Machine) {
    assert!(machine.iter().len() <= Machine::MOST_OBJECTS);
    for object in machine.iter() {
        let mut inside = CpuSet::new();
        for child in object.children() {
            assert!(!inside.intersects(child.cpus()), "{child:?} overlaps");
            inside.extend(child.cpus());
        }
        assert!(inside.is_subset(object.cpus()), "{object:?}");
    }
    // The parent of each device has a smaller number, so that there are no cycles.
    for device in machine.devices() {
        let parent = device.parent();
        assert!(
            parent.is_none_or(|parent| parent.id() < device.id()),
            "{device}"
        );
        assert!(
            parent.is_none_or(|parent| parent.near() == device.near()),
            "{device}"
        );
    }
    for matrix in machine.distances() {
        let ends = matrix.ends().len();
        assert!((0..ends).all(|row| matrix.row(row).len() == ends));
    }
}
