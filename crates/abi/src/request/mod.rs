//! Requests: operations that are in progress, those that are prepared, and their handles.

mod complete;
mod generalized;
mod get_status;
mod in_use;
mod partitioned;
mod persistent;

use oxmpi_core::{
    PreparedCollective, PreparedMessage, ProcessEndpoint, RawRequest, StartedDuplicate,
};

pub(crate) use complete::{test, testall, testany, testsome, wait, waitall, waitany, waitsome};
pub(crate) use generalized::{grequest_complete, grequest_start};
pub(crate) use get_status::{get_status, get_status_all, get_status_any, get_status_some};
pub(crate) use in_use::{InUse, free_communicator};
pub(crate) use partitioned::{parrived, pready, pready_list, pready_range, precv_init, psend_init};
pub(crate) use persistent::{
    bsend_init, prepare_collective, recv_init, rsend_init, send_init, ssend_init, start, startall,
};

use self::generalized::Generalized;
use self::partitioned::Partitioned;
use crate::comm;
use crate::constants::{MPI_ERR_REQUEST, MPI_REQUEST_NULL, MPI_SUCCESS};
use crate::errors::{self, Error, Result};
use crate::handles::{Handle, Table, slab_handle};
use crate::shared::Held;
use crate::types::{Request, Status, c_int};

/// `MPI_REQUEST_NULL`.
pub(crate) const NULL: Request = Request(std::ptr::without_provenance_mut(MPI_REQUEST_NULL));

/// A send that was complete when it was started: one handle for all of them, which names no entry.
pub(crate) const SENT: Request = Request(std::ptr::without_provenance_mut(
    Request::FIRST as usize - 1,
));

static REQUESTS: Table<Request, Entry> = Table::new();

/// What a handle of a request names.
struct Entry {
    /// The communicator of the operation.
    comm: InUse,
    /// How it has ended, where another call than the one that completes it has learnt that first. Few do.
    ended: Option<Box<Result<Status>>>,
    state: State,
}

enum State {
    /// In progress, or complete without the program knowing yet.
    Running { raw: RawRequest, _held: Held },
    /// Prepared, to be started repeatedly.
    Persistent(Box<Persistent>),
    /// A communicator that is being duplicated.
    Duplicating(Box<Duplicating>),
    /// The program's own.
    Generalized(Box<Generalized>),
}

/// A duplicate of a communicator, and what is done when its request has completed.
struct Duplicating {
    raw: RawRequest,
    started: StartedDuplicate,
    finish: FinishDuplicate,
}

/// Makes the duplicate of a communicator and gives the program its handle.
pub(crate) type FinishDuplicate = Box<dyn FnOnce(&comm::Entry, &StartedDuplicate)>;

/// An operation that can be started repeatedly.
struct Persistent {
    prepared: Prepared,
    /// The operation that was started last, until the program has completed it.
    active: Option<RawRequest>,
    _held: Held,
}

enum Prepared {
    Message(PreparedMessage),
    Collective(PreparedCollective<ProcessEndpoint>),
    Partitioned(Box<Partitioned>),
}

/// What a call learns about a request before it waits or tests.
enum Found {
    /// Null, or not active.
    Inactive,
    /// Complete, with this result.
    Ended(Result<Status>),
    /// To be waited for.
    Open(RawRequest),
}

/// A handle of an operation that has been started on a communicator.
pub(crate) fn insert(comm: &comm::Entry, raw: RawRequest, held: Held) -> Request {
    insert_state(comm, State::Running { raw, _held: held })
}

/// A handle of a duplicate that has been started on a communicator; `finish` is called when the program sees it complete.
pub(crate) fn insert_duplicate(
    comm: &comm::Entry,
    (started, raw): (StartedDuplicate, RawRequest),
    finish: FinishDuplicate,
) -> Request {
    let duplicating = Duplicating {
        raw,
        started,
        finish,
    };
    insert_state(comm, State::Duplicating(Box::new(duplicating)))
}

fn insert_state(comm: &comm::Entry, state: State) -> Request {
    REQUESTS.with(|slab| {
        crate::handles::made(slab.insert(Entry {
            comm: InUse::counted(comm),
            ended: None,
            state,
        }))
    })
}

/// The request of a handle, and its communicator; none where the handle has no entry. The communicator lives as long as
/// the entry, which only the program's call that completes or frees the request takes out.
fn look<'a>(request: Request) -> Result<(Found, Option<&'a comm::Entry>)> {
    if request == SENT {
        return Ok((Found::Ended(Ok(Status::EMPTY)), None));
    }
    if request == NULL {
        return Ok((Found::Inactive, None));
    }
    let found = REQUESTS.with(|slab| {
        let entry = &slab[slab.find(slab_handle(request))?];
        let active = match &entry.state {
            State::Running { raw, .. } => Some(*raw),
            State::Persistent(persistent) => persistent.active,
            State::Duplicating(duplicating) => Some(duplicating.raw),
            State::Generalized(generalized) => Some(generalized.raw),
        };
        let found = match (&entry.ended, active) {
            (Some(ended), _) => Found::Ended((**ended).clone()),
            (None, Some(raw)) => Found::Open(raw),
            (None, None) => Found::Inactive,
        };
        Some((found, entry.comm.address()))
    });
    let (found, comm) = found.ok_or_else(|| no_such(request))?;
    // SAFETY: the entry keeps the communicator, as long as the documentation says.
    Ok((found, Some(unsafe { comm.as_ref() })))
}

