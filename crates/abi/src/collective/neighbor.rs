//! Neighbourhood collectives (MPI 5.0, section 8.6).

use std::sync::Arc;

use oxmpi_coll::catalog::Call;
use oxmpi_core::{Area, Topology};
use oxmpi_wire::Bytes;

use super::exchange::typed_blocks;
use super::{Description, Site, blocks, equal_blocks};
use crate::constants::MPI_ERR_TOPOLOGY;
use crate::counts::Counting;
use crate::datatype::Buffer;
use crate::error_handling::{Error, Result};
use crate::shared::{Held, both};
use crate::types::{Datatype, c_void};

/// The neighbours of a communicator.
fn topology(site: &Site<'_>) -> Result<Arc<Topology>> {
    let shape = site.entry.topology.as_ref();
    let why = "the communicator has no topology, and one with neighbours is expected";
    let shape = shape.ok_or_else(|| Error::new(MPI_ERR_TOPOLOGY, why))?;
    Ok(shape.topology().clone())
}

/// A collective among neighbours. `of` gives the call from the numbers of sources and of destinations.
fn among(
    topology: &Topology,
    of: impl FnOnce([u32; 2]) -> Call,
    input: Area,
    output: Area,
    held: Held,
) -> Description {
    let call = of([topology.sources() as u32, topology.destinations() as u32]);
    let call = match topology.cartesian {
        true => call.on_grid(),
        false => call,
    };
    let mut description = Description::new(call, input, output, held);
    description.buffers.neighbors = Some(topology.neighbors.clone());
    description
}

/// # Safety
/// The elements may be used as the standard says; here and below.
pub(super) unsafe fn allgather<N: Counting>(
    site: &Site<'_>,
    out: *const c_void,
    out_count: N,
    out_type: Datatype,
    into: *mut c_void,
    into_count: N,
    into_type: Datatype,
) -> Result<Description> {
    let topology = topology(site)?;
    // SAFETY: the caller's promise.
    let own = unsafe { Buffer::new(out, out_count, out_type)? };
    let sources = topology.sources() as u32;
    // SAFETY: as above.
    let all = unsafe { equal_blocks(into, into_count, into_type, sources)? };
    let of = |degrees| Call::neighbor_allgather(site.rank, site.size, degrees, own.bytes.len());
    let (input, output) = (Area::Whole(own.bytes), Area::Whole(all.bytes));
    Ok(among(
        &topology,
        of,
        input,
        output,
        both(own.held, all.held),
    ))
}

/// # Safety
/// As [`allgather`]; the arrays have an entry for each source.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's function"
)]
pub(super) unsafe fn allgatherv<N: Counting, D: Counting>(
    site: &Site<'_>,
    out: *const c_void,
    out_count: N,
    out_type: Datatype,
    into: *mut c_void,
    counts: *const N,
    displacements: *const D,
    into_type: Datatype,
) -> Result<Description> {
    let topology = topology(site)?;
    // SAFETY: the caller's promise.
    let own = unsafe { Buffer::new(out, out_count, out_type)? };
    let sources = topology.sources() as u32;
    // SAFETY: as above.
    let (output, held) = unsafe { blocks(into, counts, displacements, into_type, sources)? };
    let of = |degrees| Call::neighbor_allgatherv(site.rank, site.size, degrees, own.bytes.len());
    let input = Area::Whole(own.bytes);
    Ok(among(&topology, of, input, output, both(own.held, held)))
}

/// # Safety
/// As [`allgather`].
pub(super) unsafe fn alltoall<N: Counting>(
    site: &Site<'_>,
    out: *const c_void,
    out_count: N,
    out_type: Datatype,
    into: *mut c_void,
    into_count: N,
    into_type: Datatype,
) -> Result<Description> {
    let topology = topology(site)?;
    let (to, from) = (topology.destinations() as u32, topology.sources() as u32);
    // SAFETY: the caller's promise.
    let values = unsafe { equal_blocks(out, out_count, out_type, to)? };
    // SAFETY: as above.
    let result = unsafe { equal_blocks(into, into_count, into_type, from)? };
    // A rank that sends nothing knows the length from its result.
    let each = match to {
        0 => result.bytes.len().checked_div(from.into()).unwrap_or(0),
        to => values.bytes.len() / u64::from(to),
    };
    let of = |degrees| Call::neighbor_alltoall(site.rank, site.size, degrees, each);
    let (input, output) = (Area::Whole(values.bytes), Area::Whole(result.bytes));
    Ok(among(
        &topology,
        of,
        input,
        output,
        both(values.held, result.held),
    ))
}

/// # Safety
/// As [`allgather`]; the arrays have an entry for each neighbour.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's function"
)]
pub(super) unsafe fn alltoallv<N: Counting, D: Counting>(
    site: &Site<'_>,
    out: *const c_void,
    out_counts: *const N,
    out_displacements: *const D,
    out_type: Datatype,
    into: *mut c_void,
    counts: *const N,
    displacements: *const D,
    into_type: Datatype,
) -> Result<Description> {
    let topology = topology(site)?;
    let (to, from) = (topology.destinations() as u32, topology.sources() as u32);
    // SAFETY: the caller's promise.
    let (input, out_held) = unsafe { blocks(out, out_counts, out_displacements, out_type, to)? };
    // SAFETY: as above.
    let (output, held) = unsafe { blocks(into, counts, displacements, into_type, from)? };
    let of = |degrees| Call::neighbor_alltoallv(site.rank, site.size, degrees);
    Ok(among(&topology, of, input, output, both(out_held, held)))
}

/// # Safety
/// As [`alltoallv`].
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's function"
)]
pub(super) unsafe fn alltoallw<N: Counting, D: Counting>(
    site: &Site<'_>,
    out: *const c_void,
    out_counts: *const N,
    out_displacements: *const D,
    out_types: *const Datatype,
    into: *mut c_void,
    counts: *const N,
    displacements: *const D,
    into_types: *const Datatype,
) -> Result<Description> {
    let topology = topology(site)?;
    let (to, from) = (topology.destinations() as u32, topology.sources() as u32);
    // SAFETY: the caller's promise.
    let (input, out_held) =
        unsafe { typed_blocks(out, out_counts, out_displacements, out_types, to)? };
    // SAFETY: as above.
    let (output, held) = unsafe { typed_blocks(into, counts, displacements, into_types, from)? };
    let of = |degrees| Call::neighbor_alltoallv(site.rank, site.size, degrees);
    Ok(among(&topology, of, input, output, both(out_held, held)))
}
