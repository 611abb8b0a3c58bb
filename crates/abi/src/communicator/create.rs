//! New communicators, and the end of communicators (MPI 5.0, sections 7.4 and 7.6).

use oxmpi_core::{Communicator, GroupLeaders, ProcessEndpoint, StartedDuplicate};

use crate::comm_table::{Entry, Inter, find, insert, no_such, remove};
use crate::constants::{
    MPI_COMM_NULL, MPI_COMM_SELF, MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_HW_UNGUIDED,
    MPI_COMM_TYPE_RESOURCE_GUIDED, MPI_COMM_TYPE_SHARED, MPI_ERR_ARG, MPI_ERR_COMM, MPI_UNDEFINED,
};
use crate::error_handling::{Error, Result, on};
use crate::group;
use crate::handles::Handle;
use crate::info::{self, Pairs};
use crate::request;
use crate::types::{Comm, Group, Info, Request, c_int};

/// Writes the handle of a new communicator, which has the error handler of `entry`; the null handle where there is none.
///
/// # Safety
/// The handle may be written to.
unsafe fn give(entry: &Entry, made: Option<Communicator<ProcessEndpoint>>, new: *mut Comm) {
    let comm = match made {
        Some(made) => insert(entry.heir(made)),
        None => Comm::from_address(MPI_COMM_NULL),
    };
    // SAFETY: the caller's promise.
    unsafe { new.write(comm) };
}

/// Makes a communicator of this rank's part of the group, which `part` gives, and of the part of the other group that has
/// the same colour.
///
/// # Safety
/// The handle may be written to.
unsafe fn give_part(
    entry: &Entry,
    color: u32,
    part: impl FnOnce(
        &Communicator<ProcessEndpoint>,
    ) -> oxmpi_core::Result<Option<Communicator<ProcessEndpoint>>>,
    new: *mut Comm,
) -> Result<()> {
    let made = part(entry.local())?;
    let comm = match &entry.inter {
        None => made.map(|made| entry.heir(made)),
        Some(Inter { groups, .. }) => {
            let groups = groups.part(made.as_ref(), color)?;
            let both = made.zip(groups);
            both.map(|(local, groups)| entry.heir_between(local, groups))
        }
    };
    // SAFETY: the caller's promise.
    unsafe { new.write(comm.map_or(Comm::from_address(MPI_COMM_NULL), insert)) };
    Ok(())
}

/// A duplicate, with the attributes whose functions say so.
fn duplicate(entry: &Entry) -> Result<Comm> {
    let attributes = entry.attributes.copies(entry.handle())?;
    let mut copy = match &entry.inter {
        None => entry.heir(entry.messages.duplicate()?),
        Some(Inter { local, groups }) => {
            let local = local.duplicate()?;
            entry.heir_between(local, groups.duplicate()?)
        }
    };
    copy.attributes = attributes;
    copy.topology.clone_from(&entry.topology);
    copy.set_info(entry.info());
    Ok(insert(copy))
}

/// `MPI_Comm_dup`.
///
/// # Safety
/// The new handle may be written to; here and below.
pub(crate) unsafe fn dup(comm: Comm, new: *mut Comm) -> c_int {
    on(comm, "MPI_Comm_dup", |entry| {
        let copy = duplicate(entry)?;
        // SAFETY: the caller's promise.
        unsafe { new.write(copy) };
        Ok(())
    })
}

/// `MPI_Comm_dup_with_info`.
///
/// # Safety
/// As [`dup`].
pub(crate) unsafe fn dup_with_info(comm: Comm, hints: Info, new: *mut Comm) -> c_int {
    on(comm, "MPI_Comm_dup_with_info", |entry| {
        let hints = info::pairs(hints)?;
        let copy = duplicate(entry)?;
        if let Some(copy) = find(copy) {
            copy.set_info(hints);
        }
        // SAFETY: the caller's promise.
        unsafe { new.write(copy) };
        Ok(())
    })
}

