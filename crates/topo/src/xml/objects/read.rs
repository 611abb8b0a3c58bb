//! Reads `object` elements into a tree.

use super::caches;
use crate::cpuset::CpuSet;
use crate::facts::{Cache, Facts};
use crate::kind::Kind;
use crate::machine::Machine;
use crate::tree::Tree;
use crate::xml::document::Element;
use crate::xml::marks::mark;
use crate::xml::reader::Reader;
use crate::xml::{devices, infos};
use oxmpi_text::Error;

const CPU_LIMIT: &str = "numbers of processors up to 8191";
const NUMA_LIMIT: &str = "numbers of NUMA nodes up to 1023";

impl Reader {
    /// Reads the machine, the outermost object.
    pub(in crate::xml) fn machine(&mut self, element: Element<'_>) -> Result<Tree, Error> {
        let kind = element.need("type", "an object with the type Machine")?;
        if kind.text != Kind::Machine.name() {
            return Err(kind.wrong("Machine as the outermost object"));
        }
        let mut tree = self.object(element, Kind::Machine, 0)?;
        tree.facts.os = None;
        if tree.facts.cpus.is_empty() {
            return Err(element.wrong("a machine with a PU"));
        }
        tree.sort();
        Ok(tree)
    }

    fn object(&mut self, element: Element<'_>, kind: Kind, depth: usize) -> Result<Tree, Error> {
        self.count(element, depth)?;
        let mut tree = Tree::leaf(facts(element, kind)?);
        tree.mark = mark(element)?;
        if kind == Kind::Pu {
            let number = element.need("os_index", "a PU with an os_index")?;
            let cpu: usize = number.number(CPU_LIMIT)?;
            if cpu > Machine::LARGEST_CPU {
                return Err(number.wrong(CPU_LIMIT));
            }
            if tree.facts.cpus != CpuSet::one(cpu) {
                return Err(cpuset_error(element, "the PU's os_index alone"));
            }
        }
        let mut inside = CpuSet::new();
        for child in element.children() {
            match child.name() {
                "object" => self.inside(child, &mut tree, &mut inside, depth + 1)?,
                "info" => {
                    let Facts { cache, infos, .. } = &mut tree.facts;
                    caches::add_info(cache.as_mut(), infos, infos::read(child)?);
                }
                other => self.leave_out(other),
            }
        }
        if kind != Kind::Pu && inside != tree.facts.cpus {
            return Err(cpuset_error(
                element,
                "no processors but those of the objects inside",
            ));
        }
        Ok(tree)
    }

    /// Reads an object inside that of `tree`, whose children so far have the processors `inside`.
    fn inside(
        &mut self,
        element: Element<'_>,
        tree: &mut Tree,
        inside: &mut CpuSet,
        depth: usize,
    ) -> Result<(), Error> {
        let name = element.need("type", "an object with a type")?;
        match name.text {
            "NUMANode" | "MemCache" => return self.memory(element, tree, &[], depth),
            "Misc" => {
                self.leave_out("Misc");
                return Ok(());
            }
            other if devices::is_device(other) => {
                tree.devices.extend(devices::read(self, element, depth)?);
                return Ok(());
            }
            _ => {}
        }
        let kind = Kind::all().find(|kind| kind.name() == name.text);
        let kind = match kind {
            // hwloc 2.0 wrote dies like this.
            Some(Kind::Group) if element.text("subtype").as_deref() == Some("Die") => Kind::Die,
            Some(kind) if kind > Kind::Machine => kind,
            _ => {
                return Err(name.wrong(
                    "a type of object inside a machine, such as Package, L3Cache, Core or PU",
                ));
            }
        };
        if tree.facts.kind == Kind::Pu {
            return Err(name.wrong("no object but devices inside a PU"));
        }
        let child = self.object(element, kind, depth)?;
        if !child.facts.cpus.is_subset(&tree.facts.cpus) {
            return Err(cpuset_error(element, "processors of its parent object"));
        }
        if inside.intersects(&child.facts.cpus) {
            return Err(cpuset_error(
                element,
                "processors that no object beside it has",
            ));
        }
        *inside = &*inside | &child.facts.cpus;
        tree.children.push(child);
        Ok(())
    }

    /// Reads a NUMA node, or a memory-side cache with the nodes behind it, that is attached to `tree`.
    fn memory(
        &mut self,
        element: Element<'_>,
        tree: &mut Tree,
        around: &[Cache],
        depth: usize,
    ) -> Result<(), Error> {
        self.count(element, depth)?;
        let is_cache = element.text("type").as_deref() == Some("MemCache");
        let mut facts = facts(element, Kind::Numa)?;
        facts.side_caches = around.to_vec();
        if is_cache {
            facts.side_caches.push(caches::read(element, Kind::Numa)?);
        }
        for child in element.children() {
            match (child.name(), child.text("type").as_deref()) {
                ("object", Some("Misc")) => self.leave_out("Misc"),
                ("object", Some("NUMANode" | "MemCache")) if is_cache => {
                    self.memory(child, tree, &facts.side_caches, depth + 1)?;
                }
                ("object", _) => {
                    return Err(child.wrong("nothing but memory inside memory"));
                }
                ("info", _) => {
                    let cache = facts.side_caches.last_mut().filter(|_| is_cache);
                    caches::add_info(cache, &mut facts.infos, infos::read(child)?);
                }
                (other, _) => self.leave_out(other),
            }
        }
        if is_cache {
            if facts.subtype.is_some() || !facts.infos.is_empty() {
                self.leave_out("info of MemCache");
            }
            return Ok(());
        }
        let number = element.need("os_index", "a NUMA node with an os_index")?;
        let node: usize = number.number(NUMA_LIMIT)?;
        if node > Machine::LARGEST_NUMA {
            return Err(number.wrong(NUMA_LIMIT));
        }
        if self.nodes.contains(node) {
            return Err(number.wrong("a number that no other NUMA node has"));
        }
        self.nodes.insert(node);
        if !facts.cpus.is_subset(&tree.facts.cpus) {
            return Err(cpuset_error(element, "processors of its parent object"));
        }
        facts.local_memory = element.number("local_memory", "bytes as a number")?;
        let mut node = Tree::leaf(facts);
        node.mark = mark(element)?;
        tree.memory.push(node);
        Ok(())
    }
}

fn cpuset_error(element: Element<'_>, expected: &'static str) -> Error {
    match element.get("cpuset") {
        Some(cpuset) => cpuset.wrong(expected),
        None => element.wrong(expected),
    }
}

/// The facts in the attributes of an object.
fn facts(element: Element<'_>, kind: Kind) -> Result<Facts, Error> {
    let os = element.number("os_index", "a number")?;
    let cpuset = element.need("cpuset", "an object with a cpuset")?;
    let cpus = cpuset.set(Machine::LARGEST_CPU, CPU_LIMIT)?;
    let mut facts = Facts::new(kind, os, cpus);
    facts.subtype = element.text("subtype");
    if kind.is_cache() {
        facts.cache = Some(caches::read(element, kind)?);
    }
    Ok(facts)
}
