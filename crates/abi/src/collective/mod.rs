//! Collectives: each is described once, and run, started or prepared from its description (MPI 5.0, chapter 6).

mod exchange;
mod neighbor;
mod reduce;
mod rooted;

use oxmpi_coll::catalog::{Call, Collective, PROC_NULL};
use oxmpi_core::{
    Area, Buffers, InterCommunicator, Operation, OwnedOperation, ProcessEndpoint, Stages,
};

use crate::comm_table::{Entry, Inter};
use crate::constants::{
    MPI_ERR_BUFFER, MPI_ERR_COMM, MPI_ERR_COUNT, MPI_ERR_ROOT, MPI_IN_PLACE, MPI_PROC_NULL,
    MPI_ROOT,
};
use crate::counts::Counting;
use crate::datatype::{self, Buffer};
use crate::error_handling::{Error, Result, on};
use crate::operation::Combine;
use crate::request;
use crate::shared::Held;
use crate::types::{Comm, Datatype, Info, Op, Request, c_int, c_void};

/// A call of a collective with its buffers, all arguments checked.
struct Description {
    call: Call,
    buffers: Buffers,
    combine: Option<Combine>,
    held: Held,
}

impl Description {
    const fn new(call: Call, input: Area, output: Area, held: Held) -> Self {
        Self {
            call,
            buffers: Buffers::new(input, output),
            combine: None,
            held,
        }
    }
}

/// The calling rank and its communicator.
struct Site<'a> {
    entry: &'a Entry,
    rank: u32,
    size: u32,
    /// Ranks of the remote group; 0 in an intracommunicator.
    remote: u32,
}

impl<'a> Site<'a> {
    fn new(entry: &'a Entry) -> Self {
        let group = entry.local().group();
        Self {
            entry,
            rank: group.rank(),
            size: group.size(),
            remote: (entry.inter.as_ref()).map_or(0, |inter| inter.groups.remote_size() as u32),
        }
    }

    /// The root as a peer: see [`Call::root`].
    fn root(&self, root: c_int) -> Result<u32> {
        let (ranks, first) = match (root, self.remote) {
            (MPI_ROOT, remote) if remote > 0 => return Ok(self.rank),
            (MPI_PROC_NULL, remote) if remote > 0 => return Ok(PROC_NULL),
            (_, 0) => (self.size, 0),
            (_, remote) => (remote, self.size),
        };
        match u32::try_from(root) {
            Ok(root) if root < ranks => Ok(first + root),
            _ => Err(Error::new(
                MPI_ERR_ROOT,
                format!(
                    "the root is {root}, and a rank from 0 to {} is expected",
                    ranks - 1
                ),
            )),
        }
    }

    /// The number of blocks of a buffer with one for each rank that this rank sends to or receives from.
    const fn blocks(&self) -> u32 {
        match self.remote {
            0 => self.size,
            remote => remote,
        }
    }

    /// Whether this rank's own values are part of a collective to this root: between two groups those of the group
    /// that the root is not in.
    const fn gives_to(&self, root: u32) -> bool {
        self.remote == 0 || root >= self.size && root != PROC_NULL
    }
}

/// Whether a buffer is `MPI_IN_PLACE`. Nothing else is in place, equal addresses neither.
fn is_in_place(buffer: *const c_void) -> bool {
    buffer.addr() == MPI_IN_PLACE
}

/// As many elements for each of `blocks` ranks.
///
/// # Safety
/// As [`Buffer::new`].
unsafe fn equal_blocks<N: Counting>(
    start: *const c_void,
    count: N,
    datatype: Datatype,
    blocks: u32,
) -> Result<Buffer> {
    let each = count.checked()?;
    let all = each.checked_mul(blocks.into());
    let all = all.and_then(|all| i64::try_from(all).ok());
    let all = all.ok_or_else(|| too_many(format!("{blocks} blocks of {each} elements")))?;
    // SAFETY: the caller's promise.
    unsafe { Buffer::new(start, all, datatype) }
}

#[cold]
fn too_many(what: String) -> Error {
    Error::new(MPI_ERR_COUNT, format!("{what} exceed 63 bits"))
}

