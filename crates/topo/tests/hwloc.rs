//! The machine that runs the tests is the same from the system's hwloc and from /sys; or the recorded machine
//! in the directory `HWLOC_FSROOT`, which hwloc uses with `HWLOC_COMPONENTS=linux,stop HWLOC_THISSYSTEM=0`.
#![cfg(feature = "hwloc")]

use oxmpi_topo::linux::Root;
use oxmpi_topo::{Kind, Machine, Object, Source};
use std::env;

/// The parts that hwloc's package reports: no instruction caches, no groups of its own, no memory.
fn lines(machine: &Machine) -> Vec<String> {
    let left_out = [Kind::Group, Kind::L1i, Kind::L2i, Kind::L3i];
    let line = |object: Object<'_>| {
        let cache = object.cache();
        let shape = cache.map(|cache| (cache.size, cache.line, cache.ways));
        format!("{object:?} {shape:?}")
    };
    let objects = machine.iter();
    objects
        .filter(|object| !left_out.contains(&object.kind()))
        .map(line)
        .collect()
}

#[test]
fn hwloc_and_sys_agree() {
    let hwlocs = Machine::from_hwloc().expect("hwloc describes this machine");
    let recorded = env::var_os("HWLOC_FSROOT").map(Root::new);
    let ours = Machine::from_linux(recorded.as_ref().unwrap_or(&Root::live())).unwrap();
    assert_eq!(hwlocs.source(), Source::Hwloc);
    assert_eq!(lines(&hwlocs), lines(&ours));
    assert_eq!(hwlocs.allowed(), ours.allowed());
    assert_eq!(hwlocs.allowed_memory(), ours.allowed_memory());
    assert_eq!(hwlocs.offline(), ours.offline());
    if recorded.is_none() {
        assert_eq!(hwlocs.bound(), ours.bound());
    }
}
