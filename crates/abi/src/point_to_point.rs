//! Sends and receives, blocking and nonblocking (MPI 5.0, chapter 3).

mod blocking;

use oxmpi_core::Mode;

use self::blocking::send_by;
pub(crate) use self::blocking::{recv, send};

use crate::comm_table;
use crate::constants::MPI_SUCCESS;
use crate::counts::Counting;
use crate::datatype::{self, Buffer};
use crate::error_handling::on;
use crate::message_envelope::{destination, source, tag_of};
use crate::request;
use crate::types::{Comm, Datatype, Request, Status, c_int, c_void};

/// Defines sends in other modes.
macro_rules! modes {
    ($($(#[$doc:meta])* $name:ident $function:literal, $iname:ident $ifunction:literal: $mode:ident;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// The elements may be read.
            pub(crate) unsafe fn $name<N: Counting>(
                buffer: *const c_void,
                count: N,
                datatype: Datatype,
                to: c_int,
                tag: c_int,
                comm: Comm,
            ) -> c_int {
                // SAFETY: the caller's promise.
                unsafe { send_by($function, Mode::$mode, buffer, count, datatype, to, tag, comm) }
            }

            $(#[$doc])*
            ///
            /// # Safety
            /// The elements may be read until the request has completed; the request may be written to.
            pub(crate) unsafe fn $iname<N: Counting>(
                buffer: *const c_void,
                count: N,
                datatype: Datatype,
                to: c_int,
                tag: c_int,
                comm: Comm,
                request: *mut Request,
            ) -> c_int {
                let mode = Mode::$mode;
                // SAFETY: the caller's promise.
                unsafe { isend_by($ifunction, mode, buffer, count, datatype, to, tag, comm, request) }
            }
        )*
    };
}

modes! {
    /// Completes when the receive has begun.
    ssend "MPI_Ssend", issend "MPI_Issend": Synchronous;
    /// For a receive that is known to be posted.
    rsend "MPI_Rsend", irsend "MPI_Irsend": Ready;
}

/// `MPI_Isend`.
///
/// # Safety
/// The elements may be read until the request has completed; the request may be written to.
pub(crate) unsafe fn isend<N: Counting>(
    buffer: *const c_void,
    count: N,
    datatype: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
    request: *mut Request,
) -> c_int {
    if let Some(entry) = comm_table::find(comm)
        // SAFETY: the caller's promise.
        && let Some(bytes) = unsafe { datatype::plain(buffer, count, datatype) }
        && (entry.messages).send_short(&bytes, to as u32 as usize, tag as u32)
    {
        // SAFETY: the caller's promise.
        unsafe { request.write(request::SENT) };
        return MPI_SUCCESS;
    }
    let mode = Mode::Standard;
    // SAFETY: the caller's promise.
    unsafe {
        isend_by(
            "MPI_Isend",
            mode,
            buffer,
            count,
            datatype,
            to,
            tag,
            comm,
            request,
        )
    }
}

/// Starts a send in a mode.
///
/// # Safety
/// As [`isend`].
#[inline(never)]
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's functions"
)]
unsafe fn isend_by<N: Counting>(
    function: &'static str,
    mode: Mode,
    buffer: *const c_void,
    count: N,
    datatype: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
    request: *mut Request,
) -> c_int {
    on(comm, function, |entry| {
        // SAFETY: the caller's promise.
        let Buffer { bytes, held } = unsafe { Buffer::new(buffer, count, datatype)? };
        let started = (entry.messages).isend(bytes, destination(to), tag as u32, mode)?;
        // SAFETY: the caller's promise.
        unsafe { request.write(request::insert_send(entry, started, held)) };
        Ok(())
    })
}

/// `MPI_Irecv`.
///
/// # Safety
/// The elements may be written to until the request has completed, and the request now.
pub(crate) unsafe fn irecv<N: Counting>(
    buffer: *mut c_void,
    count: N,
    datatype: Datatype,
    from: c_int,
    tag: c_int,
    comm: Comm,
    request: *mut Request,
) -> c_int {
    if let Some(entry) = comm_table::find(comm)
        // SAFETY: the caller's promise.
        && let Some(bytes) = unsafe { datatype::plain(buffer, count, datatype) }
        && let Ok(started) = (entry.messages).irecv(bytes, source(from), tag_of(tag))
    {
        // SAFETY: the caller's promise.
        unsafe { request.write(request::insert(entry, started, None)) };
        return MPI_SUCCESS;
    }
    // SAFETY: the caller's promise.
    unsafe { irecv_any(buffer, count, datatype, from, tag, comm, request) }
}

