//! Reads and writes of borrowed descriptors, and poll(2).

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

pub use rustix::event::{PollFd, PollFlags};

/// Makes reads and writes of `fd` return `WouldBlock` instead of waiting.
///
/// The mode belongs to the open file, not to the descriptor: use it only on files that no other
/// process shares, never on an inherited standard stream.
///
/// # Errors
/// The error of fcntl(2).
pub fn set_nonblocking(fd: impl AsFd) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(&fd)?;
    rustix::fs::fcntl_setfl(&fd, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok(())
}

/// Waits until one of `fds` is ready or `timeout` has passed (`None`: no limit). Returns the number of ready
/// descriptors. A signal restarts the wait.
///
/// # Errors
/// The error of poll(2).
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

/// Reads from a borrowed descriptor, without a buffer.
///
/// # Errors
/// `WouldBlock` if a non-blocking file has no bytes; else the error of read(2).
pub fn read(fd: impl AsFd, into: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::retry_on_intr(|| {
        rustix::io::read(&fd, &mut *into)
    })?)
}

/// Writes to a borrowed descriptor, without a buffer. Returns the number of bytes written.
///
/// # Errors
/// `WouldBlock` if a non-blocking file has no room; else the error of write(2).
pub fn write(fd: impl AsFd, from: &[u8]) -> io::Result<usize> {
    Ok(rustix::io::retry_on_intr(|| rustix::io::write(&fd, from))?)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