/// Blocks of a buffer, one for each rank or neighbour, with counts and displacements of their own.
///
/// # Safety
/// The arrays have an entry for each block; as [`Buffer::new`] for each block.
unsafe fn blocks<N: Counting, D: Counting>(
    start: *const c_void,
    counts: *const N,
    displacements: *const D,
    datatype: Datatype,
    number: u32,
) -> Result<(Area, Held)> {
    if is_in_place(start) {
        let why = "the buffer is MPI_IN_PLACE, which the call does not allow here";
        return Err(Error::new(MPI_ERR_BUFFER, why));
    }
    let extent = datatype::extent_of(datatype)?;
    let mut places = Vec::with_capacity(number as usize);
    let mut held = None;
    for block in 0..number as usize {
        // SAFETY: the caller's promise.
        let count = unsafe { *counts.wrapping_add(block) };
        // SAFETY: as above.
        let displacement = unsafe { *displacements.wrapping_add(block) };
        let offset = displacement.signed().wrapping_mul(extent) as isize;
        // SAFETY: the caller's promise.
        let part = unsafe { Buffer::new(start.wrapping_byte_offset(offset), count, datatype) }
            .map_err(|error| error.in_block(block))?;
        places.push(part.bytes);
        held = held.or(part.held);
    }
    Ok((Area::of_blocks(places), held))
}

/// A collective between two groups, in stages.
fn stages(
    groups: &InterCommunicator<ProcessEndpoint>,
    call: &Call,
    buffers: Buffers,
) -> Result<Stages> {
    if matches!(call.collective, Collective::Scan | Collective::Exscan) {
        let why =
            "the communicator has two groups, and the call needs one: it has no order of all ranks";
        return Err(Error::new(MPI_ERR_COMM, why));
    }
    Ok(groups.groups().stages(call, buffers)?)
}

/// The operation of a description, as the core owns it.
fn owned(combine: Option<Combine>) -> Option<OwnedOperation> {
    let combine = combine?;
    let by_program = matches!(combine, Combine::User(_));
    let function = move |from, into, side| combine.combine(from, into, side);
    Some(match by_program {
        true => OwnedOperation::by_program(function),
        false => OwnedOperation::predefined(function),
    })
}

