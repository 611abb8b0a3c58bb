//! Requests: operations that are in progress, those that are prepared, and their handles.

mod complete;
mod generalized;
mod get_status;
mod partitioned;
mod persistent;
mod some;

use std::ptr::NonNull;

use oxmpi_core::{
    PreparedCollective, PreparedMessage, ProcessEndpoint, RawRequest, StartedDuplicate,
};
use oxmpi_wire::slab::Slab;

pub(crate) use complete::{test, testall, wait, waitall};
pub(crate) use generalized::{grequest_complete, grequest_start};
pub(crate) use get_status::{get_status, get_status_all, get_status_any, get_status_some};
pub(crate) use partitioned::{parrived, pready, pready_list, pready_range, precv_init, psend_init};
pub(crate) use persistent::{
    bsend_init, prepare_collective, recv_init, rsend_init, send_init, ssend_init, start, startall,
};
pub(crate) use some::{testany, testsome, waitany, waitsome};

use self::generalized::Generalized;
use self::partitioned::Partitioned;
use crate::comm_table::{self, InUse};
use crate::constants::{MPI_ERR_REQUEST, MPI_REQUEST_NULL, MPI_SUCCESS};
use crate::error_handling::{self, Error, Result};
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
    Running {
        raw: RawRequest,
        is_collective: bool,
        _held: Held,
    },
    /// Prepared, to be started repeatedly.
    Persistent(Box<Persistent>),
    /// A communicator that is being duplicated.
    Duplicating(Box<Duplicating>),
    /// The program's own.
    Generalized(Box<Generalized>),
}

impl State {
    /// The operation, while it is active.
    #[inline]
    fn active(&self) -> Option<RawRequest> {
        match self {
            Self::Running { raw, .. } => Some(*raw),
            Self::Persistent(persistent) => persistent.active,
            Self::Duplicating(duplicating) => Some(duplicating.raw),
            Self::Generalized(generalized) => Some(generalized.raw),
        }
    }
}

/// A duplicate of a communicator, and what is done when its request has completed.
struct Duplicating {
    raw: RawRequest,
    started: StartedDuplicate,
    finish: FinishDuplicate,
}

/// Makes the duplicate of a communicator and gives the program its handle.
pub(crate) type FinishDuplicate = Box<dyn FnOnce(&comm_table::Entry, &StartedDuplicate)>;

/// An operation that can be started repeatedly.
struct Persistent {
    prepared: Prepared,
    /// The operation that was started last, until the program has completed it.
    active: Option<RawRequest>,
    _held: Held,
}

enum Prepared {
    Message(PreparedMessage),
    /// A buffered send of so many bytes.
    Buffered(PreparedMessage, u64),
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
#[inline(always)]
pub(crate) fn insert(comm: &comm_table::Entry, raw: RawRequest, held: Held) -> Request {
    insert_running(comm, raw, false, held)
}

/// A handle of a send that has been started, which may be complete.
pub(crate) fn insert_send(comm: &comm_table::Entry, raw: RawRequest, held: Held) -> Request {
    match raw.open {
        Some(_) => insert(comm, raw, held),
        None => SENT,
    }
}

/// A handle of a collective that has been started.
pub(crate) fn insert_collective(comm: &comm_table::Entry, raw: RawRequest, held: Held) -> Request {
    insert_running(comm, raw, true, held)
}

#[inline(always)]
fn insert_running(
    comm: &comm_table::Entry,
    raw: RawRequest,
    is_collective: bool,
    held: Held,
) -> Request {
    insert_state(
        comm,
        State::Running {
            raw,
            is_collective,
            _held: held,
        },
    )
}

/// A handle of a duplicate that has been started on a communicator; `finish` is called when the program sees it complete.
pub(crate) fn insert_duplicate(
    comm: &comm_table::Entry,
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

#[inline(always)]
fn insert_state(comm: &comm_table::Entry, state: State) -> Request {
    REQUESTS.insert(Entry {
        comm: InUse::new(comm),
        ended: None,
        state,
    })
}

/// The request of a handle, and its communicator; none where the handle has no entry. The communicator lives as long as
/// the entry, which only the program's call that completes or frees the request takes out.
fn look<'a>(request: Request) -> Result<(Found, Option<&'a comm_table::Entry>)> {
    let found = match without_entry(request) {
        Some(found) => Some((found, None)),
        None => REQUESTS.with(|slab| find(slab, request)),
    };
    let (found, comm) = found.ok_or_else(|| no_such(request))?;
    // SAFETY: the entry keeps the communicator, as long as the documentation says.
    Ok((found, comm.map(|comm| unsafe { comm.as_ref() })))
}

/// The operation of a request, if it is one message or one collective that is in progress, or complete without anybody knowing
/// yet; and its communicator, as [`look`] gives it.
#[inline(always)]
fn running<'a>(request: Request) -> Option<(RawRequest, &'a comm_table::Entry)> {
    let (raw, comm) = REQUESTS.with(|slab| {
        let entry = &slab[slab.find(slab_handle(request))?];
        match (&entry.state, &entry.ended) {
            (State::Running { raw, .. }, None) => Some((*raw, entry.comm.address())),
            _ => None,
        }
    })?;
    // SAFETY: the entry keeps the communicator, as the documentation of `look` says.
    Some((raw, unsafe { comm.as_ref() }))
}

