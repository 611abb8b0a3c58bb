//! Operations that are prepared once and started repeatedly (MPI 5.0, sections 3.9 and 6.13).

use oxmpi_core::{Mode, PROC_NULL, PreparedCollective, ProcessEndpoint};
use oxmpi_wire::Bytes;

use super::{Persistent, Prepared, REQUESTS, State, insert_state, look, no_such, raise};
use crate::comm_table;
use crate::constants::{MPI_ERR_REQUEST, MPI_SUCCESS};
use crate::counts::Counting;
use crate::datatype::Buffer;
use crate::error_handling::{self, Error, Result, on};
use crate::handles::slab_handle;
use crate::message_envelope::{destination, source, tag_of};
use crate::shared::Held;
use crate::types::{Comm, Datatype, Request, c_int, c_void};

/// A handle of a prepared operation.
pub(super) fn insert(comm: &comm_table::Entry, prepared: Prepared, held: Held) -> Request {
    insert_state(
        comm,
        State::Persistent(Box::new(Persistent {
            prepared,
            active: None,
            _held: held,
        })),
    )
}

/// A handle of a prepared collective.
pub(crate) fn prepare_collective(
    comm: &comm_table::Entry,
    prepared: PreparedCollective<ProcessEndpoint>,
    held: Held,
) -> Request {
    insert(comm, Prepared::Collective(prepared), held)
}

/// Defines the calls that prepare sends.
macro_rules! sends {
    ($($name:ident $function:literal |$messages:ident, $bytes:ident, $to:ident, $tag:ident| $prepare:expr;)*) => {
        $(
            /// # Safety
            /// The elements may be read while the operation is active, and the request be written to now.
            pub(crate) unsafe fn $name<N: Counting>(
                buffer: *const c_void,
                count: N,
                datatype: Datatype,
                to: c_int,
                tag: c_int,
                comm: Comm,
                request: *mut Request,
            ) -> c_int {
                on(comm, $function, |entry| {
                    // SAFETY: the caller's promise.
                    let buffer = unsafe { Buffer::new(buffer, count, datatype)? };
                    let ($messages, $bytes) = (&entry.messages, buffer.bytes);
                    let ($to, $tag) = (destination(to), tag as u32);
                    let prepared: Prepared = $prepare;
                    // SAFETY: the caller's promise.
                    unsafe { request.write(insert(entry, prepared, buffer.held)) };
                    Ok(())
                })
            }
        )*
    };
}

sends! {
    send_init "MPI_Send_init" |messages, bytes, to, tag|
        Prepared::Message(messages.prepare_send(bytes, to, tag, Mode::Standard)?);
    ssend_init "MPI_Ssend_init" |messages, bytes, to, tag|
        Prepared::Message(messages.prepare_send(bytes, to, tag, Mode::Synchronous)?);
    rsend_init "MPI_Rsend_init" |messages, bytes, to, tag|
        Prepared::Message(messages.prepare_send(bytes, to, tag, Mode::Ready)?);
    bsend_init "MPI_Bsend_init" |messages, bytes, to, tag| {
        let prepared = messages.prepare_bsend(bytes, to, tag)?;
        match to {
            // Nothing is buffered for nobody.
            PROC_NULL => Prepared::Message(prepared),
            _ => Prepared::Buffered(prepared, bytes.len()),
        }
    };
}

/// `MPI_Recv_init`.
///
/// # Safety
/// The elements may be written to while the operation is active, and the request now.
pub(crate) unsafe fn recv_init<N: Counting>(
    buffer: *mut c_void,
    count: N,
    datatype: Datatype,
    from: c_int,
    tag: c_int,
    comm: Comm,
    request: *mut Request,
) -> c_int {
    on(comm, "MPI_Recv_init", |entry| {
        // SAFETY: the caller's promise.
        let buffer = unsafe { Buffer::new(buffer, count, datatype)? };
        let prepared = (entry.messages).prepare_recv(buffer.bytes, source(from), tag_of(tag))?;
        // SAFETY: the caller's promise.
        unsafe { request.write(insert(entry, Prepared::Message(prepared), buffer.held)) };
        Ok(())
    })
}

/// Starts a prepared operation once more.
fn start_one(request: Request) -> Result<()> {
    let (_, comm) = look(request)?;
    let comm = comm.ok_or_else(|| no_such(request))?;
    let prepared = REQUESTS.with(|slab| {
        let index = slab.find(slab_handle(request))?;
        match &slab[index].state {
            State::Persistent(persistent) if persistent.active.is_none() => {
                Some(std::ptr::from_ref(&persistent.prepared))
            }
            _ => None,
        }
    });
    let prepared = prepared.ok_or_else(|| {
        Error::new(
            MPI_ERR_REQUEST,
            "the request is not persistent, or it was started before and has not been waited for",
        )
    })?;
    // SAFETY: it is in a box of the entry, which only the program's own call to free it removes.
    let raw = match unsafe { &*prepared } {
        Prepared::Message(message) => message.start(&comm.messages)?,
        Prepared::Buffered(message, bytes) => {
            let buffer = comm.attached().check(*bytes)?;
            message.start_from(&comm.messages, buffer)?
        }
        Prepared::Collective(collective) => collective.start()?,
        Prepared::Partitioned(partitioned) => partitioned.start()?,
    };
    REQUESTS.with(|slab| {
        if let Some(index) = slab.find(slab_handle(request))
            && let State::Persistent(persistent) = &mut slab[index].state
        {
            persistent.active = Some(raw);
        }
    });
    Ok(())
}

/// `MPI_Start`.
///
/// # Safety
/// The request may be read.
pub(crate) unsafe fn start(request: *mut Request) -> c_int {
    // SAFETY: the caller's promise.
    let request = unsafe { *request };
    super::on(request, "MPI_Start", || start_one(request))
}

/// `MPI_Startall`.
///
/// # Safety
/// The requests may be read.
pub(crate) unsafe fn startall(count: c_int, requests: *mut Request) -> c_int {
    const FUNCTION: &str = "MPI_Startall";
    let Ok(count) = usize::try_from(count) else {
        return error_handling::raise(None, FUNCTION, Error::count(count));
    };
    for place in 0..count {
        // SAFETY: the caller's promise.
        let request = unsafe { *requests.wrapping_add(place) };
        if let Err(error) = start_one(request) {
            return raise(request, FUNCTION, error);
        }
    }
    MPI_SUCCESS
}
