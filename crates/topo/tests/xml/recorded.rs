//! Machines from /proc and /sys, written as XML.

use super::lstopo::{is_installed, lstopo, stdout};
use crate::listing::with_extension;
use crate::recording::recording;
use oxmpi_topo::{Device, Kind, Machine, Object};
use std::fs;
use std::path::{Path, PathBuf};

/// The recorded machines beside the tests, by name.
fn machines() -> Vec<(String, Machine)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    let machine = |path: PathBuf| {
        let files = recording(&fs::read_to_string(&path).unwrap());
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        (name, Machine::from_linux(&files).unwrap())
    };
    let files = with_extension(&directory, "files").into_iter();
    let machines: Vec<_> = files.map(machine).collect();
    assert!(machines.len() >= 28, "recordings are gone");
    machines
}

/// All facts of a machine that XML can express, a line for each.
fn facts(machine: &Machine) -> Vec<String> {
    let object = |object: Object<'_>| {
        let around = object.parent().map(|parent| parent.id());
        let memory = (object.local_memory(), object.side_caches());
        let described = (object.subtype(), object.infos(), object.cache());
        format!("{object:?} in {around:?} {memory:?} {described:?}")
    };
    let device = |device: Device<'_>| {
        let around = device.parent().map(|parent| parent.id());
        let described = (device.name(), device.subtype(), device.infos());
        let on_bus = (device.pci(), device.behind());
        let near = device.near().id();
        format!("{device:?} at {near:?} in {around:?} {described:?} {on_bus:?}")
    };
    let mut facts: Vec<String> = machine.iter().map(object).collect();
    facts.extend(machine.devices().map(device));
    let matrices = machine.distances().iter();
    facts.extend(matrices.map(|matrix| format!("{matrix:?}")));
    facts.extend(machine.core_kinds().iter().map(|kind| format!("{kind:?}")));
    let (allowed, memory) = (machine.allowed(), machine.allowed_memory());
    facts.push(format!("{:?} {allowed:?} {memory:?}", machine.offline()));
    facts
}

#[test]
fn recorded_machines_come_back() {
    for (name, machine) in machines() {
        let written = machine.to_xml();
        let again = Machine::from_xml(&written).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(facts(&again), facts(&machine), "{name}\n{written}");
    }
}

#[test]
fn siblings_are_written_in_the_order_of_their_processors() {
    for (name, machine) in machines() {
        let written = machine.default_view().to_xml();
        let number = |line: &str| {
            let line = line.split_once("\"PU\" os_index=\"")?.1;
            line.split('"').next()?.parse().ok()
        };
        let numbers: Vec<u32> = written.lines().filter_map(number).collect();
        let again = Machine::from_xml(&written).unwrap();
        let sorted: Vec<u32> = again.objects(Kind::Pu).filter_map(Object::os).collect();
        assert_eq!(numbers, sorted, "{name}");
    }
}

#[test]
fn lstopo_reads_recorded_machines_without_complaint() {
    if !is_installed() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // hwloc warns of such domains and leaves out their devices.
    let is_wide = |device: Device<'_>| device.behind().is_some_and(|behind| behind.domain > 0xffff);
    for (name, machine) in machines() {
        if machine.devices().any(is_wide) {
            continue;
        }
        let file = folder.join(format!("{name}.linux.xml"));
        fs::write(&file, machine.to_xml()).unwrap();
        let output = lstopo(&file, &[]);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{name}");
        let ours = machine.default_view().text().to_string();
        assert_eq!(stdout(&output), ours, "{name}");
    }
}
