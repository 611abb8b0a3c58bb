//! Collectives with a root: broadcast, gather, scatter (MPI 5.0, sections 6.4 to 6.6); and the barrier.

use oxmpi_coll::catalog::Call;
use oxmpi_core::Area;
use oxmpi_wire::Bytes;

use super::{Description, Site, blocks, equal_blocks, is_in_place};
use crate::counts::Counting;
use crate::datatype::Buffer;
use crate::errors::Result;
use crate::types::{Datatype, c_int, c_void};

/// # Safety
/// None is asked for.
pub(super) unsafe fn barrier(site: &Site<'_>) -> Result<Description> {
    let call = Call::barrier(site.rank, site.size);
    Ok(Description::new(call, Area::empty(), Area::empty(), None))
}

/// # Safety
/// The elements may be used as the standard says; here and below.
pub(super) unsafe fn bcast<N: Counting>(
    site: &Site<'_>,
    buffer: *mut c_void,
    count: N,
    datatype: Datatype,
    root: c_int,
) -> Result<Description> {
    let root = site.root(root)?;
    // SAFETY: the caller's promise.
    let Buffer { bytes, held } = unsafe { Buffer::new(buffer, count, datatype)? };
    let call = Call::bcast(site.rank, site.size, root, bytes.len());
    let area = Area::Whole(bytes);
    Ok(Description::new(call, area.clone(), area, held))
}

/// # Safety
/// As [`bcast`].
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's function"
)]
pub(super) unsafe fn gather<N: Counting>(
    site: &Site<'_>,
    out: *const c_void,
    out_count: N,
    out_type: Datatype,
    into: *mut c_void,
    into_count: N,
    into_type: Datatype,
    root: c_int,
) -> Result<Description> {
    let root = site.root(root)?;
    let (mut output, mut each, mut held) = (Area::empty(), 0, None);
    if root == site.rank {
        // SAFETY: the caller's promise.
        let all = unsafe { equal_blocks(into, into_count, into_type, site.blocks())? };
        each = all.bytes.len() / u64::from(site.blocks());
        (output, held) = (Area::Whole(all.bytes), all.held);
    }
    let in_place = root == site.rank && is_in_place(out);
    let mut input = Area::empty();
    if site.gives_to(root) && !in_place {
        // SAFETY: the caller's promise.
        let own = unsafe { Buffer::new(out, out_count, out_type)? };
        each = own.bytes.len();
        (input, held) = (Area::Whole(own.bytes), own.held.or(held));
    }
    let call = Call::gather(site.rank, site.size, root, each).with_in_place(in_place);
    Ok(Description::new(call, input, output, held))
}

/// # Safety
/// As [`bcast`]; at the root the arrays have an entry for each rank.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's function"
)]
pub(super) unsafe fn gatherv<N: Counting, D: Counting>(
    site: &Site<'_>,
    out: *const c_void,
    out_count: N,
    out_type: Datatype,
    into: *mut c_void,
    counts: *const N,
    displacements: *const D,
    into_type: Datatype,
    root: c_int,
) -> Result<Description> {
    let root = site.root(root)?;
    let (mut output, mut held) = (Area::empty(), None);
    let mut own = 0;
    if root == site.rank {
        // SAFETY: the caller's promise.
        (output, held) = unsafe { blocks(into, counts, displacements, into_type, site.blocks())? };
        if site.remote == 0 {
            // SAFETY: as above.
            let count = unsafe { *counts.wrapping_add(site.rank as usize) }.checked()?;
            own = count * crate::datatype::size_of(into_type)?;
        }
    }
    let in_place = root == site.rank && is_in_place(out);
    let mut input = Area::empty();
    if site.gives_to(root) && !in_place {
        // SAFETY: the caller's promise.
        let values = unsafe { Buffer::new(out, out_count, out_type)? };
        own = values.bytes.len();
        (input, held) = (Area::Whole(values.bytes), values.held.or(held));
    }
    let call = Call::gatherv(site.rank, site.size, root, own).with_in_place(in_place);
    Ok(Description::new(call, input, output, held))
}

/// # Safety
/// As [`bcast`].
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's function"
)]
pub(super) unsafe fn scatter<N: Counting>(
    site: &Site<'_>,
    out: *const c_void,
    out_count: N,
    out_type: Datatype,
    into: *mut c_void,
    into_count: N,
    into_type: Datatype,
    root: c_int,
) -> Result<Description> {
    let root = site.root(root)?;
    let (mut input, mut each, mut held) = (Area::empty(), 0, None);
    if root == site.rank {
        // SAFETY: the caller's promise.
        let all = unsafe { equal_blocks(out, out_count, out_type, site.blocks())? };
        each = all.bytes.len() / u64::from(site.blocks());
        (input, held) = (Area::Whole(all.bytes), all.held);
    }
    let in_place = root == site.rank && is_in_place(into);
    let mut output = Area::empty();
    if site.gives_to(root) && !in_place {
        // SAFETY: the caller's promise.
        let own = unsafe { Buffer::new(into, into_count, into_type)? };
        each = own.bytes.len();
        (output, held) = (Area::Whole(own.bytes), own.held.or(held));
    }
    let call = Call::scatter(site.rank, site.size, root, each).with_in_place(in_place);
    Ok(Description::new(call, input, output, held))
}

/// # Safety
/// As [`bcast`]; at the root the arrays have an entry for each rank.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's function"
)]
pub(super) unsafe fn scatterv<N: Counting, D: Counting>(
    site: &Site<'_>,
    out: *const c_void,
    counts: *const N,
    displacements: *const D,
    out_type: Datatype,
    into: *mut c_void,
    into_count: N,
    into_type: Datatype,
    root: c_int,
) -> Result<Description> {
    let root = site.root(root)?;
    let (mut input, mut held) = (Area::empty(), None);
    let mut own = 0;
    if root == site.rank {
        // SAFETY: the caller's promise.
        (input, held) = unsafe { blocks(out, counts, displacements, out_type, site.blocks())? };
        if site.remote == 0 {
            // SAFETY: as above.
            let count = unsafe { *counts.wrapping_add(site.rank as usize) }.checked()?;
            own = count * crate::datatype::size_of(out_type)?;
        }
    }
    let in_place = root == site.rank && is_in_place(into);
    let mut output = Area::empty();
    if site.gives_to(root) && !in_place {
        // SAFETY: the caller's promise.
        let values = unsafe { Buffer::new(into, into_count, into_type)? };
        own = values.bytes.len();
        (output, held) = (Area::Whole(values.bytes), values.held.or(held));
    }
    let call = Call::scatterv(site.rank, site.size, root, own).with_in_place(in_place);
    Ok(Description::new(call, input, output, held))
}
