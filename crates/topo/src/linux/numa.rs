//! Reads NUMA nodes, their memory, memory-side caches and distances from `/sys/devices/system/node/nodeN`.

use super::read::Reader;
use super::tiers;
use super::{Files, NODES};
use crate::cpuset::CpuSet;
use crate::distances::{Distances, End, Measure};
use crate::error::SyntaxError;
use crate::facts::{Cache, Facts};
use crate::kind::Kind;
use crate::machine::Machine;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A NUMA node as the kernel describes it.
struct Node {
    os: usize,
    cpus: CpuSet,
    memory: Option<u64>,
    /// The distances to all nodes, in their order; fewer if the file is damaged.
    distances: Vec<u64>,
}

/// All nodes with memory or processors, and the distances between all nodes.
pub(super) struct Numa {
    pub(super) facts: Vec<Facts>,
    /// A sentence on the nodes that were left out because their processors are those of earlier nodes.
    pub(super) note: Option<String>,
    /// Each node's number and row of distances; empty if the kernel does not have all rows.
    rows: Vec<(u32, Vec<u64>)>,
}

/// Reads the nodes with memory or processors; without any, one node with the whole memory. Nodes without
/// processors get the nearest processors. A node with processors of an earlier one, which only faulty firmware
/// describes, is left out as in hwloc.
pub(super) fn read(files: &Reader<'_, impl Files>, online: &CpuSet) -> Result<Numa, SyntaxError> {
    let numbers = files.numbered(NODES, "node");
    let numbers: Vec<usize> = numbers
        .into_iter()
        .take_while(|os| *os <= Machine::LARGEST_NUMA)
        .collect();
    let (mut nodes, mut known, mut left_out) = (Vec::new(), CpuSet::new(), CpuSet::new());
    for os in &numbers {
        let directory = format!("{NODES}/node{os}");
        let cpus = files.mask(&format!("{directory}/cpumap"))?;
        let mut cpus = &cpus.unwrap_or_default() & online;
        match cpus.intersects(&known) {
            true => {
                cpus = CpuSet::new();
                left_out.insert(*os);
            }
            false => known = &known | &cpus,
        }
        let text = files.text(&format!("{directory}/distance"));
        nodes.push(Node {
            os: *os,
            cpus,
            memory: files.memory(&format!("{directory}/meminfo"))?,
            distances: row(&text.unwrap_or_default(), numbers.len()),
        });
    }
    if nodes.is_empty() {
        nodes.push(Node {
            os: 0,
            cpus: online.clone(),
            memory: files.memory("/proc/meminfo")?,
            distances: Vec::new(),
        });
    }
    let mut facts = Vec::new();
    for node in nodes.iter().filter(|node| node.memory != Some(0)) {
        if left_out.contains(node.os) {
            continue;
        }
        let cpus = match node.cpus.is_empty() {
            true => nearest(files, node, &nodes),
            false => node.cpus.clone(),
        };
        let mut numa = Facts::new(Kind::Numa, Some(node.os as u32), cpus);
        numa.local_memory = node.memory;
        numa.side_caches = side_caches(files, node.os)?;
        facts.push(numa);
    }
    tiers::tell(files, &mut facts)?;
    facts.extend(without_memory(&nodes, &facts));
    let whole = nodes.iter().all(|node| node.distances.len() == nodes.len());
    let rows = nodes.into_iter().filter(|_| whole);
    let rows = rows.map(|node| (node.os as u32, node.distances)).collect();
    let note = (!left_out.is_empty()).then(|| {
        format!(
            "the firmware gives NUMA nodes {left_out} processors of earlier nodes: these nodes were left out"
        )
    });
    Ok(Numa { facts, note, rows })
}