/// Runs a collective to its end.
#[inline]
fn run(entry: &Entry, description: Description) -> Result<()> {
    let Description {
        call,
        buffers,
        combine,
        held: _held,
    } = description;
    let combined = combine.as_ref();
    let operation = combined.map(|combine| |from, into, side| combine.combine(from, into, side));
    let operation = operation
        .as_ref()
        .map(|operation| operation as Operation<'_>);
    match &entry.inter {
        None if call.collective == Collective::Barrier => entry.messages.barrier()?,
        None => entry.messages.collective(&call, &buffers, operation)?,
        Some(Inter { groups, .. }) => {
            let stages = stages(groups, &call, buffers)?;
            groups.internal().collective_in_stages(&stages, operation)?;
        }
    }
    Ok(())
}

/// Starts a collective.
fn start(entry: &Entry, description: Description) -> Result<Request> {
    let Description {
        call,
        buffers,
        combine,
        held,
    } = description;
    let raw = match &entry.inter {
        None => entry.messages.start(call, buffers, owned(combine))?,
        Some(Inter { groups, .. }) => {
            let stages = stages(groups, &call, buffers)?;
            groups.internal().start_stages(stages, owned(combine))?
        }
    };
    Ok(request::insert_collective(entry, raw, held))
}

/// Prepares a collective.
fn prepare(entry: &Entry, description: Description) -> Result<Request> {
    let Description {
        call,
        buffers,
        combine,
        held,
    } = description;
    let prepared = match &entry.inter {
        None => entry.messages.prepare(call, buffers, owned(combine))?,
        Some(Inter { groups, .. }) => {
            let stages = stages(groups, &call, buffers)?;
            groups.internal().prepare_stages(stages, owned(combine))?
        }
    };
    Ok(request::prepare_collective(entry, prepared, held))
}

/// Defines the three calls of each collective: blocking, nonblocking and persistent.
macro_rules! collectives {
    ($($run:ident $run_name:literal, $start:ident $start_name:literal, $init:ident $init_name:literal:
        $module:ident::$describe:ident<$($number:ident),*>($($argument:ident: $type:ty),*);)*) => {
        $(
            /// # Safety
            /// The arrays may be read, and the elements be used as the standard says.
            #[allow(clippy::too_many_arguments, reason = "those of the standard's function")]
            pub(crate) unsafe fn $run<$($number: Counting),*>($($argument: $type,)* comm: Comm) -> c_int {
                on(comm, $run_name, |entry| {
                    // SAFETY: the caller's promise.
                    let description = unsafe { $module::$describe(&Site::new(entry), $($argument),*)? };
                    run(entry, description)
                })
            }

            /// # Safety
            /// The arrays may be read, and the elements be used until the request has completed.
            #[allow(clippy::too_many_arguments, reason = "those of the standard's function")]
            pub(crate) unsafe fn $start<$($number: Counting),*>(
                $($argument: $type,)*
                comm: Comm,
                request: *mut Request,
            ) -> c_int {
                on(comm, $start_name, |entry| {
                    // SAFETY: the caller's promise.
                    let description = unsafe { $module::$describe(&Site::new(entry), $($argument),*)? };
                    let started = start(entry, description)?;
                    // SAFETY: as above.
                    unsafe { request.write(started) };
                    Ok(())
                })
            }

            /// # Safety
            /// The arrays may be read, and the elements be used while the request is active.
            #[allow(clippy::too_many_arguments, reason = "those of the standard's function")]
            pub(crate) unsafe fn $init<$($number: Counting),*>(
                $($argument: $type,)*
                comm: Comm,
                _info: Info,
                request: *mut Request,
            ) -> c_int {
                on(comm, $init_name, |entry| {
                    // SAFETY: the caller's promise.
                    let description = unsafe { $module::$describe(&Site::new(entry), $($argument),*)? };
                    let prepared = prepare(entry, description)?;
                    // SAFETY: as above.
                    unsafe { request.write(prepared) };
                    Ok(())
                })
            }
        )*
    };
}

collectives! {
    barrier "MPI_Barrier", ibarrier "MPI_Ibarrier", barrier_init "MPI_Barrier_init":
        rooted::barrier<>();
    bcast "MPI_Bcast", ibcast "MPI_Ibcast", bcast_init "MPI_Bcast_init":
        rooted::bcast<N>(buffer: *mut c_void, count: N, datatype: Datatype, root: c_int);
    gather "MPI_Gather", igather "MPI_Igather", gather_init "MPI_Gather_init":
        rooted::gather<N>(out: *const c_void, out_count: N, out_type: Datatype,
            into: *mut c_void, into_count: N, into_type: Datatype, root: c_int);
    gatherv "MPI_Gatherv", igatherv "MPI_Igatherv", gatherv_init "MPI_Gatherv_init":
        rooted::gatherv<N, D>(out: *const c_void, out_count: N, out_type: Datatype,
            into: *mut c_void, counts: *const N, displacements: *const D, into_type: Datatype, root: c_int);
    scatter "MPI_Scatter", iscatter "MPI_Iscatter", scatter_init "MPI_Scatter_init":
        rooted::scatter<N>(out: *const c_void, out_count: N, out_type: Datatype,
            into: *mut c_void, into_count: N, into_type: Datatype, root: c_int);
    scatterv "MPI_Scatterv", iscatterv "MPI_Iscatterv", scatterv_init "MPI_Scatterv_init":
        rooted::scatterv<N, D>(out: *const c_void, counts: *const N, displacements: *const D, out_type: Datatype,
            into: *mut c_void, into_count: N, into_type: Datatype, root: c_int);
    allgather "MPI_Allgather", iallgather "MPI_Iallgather", allgather_init "MPI_Allgather_init":
        exchange::allgather<N>(out: *const c_void, out_count: N, out_type: Datatype,
            into: *mut c_void, into_count: N, into_type: Datatype);
    allgatherv "MPI_Allgatherv", iallgatherv "MPI_Iallgatherv", allgatherv_init "MPI_Allgatherv_init":
        exchange::allgatherv<N, D>(out: *const c_void, out_count: N, out_type: Datatype,
            into: *mut c_void, counts: *const N, displacements: *const D, into_type: Datatype);
    alltoall "MPI_Alltoall", ialltoall "MPI_Ialltoall", alltoall_init "MPI_Alltoall_init":
        exchange::alltoall<N>(out: *const c_void, out_count: N, out_type: Datatype,
            into: *mut c_void, into_count: N, into_type: Datatype);
    alltoallv "MPI_Alltoallv", ialltoallv "MPI_Ialltoallv", alltoallv_init "MPI_Alltoallv_init":
        exchange::alltoallv<N, D>(out: *const c_void, out_counts: *const N, out_displacements: *const D,
            out_type: Datatype, into: *mut c_void, counts: *const N, displacements: *const D, into_type: Datatype);
    alltoallw "MPI_Alltoallw", ialltoallw "MPI_Ialltoallw", alltoallw_init "MPI_Alltoallw_init":
        exchange::alltoallw<N, D>(out: *const c_void, out_counts: *const N, out_displacements: *const D,
            out_types: *const Datatype, into: *mut c_void, counts: *const N, displacements: *const D,
            into_types: *const Datatype);
    neighbor_allgather "MPI_Neighbor_allgather", ineighbor_allgather "MPI_Ineighbor_allgather",
        neighbor_allgather_init "MPI_Neighbor_allgather_init":
        neighbor::allgather<N>(out: *const c_void, out_count: N, out_type: Datatype,
            into: *mut c_void, into_count: N, into_type: Datatype);
    neighbor_allgatherv "MPI_Neighbor_allgatherv", ineighbor_allgatherv "MPI_Ineighbor_allgatherv",
        neighbor_allgatherv_init "MPI_Neighbor_allgatherv_init":
        neighbor::allgatherv<N, D>(out: *const c_void, out_count: N, out_type: Datatype,
            into: *mut c_void, counts: *const N, displacements: *const D, into_type: Datatype);
    neighbor_alltoall "MPI_Neighbor_alltoall", ineighbor_alltoall "MPI_Ineighbor_alltoall",
        neighbor_alltoall_init "MPI_Neighbor_alltoall_init":
        neighbor::alltoall<N>(out: *const c_void, out_count: N, out_type: Datatype,
            into: *mut c_void, into_count: N, into_type: Datatype);
    neighbor_alltoallv "MPI_Neighbor_alltoallv", ineighbor_alltoallv "MPI_Ineighbor_alltoallv",
        neighbor_alltoallv_init "MPI_Neighbor_alltoallv_init":
        neighbor::alltoallv<N, D>(out: *const c_void, out_counts: *const N, out_displacements: *const D,
            out_type: Datatype, into: *mut c_void, counts: *const N, displacements: *const D, into_type: Datatype);
    neighbor_alltoallw "MPI_Neighbor_alltoallw", ineighbor_alltoallw "MPI_Ineighbor_alltoallw",
        neighbor_alltoallw_init "MPI_Neighbor_alltoallw_init":
        neighbor::alltoallw<N, D>(out: *const c_void, out_counts: *const N, out_displacements: *const D,
            out_types: *const Datatype, into: *mut c_void, counts: *const N, displacements: *const D,
            into_types: *const Datatype);
    reduce "MPI_Reduce", ireduce "MPI_Ireduce", reduce_init "MPI_Reduce_init":
        reduce::reduce<N>(out: *const c_void, into: *mut c_void, count: N, datatype: Datatype, op: Op, root: c_int);
    allreduce "MPI_Allreduce", iallreduce "MPI_Iallreduce", allreduce_init "MPI_Allreduce_init":
        reduce::allreduce<N>(out: *const c_void, into: *mut c_void, count: N, datatype: Datatype, op: Op);
    scan "MPI_Scan", iscan "MPI_Iscan", scan_init "MPI_Scan_init":
        reduce::scan<N>(out: *const c_void, into: *mut c_void, count: N, datatype: Datatype, op: Op);
    exscan "MPI_Exscan", iexscan "MPI_Iexscan", exscan_init "MPI_Exscan_init":
        reduce::exscan<N>(out: *const c_void, into: *mut c_void, count: N, datatype: Datatype, op: Op);
    reduce_scatter_block "MPI_Reduce_scatter_block", ireduce_scatter_block "MPI_Ireduce_scatter_block",
        reduce_scatter_block_init "MPI_Reduce_scatter_block_init":
        reduce::reduce_scatter_block<N>(out: *const c_void, into: *mut c_void, count: N, datatype: Datatype, op: Op);
    reduce_scatter "MPI_Reduce_scatter", ireduce_scatter "MPI_Ireduce_scatter",
        reduce_scatter_init "MPI_Reduce_scatter_init":
        reduce::reduce_scatter<N>(out: *const c_void, into: *mut c_void, counts: *const N, datatype: Datatype, op: Op);
}
