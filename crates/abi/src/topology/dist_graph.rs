//! Distributed graph topologies, in which each rank knows its own edges (MPI 5.0, section 8.5.4).

use oxmpi_core::Topology;

use super::{give, neighbors, no_topology, numbers, rank_of, within_group, write};
use crate::comm_table::Entry;
use crate::comm_topology::{Shape, Weights};
use crate::constants::{MPI_PROC_NULL, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY};
use crate::error_handling::{Error, Result, on};
use crate::types::{Comm, Info, c_int};

/// Whether a graph with this array has weights.
fn is_weighted(weights: *const c_int) -> bool {
    weights.addr() != MPI_UNWEIGHTED
}

/// The weights of an array, if there are some.
///
/// # Safety
/// It is one of the standard's constants, or has `count` numbers.
unsafe fn weights(count: c_int, array: *const c_int) -> Result<Vec<c_int>> {
    match array.addr() {
        MPI_UNWEIGHTED | MPI_WEIGHTS_EMPTY => Ok(Vec::new()),
        // SAFETY: the caller's promise.
        _ => unsafe { numbers(count, array) },
    }
}

fn graph(entry: &Entry) -> Result<(&Weights, &Topology)> {
    match entry.topology.as_deref() {
        Some(Shape::DistGraph(weights, topology)) => Ok((weights, topology)),
        _ => Err(no_topology("distributed graph topology")),
    }
}

/// `MPI_Dist_graph_create_adjacent`. Ranks keep their order.
///
/// # Safety
/// The arrays have as many numbers as there are neighbours; the new handle may be written to.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's function"
)]
pub(crate) unsafe fn dist_graph_create_adjacent(
    comm: Comm,
    in_degree: c_int,
    sources: *const c_int,
    source_weights: *const c_int,
    out_degree: c_int,
    destinations: *const c_int,
    destination_weights: *const c_int,
    _info: Info,
    _reorder: c_int,
    new: *mut Comm,
) -> c_int {
    on(comm, "MPI_Dist_graph_create_adjacent", |entry| {
        within_group(entry)?;
        // SAFETY: the caller's promise.
        let from = neighbors(entry, &unsafe { numbers(in_degree, sources)? })?;
        // SAFETY: as above.
        let to = neighbors(entry, &unsafe { numbers(out_degree, destinations)? })?;
        let weighted = is_weighted(source_weights) && is_weighted(destination_weights);
        // SAFETY: as above.
        let in_weights = unsafe { weights(in_degree, source_weights)? };
        // SAFETY: as above.
        let out_weights = unsafe { weights(out_degree, destination_weights)? };
        let shape = Shape::DistGraph(
            Weights(weighted.then_some([in_weights, out_weights])),
            Topology::new(from, to, false),
        );
        let copy = entry.messages.duplicate()?;
        // SAFETY: as above.
        unsafe { give(entry, Some((copy, shape)), new) };
        Ok(())
    })
}

/// An edge: source, destination, weight.
type Edge = [i64; 3];

/// The edges that all ranks have given, in the order of the ranks.
fn all_edges(entry: &Entry, own: &[Edge]) -> Result<Vec<Edge>> {
    let group = entry.messages.group();
    let mut counts = vec![0u64; group.size() as usize];
    counts[group.rank() as usize] = own.len() as u64;
    entry
        .messages
        .allreduce_in_place(&mut counts, u64::wrapping_add)?;
    let before: u64 = counts[..group.rank() as usize].iter().sum();
    let mut all: Vec<Edge> = vec![[0; 3]; counts.iter().sum::<u64>() as usize];
    all[before as usize..][..own.len()].copy_from_slice(own);
    // Each rank fills its own rows; the others' are zero, so a sum joins them.
    entry
        .messages
        .allreduce_in_place(all.as_flattened_mut(), i64::wrapping_add)?;
    Ok(all)
}

