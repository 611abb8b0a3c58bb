//! Packages, cores and PUs of recorded machines, read from /proc/cpuinfo, are the same as hwloc 2.9 finds in
//! /sys.
//!
//! `machines/NAME.cpuinfo` is the recorded file, `machines/NAME.json` hwloc's machine. `OXMPI_RECORDED=DIR
//! cargo test -p oxmpi-topo --test integration cpuinfo::` also compares every `DIR/NAME/proc/cpuinfo` with positions of
//! processors with `DIR/NAME.json`, except for [`OTHERWISE`].

use crate::listing::with_extension;
use oxmpi_topo::{CpuSet, Kind, Machine, Object};
use serde_json::Value;
use std::path::Path;
use std::{env, fs};

/// Recordings whose /proc/cpuinfo and /sys differ, and why.
const OTHERWISE: [(&str, &str); 8] = [
    (
        "128arm-2pa2n8cluster4co",
        "no `physical id`, as on every ARM: refused",
    ),
    ("nvidia-dgx-gb10", "the same"),
    (
        "16ia64-8n2s",
        "two packages of a node have one `physical id`, and there is no `core id`",
    ),
    (
        "32amd64-4s2n4c-cgroup2",
        "each of the two chips of a package numbers its cores from 0",
    ),
    ("64amd64-4s2n4ca2co", "the same"),
    (
        "fakecpuid1f-64intel64-2p4d2n2c2t",
        "the same with made-up dies",
    ),
    (
        "16em64t-4s2ca2c-cpusetreorder",
        "/sys was edited, each thread made a core; /proc/cpuinfo was not",
    ),
    (
        "fakememinitiators-1np2c+1npp+gi",
        "/sys was made up, /proc/cpuinfo is that of another machine",
    ),
];

const KINDS: [Kind; 3] = [Kind::Package, Kind::Core, Kind::Pu];

/// One line for each package, core and PU with processors among `shown`.
fn ours(machine: &Machine, shown: &CpuSet) -> Vec<String> {
    let objects = KINDS.iter().flat_map(|kind| machine.objects(*kind));
    let objects = objects.filter(|object| object.cpus().intersects(shown));
    let line = |object: Object<'_>| {
        let (os, cpus) = (object.os().unwrap(), object.cpus() & shown);
        format!("{} {os} {{{cpus}}}", object.kind())
    };
    let mut lines: Vec<_> = objects.map(line).collect();
    lines.sort();
    lines
}

/// The same lines for hwloc's machine, and the processors it shows: those that were online and allowed.
fn hwlocs(json: &str) -> (Vec<String>, CpuSet) {
    let json: Value = serde_json::from_str(json).unwrap();
    let objects = json["objects"].as_array().unwrap();
    let text = |object: &Value, key: &str| object[key].as_str().unwrap().to_owned();
    let shown = |object: &&Value| object["cpus"] != "";
    let wanted = |object: &&Value| KINDS.iter().any(|kind| object["type"] == kind.name());
    let line = |object: &Value| {
        let (kind, cpus) = (text(object, "type"), text(object, "cpus"));
        format!("{kind} {} {{{cpus}}}", object["os"])
    };
    let mut lines: Vec<_> = objects
        .iter()
        .filter(shown)
        .filter(wanted)
        .map(line)
        .collect();
    lines.sort();
    (lines, text(&objects[0], "cpus").parse().unwrap())
}

/// The lines in which both differ.
fn difference(cpuinfo: &str, json: &str) -> Vec<String> {
    let machine = match Machine::from_cpuinfo(cpuinfo) {
        Ok(machine) => machine,
        Err(error) => return vec![error.to_string()],
    };
    let (hwlocs, shown) = hwlocs(json);
    let ours = ours(&machine, &shown);
    let only = |these: &[String], those: &[String], whose: &str| -> Vec<String> {
        let only = these.iter().filter(|line| !those.contains(line));
        only.map(|line| format!("{whose} {line}")).collect()
    };
    [
        only(&ours, &hwlocs, "ours"),
        only(&hwlocs, &ours, "hwloc's"),
    ]
    .concat()
}

#[test]
fn cores_are_where_hwloc_sees_them() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    let paths = with_extension(&directory, "cpuinfo");
    assert!(paths.len() >= 4, "the recordings are gone");
    for path in paths {
        let cpuinfo = fs::read_to_string(&path).unwrap();
        let json = fs::read_to_string(path.with_extension("json")).unwrap();
        assert_eq!(difference(&cpuinfo, &json), [""; 0], "{}", path.display());
    }
}

/// More machines than the repository holds.
#[test]
fn cores_of_further_machines_are_where_hwloc_sees_them() {
    let Some(directory) = env::var_os("OXMPI_RECORDED") else {
        return;
    };
    let mut unexpected = Vec::new();
    for path in with_extension(Path::new(&directory), "json") {
        let cpuinfo = path.with_extension("").join("proc/cpuinfo");
        let Ok(cpuinfo) = fs::read_to_string(cpuinfo) else {
            continue;
        };
        let lines = difference(&cpuinfo, &fs::read_to_string(&path).unwrap());
        let name = path.file_stem().unwrap().to_str().unwrap();
        println!("{name}: {} differences", lines.len());
        lines
            .iter()
            .take(12)
            .for_each(|line| println!("    {line}"));
        if lines.is_empty() == OTHERWISE.iter().any(|(other, _)| *other == name) {
            unexpected.push(name.to_owned());
        }
    }
    assert_eq!(unexpected, [""; 0], "not as `OTHERWISE` says");
}
