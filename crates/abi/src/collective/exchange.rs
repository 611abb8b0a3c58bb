//! Collectives in which all ranks give and get: allgather, alltoall (MPI 5.0, sections 6.7 and 6.8).

use oxmpi_coll::catalog::Call;
use oxmpi_core::Area;
use oxmpi_wire::Bytes;

use super::{Description, Site, blocks, equal_blocks, is_in_place};
use crate::counts::Counting;
use crate::datatype::{self, Buffer};
use crate::error_handling::Result;
use crate::shared::{Held, both};
use crate::types::{Datatype, c_void};

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
    // SAFETY: the caller's promise.
    let all = unsafe { equal_blocks(into, into_count, into_type, site.blocks())? };
    let output = Area::Whole(all.bytes);
    if is_in_place(out) {
        let each = all.bytes.len() / u64::from(site.blocks());
        let call = Call::allgather(site.rank, site.size, each).with_in_place(true);
        return Ok(Description::new(call, Area::empty(), output, all.held));
    }
    // SAFETY: the caller's promise.
    let own = unsafe { Buffer::new(out, out_count, out_type)? };
    let call = Call::allgather(site.rank, site.size, own.bytes.len());
    let held = both(own.held, all.held);
    Ok(Description::new(call, Area::Whole(own.bytes), output, held))
}

/// # Safety
/// As [`allgather`]; the arrays have an entry for each rank.
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
    // SAFETY: the caller's promise.
    let (output, held) = unsafe { blocks(into, counts, displacements, into_type, site.blocks())? };
    let mut total = 0u64;
    for block in 0..site.blocks() as usize {
        // SAFETY: as above.
        let count = unsafe { *counts.wrapping_add(block) }.checked()?;
        // One block's bytes are counted by 63 bits; all together only choose an algorithm.
        total = (count * datatype::size_of(into_type)?).saturating_add(total);
    }
    let call = Call::allgatherv(site.rank, site.size, total);
    if is_in_place(out) {
        let call = call.with_in_place(true);
        return Ok(Description::new(call, Area::empty(), output, held));
    }
    // SAFETY: as above.
    let own = unsafe { Buffer::new(out, out_count, out_type)? };
    let held = both(own.held, held);
    Ok(Description::new(call, Area::Whole(own.bytes), output, held))
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
    // SAFETY: the caller's promise.
    let all = unsafe { equal_blocks(into, into_count, into_type, site.blocks())? };
    let output = Area::Whole(all.bytes);
    let each = |len: u64| len / u64::from(site.blocks());
    if is_in_place(out) {
        let each = each(all.bytes.len());
        let call = Call::alltoall(site.rank, site.size, each).with_in_place(true);
        return Ok(Description::new(call, Area::empty(), output, all.held));
    }
    // SAFETY: as above.
    let own = unsafe { equal_blocks(out, out_count, out_type, site.blocks())? };
    let call = Call::alltoall(site.rank, site.size, each(own.bytes.len()));
    let held = both(own.held, all.held);
    Ok(Description::new(call, Area::Whole(own.bytes), output, held))
}

/// # Safety
/// As [`allgather`]; the arrays have an entry for each rank.
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
    let number = site.blocks();
    // SAFETY: the caller's promise.
    let (output, held) = unsafe { blocks(into, counts, displacements, into_type, number)? };
    let call = Call::alltoallv(site.rank, site.size);
    if is_in_place(out) {
        let call = call.with_in_place(true);
        return Ok(Description::new(call, Area::empty(), output, held));
    }
    // SAFETY: as above.
    let (input, out_held) =
        unsafe { blocks(out, out_counts, out_displacements, out_type, number)? };
    Ok(Description::new(call, input, output, both(held, out_held)))
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
    let number = site.blocks();
    // SAFETY: the caller's promise.
    let (output, held) = unsafe { typed_blocks(into, counts, displacements, into_types, number)? };
    let call = Call::alltoallv(site.rank, site.size);
    if is_in_place(out) {
        let call = call.with_in_place(true);
        return Ok(Description::new(call, Area::empty(), output, held));
    }
    // SAFETY: as above.
    let (input, out_held) =
        unsafe { typed_blocks(out, out_counts, out_displacements, out_types, number)? };
    Ok(Description::new(call, input, output, both(held, out_held)))
}

/// Blocks with a datatype each, at displacements in bytes.
///
/// # Safety
/// As [`blocks`].
pub(super) unsafe fn typed_blocks<N: Counting, D: Counting>(
    start: *const c_void,
    counts: *const N,
    displacements: *const D,
    types: *const Datatype,
    number: u32,
) -> Result<(Area, Held)> {
    let mut places = Vec::with_capacity(number as usize);
    let mut held = Vec::new();
    for block in 0..number as usize {
        // SAFETY: the caller's promise.
        let count = unsafe { *counts.wrapping_add(block) };
        // SAFETY: as above.
        let displacement = unsafe { *displacements.wrapping_add(block) };
        // SAFETY: as above.
        let datatype = unsafe { *types.wrapping_add(block) };
        let place = start.wrapping_byte_offset(displacement.signed() as isize);
        // SAFETY: as above.
        let part = unsafe { Buffer::new(place, count, datatype) }
            .map_err(|error| error.in_block(block))?;
        places.push(part.bytes);
        held.extend(part.held);
    }
    let held: Held = match held.is_empty() {
        true => None,
        false => Some(std::sync::Arc::new(held)),
    };
    Ok((Area::of_blocks(places), held))
}
