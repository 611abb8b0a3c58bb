//! Probes, matched probes, and the receives of their messages (MPI 5.0, section 3.8).

use oxmpi_core::Claimed;
use oxmpi_os::RawBytes;

use crate::comm_table::{self, Entry, InUse};
use crate::constants::{
    MPI_ANY_TAG, MPI_COMM_SELF, MPI_ERR_REQUEST, MPI_MESSAGE_NO_PROC, MPI_MESSAGE_NULL,
    MPI_PROC_NULL, MPI_SUCCESS,
};
use crate::counts::Counting;
use crate::datatype::Buffer;
use crate::error_handling::{self, Error, Result, on};
use crate::handles::{Handle, Table, slab_handle};
use crate::message_envelope::{source, tag_of};
use crate::request;
use crate::types::{Comm, Datatype, Message, Request, Status, c_int, c_void};

/// Messages that a matched probe has taken out of the queue.
static MESSAGES: Table<Message, Matched> = Table::new();

/// A message that only its handle can receive.
struct Matched {
    comm: InUse,
    claimed: Claimed,
}

/// A handle of a message; of none, where the source is `MPI_PROC_NULL`.
fn insert(comm: &Entry, claimed: Option<Claimed>) -> Message {
    match claimed {
        None => Message::from_address(MPI_MESSAGE_NO_PROC),
        Some(claimed) => MESSAGES.insert(Matched {
            comm: InUse::new(comm),
            claimed,
        }),
    }
}

/// `MPI_Probe`.
///
/// # Safety
/// The status may be written to, unless it is `MPI_STATUS_IGNORE`; here and below.
pub(crate) unsafe fn probe(from: c_int, tag: c_int, comm: Comm, status: *mut Status) -> c_int {
    on(comm, "MPI_Probe", |entry| {
        let found = entry.messages.probe(source(from), tag_of(tag))?;
        // SAFETY: the caller's promise.
        unsafe { Status::from(found).write(status) };
        Ok(())
    })
}

/// `MPI_Iprobe`.
///
/// # Safety
/// As [`probe`]; the flag may be written to.
pub(crate) unsafe fn iprobe(
    from: c_int,
    tag: c_int,
    comm: Comm,
    flag: *mut c_int,
    status: *mut Status,
) -> c_int {
    on(comm, "MPI_Iprobe", |entry| {
        let found = entry.messages.iprobe(source(from), tag_of(tag))?;
        // SAFETY: the caller's promise.
        unsafe { flag.write(c_int::from(found.is_some())) };
        if let Some(found) = found {
            // SAFETY: as above.
            unsafe { Status::from(found).write(status) };
        }
        Ok(())
    })
}

/// `MPI_Mprobe`.
///
/// # Safety
/// As [`probe`]; the message may be written to.
pub(crate) unsafe fn mprobe(
    from: c_int,
    tag: c_int,
    comm: Comm,
    message: *mut Message,
    status: *mut Status,
) -> c_int {
    on(comm, "MPI_Mprobe", |entry| {
        let (claimed, found) = entry.messages.mprobe(source(from), tag_of(tag))?;
        // SAFETY: the caller's promise.
        unsafe { message.write(insert(entry, claimed)) };
        // SAFETY: as above.
        unsafe { Status::from(found).write(status) };
        Ok(())
    })
}

/// `MPI_Improbe`.
///
/// # Safety
/// As [`mprobe`]; the flag may be written to.
pub(crate) unsafe fn improbe(
    from: c_int,
    tag: c_int,
    comm: Comm,
    flag: *mut c_int,
    message: *mut Message,
    status: *mut Status,
) -> c_int {
    on(comm, "MPI_Improbe", |entry| {
        let found = entry.messages.improbe(source(from), tag_of(tag))?;
        // SAFETY: the caller's promise.
        unsafe { flag.write(c_int::from(found.is_some())) };
        if let Some((claimed, found)) = found {
            // SAFETY: as above.
            unsafe { message.write(insert(entry, claimed)) };
            // SAFETY: as above.
            unsafe { Status::from(found).write(status) };
        }
        Ok(())
    })
}

/// The messages that the program has not received.
pub(crate) fn left() -> Vec<Message> {
    MESSAGES.handles()
}

