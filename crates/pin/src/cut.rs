//! From a domain setting to domains.

use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Kind, Machine};

use crate::intel::{Domain, Shape};
use crate::node::{Node, parts};

/// Domains for a job: of a shape, or sizes still to be cut.
pub(crate) enum Cut {
    /// The domains themselves, in the order of the machine.
    Shapes(Vec<CpuSet>),
    /// Each domain has this many processors.
    Size(usize),
}

impl Cut {
    /// What `domain` means on `node` for `ranks` (at least 1) ranks. Sizes are at most the number of processors.
    pub(crate) fn new(machine: &Machine, node: &Node, domain: Domain, ranks: usize) -> Self {
        let all = node.compact.len();
        match domain {
            Domain::Auto => Self::Size((all / ranks).max(1)),
            Domain::Size(size) => Self::Size((size as usize).clamp(1, all)),
            Domain::Shape(Shape::Core) => Self::Shapes(parts(machine, Kind::Core, &node.allowed)),
            Domain::Shape(Shape::Socket) => Self::Shapes(node.sockets.clone()),
            Domain::Shape(Shape::Numa) => Self::Shapes(parts(machine, Kind::Numa, &node.allowed)),
            Domain::Shape(Shape::Node) => Self::Shapes([node.allowed.clone()].into()),
        }
    }

    /// The domains of the whole node. An incomplete one at the end is dropped.
    pub(crate) fn everywhere(&self, node: &Node) -> Vec<CpuSet> {
        match self {
            Self::Shapes(domains) => domains.clone(),
            Self::Size(size) => chunks(node.compact.iter().copied(), *size),
        }
    }

    /// The domains that lie inside `socket`, cut from its first processor on.
    pub(crate) fn inside(&self, node: &Node, socket: &CpuSet) -> Vec<CpuSet> {
        match self {
            Self::Shapes(domains) => domains
                .iter()
                .filter(|d| d.is_subset(socket))
                .cloned()
                .collect(),
            Self::Size(size) => chunks(node.compact_in(socket), *size),
        }
    }
}

/// Consecutive processors, `size` to a chunk; what does not fill one is dropped.
fn chunks(cpus: impl Iterator<Item = usize>, size: usize) -> Vec<CpuSet> {
    let cpus: Vec<usize> = cpus.collect();
    cpus.chunks_exact(size)
        .map(|chunk| chunk.iter().copied().collect())
        .collect()
}
