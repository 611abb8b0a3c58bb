//! Collectives with a root: broadcast, gather, scatter (MPI 5.0, sections 6.4 to 6.6); and the barrier.

use oxmpi_coll::catalog::{Call, PROC_NULL};
use oxmpi_core::Area;
use oxmpi_wire::Bytes;

use super::{Description, Site, blocks, equal_blocks, is_in_place};
use crate::counts::Counting;
use crate::datatype::Buffer;
use crate::error_handling::Result;
use crate::shared::{Held, both};
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
    if root == PROC_NULL {
        // No other argument is significant (MPI 5.0, section 6.4.1).
        let call = Call::bcast(site.rank, site.size, root, 0);
        return Ok(Description::new(call, Area::empty(), Area::empty(), None));
    }
    // SAFETY: the caller's promise.
    let Buffer { bytes, held } = unsafe { Buffer::new(buffer, count, datatype)? };
    let call = Call::bcast(site.rank, site.size, root, bytes.len());
    let area = Area::Whole(bytes);
    Ok(Description::new(call, area.clone(), area, held))
}

/// What a rank has of a gather or a scatter.
struct Parts {
    /// The blocks of all ranks, at the root.
    all: Area,
    /// The block of this rank, where it is not in place.
    own: Area,
    /// Bytes of the block of this rank.
    len: u64,
    in_place: bool,
    held: Held,
}

impl Parts {
    /// The blocks of all ranks, of which this rank's has `len` bytes.
    fn of_all(all: Area, len: u64, held: Held) -> Self {
        Self {
            all,
            own: Area::empty(),
            len,
            in_place: false,
            held,
        }
    }

    /// With the block of this rank, if it takes part in a collective with this root.
    ///
    /// # Safety
    /// As [`Buffer::new`].
    unsafe fn with_own<N: Counting>(
        mut self,
        site: &Site<'_>,
        root: u32,
        start: *const c_void,
        count: N,
        datatype: Datatype,
    ) -> Result<Self> {
        self.in_place = root == site.rank && is_in_place(start);
        if site.gives_to(root) && !self.in_place {
            // SAFETY: the caller's promise.
            let Buffer { bytes, held } = unsafe { Buffer::new(start, count, datatype)? };
            self.len = bytes.len();
            self.own = Area::Whole(bytes);
            self.held = both(held, self.held);
        }
        Ok(self)
    }
}

/// At the root, as many elements for each rank; elsewhere nothing.
///
/// # Safety
/// As [`Buffer::new`].
unsafe fn equal_blocks_at_root<N: Counting>(
    site: &Site<'_>,
    root: u32,
    start: *const c_void,
    count: N,
    datatype: Datatype,
) -> Result<Parts> {
    if root != site.rank {
        return Ok(Parts::of_all(Area::empty(), 0, None));
    }
    // SAFETY: the caller's promise.
    let all = unsafe { equal_blocks(start, count, datatype, site.blocks())? };
    let len = all.bytes.len() / u64::from(site.blocks());
    Ok(Parts::of_all(Area::Whole(all.bytes), len, all.held))
}

/// At the root, a block for each rank with a count and a displacement of its own; elsewhere nothing.
///
/// # Safety
/// As [`blocks`], at the root.
unsafe fn blocks_at_root<N: Counting, D: Counting>(
    site: &Site<'_>,
    root: u32,
    start: *const c_void,
    counts: *const N,
    displacements: *const D,
    datatype: Datatype,
) -> Result<Parts> {
    if root != site.rank {
        return Ok(Parts::of_all(Area::empty(), 0, None));
    }
    // SAFETY: the caller's promise.
    let (all, held) = unsafe { blocks(start, counts, displacements, datatype, site.blocks())? };
    let len = match site.remote {
        0 => {
            // SAFETY: as above.
            let count = unsafe { *counts.wrapping_add(site.rank as usize) }.checked()?;
            count * crate::datatype::size_of(datatype)?
        }
        _ => 0,
    };
    Ok(Parts::of_all(all, len, held))
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
    // SAFETY: the caller's promise.
    let parts = unsafe { equal_blocks_at_root(site, root, into, into_count, into_type)? };
    // SAFETY: as above.
    let parts = unsafe { parts.with_own(site, root, out, out_count, out_type)? };
    let call = Call::gather(site.rank, site.size, root, parts.len).with_in_place(parts.in_place);
    Ok(Description::new(call, parts.own, parts.all, parts.held))
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
    // SAFETY: the caller's promise.
    let parts = unsafe { blocks_at_root(site, root, into, counts, displacements, into_type)? };
    // SAFETY: as above.
    let parts = unsafe { parts.with_own(site, root, out, out_count, out_type)? };
    let call = Call::gatherv(site.rank, site.size, root, parts.len).with_in_place(parts.in_place);
    Ok(Description::new(call, parts.own, parts.all, parts.held))
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
    // SAFETY: the caller's promise.
    let parts = unsafe { equal_blocks_at_root(site, root, out, out_count, out_type)? };
    // SAFETY: as above.
    let parts = unsafe { parts.with_own(site, root, into, into_count, into_type)? };
    let call = Call::scatter(site.rank, site.size, root, parts.len).with_in_place(parts.in_place);
    Ok(Description::new(call, parts.all, parts.own, parts.held))
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
    // SAFETY: the caller's promise.
    let parts = unsafe { blocks_at_root(site, root, out, counts, displacements, out_type)? };
    // SAFETY: as above.
    let parts = unsafe { parts.with_own(site, root, into, into_count, into_type)? };
    let call = Call::scatterv(site.rank, site.size, root, parts.len).with_in_place(parts.in_place);
    Ok(Description::new(call, parts.all, parts.own, parts.held))
}
