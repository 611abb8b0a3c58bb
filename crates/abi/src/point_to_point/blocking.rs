//! `MPI_Send` and `MPI_Recv`: a word inline, everything else by calls in which they end.

use oxmpi_core::Mode;
use oxmpi_os::RawBytes;

use crate::comm_table;
use crate::constants::MPI_SUCCESS;
use crate::counts::Counting;
use crate::datatype::{self, Buffer};
use crate::error_handling::{self, on};
use crate::message_envelope::{destination, source, tag_of};
use crate::types::{Comm, Datatype, Status, c_int, c_void};

/// `MPI_Send`. Each call in it is the last thing it does, so it saves no registers.
///
/// # Safety
/// The elements may be read.
#[inline(always)]
pub(crate) unsafe fn send<N: Counting>(
    buffer: *const c_void,
    count: N,
    datatype: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
) -> c_int {
    if let Some(entry) = comm_table::find_unlocked(comm)
        && let Some(len) = datatype::basic_len(count, datatype)
    {
        // A word first: it is no 0, the length of what is not basic.
        if len == 8 && datatype::is_memory(buffer) {
            if entry.messages.takes_lock() {
                // SAFETY: the caller's promise.
                return unsafe { send_word_locked(entry, buffer.cast(), to, tag) };
            }
            // SAFETY: the caller's promise.
            let word = unsafe { buffer.cast::<u64>().read_unaligned() };
            // A wrong rank or tag, and MPI_PROC_NULL, are none of a short message: the call below tells them apart.
            if (entry.messages).send_word(word, to as u32 as usize, tag as u32) {
                return MPI_SUCCESS;
            }
            // SAFETY: the caller's promise.
            return unsafe { send_plain(entry, buffer, len, to, tag) };
        }
        if len != 0 && datatype::is_memory(buffer) {
            // SAFETY: the caller's promise.
            return unsafe { send_plain(entry, buffer, len, to, tag) };
        }
    }
    // SAFETY: the caller's promise.
    unsafe { send_any(buffer, count, datatype, to, tag, comm) }
}

/// Sends a word at `MPI_THREAD_MULTIPLE`.
///
/// # Safety
/// It may be read.
#[inline(never)]
unsafe fn send_word_locked(
    entry: &comm_table::Entry,
    start: *const u64,
    to: c_int,
    tag: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    let word = unsafe { start.read_unaligned() };
    if (entry.messages).send_word_locked(word, to as u32 as usize, tag as u32) {
        return MPI_SUCCESS;
    }
    // SAFETY: as above.
    unsafe { send_plain(entry, start.cast(), size_of::<u64>(), to, tag) }
}

/// Sends `len` bytes.
///
/// # Safety
/// They may be read.
#[inline(never)]
unsafe fn send_plain(
    entry: &comm_table::Entry,
    start: *const c_void,
    len: usize,
    to: c_int,
    tag: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    let bytes = unsafe { RawBytes::new(start.cast_mut().cast(), len) };
    if (entry.messages).send_short(&bytes, to as u32 as usize, tag as u32) {
        return MPI_SUCCESS;
    }
    match (entry.messages).send(bytes, destination(to), tag as u32, Mode::Standard) {
        Ok(()) => MPI_SUCCESS,
        Err(error) => error_handling::raise(Some(entry), "MPI_Send", error.into()),
    }
}

/// Sends elements of any datatype on any communicator, or reports what is wrong.
///
/// # Safety
/// As [`send`].
#[inline(never)]
unsafe fn send_any<N: Counting>(
    buffer: *const c_void,
    count: N,
    datatype: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
) -> c_int {
    if let Some(entry) = comm_table::find(comm)
        && let Some(len) = datatype::plain_len(buffer, count, datatype)
    {
        // SAFETY: the caller's promise.
        return unsafe { send_plain(entry, buffer, len, to, tag) };
    }
    const FUNCTION: &str = "MPI_Send";
    let mode = Mode::Standard;
    // SAFETY: as above.
    unsafe { send_by(FUNCTION, mode, buffer, count, datatype, to, tag, comm) }
}

/// Sends in a mode, and waits until the buffer may be used again.
///
/// # Safety
/// The elements may be read.
#[inline(never)]
#[allow(
    clippy::too_many_arguments,
    reason = "those of the standard's functions"
)]
pub(super) unsafe fn send_by<N: Counting>(
    function: &'static str,
    mode: Mode,
    buffer: *const c_void,
    count: N,
    datatype: Datatype,
    to: c_int,
    tag: c_int,
    comm: Comm,
) -> c_int {
    on(comm, function, |entry| {
        // SAFETY: the caller's promise.
        let buffer = unsafe { Buffer::new(buffer, count, datatype)? };
        Ok(entry
            .messages
            .send(buffer.bytes, destination(to), tag as u32, mode)?)
    })
}