/// The nodes with processors and without memory, unless a node in `known` is the memory of exactly these
/// processors, as behind initiators that the kernel made up.
fn without_memory(nodes: &[Node], known: &[Facts]) -> Vec<Facts> {
    let is_alone = |node: &&Node| {
        let is_bare = node.memory == Some(0) && !node.cpus.is_empty();
        is_bare && known.iter().all(|other| other.cpus != node.cpus)
    };
    let new = |node: &Node| Facts {
        local_memory: Some(0),
        ..Facts::new(Kind::Numa, Some(node.os as u32), node.cpus.clone())
    };
    nodes.iter().filter(is_alone).map(new).collect()
}

impl Numa {
    /// The distances between the nodes that are in the machine; `None` if there are fewer than two nodes or
    /// no information.
    pub(super) fn distances(self, machine: &Machine) -> Option<Distances> {
        let id = |os| Some(machine.with_os(Kind::Numa, os).next()?.id());
        let ends: Vec<_> = self.rows.iter().map(|(os, _)| id(*os)).collect();
        let known = |row: &[u64]| -> Vec<u64> {
            let pairs = row.iter().zip(&ends).filter(|(_, end)| end.is_some());
            pairs.map(|(distance, _)| *distance).collect()
        };
        let rows = self.rows.iter().zip(&ends).filter(|(_, end)| end.is_some());
        let values = rows.flat_map(|((_, row), _)| known(row)).collect();
        let ends: Vec<End> = ends.iter().flatten().copied().map(End::Object).collect();
        (ends.len() > 1).then(|| Distances {
            name: Some(String::from("NUMALatency")),
            measure: Measure::Latency,
            of_user: false,
            ends,
            values,
        })
    }
}

/// The processors nearest to a node without processors: those of its initiators, from firmware, or else of
/// the nodes at the smallest distance, unless all are equally near.
fn nearest(files: &Reader<'_, impl Files>, node: &Node, nodes: &[Node]) -> CpuSet {
    let union = |numbers: &[usize]| {
        let chosen = nodes.iter().filter(|other| numbers.contains(&other.os));
        chosen.fold(CpuSet::new(), |union, other| &union | &other.cpus)
    };
    for access in ["access0", "access1"] {
        let directory = format!("{NODES}/node{}/{access}/initiators", node.os);
        let cpus = union(&files.numbered(&directory, "node"));
        if !cpus.is_empty() {
            return cpus;
        }
    }
    if node.distances.len() != nodes.len() {
        return CpuSet::new();
    }
    let others = nodes
        .iter()
        .zip(&node.distances)
        .filter(|(other, _)| other.os != node.os);
    let Some(smallest) = others.clone().map(|(_, distance)| *distance).min() else {
        return CpuSet::new();
    };
    let near: Vec<usize> = others
        .filter(|(_, distance)| **distance == smallest)
        .map(|(other, _)| other.os)
        .collect();
    match near.len() == nodes.len() - 1 {
        true => CpuSet::new(),
        false => union(&near),
    }
}

/// Parses a line of `count` distances; keeps at most one more.
fn row(text: &str, count: usize) -> Vec<u64> {
    let words = text.split_ascii_whitespace().take(count + 1);
    words.map_while(|word| word.parse().ok()).collect()
}

/// Reads the caches in front of a node's memory. The kernel numbers them from the memory upwards, so that the
/// largest number is the nearest to the processors (Documentation/admin-guide/mm/numaperf.rst).
fn side_caches(files: &Reader<'_, impl Files>, node: usize) -> Result<Vec<Cache>, SyntaxError> {
    let all = format!("{NODES}/node{node}/memory_side_cache");
    let mut caches = Vec::new();
    for index in files.numbered(&all, "index").into_iter().rev() {
        let directory = format!("{all}/index{index}");
        let Some(size) = files.size(&format!("{directory}/size"))? else {
            continue;
        };
        let line = files.number(&format!("{directory}/line_size"))?;
        let indexing = files.number(&format!("{directory}/indexing"))?;
        caches.push(Cache {
            size,
            line: line.filter(|bytes| *bytes > 0),
            // 0 is direct-mapped; for other values the kernel does not report the number of ways.
            ways: (indexing == Some(0)).then_some(1),
            unified: true,
            inclusive: None,
        });
    }
    Ok(caches)
}