/// Frees the entry of an operation that has ended. What it keeps may be the last to keep it: a communicator that the program
/// has freed, or a datatype. Their end calls neither the program nor this table.
#[inline(always)]
fn free_running(request: Request) {
    REQUESTS.with(|slab| {
        if let Some(index) = slab.find(slab_handle(request)) {
            slab.free(index);
        }
    });
}

/// What a handle without an entry names.
fn without_entry(request: Request) -> Option<Found> {
    match request {
        _ if request == SENT => Some(Found::Ended(Ok(Status::EMPTY))),
        _ if request == NULL => Some(Found::Inactive),
        _ => None,
    }
}

/// As [`look`], in the table of requests; `None`: the handle names no request.
fn find(
    slab: &Slab<Entry>,
    request: Request,
) -> Option<(Found, Option<NonNull<comm_table::Entry>>)> {
    if let Some(found) = without_entry(request) {
        return Some((found, None));
    }
    let entry = &slab[slab.find(slab_handle(request))?];
    let found = match (&entry.ended, entry.state.active()) {
        (Some(ended), _) => Found::Ended((**ended).clone()),
        (None, Some(raw)) => Found::Open(raw),
        (None, None) => Found::Inactive,
    };
    Some((found, Some(entry.comm.address())))
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
    error_handling::raise(comm, function, error)
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

/// Checks that a call may cancel or free the operation: of those that are active, only those of messages and of the program's
/// own (MPI 5.0, sections 6.12 and 6.13).
fn not_collective(request: Request) -> Result<()> {
    let is_active = REQUESTS.with(|slab| {
        let entry = &slab[slab.find(slab_handle(request))?];
        Some(match &entry.state {
            State::Running { is_collective, .. } => *is_collective,
            State::Persistent(persistent) => {
                persistent.active.is_some()
                    && matches!(persistent.prepared, Prepared::Collective(_))
            }
            State::Duplicating(_) => true,
            State::Generalized(_) => false,
        })
    });
    match is_active {
        Some(true) => Err(Error::new(
            MPI_ERR_REQUEST,
            "the operation is a collective that has been started: it is completed by a wait or a test, and neither \
             cancelled nor freed before",
        )),
        _ => Ok(()),
    }
}

/// Waits until the operations on a communicator have ended. Their requests stay.
pub(crate) fn wait_for_pending(comm: &comm_table::Entry) -> Result<()> {
    let own = std::ptr::from_ref(comm);
    let mut open: Vec<RawRequest> = REQUESTS.with(|slab| {
        let entries = slab.indices().filter_map(|index| slab.get(index));
        let own = entries.filter(|entry| std::ptr::eq(entry.comm.address().as_ptr(), own));
        own.filter_map(|entry| entry.state.active()).collect()
    });
    while !open.is_empty() {
        comm.messages.wait_first(open.iter().copied())?;
        comm.messages.poll_for(|ended| {
            open.retain(|&raw| !ended(raw));
            Some(())
        })?;
    }
    Ok(comm.messages.wait_for_detached()?)
}

/// The requests that the program has neither completed nor freed.
pub(crate) fn left() -> Vec<Request> {
    REQUESTS.handles()
}

/// What keeps memory and the communicator of an operation alive that the program has no handle of any more.
struct Owner(#[expect(dead_code, reason = "it is kept, not read")] (State, InUse));

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
        not_collective(handle)?;
        // SAFETY: the caller's promise.
        unsafe { request.write(NULL) };
        let generalized = generalized::freed(handle);
        if generalized.is_some_and(|generalized| !generalized.complete) {
            return Ok(());
        }
        if let Some(Entry { comm, state, .. }) = REQUESTS.remove(handle)
            && let Found::Open(raw) = found
        {
            let owner = Owner((state, InUse::new(&comm)));
            comm.messages.detach(raw, Box::new(owner));
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
        not_collective(handle)?;
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
