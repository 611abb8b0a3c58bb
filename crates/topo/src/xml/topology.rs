//! Reads and writes the `topology` element: the whole file.

use super::core_kinds;
use super::distances::{self, MatrixObjects};
use super::document::Element;
use super::infos;
use super::objects::Writer;
use super::print::Printer;
use super::reader::Reader;
use crate::cpuset::CpuSet;
use crate::machine::Machine;
use crate::source::Source;
use alloc::string::String;
use oxmpi_text::Error;
use roxmltree::Document;

const HEAD: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n";

pub(super) fn read(document: &Document<'_>) -> Result<Machine, Error> {
    let topology = Element::root(document);
    if topology.name() != "topology" {
        return Err(topology.wrong("the element `topology`, with which hwloc's XML begins"));
    }
    let mut reader = Reader::new(version(topology)?);
    let mut objects = topology.children().filter(|child| child.name() == "object");
    let root = objects
        .next()
        .ok_or_else(|| topology.wrong("a topology with an object, the machine"))?;
    if let Some(second) = objects.next() {
        return Err(second.wrong("all other objects inside the first"));
    }
    let mut tree = reader.machine(root)?;
    for child in topology.children().filter(|child| child.name() == "info") {
        tree.facts.infos.push(infos::read(child)?);
    }

    let (mut machine, marks) = tree.flatten_marked(Source::Xml);
    sets(root, &mut machine)?;
    let places = MatrixObjects::new(&machine, marks);
    let mut known = CpuSet::new();
    for child in topology.children() {
        match child.name() {
            "object" | "info" | "support" => {}
            "distances2" | "distances2hetero" => {
                let (matrix, is_whole) = distances::read(child, &places)?;
                machine.distances.extend(matrix);
                if !is_whole {
                    reader.leave_out("distances between objects that are not there");
                }
            }
            "cpukind" => {
                let mut kind = core_kinds::read(child)?;
                kind.cpus = &kind.cpus & machine.online();
                if kind.cpus.intersects(&known) {
                    return Err(child.wrong("processors that no other kind has"));
                }
                known = &known | &kind.cpus;
                machine.core_kinds.push(kind);
            }
            other => reader.leave_out(other),
        }
    }
    machine.core_kinds.retain(|kind| !kind.cpus.is_empty());
    machine.notes = reader.notes;
    Ok(machine)
}

/// The version of the format, 2 or 3.
fn version(topology: Element<'_>) -> Result<u32, Error> {
    let Some(version) = topology.get("version") else {
        return Err(topology.wrong(
            "version 2 or 3; a file without version is from hwloc 1, convert it with lstopo of hwloc 2",
        ));
    };
    match version.text.split_once('.') {
        Some(("2", _)) => Ok(2),
        Some(("3", _)) => Ok(3),
        Some(("1", _)) => {
            Err(version.wrong("version 2 or 3; convert files of hwloc 1 with lstopo of hwloc 2"))
        }
        _ => Err(version.wrong("a version that begins with `2.` or `3.`")),
    }
}

/// Reads which processors are offline, and which processors and memory are allowed.
fn sets(root: Element<'_>, machine: &mut Machine) -> Result<(), Error> {
    let cpus = |name| {
        let value = root.get(name);
        let limit = "numbers of processors up to 8191";
        value
            .map(|value| value.set(Machine::LARGEST_CPU, limit))
            .transpose()
    };
    let online = machine.online().clone();
    if let Some(complete) = cpus("complete_cpuset")? {
        machine.offline = complete - online;
    }
    if let Some(allowed) = cpus("allowed_cpuset")? {
        machine.allowed = &machine.allowed & &allowed;
    }
    if let Some(allowed) = root.get("allowed_nodeset") {
        let allowed = allowed.set(Machine::LARGEST_NUMA, "numbers of NUMA nodes up to 1023")?;
        machine.allowed_memory = &machine.allowed_memory & &allowed;
    }
    Ok(())
}

pub(super) fn write(machine: &Machine) -> String {
    let mut printer = Printer::new(HEAD);
    printer.begin("topology");
    printer.attribute("version", "2.0");
    Writer::new(machine).write(&mut printer, machine.root(), &CpuSet::new());
    distances::write(&mut printer, machine);
    for kind in machine.core_kinds() {
        core_kinds::write(&mut printer, kind);
    }
    printer.end();
    printer.finish()
}
