//! Descriptors on which the library announces events.

use crate::error::VerbsError;
use oxmpi_os::pipe::set_nonblocking;
use oxmpi_os::socket::readable;
use std::ffi::c_int;
use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Instant;

/// Makes reads of a new descriptor return at once.
pub(super) fn never_block(fd: BorrowedFd<'_>, of: &impl fmt::Debug) -> Result<(), VerbsError> {
    set_nonblocking(fd).map_err(|why| of_system("fcntl", of, &why))
}

/// Takes the next event by the library's function `call`, which reads `fd`; waits for one until `deadline`.
///
/// `take` returns what that function does, an event if it is 0. `None` at the deadline.
pub(super) fn next_event<T>(
    fd: BorrowedFd<'_>,
    deadline: Instant,
    call: &'static str,
    of: &impl fmt::Debug,
    mut take: impl FnMut() -> (c_int, T),
) -> Result<Option<T>, VerbsError> {
    loop {
        match readable(&[fd], deadline) {
            Ok(_) => {}
            Err(why) if why.kind() == io::ErrorKind::TimedOut => return Ok(None),
            Err(why) => return Err(of_system("poll", of, &why)),
        }
        match take() {
            (0, event) => return Ok(Some(event)),
            // Another thread has taken it.
            _ if io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock => {}
            _ => return Err(VerbsError::last(call, format!("{of:?}"), "")),
        }
    }
}

fn of_system(call: &'static str, of: &impl fmt::Debug, why: &io::Error) -> VerbsError {
    VerbsError::new(call, format!("{of:?}"), "", why.raw_os_error().unwrap_or(0))
}
