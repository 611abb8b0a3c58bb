//! Writes the objects of a machine as `object` elements.

use super::caches;
use crate::cpuset::CpuSet;
use crate::kind::Kind;
use crate::machine::Machine;
use crate::object::Object;
use crate::xml::marks::object_index;
use crate::xml::print::Printer;
use crate::xml::{devices, infos};
use alloc::vec;
use alloc::vec::Vec;

/// Writes objects.
pub(in crate::xml) struct Writer<'m> {
    machine: &'m Machine,
    /// For each object, the NUMA nodes attached to it and inside it.
    nodes: Vec<CpuSet>,
    /// The last number that a memory-side cache got.
    last: u64,
}

impl<'m> Writer<'m> {
    pub(in crate::xml) fn new(machine: &'m Machine) -> Self {
        let mut nodes = vec![CpuSet::new(); machine.entries.len()];
        for object in machine.iter().rev() {
            let own = object.os().filter(|_| object.kind() == Kind::Numa);
            let at = object.id().0 as usize;
            nodes[at].extend(own.map(|os| os as usize));
            if let Some(parent) = object.parent() {
                let parent = parent.id().0 as usize;
                nodes[parent] = &nodes[parent] | &nodes[at];
            }
        }
        let last = (machine.entries.len() + machine.devices.len()) as u64;
        Self {
            machine,
            nodes,
            last,
        }
    }

    /// Writes an object and all objects inside it; `around` are the NUMA nodes attached to its ancestors.
    pub(in crate::xml) fn write(
        &mut self,
        printer: &mut Printer,
        object: Object<'m>,
        around: &CpuSet,
    ) {
        let memory = object.memory().filter_map(|numa| numa.os());
        let mut local = around.clone();
        local.extend(memory.map(|os| os as usize));
        let nodes = &local | &self.nodes[object.id().0 as usize];
        let is_machine = object.kind() == Kind::Machine;
        let os = if is_machine { Some(0) } else { object.os() };
        self.begin(printer, object, object.kind().name(), os, &nodes);
        printer.attribute("gp_index", object_index(object.id().0));
        printer.option("subtype", object.subtype());
        if object.kind() == Kind::Group {
            printer.attribute("kind", 0);
            printer.attribute("subkind", 0);
        }
        if let (Some(cache), Some(level)) = (object.cache(), object.kind().cache_level()) {
            let instructions = object.kind().holds_instructions_only();
            caches::write(printer, cache, level, instructions);
        }
        infos::write(printer, object.infos());
        for numa in object.memory() {
            self.write_memory(printer, numa);
        }
        // hwloc requires this order of siblings; a view keeps that of the whole machine.
        let mut children: Vec<Object<'_>> = object.children().collect();
        children.sort_by(|a, b| a.cpus().cmp(b.cpus()));
        for child in children {
            self.write(printer, child, &local);
        }
        let of_memory = object.memory().flat_map(|numa| numa.devices());
        for device in object.devices().chain(of_memory) {
            devices::write(printer, device, 0);
        }
        printer.end();
    }

    fn write_memory(&mut self, printer: &mut Printer, numa: Object<'m>) {
        let nodes = self.nodes[numa.id().0 as usize].clone();
        let side_caches = numa.side_caches();
        for (at, cache) in side_caches.iter().enumerate() {
            self.begin(printer, numa, "MemCache", None, &nodes);
            self.last += 1;
            printer.attribute("gp_index", self.last);
            caches::write(printer, *cache, (side_caches.len() - at) as u32, false);
        }
        self.begin(printer, numa, numa.kind().name(), numa.os(), &nodes);
        printer.attribute("gp_index", object_index(numa.id().0));
        printer.option("subtype", numa.subtype());
        printer.option("local_memory", numa.local_memory());
        infos::write(printer, numa.infos());
        (0..=side_caches.len()).for_each(|_| printer.end());
    }

    /// Begins an object with the attributes that all objects have.
    fn begin(
        &self,
        printer: &mut Printer,
        object: Object<'_>,
        name: &str,
        os: Option<u32>,
        nodes: &CpuSet,
    ) {
        let machine = self.machine;
        let is_machine = object.kind() == Kind::Machine;
        printer.begin("object");
        printer.attribute("type", name);
        printer.option("os_index", os);
        printer.attribute("cpuset", format_args!("{:#}", object.cpus().mask()));
        let complete = match is_machine {
            true => object.cpus() | machine.offline(),
            false => object.cpus().clone(),
        };
        printer.attribute("complete_cpuset", format_args!("{:#}", complete.mask()));
        if is_machine {
            let allowed = machine.allowed();
            printer.attribute("allowed_cpuset", format_args!("{:#}", allowed.mask()));
        }
        printer.attribute("nodeset", format_args!("{:#}", nodes.mask()));
        printer.attribute("complete_nodeset", format_args!("{:#}", nodes.mask()));
        if is_machine {
            let allowed = machine.allowed_memory();
            printer.attribute("allowed_nodeset", format_args!("{:#}", allowed.mask()));
        }
    }
}