/// `MPI_Dist_graph_create`. Ranks keep their order.
///
/// # Safety
/// The arrays have as many numbers as the standard says; the new handle may be written to.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's function"
)]
pub(crate) unsafe fn dist_graph_create(
    comm: Comm,
    count: c_int,
    sources: *const c_int,
    degrees: *const c_int,
    destinations: *const c_int,
    edge_weights: *const c_int,
    _info: Info,
    _reorder: c_int,
    new: *mut Comm,
) -> c_int {
    on(comm, "MPI_Dist_graph_create", |entry| {
        within_group(entry)?;
        // SAFETY: the caller's promise.
        let sources = unsafe { numbers(count, sources)? };
        // SAFETY: as above.
        let degrees = unsafe { numbers(count, degrees)? };
        let total = (degrees.iter()).try_fold(0, |sum: c_int, &degree| match degree {
            ..0 => None,
            degree => sum.checked_add(degree),
        });
        let total = total.ok_or_else(|| {
            Error::argument(format!(
                "the degrees are {degrees:?}; each is at least 0, and all together are at most {}",
                c_int::MAX
            ))
        })?;
        // SAFETY: as above.
        let destinations = unsafe { numbers(total, destinations)? };
        // SAFETY: as above.
        let given = unsafe { weights(total, edge_weights)? };
        let mut own = Vec::with_capacity(destinations.len());
        let named = sources.iter().zip(&degrees);
        for &source in
            named.flat_map(|(source, &degree)| std::iter::repeat_n(source, degree as usize))
        {
            let at = own.len();
            rank_of(entry, source)?;
            rank_of(entry, destinations[at])?;
            let weight = given.get(at).copied().unwrap_or(1);
            own.push([source, destinations[at], weight].map(i64::from));
        }
        let rank = i64::from(entry.messages.group().rank());
        let (mut from, mut to, mut both) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
        for [source, destination, weight] in all_edges(entry, &own)? {
            if destination == rank {
                from.push(source as u32);
                both[0].push(weight as c_int);
            }
            if source == rank {
                to.push(destination as u32);
                both[1].push(weight as c_int);
            }
        }
        let weighted = is_weighted(edge_weights).then_some(both);
        let shape = Shape::DistGraph(Weights(weighted), Topology::new(from, to, false));
        let copy = entry.messages.duplicate()?;
        // SAFETY: as above.
        unsafe { give(entry, Some((copy, shape)), new) };
        Ok(())
    })
}

/// `MPI_Dist_graph_neighbors_count`.
///
/// # Safety
/// The numbers may be written to.
pub(crate) unsafe fn dist_graph_neighbors_count(
    comm: Comm,
    in_degree: *mut c_int,
    out_degree: *mut c_int,
    weighted: *mut c_int,
) -> c_int {
    on(comm, "MPI_Dist_graph_neighbors_count", |entry| {
        let (Weights(weights), topology) = graph(entry)?;
        // SAFETY: the caller's promise.
        unsafe { in_degree.write(topology.sources() as c_int) };
        // SAFETY: as above.
        unsafe { out_degree.write(topology.destinations() as c_int) };
        // SAFETY: as above.
        unsafe { weighted.write(c_int::from(weights.is_some())) };
        Ok(())
    })
}

/// `MPI_Dist_graph_neighbors`.
///
/// # Safety
/// The arrays have the room that is given; those of weights may be the standard's constants.
pub(crate) unsafe fn dist_graph_neighbors(
    comm: Comm,
    in_room: c_int,
    sources: *mut c_int,
    source_weights: *mut c_int,
    out_room: c_int,
    destinations: *mut c_int,
    destination_weights: *mut c_int,
) -> c_int {
    on(comm, "MPI_Dist_graph_neighbors", |entry| {
        let (Weights(weights), topology) = graph(entry)?;
        let rank = |&rank: &u32| match rank {
            oxmpi_coll::catalog::PROC_NULL => MPI_PROC_NULL,
            rank => rank as c_int,
        };
        // SAFETY: the caller's promise.
        unsafe {
            write(
                topology.neighbors.sources.iter().map(rank),
                sources,
                in_room,
            )
        };
        let to = topology.neighbors.destinations.iter().map(rank);
        // SAFETY: as above.
        unsafe { write(to, destinations, out_room) };
        if let Some([from, to]) = weights {
            let given = [
                (from, source_weights, in_room),
                (to, destination_weights, out_room),
            ];
            for (weights, array, room) in given {
                if is_weighted(array) && array.addr() != MPI_WEIGHTS_EMPTY {
                    // SAFETY: as above.
                    unsafe { write(weights.iter().copied(), array, room) };
                }
            }
        }
        Ok(())
    })
}