/// The communicator of a message, as long as the program has not received it.
fn communicator(message: Message) -> Option<InUse> {
    MESSAGES.with(|slab| {
        let index = slab.find(slab_handle(message))?;
        Some(InUse::new(&slab[index].comm))
    })
}

/// Receives a message into a buffer by `receive`, which gets none where the source is `MPI_PROC_NULL`; its handle is null from
/// now on. The program keeps the message where the buffer is wrong.
///
/// # Safety
/// The message may be read and written to.
unsafe fn receive(
    function: &'static str,
    message: *mut Message,
    buffer: Result<Buffer>,
    receive: impl FnOnce(Option<(&Entry, Claimed)>, Buffer) -> Result<()>,
) -> c_int {
    // SAFETY: the caller's promise.
    let handle = unsafe { *message };
    let buffer = match buffer {
        Ok(buffer) => buffer,
        Err(error) => {
            return error_handling::raise(communicator(handle).as_deref(), function, error);
        }
    };
    let taken = match handle.address() {
        MPI_MESSAGE_NO_PROC => None,
        _ => match MESSAGES.remove(handle) {
            None => {
                let error = Error::handle(MPI_ERR_REQUEST, "message", handle);
                return error_handling::raise(None, function, error);
            }
            some => some,
        },
    };
    // SAFETY: the caller's promise.
    unsafe { message.write(Message::from_address(MPI_MESSAGE_NULL)) };
    let (comm, claimed) = taken.map(|taken| (taken.comm, taken.claimed)).unzip();
    match receive(comm.as_deref().zip(claimed), buffer) {
        Ok(()) => MPI_SUCCESS,
        Err(error) => error_handling::raise(comm.as_deref(), function, error),
    }
}

/// `MPI_Mrecv`.
///
/// # Safety
/// The elements may be written to, the message too, and the status, unless it is `MPI_STATUS_IGNORE`.
pub(crate) unsafe fn mrecv<N: Counting>(
    buffer: *mut c_void,
    count: N,
    datatype: Datatype,
    message: *mut Message,
    status: *mut Status,
) -> c_int {
    let work = |taken: Option<(&Entry, Claimed)>, buffer: Buffer| {
        let received = match taken {
            None => Ok(oxmpi_core::Status::PROC_NULL),
            Some((comm, claimed)) => comm.messages.recv_claimed(claimed, buffer.bytes),
        };
        // SAFETY: the caller's promise.
        unsafe { Status::write_received(received, status) }
    };
    // SAFETY: the caller's promise.
    let buffer = unsafe { Buffer::new(buffer, count, datatype) };
    // SAFETY: as above.
    unsafe { receive("MPI_Mrecv", message, buffer, work) }
}

/// A request for the message of `MPI_PROC_NULL`, which is complete at once.
fn no_message() -> Result<Request> {
    let own = Comm::from_address(MPI_COMM_SELF);
    let entry = comm_table::find(own).ok_or_else(|| comm_table::no_such(own))?;
    let (from, tag) = (source(MPI_PROC_NULL), tag_of(MPI_ANY_TAG));
    let raw = entry.messages.irecv(RawBytes::empty(), from, tag)?;
    Ok(request::insert(entry, raw, None))
}

/// `MPI_Imrecv`.
///
/// # Safety
/// The elements may be written to until the request has completed; message and request may be written to.
pub(crate) unsafe fn imrecv<N: Counting>(
    buffer: *mut c_void,
    count: N,
    datatype: Datatype,
    message: *mut Message,
    request: *mut Request,
) -> c_int {
    let work = |taken: Option<(&Entry, Claimed)>, Buffer { bytes, held }: Buffer| {
        let started = match taken {
            None => no_message()?,
            Some((comm, claimed)) => {
                let raw = comm.messages.irecv_claimed(claimed, bytes)?;
                request::insert(comm, raw, held)
            }
        };
        // SAFETY: the caller's promise.
        unsafe { request.write(started) };
        Ok(())
    };
    // SAFETY: the caller's promise.
    let buffer = unsafe { Buffer::new(buffer, count, datatype) };
    // SAFETY: as above.
    unsafe { receive("MPI_Imrecv", message, buffer, work) }
}

/// `MPI_Message_fromint`.
pub(crate) fn from_int(int: c_int) -> Message {
    MESSAGES.handle_of(int)
}
