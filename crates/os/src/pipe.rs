//! Byte streams between processes, and waiting for several of them.

use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::time::Duration;

pub use rustix::event::{PollFd, PollFlags};

/// Makes reads and writes return `WouldBlock` instead of waiting.
///
/// The mode belongs to the open file, not to the descriptor: use it only on files that no other
/// process shares, never on an inherited standard stream.
///
/// # Errors
/// What the system says.
pub fn set_nonblocking(fd: impl AsFd) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(&fd)?;
    rustix::fs::fcntl_setfl(&fd, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok(())
}

/// Waits until one of `fds` has what it asks for, or `timeout` has passed (`None`: for ever).
/// Gives the number of those that have something to say. A signal does not end the wait early.
///
/// # Errors
/// When a system resource is missing.
///
/// # Cost
/// One system call, linear in the number of descriptors.
pub fn poll(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> io::Result<usize> {
    let limit = timeout.map(|timeout| rustix::event::Timespec {
        tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    loop {
        match rustix::event::poll(fds, limit.as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
}

/// Reads without a buffer, from a descriptor that is only borrowed.
///
/// # Errors
/// `WouldBlock` when nothing is there and the file does not block; else what the system says.
pub fn read(fd: impl AsFd, into: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::retry_on_intr(|| {
        rustix::io::read(&fd, &mut *into)
    })?)
}

/// Writes without a buffer, to a descriptor that is only borrowed; gives how much was taken.
///
/// # Errors
/// `WouldBlock` when there is no room and the file does not block; else what the system says.
pub fn write(fd: impl AsFd, from: &[u8]) -> io::Result<usize> {
    Ok(rustix::io::retry_on_intr(|| rustix::io::write(&fd, from))?)
}

/// A descriptor of our own for the open file behind `number`, a descriptor that whoever started this
/// process left open and named in the environment (`PMI_FD`). The new one is closed by exec.
///
/// # Errors
/// `EBADF` when that number is not open.
pub fn inherited(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: duplicating touches no memory; a number that is not open is an error.
    let own = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    if own < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `fcntl` has just made this descriptor, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(own) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn an_empty_pipe_would_block_and_a_filled_one_is_ready() {
        let (reader, writer) = io::pipe().expect("a pipe");
        set_nonblocking(&reader).expect("a pipe can be non-blocking");
        let mut byte = [0];
        let empty = read(&reader, &mut byte).expect_err("nothing was written");
        assert_eq!(empty.kind(), io::ErrorKind::WouldBlock);
        let ready = |limit| poll(&mut [PollFd::new(&reader, PollFlags::IN)], limit).expect("poll");
        assert_eq!(ready(Some(Duration::ZERO)), 0);
        assert_eq!(write(&writer, b"x").expect("room in the pipe"), 1);
        assert_eq!(ready(None), 1);
        assert_eq!(read(&reader, &mut byte).expect("one byte"), 1);
    }

    #[test]
    fn a_number_becomes_a_descriptor_of_our_own() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let own = inherited(writer.as_raw_fd()).expect("it is open");
        drop(writer);
        assert_eq!(write(&own, b"x").expect("room in the pipe"), 1);
        assert_eq!(read(&reader, &mut [0; 2]).expect("one byte"), 1);
        let error = inherited(1 << 20).expect_err("nobody has so many");
        assert_eq!(error.raw_os_error(), Some(libc::EBADF));
    }
}