/// Whether a request is null or not active.
fn is_inactive(request: &Request) -> bool {
    matches!(look(*request), Ok((Found::Inactive, _)))
}

#[cold]
fn no_such(request: Request) -> Error {
    Error::handle(MPI_ERR_REQUEST, "request", request)
}

/// Runs the work of a call on a request, and raises its error on the communicator of the request.
fn on(request: Request, function: &'static str, work: impl FnOnce() -> Result<()>) -> c_int {
    match work() {
        Ok(()) => MPI_SUCCESS,
        Err(error) => raise(request, function, error),
    }
}

/// Raises the error of a call on the communicator of a request.
#[cold]
fn raise(request: Request, function: &'static str, error: Error) -> c_int {
    let comm = look(request).ok().and_then(|(_, comm)| comm);
    errors::raise(comm, function, error)
}

/// Notes how an operation has ended, of which the program keeps the request.
fn settle(request: Request, ended: Result<Status>) {
    REQUESTS.with(|slab| {
        if let Some(index) = slab.find(slab_handle(request)) {
            slab[index].ended = Some(Box::new(ended));
        }
    });
}

/// The handle of a request that the program has seen complete, with this status or an error: null, but of a persistent one
/// the same.
fn completed(request: Request, status: Option<&Status>) -> Request {
    if request == SENT || request == NULL {
        return NULL;
    }
    let removed = REQUESTS.with(|slab| {
        let index = slab.find(slab_handle(request))?;
        let entry = &mut slab[index];
        if let State::Persistent(persistent) = &mut entry.state {
            (persistent.active, entry.ended) = (None, None);
            return None;
        }
        Some(slab.remove(index))
    });
    match removed {
        Some(Entry { comm, state, .. }) => {
            if let State::Duplicating(duplicating) = state
                && status.is_some_and(|status| !status.is_cancelled())
            {
                (duplicating.finish)(&comm, &duplicating.started);
            }
            NULL
        }
        None => request,
    }
}

/// What keeps memory of an operation alive that the program has no handle of any more.
struct Owner(#[expect(dead_code, reason = "it is kept, not read")] State);

// SAFETY: what it holds is only dropped, by a call to the library, of which the program makes one at a time below
// `MPI_THREAD_MULTIPLE`; at it, held values are counted atomically.
unsafe impl Send for Owner {}

/// `MPI_Request_free`.
///
/// # Safety
/// The request may be read and written to.
pub(crate) unsafe fn free(request: *mut Request) -> c_int {
    // SAFETY: the caller's promise.
    let handle = unsafe { *request };
    on(handle, "MPI_Request_free", || {
        let (found, _) = look(handle)?;
        if handle == NULL {
            return Err(no_such(handle));
        }
        // SAFETY: the caller's promise.
        unsafe { request.write(NULL) };
        let generalized = generalized::freed(handle);
        if generalized.is_some_and(|generalized| !generalized.complete) {
            return Ok(());
        }
        if let Some(Entry { comm, state, .. }) = REQUESTS.remove(handle)
            && let Found::Open(raw) = found
        {
            comm.messages.detach(raw, Box::new(Owner(state)));
        }
        generalized.map_or(Ok(()), |generalized| generalized.free())
    })
}

/// `MPI_Cancel`. How the operation has ended, also by an error, is the wait's to tell.
///
/// # Safety
/// The request may be read.
pub(crate) unsafe fn cancel(request: *const Request) -> c_int {
    // SAFETY: the caller's promise.
    let handle = unsafe { *request };
    on(handle, "MPI_Cancel", || {
        if let Some(generalized) = generalized::find(handle) {
            return generalized.cancel();
        }
        let (raw, comm) = match look(handle)? {
            (Found::Open(raw), Some(comm)) => (raw, comm),
            (Found::Inactive, _) => return Err(no_such(handle)),
            _ => return Ok(()),
        };
        let ended = match comm.messages.cancel(raw) {
            Ok(Some(status)) => Ok(Status::from(status)),
            Ok(None) => Ok(Status::cancelled()),
            // Nobody waits for the peer, whose leaving has ended the operation just before.
            Err(oxmpi_core::Error::Peer { fault, .. }) if fault.has_left() => {
                Ok(Status::cancelled())
            }
            Err(error) => Err(error.into()),
        };
        settle(handle, ended);
        Ok(())
    })
}

/// `MPI_Request_fromint`.
pub(crate) fn from_int(int: c_int) -> Request {
    match int as u32 as usize == SENT.address() {
        true => SENT,
        false => REQUESTS.handle_of(int),
    }
}
