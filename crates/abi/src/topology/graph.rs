//! Graph topologies, in which every rank knows all edges (MPI 5.0, section 8.5.3).

use oxmpi_core::Topology;

use super::{give, neighbors, no_topology, numbers, rank_of, within_group, write};
use crate::comm_table::Entry;
use crate::comm_topology::{GraphShape, Shape};
use crate::constants::{MPI_ERR_ARG, MPI_UNDEFINED};
use crate::error_handling::{Error, Result, on};
use crate::types::{Comm, c_int};

impl GraphShape {
    /// # Safety
    /// The arrays have as many numbers as the standard says.
    unsafe fn new(
        entry: &Entry,
        nodes: c_int,
        index: *const c_int,
        edges: *const c_int,
    ) -> Result<Self> {
        within_group(entry)?;
        let size = entry.messages.group().size();
        if !u32::try_from(nodes).is_ok_and(|nodes| nodes <= size) {
            let why = format!("the graph has {nodes} nodes, and the communicator {size} ranks");
            return Err(Error::new(MPI_ERR_ARG, why));
        }
        // SAFETY: the caller's promise.
        let index = unsafe { numbers(nodes, index)? };
        if !index.is_sorted() || index.first().is_some_and(|&first| first < 0) {
            return Err(Error::argument("the numbers of edges do not ascend"));
        }
        // SAFETY: as above.
        let edges = unsafe { numbers(index.last().copied().unwrap_or(0), edges)? };
        if let Some(edge) = edges.iter().find(|&&edge| !(0..nodes).contains(&edge)) {
            let why = format!("an edge leads to node {edge} of {nodes} nodes");
            return Err(Error::new(MPI_ERR_ARG, why));
        }
        Ok(Self { index, edges })
    }

    fn of(&self, rank: usize) -> &[c_int] {
        let end = |rank: usize| self.index.get(rank).map_or(0, |&end| end as usize);
        let start = rank.checked_sub(1).map_or(0, end);
        self.edges.get(start..end(rank)).unwrap_or(&[])
    }
}

fn graph(entry: &Entry) -> Result<&GraphShape> {
    match entry.topology.as_deref() {
        Some(Shape::Graph(graph, _)) => Ok(graph),
        _ => Err(no_topology("graph topology")),
    }
}

/// `MPI_Graph_create`. Ranks keep their order.
///
/// # Safety
/// The arrays have as many numbers as the standard says; the new handle may be written to.
pub(crate) unsafe fn graph_create(
    comm: Comm,
    nodes: c_int,
    index: *const c_int,
    edges: *const c_int,
    _reorder: c_int,
    new: *mut Comm,
) -> c_int {
    on(comm, "MPI_Graph_create", |entry| {
        // SAFETY: the caller's promise.
        let graph = unsafe { GraphShape::new(entry, nodes, index, edges)? };
        let rank = entry.messages.group().rank() as usize;
        let own = neighbors(entry, graph.of(rank))?;
        let part = entry
            .messages
            .split((rank < graph.index.len()).then_some(0), 0)?;
        let topology = Topology::new(own.clone(), own, false);
        // SAFETY: as above.
        unsafe {
            give(
                entry,
                part.map(|part| (part, Shape::Graph(graph, topology))),
                new,
            )
        };
        Ok(())
    })
}

/// `MPI_Graph_map`.
///
/// # Safety
/// As [`graph_create`]; the rank may be written to.
pub(crate) unsafe fn graph_map(
    comm: Comm,
    nodes: c_int,
    index: *const c_int,
    edges: *const c_int,
    new_rank: *mut c_int,
) -> c_int {
    on(comm, "MPI_Graph_map", |entry| {
        // SAFETY: the caller's promise.
        let graph = unsafe { GraphShape::new(entry, nodes, index, edges)? };
        let rank = entry.messages.group().rank() as usize;
        let place = if rank < graph.index.len() {
            rank as c_int
        } else {
            MPI_UNDEFINED
        };
        // SAFETY: as above.
        unsafe { new_rank.write(place) };
        Ok(())
    })
}

/// `MPI_Graphdims_get`.
///
/// # Safety
/// The numbers may be written to.
pub(crate) unsafe fn graphdims_get(comm: Comm, nodes: *mut c_int, edges: *mut c_int) -> c_int {
    on(comm, "MPI_Graphdims_get", |entry| {
        let graph = graph(entry)?;
        // SAFETY: the caller's promise.
        unsafe { nodes.write(graph.index.len() as c_int) };
        // SAFETY: as above.
        unsafe { edges.write(graph.edges.len() as c_int) };
        Ok(())
    })
}

/// `MPI_Graph_get`.
///
/// # Safety
/// The arrays have the room that is given.
pub(crate) unsafe fn graph_get(
    comm: Comm,
    index_room: c_int,
    edge_room: c_int,
    index: *mut c_int,
    edges: *mut c_int,
) -> c_int {
    on(comm, "MPI_Graph_get", |entry| {
        let graph = graph(entry)?;
        // SAFETY: the caller's promise.
        unsafe { write(graph.index.iter().copied(), index, index_room) };
        // SAFETY: as above.
        unsafe { write(graph.edges.iter().copied(), edges, edge_room) };
        Ok(())
    })
}

/// `MPI_Graph_neighbors_count`.
///
/// # Safety
/// The number may be written to.
pub(crate) unsafe fn graph_neighbors_count(comm: Comm, rank: c_int, number: *mut c_int) -> c_int {
    on(comm, "MPI_Graph_neighbors_count", |entry| {
        let count = graph(entry)?.of(rank_of(entry, rank)?).len();
        // SAFETY: the caller's promise.
        unsafe { number.write(count as c_int) };
        Ok(())
    })
}

/// `MPI_Graph_neighbors`.
///
/// # Safety
/// The array has room for `room` ranks.
pub(crate) unsafe fn graph_neighbors(
    comm: Comm,
    rank: c_int,
    room: c_int,
    ranks: *mut c_int,
) -> c_int {
    on(comm, "MPI_Graph_neighbors", |entry| {
        let of = graph(entry)?.of(rank_of(entry, rank)?);
        // SAFETY: the caller's promise.
        unsafe { write(of.iter().copied(), ranks, room) };
        Ok(())
    })
}