/// Starts a receive of elements of any datatype, or reports what is wrong.
///
/// # Safety
/// As [`irecv`].
#[inline(never)]
unsafe fn irecv_any<N: Counting>(
    buffer: *mut c_void,
    count: N,
    datatype: Datatype,
    from: c_int,
    tag: c_int,
    comm: Comm,
    request: *mut Request,
) -> c_int {
    on(comm, "MPI_Irecv", |entry| {
        // SAFETY: the caller's promise.
        let Buffer { bytes, held } = unsafe { Buffer::new(buffer, count, datatype)? };
        let started = (entry.messages).irecv(bytes, source(from), tag_of(tag))?;
        // SAFETY: the caller's promise.
        unsafe { request.write(request::insert(entry, started, held)) };
        Ok(())
    })
}

/// `MPI_Sendrecv`.
///
/// # Safety
/// The elements to send may be read, those to receive may be written to, and so may the status, unless it is
/// `MPI_STATUS_IGNORE`.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's function"
)]
pub(crate) unsafe fn sendrecv<N: Counting>(
    out: *const c_void,
    out_count: N,
    out_type: Datatype,
    to: c_int,
    send_tag: c_int,
    into: *mut c_void,
    into_count: N,
    into_type: Datatype,
    from: c_int,
    recv_tag: c_int,
    comm: Comm,
    status: *mut Status,
) -> c_int {
    on(comm, "MPI_Sendrecv", |entry| {
        // SAFETY: the caller's promise.
        let out = unsafe { Buffer::new(out, out_count, out_type)? };
        // SAFETY: as above.
        let into = unsafe { Buffer::new(into, into_count, into_type)? };
        let received = entry.messages.sendrecv(
            out.bytes,
            destination(to),
            send_tag as u32,
            into.bytes,
            source(from),
            tag_of(recv_tag),
        );
        // SAFETY: the caller's promise.
        unsafe { Status::write_received(received, status) }
    })
}

/// `MPI_Sendrecv_replace`.
///
/// # Safety
/// The elements may be read and written to, and so may the status, unless it is `MPI_STATUS_IGNORE`.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's function"
)]
pub(crate) unsafe fn sendrecv_replace<N: Counting>(
    buffer: *mut c_void,
    count: N,
    datatype: Datatype,
    to: c_int,
    send_tag: c_int,
    from: c_int,
    recv_tag: c_int,
    comm: Comm,
    status: *mut Status,
) -> c_int {
    on(comm, "MPI_Sendrecv_replace", |entry| {
        // SAFETY: the caller's promise.
        let into = unsafe { Buffer::new(buffer, count, datatype)? };
        let received = entry.messages.sendrecv_replace(
            into.bytes,
            destination(to),
            send_tag as u32,
            source(from),
            tag_of(recv_tag),
        );
        // SAFETY: the caller's promise.
        unsafe { Status::write_received(received, status) }
    })
}

/// `MPI_Isendrecv`. The message that goes is copied unless it can go at once, so the request is that of the receive.
///
/// # Safety
/// The elements to send may be read; those to receive may be written to until the request has completed, and the request
/// now.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's function"
)]
pub(crate) unsafe fn isendrecv<N: Counting>(
    out: *const c_void,
    out_count: N,
    out_type: Datatype,
    to: c_int,
    send_tag: c_int,
    into: *mut c_void,
    into_count: N,
    into_type: Datatype,
    from: c_int,
    recv_tag: c_int,
    comm: Comm,
    request: *mut Request,
) -> c_int {
    on(comm, "MPI_Isendrecv", |entry| {
        // SAFETY: the caller's promise.
        let out = unsafe { Buffer::new(out, out_count, out_type)? };
        // SAFETY: as above.
        let Buffer { bytes, held } = unsafe { Buffer::new(into, into_count, into_type)? };
        let started = entry.messages.isendrecv(
            out.bytes,
            destination(to),
            send_tag as u32,
            bytes,
            source(from),
            tag_of(recv_tag),
        )?;
        // SAFETY: as above.
        unsafe { request.write(request::insert(entry, started, held)) };
        Ok(())
    })
}

/// `MPI_Isendrecv_replace`.
///
/// # Safety
/// The elements may be read and written to until the request has completed, and the request be written to now.
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's function"
)]
pub(crate) unsafe fn isendrecv_replace<N: Counting>(
    buffer: *mut c_void,
    count: N,
    datatype: Datatype,
    to: c_int,
    send_tag: c_int,
    from: c_int,
    recv_tag: c_int,
    comm: Comm,
    request: *mut Request,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        isendrecv(
            buffer, count, datatype, to, send_tag, buffer, count, datatype, from, recv_tag, comm,
            request,
        )
    }
}