/// Starts a duplicate with these hints, by default those of the communicator.
///
/// # Safety
/// The request may be written to, and the new handle until it has completed.
unsafe fn start_duplicate(
    entry: &Entry,
    hints: Option<Pairs>,
    new: *mut Comm,
    request: *mut Request,
) -> Result<()> {
    let hints = hints.unwrap_or_else(|| entry.info());
    let attributes = entry.attributes.copies(entry.handle())?;
    let (errors, topology) = (entry.errors.clone(), entry.topology.clone());
    let finish = move |original: &Entry, started: &StartedDuplicate| {
        let mut copy = match &original.inter {
            None => original.heir(started.finish(&original.messages)),
            Some(Inter { local, groups }) => {
                let (local, groups) = started.finish_between(local, groups);
                original.heir_between(local, groups)
            }
        };
        // Those that the communicator had when the call was made.
        (copy.attributes, copy.topology, copy.errors) = (attributes, topology, errors);
        copy.set_info(hints);
        // SAFETY: the caller's promise.
        unsafe { new.write(insert(copy)) };
    };
    let started = match &entry.inter {
        None => entry.messages.start_duplicate()?,
        Some(inter) => inter.groups.start_duplicate()?,
    };
    let started = request::insert_duplicate(entry, started, Box::new(finish));
    // SAFETY: the caller's promise.
    unsafe { request.write(started) };
    Ok(())
}

/// `MPI_Comm_idup`.
///
/// # Safety
/// The request may be written to, and the new handle until it has completed.
pub(crate) unsafe fn idup(comm: Comm, new: *mut Comm, request: *mut Request) -> c_int {
    on(comm, "MPI_Comm_idup", |entry| {
        // SAFETY: the caller's promise.
        unsafe { start_duplicate(entry, None, new, request) }
    })
}

/// `MPI_Comm_idup_with_info`.
///
/// # Safety
/// As [`idup`].
pub(crate) unsafe fn idup_with_info(
    comm: Comm,
    hints: Info,
    new: *mut Comm,
    request: *mut Request,
) -> c_int {
    on(comm, "MPI_Comm_idup_with_info", |entry| {
        let hints = info::pairs(hints)?;
        // SAFETY: the caller's promise.
        unsafe { start_duplicate(entry, Some(hints), new, request) }
    })
}

/// `MPI_Comm_create`.
///
/// # Safety
/// As [`dup`].
pub(crate) unsafe fn create(comm: Comm, of: Group, new: *mut Comm) -> c_int {
    on(comm, "MPI_Comm_create", |entry| {
        let of = group::get(of)?;
        // SAFETY: the caller's promise.
        unsafe { give_part(entry, 0, |local| local.create(&of), new) }
    })
}

/// `MPI_Comm_create_group`.
///
/// # Safety
/// As [`dup`].
pub(crate) unsafe fn create_group(comm: Comm, of: Group, tag: c_int, new: *mut Comm) -> c_int {
    on(comm, "MPI_Comm_create_group", |entry| {
        let made = entry
            .within_group()?
            .create_group(&group::get(of)?, tag as u32)?;
        // SAFETY: the caller's promise.
        unsafe { give(entry, made, new) };
        Ok(())
    })
}

/// `MPI_Comm_split`.
///
/// # Safety
/// As [`dup`].
pub(crate) unsafe fn split(comm: Comm, color: c_int, key: c_int, new: *mut Comm) -> c_int {
    on(comm, "MPI_Comm_split", |entry| {
        let color = match color {
            MPI_UNDEFINED => None,
            color => Some(u32::try_from(color).map_err(|_| {
                let why =
                    format!("the color is {color}, and at least 0 or MPI_UNDEFINED is expected");
                Error::new(MPI_ERR_ARG, why)
            })?),
        };
        let number = color.unwrap_or_default();
        // SAFETY: the caller's promise.
        unsafe { give_part(entry, number, |local| local.split(color, key), new) }
    })
}

/// `MPI_Comm_split_type`.
///
/// # Safety
/// As [`dup`].
pub(crate) unsafe fn split_type(
    comm: Comm,
    split_type: c_int,
    key: c_int,
    hints: Info,
    new: *mut Comm,
) -> c_int {
    on(comm, "MPI_Comm_split_type", |entry| {
        let hints = info::pairs(hints)?;
        let resource = hints.get("mpi_hw_resource_type");
        let color = match split_type {
            MPI_COMM_TYPE_SHARED => Some(entry.messages.node()),
            MPI_COMM_TYPE_HW_GUIDED | MPI_COMM_TYPE_RESOURCE_GUIDED
                if resource == Some("mpi_shared_memory") =>
            {
                Some(entry.messages.node())
            }
            // No resource below a node is known to all ranks.
            MPI_UNDEFINED
            | MPI_COMM_TYPE_HW_GUIDED
            | MPI_COMM_TYPE_HW_UNGUIDED
            | MPI_COMM_TYPE_RESOURCE_GUIDED => None,
            other => return Err(Error::argument(format!("{other} is no type of a split"))),
        };
        let number = color.unwrap_or_default();
        // SAFETY: the caller's promise.
        unsafe { give_part(entry, number, |local| local.split(color, key), new) }
    })
}

