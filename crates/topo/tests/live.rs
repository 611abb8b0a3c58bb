//! This machine is the same as in the installed lstopo.
#![cfg(all(feature = "xml", target_os = "linux"))]

use oxmpi_topo::{Device, DeviceKind, Machine, Object};
use std::process::Command;

/// lstopo's XML of this machine; `None` without lstopo or its output.
fn lstopo() -> Option<String> {
    let ours = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HWLOC_"));
    let mut command = Command::new("lstopo-no-graphics");
    for (name, _) in ours {
        command.env_remove(name);
    }
    let output = command.args(["--of", "xml"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.is_empty()).then_some(text)
}

fn object(object: Object<'_>) -> String {
    let os = object.os().map(|os| format!(" P#{os}"));
    let cache = object.cache().map(|cache| {
        let (size, line, ways) = (cache.size, cache.line, cache.ways);
        format!(
            " {size} bytes, lines {line:?}, ways {ways:?}, unified {}",
            cache.unified
        )
    });
    let memory = object.local_memory().map(|bytes| format!(" {bytes} bytes"));
    format!(
        "{} {{{}}}{}{}{}",
        object.kind(),
        object.cpus(),
        os.unwrap_or_default(),
        cache.unwrap_or_default(),
        memory.unwrap_or_default()
    )
}

fn device(device: Device<'_>) -> String {
    let kind = match device.kind() {
        // hwloc 2 has no kind for memory.
        DeviceKind::Memory => DeviceKind::Storage,
        kind => kind,
    };
    let depth = device.ancestors().count();
    let ids = device
        .pci()
        .map(|pci| (pci.address, pci.class, pci.vendor, pci.device));
    let name = device.name().unwrap_or_default();
    format!(
        "{depth} {kind} {name} {ids:?} {:?} near {}",
        device.behind(),
        object(device.near())
    )
}

fn lines(machine: &Machine) -> Vec<String> {
    let mut lines: Vec<String> = machine.iter().map(object).collect();
    let mut devices: Vec<String> = machine.devices().map(device).collect();
    devices.sort();
    lines.append(&mut devices);
    for matrix in machine.distances() {
        let rows = 0..matrix.ends().len();
        lines.extend(rows.map(|row| format!("{:?} {:?}", matrix.name(), matrix.row(row))));
    }
    lines
}

fn ours() -> Vec<String> {
    let machine = Machine::this().unwrap_or_else(|error| panic!("{error}"));
    lines(&machine.default_view())
}

/// Compared while this crate's view is unchanged: the memory of a virtual machine may change meanwhile.
#[test]
fn this_machine_is_as_lstopo_sees_it() {
    if lstopo().is_none() {
        println!("skipped: there is no lstopo-no-graphics");
        return;
    }
    let look = || {
        let (before, xml) = (ours(), lstopo()?);
        (ours() == before).then_some((before, xml))
    };
    let (ours, xml) = (0..100).find_map(|_| look()).expect("a quiet moment");
    let theirs = Machine::from_xml(&xml).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(ours, lines(&theirs));
}
