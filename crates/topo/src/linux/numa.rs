//! NUMA nodes and their memory: `/sys/devices/system/node/nodeN`.

use super::Files;
use super::read::Reader;
use crate::cpuset::CpuSet;
use crate::error::Error;
use crate::kind::Kind;
use crate::machine::Machine;
use crate::object::Facts;
use alloc::format;
use alloc::vec::Vec;

const NODES: &str = "/sys/devices/system/node";

struct Node {
    os: usize,
    cpus: CpuSet,
    memory: Option<u64>,
}

/// One node with the whole memory where the kernel has no nodes. Nodes without memory are left out.
/// Nodes without processors get those that are nearest to them.
pub(super) fn read(files: &Reader<'_, impl Files>, online: &CpuSet) -> Result<Vec<Facts>, Error> {
    let numbers = files.numbered(NODES, "node");
    let mut nodes = Vec::new();
    for os in numbers
        .into_iter()
        .take_while(|os| *os <= Machine::LARGEST_NUMA)
    {
        let directory = format!("{NODES}/node{os}");
        let cpus = files.mask(&format!("{directory}/cpumap"))?;
        let memory = files.memory(&format!("{directory}/meminfo"))?;
        let cpus = &cpus.unwrap_or_default() & online;
        nodes.push(Node { os, cpus, memory });
    }
    if nodes.is_empty() {
        let memory = files.memory("/proc/meminfo")?;
        let cpus = online.clone();
        nodes.push(Node {
            os: 0,
            cpus,
            memory,
        });
    }
    let with_memory = nodes.iter().filter(|node| node.memory != Some(0));
    let facts = |node: &Node| {
        let cpus = match node.cpus.is_empty() {
            true => nearest(files, node, &nodes)?,
            false => node.cpus.clone(),
        };
        let mut facts = Facts::new(Kind::Numa, Some(node.os as u32), cpus);
        facts.local_memory = node.memory;
        Ok(facts)
    };
    with_memory.map(facts).collect()
}

/// The processors that reach a node without processors best: those of its initiators, as firmware
/// tells, or else of the nodes at the smallest distance, if not all are as near.
fn nearest(files: &Reader<'_, impl Files>, node: &Node, nodes: &[Node]) -> Result<CpuSet, Error> {
    let union = |numbers: &[usize]| {
        let chosen = nodes.iter().filter(|other| numbers.contains(&other.os));
        chosen.fold(CpuSet::new(), |union, other| &union | &other.cpus)
    };
    for access in ["access0", "access1"] {
        let directory = format!("{NODES}/node{}/{access}/initiators", node.os);
        let cpus = union(&files.numbered(&directory, "node"));
        if !cpus.is_empty() {
            return Ok(cpus);
        }
    }
    let path = format!("{NODES}/node{}/distance", node.os);
    let distances = distances(&files.text(&path).unwrap_or_default());
    if distances.len() != nodes.len() {
        return Ok(CpuSet::new());
    }
    let others = nodes
        .iter()
        .zip(&distances)
        .filter(|(other, _)| other.os != node.os);
    let Some(smallest) = others.clone().map(|(_, distance)| *distance).min() else {
        return Ok(CpuSet::new());
    };
    let near: Vec<usize> = others
        .filter(|(_, distance)| **distance == smallest)
        .map(|(other, _)| other.os)
        .collect();
    let all_as_near = near.len() == nodes.len() - 1;
    Ok(if all_as_near {
        CpuSet::new()
    } else {
        union(&near)
    })
}

/// The distances to each node in turn; fewer than nodes where the file is damaged.
fn distances(text: &str) -> Vec<u32> {
    let words = text.split_ascii_whitespace();
    words.map_while(|word| word.parse().ok()).collect()
}
