//! Requests: operations that are in progress, those that are prepared, and their handles.

mod complete;
mod generalized;
mod get_status;
mod persistent;

use std::ptr::NonNull;

use oxmpi_core::{
    Communicator, PreparedCollective, PreparedMessage, ProcessEndpoint, RawRequest,
    StartedDuplicate,
};

pub(crate) use complete::{test, testall, testany, testsome, wait, waitall, waitany, waitsome};
pub(crate) use generalized::{grequest_complete, grequest_start};
pub(crate) use get_status::{get_status, get_status_all, get_status_any, get_status_some};
pub(crate) use persistent::{
    bsend_init, prepare_collective, recv_init, rsend_init, send_init, ssend_init, start, startall,
};

use self::generalized::Generalized;
use crate::comm;
use crate::constants::{MPI_COMM_SELF, MPI_ERR_REQUEST, MPI_REQUEST_NULL};
use crate::errors::{self, Error, Result};
use crate::handles::{Handle, Table, slab_handle};
use crate::shared::Held;
use crate::types::{Comm, Request, Status, c_int};

/// `MPI_REQUEST_NULL`.
pub(crate) const NULL: Request = Request(std::ptr::without_provenance_mut(MPI_REQUEST_NULL));

/// A send that was complete when it was started: one handle for all of them, which names no entry.
pub(crate) const SENT: Request = Request(std::ptr::without_provenance_mut(
    Request::FIRST as usize - 1,
));

static REQUESTS: Table<Request, Entry> = Table::new();

/// What a handle of a request names.
struct Entry {
    /// The communicator of the operation, which outlives it.
    comm: NonNull<comm::Entry>,
    state: State,
}

enum State {
    /// In progress, or complete without the program knowing yet.
    Running { raw: RawRequest, _held: Held },
    /// Complete, as the program has cancelled it.
    Ended(Status),
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
    /// Makes the communicator and gives the program its handle.
    finish: Box<dyn FnOnce(Communicator<ProcessEndpoint>)>,
}

/// An operation that can be started repeatedly.
struct Persistent {
    prepared: Prepared,
    run: Run,
    _held: Held,
}

enum Prepared {
    Message(PreparedMessage),
    Collective(PreparedCollective<ProcessEndpoint>),
}

/// Where a persistent operation stands.
#[derive(Clone, Copy)]
enum Run {
    Inactive,
    Active(RawRequest),
    Ended(Status),
}

/// What a call learns about a request before it waits or tests.
#[derive(Clone, Copy)]
enum Found {
    /// Null, or not active.
    Inactive,
    /// Complete, with this status.
    Ended(Status),
    /// To be waited for.
    Open(RawRequest),
}

/// A handle of an operation that has been started on a communicator.
pub(crate) fn insert(comm: &comm::Entry, raw: RawRequest, held: Held) -> Request {
    insert_state(comm, State::Running { raw, _held: held })
}

/// A handle of an operation that ended when it was started.
pub(crate) fn ended(status: Status) -> Result<Request> {
    let own = comm::find(Comm::from_address(MPI_COMM_SELF));
    let own = own.ok_or_else(|| comm::no_such(Comm::from_address(MPI_COMM_SELF)))?;
    Ok(insert_state(own, State::Ended(status)))
}

/// A handle of a duplicate that has been started on a communicator; `finish` gets it when the program sees it complete.
pub(crate) fn insert_duplicate(
    comm: &comm::Entry,
    (started, raw): (StartedDuplicate, RawRequest),
    finish: Box<dyn FnOnce(Communicator<ProcessEndpoint>)>,
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
        comm.operations.set(comm.operations.get() + 1);
        crate::handles::made(slab.insert(Entry {
            comm: NonNull::from(comm),
            state,
        }))
    })
}

/// The request of a handle, and its communicator; none where the handle has no entry.
fn look(request: Request) -> Result<(Found, Option<&'static comm::Entry>)> {
    if request == SENT {
        return Ok((Found::Ended(Status::EMPTY), None));
    }
    if request == NULL {
        return Ok((Found::Inactive, None));
    }
    let found = REQUESTS.with(|slab| {
        let entry = &slab[slab.find(slab_handle(request))?];
        let found = match &entry.state {
            State::Running { raw, .. } => Found::Open(*raw),
            State::Ended(status) => Found::Ended(*status),
            State::Persistent(persistent) => match persistent.run {
                Run::Inactive => Found::Inactive,
                Run::Active(raw) => Found::Open(raw),
                Run::Ended(status) => Found::Ended(status),
            },
            State::Duplicating(duplicating) => Found::Open(duplicating.raw),
            State::Generalized(generalized) => Found::Open(generalized.raw),
        };
        Some((found, entry.comm))
    });
    let (found, comm) = found.ok_or_else(|| no_such(request))?;
    // SAFETY: a communicator outlives its operations: see `release`.
    Ok((found, Some(unsafe { comm.as_ref() })))
}

