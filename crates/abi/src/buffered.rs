//! Buffered sends, and the buffers that programs attach for them (MPI 5.0, section 3.6).
//!
//! The endpoint copies a message that it cannot send at once to memory of its own, so the attached memory stays unused. It is
//! remembered, as a program gets it back, and a send without any is an error.

use crate::attached_memory::PROCESS;
use crate::comm_table;
use crate::constants::{MPI_PROC_NULL, MPI_SUCCESS};
use crate::counts::Counting;
use crate::datatype::Buffer;
use crate::error_handling::{Result, catch, on};
use crate::message_envelope::destination;
use crate::request::SENT;
use crate::types::{Comm, Datatype, Request, c_int, c_void};

/// `MPI_Bsend`.
///
/// # Safety
/// The elements may be read.
pub(crate) unsafe fn bsend<N: Counting>(
    buffer: *const c_void,
    count: N,
    datatype: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
) -> c_int {
    on(comm, "MPI_Bsend", |entry| {
        // SAFETY: the caller's promise.
        let Buffer { bytes, .. } = unsafe { Buffer::new(buffer, count, datatype)? };
        // Nothing is buffered for nobody.
        let buffer = match to {
            MPI_PROC_NULL => 0,
            _ => (entry.attached()).check(oxmpi_wire::Bytes::len(&bytes))?,
        };
        Ok((entry.messages).bsend(bytes, destination(to), tag as u32, buffer)?)
    })
}

/// `MPI_Ibsend`.
///
/// # Safety
/// The elements may be read; the request may be written to.
pub(crate) unsafe fn ibsend<N: Counting>(
    buffer: *const c_void,
    count: N,
    datatype: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
    request: *mut Request,
) -> c_int {
    // SAFETY: the caller's promise.
    let code = unsafe { bsend(buffer, count, datatype, to, tag, comm) };
    if code == MPI_SUCCESS {
        // SAFETY: as above.
        unsafe { request.write(SENT) };
    }
    code
}

/// Waits until the messages have been sent that count against the buffer of the process.
fn flush_process() -> Result<()> {
    Ok((comm_table::own()?.messages).wait_for_buffered(PROCESS.number())?)
}

/// `MPI_Buffer_attach`.
pub(crate) fn attach<N: Counting>(memory: *mut c_void, size: N) -> c_int {
    catch("MPI_Buffer_attach", || PROCESS.attach(memory, size))
}

/// `MPI_Buffer_detach`. It waits until the messages have been sent.
///
/// # Safety
/// The address, which is a pointer, and the size may be written to.
pub(crate) unsafe fn detach<N: Counting>(address: *mut c_void, size: *mut N) -> c_int {
    catch("MPI_Buffer_detach", || {
        flush_process()?;
        // SAFETY: the caller's promise.
        unsafe { PROCESS.detach(address, size) }
    })
}

/// `MPI_Buffer_flush`.
pub(crate) fn flush() -> c_int {
    catch("MPI_Buffer_flush", flush_process)
}

/// `MPI_Buffer_iflush`. The messages keep copies of their own, so nothing is left to be waited for.
///
/// # Safety
/// The request may be written to.
pub(crate) unsafe fn iflush(request: *mut Request) -> c_int {
    catch("MPI_Buffer_iflush", || {
        // SAFETY: the caller's promise.
        unsafe { request.write(SENT) };
        Ok(())
    })
}

/// `MPI_Comm_attach_buffer`.
pub(crate) fn comm_attach<N: Counting>(comm: Comm, memory: *mut c_void, size: N) -> c_int {
    on(comm, "MPI_Comm_attach_buffer", |entry| {
        entry.buffers.attach(memory, size)
    })
}

/// `MPI_Comm_detach_buffer`.
///
/// # Safety
/// As [`detach`].
pub(crate) unsafe fn comm_detach<N: Counting>(
    comm: Comm,
    address: *mut c_void,
    size: *mut N,
) -> c_int {
    on(comm, "MPI_Comm_detach_buffer", |entry| {
        entry.messages.wait_for_buffered(entry.buffers.number())?;
        // SAFETY: the caller's promise.
        unsafe { entry.buffers.detach(address, size) }
    })
}

/// `MPI_Comm_flush_buffer`.
pub(crate) fn comm_flush(comm: Comm) -> c_int {
    on(comm, "MPI_Comm_flush_buffer", |entry| {
        Ok(entry.messages.wait_for_buffered(entry.buffers.number())?)
    })
}

/// `MPI_Comm_iflush_buffer`.
///
/// # Safety
/// As [`iflush`].
pub(crate) unsafe fn comm_iflush(comm: Comm, request: *mut Request) -> c_int {
    on(comm, "MPI_Comm_iflush_buffer", |_| {
        // SAFETY: the caller's promise.
        unsafe { request.write(SENT) };
        Ok(())
    })
}
