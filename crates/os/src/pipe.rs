//! Reads and writes of borrowed descriptors, pipes, and poll(2).

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

pub use rustix::event::{PollFd, PollFlags};
use rustix::fs::{FileType, Mode, OFlags, fstat};

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

/// Sets the capacity of a pipe in bytes; the kernel rounds it up.
///
/// # Errors
/// When `fd` is no pipe, or the user may not have pipes of that size (`/proc/sys/fs/pipe-max-size`,
/// `pipe-user-pages-soft`).
///
/// Source: F_SETPIPE_SZ in fcntl(2), pipe(7).
pub fn set_capacity(fd: impl AsFd, bytes: usize) -> io::Result<()> {
    rustix::pipe::fcntl_setpipe_size(fd, bytes)?;
    Ok(())
}

/// Opens a pipe or terminal again, for writes that return `WouldBlock` instead of waiting. The mode of `fd`, which
/// other processes may share, stays as it is.
///
/// # Errors
/// When `fd` is another kind of file; without /proc; when this user may not open the file.
pub fn reopen_nonblocking(fd: impl AsFd) -> io::Result<OwnedFd> {
    if file_type(&fd) != Some(FileType::Fifo) && !is_terminal(&fd) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let path = format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd());
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Whether a write may wait for a reader: on a pipe, a socket or a terminal.
#[must_use]
pub fn may_block(fd: impl AsFd) -> bool {
    matches!(file_type(&fd), Some(FileType::Fifo | FileType::Socket)) || is_terminal(fd)
}

/// Whether two descriptors belong to the same file, pipe or terminal.
#[must_use]
pub fn is_same_file(one: impl AsFd, other: impl AsFd) -> bool {
    match (fstat(one), fstat(other)) {
        (Ok(one), Ok(other)) => (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino),
        _ => false,
    }
}

fn file_type(fd: impl AsFd) -> Option<FileType> {
    let stat = fstat(fd).ok()?;
    Some(FileType::from_raw_mode(stat.st_mode))
}

fn is_terminal(fd: impl AsFd) -> bool {
    std::io::IsTerminal::is_terminal(&fd.as_fd())
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

    #[test]
    fn a_pipe_that_is_opened_again_does_not_block_and_leaves_the_mode_of_the_first() {
        let (reader, writer) = io::pipe().expect("a pipe");
        set_capacity(&writer, 4096).expect("a page");
        let again = reopen_nonblocking(&writer).expect("a pipe of ours");
        assert_eq!(write(&again, &[0; 5000]).expect("a page of room"), 4096);
        let full = write(&again, &[0]).expect_err("there is no room");
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
        let flags = rustix::fs::fcntl_getfl(&writer).expect("flags");
        assert!(!flags.contains(OFlags::NONBLOCK));
        assert!(is_same_file(&again, &writer) && may_block(&reader));
        let null = std::fs::File::open("/dev/null").expect("/dev/null");
        assert!(!is_same_file(&null, &writer) && !may_block(&null));
        reopen_nonblocking(&null).expect_err("it is no pipe");
    }
}
