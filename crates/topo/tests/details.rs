//! Details of recorded machines are the same as in hwloc 2.9: groups with names, kinds of memory and their
//! side caches, distances, kinds of cores, and devices with their positions.
//!
//! `machines/NAME.details` is from the XML that hwloc writes of `NAME` (`lstopo --whole-io`), a line for each
//! fact.
#![cfg(feature = "std")]

use crate::listing::with_extension;
use crate::recording::recording;
use oxmpi_topo::distances::End;
use oxmpi_topo::view::{Devices, View};
use oxmpi_topo::{Device, DeviceKind, Info, Kind, Machine, Object};
use std::fmt::Display;
use std::fs;
use std::path::Path;

/// Lines that differ from hwloc's, and why.
const EXCEPTIONS: [(&str, &str); 3] = [
    (
        "2pa-pcidomain32bits",
        "hwloc is built without PCI domains of more than 16 bits and leaves out what is in them",
    ),
    (
        "32amd64-4s2n4c-cgroup2",
        "hwloc's kinds of cores keep the processors that are not allowed",
    ),
    (
        "nvidia-dgx-gb10",
        "hwloc 2.9 does not read the base frequencies that ACPI tells",
    ),
];

fn infos(infos: &[Info]) -> String {
    let pairs = infos
        .iter()
        .map(|info| format!(" {}={}", info.name, info.value));
    pairs.collect()
}

fn known(value: Option<impl Display>) -> String {
    value.map_or(String::from("None"), |value| value.to_string())
}

/// A device and, two blanks deeper, the devices behind it, in the order of their lines.
fn device(device: Device<'_>, depth: usize) -> Vec<String> {
    // hwloc 2 has no kind for memory.
    let kind = match device.kind() {
        DeviceKind::Memory => DeviceKind::Storage,
        kind => kind,
    };
    let mut line = format!("{}{kind}", "  ".repeat(depth));
    line.extend(device.name().map(|name| format!(" {name}")));
    line.extend(device.behind().map(|behind| {
        let (first, last) = (behind.buses.start(), behind.buses.end());
        format!(" {:04x}:[{first:02x}-{last:02x}]", behind.domain)
    }));
    line.extend(device.pci().map(|pci| {
        format!(
            " {} {:04x} [{:04x}:{:04x}] [{:04x}:{:04x}] {:02x} {}",
            pci.address,
            pci.class,
            pci.vendor,
            pci.device,
            pci.subvendor,
            pci.subdevice,
            pci.revision,
            pci.link_speed / 1_000_000
        )
    }));
    line.extend(device.subtype().map(|subtype| format!(" ({subtype})")));
    line.push_str(&infos(device.infos()));
    let mut lines = vec![line];
    lines.extend(devices(device.children(), depth + 1));
    lines
}

fn devices<'m>(all: impl Iterator<Item = Device<'m>>, depth: usize) -> Vec<String> {
    let mut trees: Vec<Vec<String>> = all.map(|one| device(one, depth)).collect();
    trees.sort();
    trees.concat()
}

fn object(object: Object<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let (subtype, os) = (object.subtype(), known(object.os()));
    match (object.kind(), subtype) {
        (Kind::Group, Some(subtype)) => {
            lines.push(format!("Group({subtype}) {{{}}} P#{os}", object.cpus()));
        }
        (Kind::Numa, Some(subtype)) => {
            let infos = infos(object.infos());
            lines.push(format!("NUMANode({subtype}) P#{os}{infos}"));
        }
        _ => {}
    }
    for cache in object.side_caches() {
        let (size, line, ways) = (cache.size, known(cache.line), known(cache.ways));
        let line = format!("MemCache of P#{os} size {size} line {line} ways {ways}");
        lines.insert(0, line);
    }
    if object.devices().len() > 0 {
        lines.push(format!("near {} {{{}}}", object.kind(), object.cpus()));
        lines.extend(devices(object.devices(), 1));
    }
    lines
}

fn ours(machine: &Machine) -> Vec<String> {
    let view = View {
        devices: Devices::All,
        ..View::default()
    };
    let machine = machine.view(&view);
    let mut lines: Vec<String> = machine.iter().flat_map(object).collect();
    for matrix in machine.distances() {
        let os = |end: &End| match end {
            End::Object(id) => machine.object(*id).os(),
            End::Device(_) => None,
        };
        let ends: Vec<u32> = matrix.ends().iter().filter_map(os).collect();
        lines.push(format!("{} between {ends:?}", known(matrix.name())));
        lines.extend((0..ends.len()).map(|row| format!("{:?}", matrix.row(row))));
    }
    for kind in machine.core_kinds() {
        let name = kind.name.as_ref().map(|name| format!("{name:?}"));
        lines.push(format!(
            "kind {{{}}} name {} capacity {} base {} max {}",
            kind.cpus,
            known(name),
            known(kind.capacity),
            known(kind.base_mhz),
            known(kind.max_mhz)
        ));
    }
    lines
}

#[test]
fn details_are_as_hwloc_sees_them() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    let mut exceptions = Vec::new();
    for path in with_extension(&directory, "files") {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let files = recording(&fs::read_to_string(&path).unwrap());
        let machine = Machine::from_linux(&files).unwrap();
        let hwlocs = fs::read_to_string(path.with_extension("details")).unwrap_or_default();
        let (ours, hwlocs) = (ours(&machine), Vec::from_iter(hwlocs.lines()));
        match EXCEPTIONS.iter().find(|(exception, _)| *exception == name) {
            None => assert_eq!(ours, hwlocs, "{name}"),
            Some((exception, why)) => {
                assert_ne!(ours, hwlocs, "{name} is no exception any more: {why}");
                exceptions.push(*exception);
            }
        }
    }
    exceptions.sort_unstable();
    assert_eq!(exceptions, EXCEPTIONS.map(|(name, _)| name));
}

/// Exceptions differ only in what they list.
#[test]
fn exceptions_differ_in_nothing_else() {
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/machines")
            .join(name);
        fs::read_to_string(path).unwrap()
    };
    for (name, _) in EXCEPTIONS {
        let machine = Machine::from_linux(&recording(&read(&format!("{name}.files")))).unwrap();
        let (ours, hwlocs) = (ours(&machine), read(&format!("{name}.details")));
        let new = ours
            .iter()
            .filter(|line| !hwlocs.lines().any(|other| other == **line));
        let explained = |line: &&String| {
            let device = line.trim_start();
            line.starts_with("kind") || line.contains("10000:") || device.starts_with("Block vda")
        };
        let rest: Vec<_> = new.filter(|line| !explained(line)).collect();
        // The position of the host bridge of the large domain.
        assert!(
            rest.iter().all(|line| *line == "near Package {1}"),
            "{rest:?}"
        );
    }
}
