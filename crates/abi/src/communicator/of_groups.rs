//! Communicators of groups, made without a communicator (MPI 5.0, sections 7.4.2 and 7.6.2).

use oxmpi_core::{Communicator, GroupLeaders, ProcessEndpoint, ProcessGroup};

use crate::comm_table::{Entry, find, insert, no_such};
use crate::constants::{MPI_COMM_NULL, MPI_COMM_WORLD, MPI_ERR_GROUP, MPI_SUCCESS};
use crate::errhandler_table::{self, Handler};
use crate::error_handling::{self, Error, Result};
use crate::group;
use crate::handles::Handle;
use crate::info;
use crate::strings;
use crate::types::{Comm, Errhandler, Group, Info, c_char, c_int};

/// The tag under which processes agree that give the same text.
///
/// # Safety
/// The text ends with a null character.
unsafe fn tag_of_text(text: *const c_char) -> u32 {
    // SAFETY: the caller's promise.
    let text = unsafe { strings::read(text) };
    let sum = text.bytes().fold(0u32, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(byte.into())
    });
    sum % 4_194_303
}

/// Makes a communicator of groups, which has this error handler and these hints. Errors are raised on the error handler, too:
/// no other one belongs to the call.
///
/// # Safety
/// The new handle may be written to.
unsafe fn make_of_groups(
    function: &'static str,
    (of, hints, handler): (Group, Info, Errhandler),
    new: *mut Comm,
    make: impl FnOnce(&Entry) -> Result<Option<Entry>>,
) -> c_int {
    let world = Comm::from_address(MPI_COMM_WORLD);
    let made = find(world).ok_or_else(|| no_such(world)).and_then(|world| {
        // Before the processes agree, so that none of them makes a communicator that another one refuses.
        let (hints, errors) = (info::pairs(hints)?, Handler::fatal());
        errors.set(handler)?;
        let Some(mut made) = make(world)? else {
            return Ok(Comm::from_address(MPI_COMM_NULL));
        };
        (made.errors, made.session) = (errors, group::session_of(of));
        made.set_info(hints);
        Ok(insert(made))
    });
    match made {
        Ok(made) => {
            // SAFETY: the caller's promise.
            unsafe { new.write(made) };
            MPI_SUCCESS
        }
        Err(error) => error_handling::raise_on(
            Some((MPI_COMM_NULL, errhandler_table::reaction(handler))),
            function,
            &error,
        ),
    }
}

/// `MPI_Comm_create_from_group`. The members agree under a tag that is made of the text.
///
/// # Safety
/// The new handle may be written to; the text ends with a null character.
pub(crate) unsafe fn create_from_group(
    of: Group,
    text: *const c_char,
    hints: Info,
    handler: Errhandler,
    new: *mut Comm,
) -> c_int {
    let make = |world: &Entry| {
        // SAFETY: the caller's promise.
        let tag = unsafe { tag_of_text(text) };
        let made = world.for_groups().create_group(&group::get(of)?, tag)?;
        Ok(made.map(|made| Entry::new(made, Handler::fatal())))
    };
    // SAFETY: as above.
    unsafe {
        make_of_groups(
            "MPI_Comm_create_from_group",
            (of, hints, handler),
            new,
            make,
        )
    }
}

/// `MPI_Intercomm_create_from_groups`.
///
/// # Safety
/// As [`create_from_group`].
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's function"
)]
pub(crate) unsafe fn intercomm_create_from_groups(
    local: Group,
    local_leader: c_int,
    remote: Group,
    remote_leader: c_int,
    text: *const c_char,
    hints: Info,
    handler: Errhandler,
    new: *mut Comm,
) -> c_int {
    let make = |world: &Entry| {
        // SAFETY: the caller's promise.
        let tag = unsafe { tag_of_text(text) };
        let peers = world.for_groups();
        let own = peers.create_group(&group::get(local)?, tag)?;
        let own = own.ok_or_else(|| {
            let why = "the calling process is not in its local group";
            Error::new(MPI_ERR_GROUP, why)
        })?;
        let leader = local_leader as u32 as usize;
        if leader >= own.group().size() as usize {
            return Err(own.rank_error(leader).into());
        }
        let leaders = match own.group().rank() as usize == leader {
            false => None,
            true => Some(GroupLeaders {
                peers: &peers,
                leader: leader_of(&group::get(remote)?, remote_leader, &peers)?,
                tag,
            }),
        };
        let groups = own.intercommunicator(leader, leaders.as_ref())?;
        Ok(Some(Entry::between(own, groups, Handler::fatal())))
    };
    let function = "MPI_Intercomm_create_from_groups";
    // SAFETY: as above.
    unsafe { make_of_groups(function, (local, hints, handler), new, make) }
}

/// The rank in a communicator of a group's leader.
fn leader_of(
    group: &ProcessGroup,
    leader: c_int,
    comm: &Communicator<ProcessEndpoint>,
) -> Result<usize> {
    let ranks = group.translate([leader as u32 as usize], &comm.process_group())?;
    let rank = ranks.first().copied().flatten();
    rank.ok_or_else(|| {
        let why = "the leader of the remote group is none of the processes that can be reached";
        Error::new(MPI_ERR_GROUP, why)
    })
}
