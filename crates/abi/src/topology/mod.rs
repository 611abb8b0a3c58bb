//! Topologies of communicators (MPI 5.0, chapter 8).

mod cart;
mod dist_graph;
mod graph;

use std::sync::Arc;

use oxmpi_core::{Communicator, ProcessEndpoint};

pub(crate) use cart::{
    cart_coords, cart_create, cart_get, cart_map, cart_rank, cart_shift, cart_sub, cartdim_get,
    dims_create,
};
pub(crate) use dist_graph::{
    dist_graph_create, dist_graph_create_adjacent, dist_graph_neighbors, dist_graph_neighbors_count,
};
pub(crate) use graph::{
    graph_create, graph_get, graph_map, graph_neighbors, graph_neighbors_count, graphdims_get,
};

use crate::comm_table::{self, Entry};
use crate::comm_topology::Shape;
use crate::constants::{
    MPI_CART, MPI_COMM_NULL, MPI_DIST_GRAPH, MPI_ERR_DIMS, MPI_ERR_RANK, MPI_ERR_TOPOLOGY,
    MPI_GRAPH, MPI_UNDEFINED,
};
use crate::error_handling::{Error, Result, on};
use crate::handles::Handle;
use crate::types::{Comm, c_int};

/// Writes the handle of a new communicator with a topology, which has the error handler of `entry`; the null handle
/// where this rank has no place in it.
///
/// # Safety
/// The handle may be written to.
unsafe fn give(
    entry: &Entry,
    made: Option<(Communicator<ProcessEndpoint>, Shape)>,
    new: *mut Comm,
) {
    let comm = match made {
        Some((made, shape)) => {
            let mut made = entry.heir(made);
            made.topology = Some(Arc::new(shape));
            comm_table::insert(made)
        }
        None => Comm::from_address(MPI_COMM_NULL),
    };
    // SAFETY: the caller's promise.
    unsafe { new.write(comm) };
}

#[cold]
fn no_topology(expected: &str) -> Error {
    Error::new(
        MPI_ERR_TOPOLOGY,
        format!("the communicator has no {expected}"),
    )
}

#[cold]
fn wrong_dimensions(why: String) -> Error {
    Error::new(MPI_ERR_DIMS, why)
}

/// The numbers of an array.
///
/// # Safety
/// The array has `count` numbers.
unsafe fn numbers(count: c_int, array: *const c_int) -> Result<Vec<c_int>> {
    let count = usize::try_from(count).map_err(|_| Error::count(count))?;
    // SAFETY: the caller's promise.
    Ok((0..count)
        .map(|at| unsafe { *array.wrapping_add(at) })
        .collect())
}

/// Writes numbers to an array that has room for `room` of them.
///
/// # Safety
/// The room may be written to.
unsafe fn write(numbers: impl IntoIterator<Item = c_int>, array: *mut c_int, room: c_int) {
    let room = usize::try_from(room).unwrap_or(0);
    for (at, number) in numbers.into_iter().take(room).enumerate() {
        // SAFETY: the caller's promise.
        unsafe { array.wrapping_add(at).write(number) };
    }
}

/// Checks that a rank is one of the communicator.
fn rank_of(entry: &Entry, rank: c_int) -> Result<usize> {
    let size = entry.messages.group().size();
    match u32::try_from(rank) {
        Ok(rank) if rank < size => Ok(rank as usize),
        _ => Err(Error::new(
            MPI_ERR_RANK,
            format!(
                "rank {rank} was named, but the communicator has ranks 0 to {}",
                size - 1
            ),
        )),
    }
}

/// The ranks of neighbours as the core names them.
fn neighbors(entry: &Entry, ranks: &[c_int]) -> Result<Vec<u32>> {
    let ranks = ranks.iter().map(|&rank| match rank {
        crate::constants::MPI_PROC_NULL => Ok(oxmpi_coll::catalog::PROC_NULL),
        rank => rank_of(entry, rank).map(|rank| rank as u32),
    });
    ranks.collect()
}

/// `MPI_Topo_test`.
///
/// # Safety
/// The status may be written to.
pub(crate) unsafe fn topo_test(comm: Comm, status: *mut c_int) -> c_int {
    on(comm, "MPI_Topo_test", |entry| {
        let kind = match entry.topology.as_deref() {
            Some(Shape::Cart(..)) => MPI_CART,
            Some(Shape::Graph(..)) => MPI_GRAPH,
            Some(Shape::DistGraph(..)) => MPI_DIST_GRAPH,
            None => MPI_UNDEFINED,
        };
        // SAFETY: the caller's promise.
        unsafe { status.write(kind) };
        Ok(())
    })
}

/// The error of a communicator that cannot be given a topology.
fn within_group(entry: &Entry) -> Result<()> {
    match entry.inter {
        None => Ok(()),
        Some(_) => Err(Error::new(
            crate::constants::MPI_ERR_COMM,
            "an intercommunicator has no topology",
        )),
    }
}
