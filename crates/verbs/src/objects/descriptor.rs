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
    set_nonblocking(fd).map_err(|why| VerbsError::io("fcntl", format!("{of:?}"), "", &why))
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
    let failed = |call, why: &io::Error| VerbsError::io(call, format!("{of:?}"), "", why);
    loop {
        match readable(&[fd], deadline) {
            Ok(_) => {}
            Err(why) if why.kind() == io::ErrorKind::TimedOut => return Ok(None),
            Err(why) => return Err(failed("poll", &why)),
        }
        let (0, event) = take() else {
            let why = io::Error::last_os_error();
            if why.kind() == io::ErrorKind::WouldBlock {
                // Another thread has taken it.
                continue;
            }
            return Err(failed(call, &why));
        };
        return Ok(Some(event));
    }
}