/// `MPI_Recv`. Each call in it is the last thing it does, so it saves no registers.
///
/// # Safety
/// The elements may be written to, and so may the status, unless it is `MPI_STATUS_IGNORE`.
#[inline(always)]
pub(crate) unsafe fn recv<N: Counting>(
    buffer: *mut c_void,
    count: N,
    datatype: Datatype,
    from: c_int,
    tag: c_int,
    comm: Comm,
    status: *mut Status,
) -> c_int {
    if let Some(entry) = comm_table::find_unlocked(comm)
        && let Some(len) = datatype::basic_len(count, datatype)
    {
        // A word first, as in `send`.
        if len >= 8 && datatype::is_memory(buffer) {
            if entry.messages.takes_lock() {
                // SAFETY: the caller's promise.
                return unsafe { recv_word_locked(entry, buffer, len, from, tag, status) };
            }
            if let Some((word, tag)) = (entry.messages).recv_word(from as u32 as usize, tag_of(tag))
            {
                // SAFETY: the caller's promise.
                unsafe { buffer.cast::<u64>().write_unaligned(word) };
                // SAFETY: the same.
                unsafe { Status::of_word(from, tag).write(status) };
                return MPI_SUCCESS;
            }
            // SAFETY: the caller's promise.
            return unsafe { recv_plain(entry, buffer, len, from, tag, status) };
        }
        if len != 0 && datatype::is_memory(buffer) {
            // SAFETY: the caller's promise.
            return unsafe { recv_plain(entry, buffer, len, from, tag, status) };
        }
    }
    // SAFETY: the caller's promise.
    unsafe { recv_any(buffer, count, datatype, from, tag, comm, status) }
}

/// Receives at most `len` bytes, at least a word, at `MPI_THREAD_MULTIPLE`.
///
/// # Safety
/// As [`recv_plain`].
#[inline(never)]
unsafe fn recv_word_locked(
    entry: &comm_table::Entry,
    start: *mut c_void,
    len: usize,
    from: c_int,
    tag: c_int,
    status: *mut Status,
) -> c_int {
    match (entry.messages).recv_word_locked(from as u32 as usize, tag_of(tag)) {
        Some((word, tag)) => {
            // SAFETY: the caller's promise.
            unsafe { start.cast::<u64>().write_unaligned(word) };
            // SAFETY: as above.
            unsafe { Status::of_word(from, tag).write(status) };
            MPI_SUCCESS
        }
        // SAFETY: as above.
        None => unsafe { recv_plain(entry, start, len, from, tag, status) },
    }
}

/// Receives at most `len` bytes.
///
/// # Safety
/// They may be written to, and so may the status, unless it is `MPI_STATUS_IGNORE`.
#[inline(never)]
unsafe fn recv_plain(
    entry: &comm_table::Entry,
    start: *mut c_void,
    len: usize,
    from: c_int,
    tag: c_int,
    status: *mut Status,
) -> c_int {
    // SAFETY: the caller's promise.
    let bytes = unsafe { RawBytes::new(start.cast(), len) };
    match (entry.messages).recv(bytes, source(from), tag_of(tag)) {
        Ok(received) => {
            // SAFETY: the caller's promise.
            unsafe { Status::from(received).write(status) };
            MPI_SUCCESS
        }
        // SAFETY: as above.
        Err(error) => unsafe { not_received(entry, error, status) },
    }
}

/// Reports why a receive has failed.
///
/// # Safety
/// As [`recv`].
#[cold]
unsafe fn not_received(
    entry: &comm_table::Entry,
    error: oxmpi_core::Error,
    status: *mut Status,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { Status::of_error(&error).write(status) };
    error_handling::raise(Some(entry), "MPI_Recv", error.into())
}

/// Receives elements of any datatype on any communicator, or reports what is wrong.
///
/// # Safety
/// As [`recv`].
#[inline(never)]
unsafe fn recv_any<N: Counting>(
    buffer: *mut c_void,
    count: N,
    datatype: Datatype,
    from: c_int,
    tag: c_int,
    comm: Comm,
    status: *mut Status,
) -> c_int {
    on(comm, "MPI_Recv", |entry| {
        // SAFETY: the caller's promise.
        let buffer = unsafe { Buffer::new(buffer, count, datatype)? };
        let received = (entry.messages).recv(buffer.bytes, source(from), tag_of(tag));
        // SAFETY: the caller's promise.
        unsafe { Status::write_received(received, status) }
    })
}