#[cold]
fn no_such(request: Request) -> Error {
    Error::handle(MPI_ERR_REQUEST, "request", request)
}

/// Notes how an operation has ended, of which the program keeps the request.
fn settle(request: Request, ended: Status) {
    REQUESTS.with(|slab| {
        if let Some(index) = slab.find(slab_handle(request)) {
            match &mut slab[index].state {
                State::Persistent(persistent) => persistent.run = Run::Ended(ended),
                state => *state = State::Ended(ended),
            }
        }
    });
}

/// The handle of a request that the program has seen complete: null, but of a persistent one the same.
fn completed(request: Request) -> Request {
    if request == SENT || request == NULL {
        return NULL;
    }
    let removed = REQUESTS.with(|slab| {
        let index = slab.find(slab_handle(request))?;
        if let State::Persistent(persistent) = &mut slab[index].state {
            persistent.run = Run::Inactive;
            return None;
        }
        Some(slab.remove(index))
    });
    match removed {
        Some(entry) => {
            release(finished(entry));
            NULL
        }
        None => request,
    }
}

/// The entry of an operation that has completed, after what is to be done then.
fn finished(entry: Entry) -> Entry {
    let Entry { comm, state } = entry;
    let state = match state {
        State::Duplicating(duplicating) => {
            let Duplicating {
                started, finish, ..
            } = *duplicating;
            // SAFETY: a communicator outlives its operations: see `release`.
            finish(started.finish(&unsafe { comm.as_ref() }.messages));
            State::Ended(Status::EMPTY)
        }
        state => state,
    };
    Entry { comm, state }
}

/// Drops an entry, and its communicator where the program has freed that before.
fn release(entry: Entry) {
    let Entry { comm, state } = entry;
    drop(state);
    let is_last = REQUESTS.with(|_| {
        // SAFETY: the communicator lives until its last operation is released, here.
        let comm = unsafe { comm.as_ref() };
        comm.operations.set(comm.operations.get() - 1);
        comm.operations.get() == 0 && comm.is_freed.get()
    });
    if is_last {
        // SAFETY: `free_communicator` left it to the last operation, and no handle names it any more.
        drop(unsafe { Box::from_raw(comm.as_ptr()) });
    }
}

/// Drops a communicator of which no handle is left; after its last operation where there are some.
pub(crate) fn free_communicator(comm: Box<comm::Entry>) {
    let comm = Box::into_raw(comm);
    let is_last = REQUESTS.with(|_| {
        // SAFETY: made of a box above.
        let comm = unsafe { &*comm };
        comm.is_freed.set(true);
        comm.operations.get() == 0
    });
    if is_last {
        // SAFETY: as above; no operation uses it.
        drop(unsafe { Box::from_raw(comm) });
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
    errors::catch("MPI_Request_free", || {
        let (found, comm) = look(handle)?;
        if handle == NULL {
            return Err(no_such(handle));
        }
        if let Some(generalized) = generalized::find(handle) {
            generalized.free()?;
        }
        let entry = REQUESTS.remove(handle);
        if let (Some(Entry { comm: place, state }), Some(comm)) = (entry, comm) {
            let state = match found {
                Found::Open(raw) => {
                    comm.messages.detach(raw, Box::new(Owner(state)));
                    State::Ended(Status::EMPTY)
                }
                _ => state,
            };
            release(Entry { comm: place, state });
        }
        // SAFETY: the caller's promise.
        unsafe { request.write(NULL) };
        Ok(())
    })
}

/// `MPI_Cancel`.
///
/// # Safety
/// The request may be read.
pub(crate) unsafe fn cancel(request: *const Request) -> c_int {
    // SAFETY: the caller's promise.
    let handle = unsafe { *request };
    errors::catch("MPI_Cancel", || {
        if let Some(generalized) = generalized::find(handle) {
            return generalized.cancel();
        }
        let (found, comm) = look(handle)?;
        let (Found::Open(raw), Some(comm)) = (found, comm) else {
            return match found {
                Found::Inactive => Err(no_such(handle)),
                _ => Ok(()),
            };
        };
        let ended = match comm.messages.cancel(raw)? {
            Some(status) => Status::from(status),
            None => Status::cancelled(),
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
