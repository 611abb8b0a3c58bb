//! Reads and writes of borrowed descriptors, and poll(2).

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

pub use rustix::event::{PollFd, PollFlags};

/// Makes reads and writes return `WouldBlock` instead of waiting.
///
/// The mode belongs to the open file, not to the descriptor: use it only on files that no other
/// process shares, never on an inherited standard stream.
///
/// # Errors
/// The error of the system call.
pub fn set_nonblocking(fd: impl AsFd) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(&fd)?;
    rustix::fs::fcntl_setfl(&fd, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok(())
}

/// Waits until one of `fds` has what it asks for, or `timeout` has passed (`None`: for ever).
/// Returns the number of ready ones. A signal does not end the wait.
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

/// Whether this process is in the foreground of `terminal`, so that a read does not stop it (SIGTTIN). A terminal that
/// does not control this process stops nothing.
#[must_use]
pub fn is_foreground(terminal: impl AsFd) -> bool {
    let group = rustix::termios::tcgetpgrp(terminal);
    group.map_or(true, |group| group == rustix::process::getpgrp())
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