/// `MPI_Intercomm_create`.
///
/// # Safety
/// As [`dup`].
pub(crate) unsafe fn intercomm_create(
    local: Comm,
    local_leader: c_int,
    peers: Comm,
    remote_leader: c_int,
    tag: c_int,
    new: *mut Comm,
) -> c_int {
    on(local, "MPI_Intercomm_create", |entry| {
        let own = entry.within_group()?;
        let leader = local_leader as u32 as usize;
        if leader >= own.group().size() as usize {
            return Err(own.rank_error(leader).into());
        }
        let leaders = match own.group().rank() as usize == leader {
            false => None,
            true => Some(GroupLeaders {
                peers: &find(peers).ok_or_else(|| no_such(peers))?.messages,
                leader: remote_leader as u32 as usize,
                tag: tag as u32,
            }),
        };
        let groups = own.intercommunicator(leader, leaders.as_ref())?;
        let made = entry.heir_between(own.duplicate()?, groups);
        // SAFETY: the caller's promise.
        unsafe { new.write(insert(made)) };
        Ok(())
    })
}

/// `MPI_Intercomm_merge`.
///
/// # Safety
/// As [`dup`].
pub(crate) unsafe fn intercomm_merge(comm: Comm, high: c_int, new: *mut Comm) -> c_int {
    on(comm, "MPI_Intercomm_merge", |entry| {
        let Inter { groups, .. } = crate::comm_table::between_groups(entry)?;
        let merged = groups.merge(high != 0)?;
        // SAFETY: the caller's promise.
        unsafe { give(entry, Some(merged), new) };
        Ok(())
    })
}

/// Ends a communicator: its attributes are deleted, and no call can use it from now on.
///
/// # Safety
/// The handle may be read and written to.
unsafe fn end(
    function: &'static str,
    comm: *mut Comm,
    before: impl FnOnce(&Entry) -> Result<()>,
) -> c_int {
    // SAFETY: the caller's promise.
    let handle = unsafe { *comm };
    on(handle, function, |entry| {
        // MPI_COMM_SELF may be freed by nobody either, but has attributes that MPI_Finalize deletes.
        if handle.is_predefined() {
            let name = entry.name();
            let why = format!("{name} cannot be freed (handle {:#x})", handle.address());
            return Err(Error::new(MPI_ERR_COMM, why));
        }
        before(entry)?;
        entry.attributes.delete_all(handle.address())?;
        drop(remove(handle));
        // SAFETY: the caller's promise.
        unsafe { comm.write(Comm::from_address(MPI_COMM_NULL)) };
        Ok(())
    })
}

/// `MPI_Comm_free`.
///
/// # Safety
/// The handle may be read and written to.
pub(crate) unsafe fn free(comm: *mut Comm) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { end("MPI_Comm_free", comm, |_| Ok(())) }
}

/// `MPI_Comm_disconnect`. It waits for the operations of the communicator (MPI 5.0, section 11.10.4).
///
/// # Safety
/// As [`free`].
pub(crate) unsafe fn disconnect(comm: *mut Comm) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { end("MPI_Comm_disconnect", comm, request::wait_for_pending) }
}

/// `MPI_Comm_get_parent`: no process of a job was spawned.
///
/// # Safety
/// As [`dup`].
pub(crate) unsafe fn get_parent(parent: *mut Comm) -> c_int {
    on(
        Comm::from_address(MPI_COMM_SELF),
        "MPI_Comm_get_parent",
        |_| {
            // SAFETY: the caller's promise.
            unsafe { parent.write(Comm::from_address(MPI_COMM_NULL)) };
            Ok(())
        },
    )
}
