//! Takes over descriptors that the parent process left open.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};
use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::net::{SocketType, getpeername, sockopt};

/// Duplicates the inherited descriptor `fd` and sets FD_CLOEXEC on both.
///
/// # Errors
/// `EBADF` if `fd` is not open; `InvalidInput` if it is negative.
pub fn inherit(fd: i32) -> io::Result<OwnedFd> {
    with_descriptor(fd, take)
}

/// As [`inherit`], for a stream that another process reads and writes: a connected stream socket, or a pipe that is
/// open in both directions. Nothing is read or written, and what is no such stream is left as it is.
///
/// # Errors
/// `EBADF` when nothing is open at that number; `InvalidInput` with what is open there when that is no such stream.
pub fn inherit_stream(fd: i32) -> io::Result<OwnedFd> {
    with_descriptor(fd, |theirs| {
        let Some(other) = other_than_stream(theirs)? else {
            return take(theirs);
        };
        let why = format!("{other} is open there, no connected stream socket");
        Err(io::Error::new(io::ErrorKind::InvalidInput, why))
    })
}

fn with_descriptor(
    fd: i32,
    then: impl FnOnce(BorrowedFd<'_>) -> io::Result<OwnedFd>,
) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the borrow ends with this function, and it is only given to system calls that answer
    // EBADF when the number names nothing.
    then(unsafe { BorrowedFd::borrow_raw(fd) })
}

fn take(theirs: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let ours = fcntl_dupfd_cloexec(theirs, 0)?;
    fcntl_setfd(theirs, FdFlags::CLOEXEC)?;
    Ok(ours)
}

/// What `fd` is, if it is no stream.
fn other_than_stream(fd: BorrowedFd<'_>) -> io::Result<Option<String>> {
    let what = match FileType::from_raw_mode(fstat(fd)?.st_mode) {
        FileType::Socket => match sockopt::socket_type(fd)? {
            SocketType::STREAM if getpeername(fd).is_ok() => return Ok(None),
            SocketType::STREAM if sockopt::socket_acceptconn(fd)? => "a listening socket".into(),
            SocketType::STREAM => "an unconnected socket".into(),
            SocketType::DGRAM => "a datagram socket".into(),
            _ => "another kind of socket".into(),
        },
        FileType::Fifo => match fcntl_getfl(fd)? & OFlags::RWMODE {
            OFlags::RDWR => return Ok(None),
            OFlags::WRONLY => "a pipe for writing only".into(),
            _ => "a pipe for reading only".into(),
        },
        _ => {
            let name = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()));
            name.unwrap_or_default().display().to_string()
        }
    };
    Ok(Some(what))
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read};
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

    use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};

    use super::{inherit, inherit_stream};

    #[test]
    fn a_stream_is_a_connected_stream_socket() -> std::io::Result<()> {
        let (stream, _peer) = UnixStream::pair()?;
        assert!(inherit_stream(stream.as_raw_fd()).is_ok());
        let (datagrams, _peer) = UnixDatagram::pair()?;
        let (reader, writer) = std::io::pipe()?;
        let folder = std::env::temp_dir().join(format!("oxmpi-inherit-{}", std::process::id()));
        let listener = UnixListener::bind(&folder);
        std::fs::remove_file(&folder)?;
        let others: [(OwnedFd, &str); 5] = [
            (datagrams.into(), "a datagram socket"),
            (reader.into(), "a pipe for reading only"),
            (writer.into(), "a pipe for writing only"),
            (listener?.into(), "a listening socket"),
            (std::fs::File::open("/dev/null")?.into(), "/dev/null"),
        ];
        for (other, what) in others {
            fcntl_setfd(&other, FdFlags::empty())?;
            let refused = inherit_stream(other.as_raw_fd()).expect_err("no stream");
            assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{refused}");
            let says = format!("{what} is open there, no connected stream socket");
            assert_eq!(refused.to_string(), says);
            assert_eq!(fcntl_getfd(&other)?, FdFlags::empty(), "{what} is theirs");
        }
        assert_eq!(
            inherit_stream(1 << 20)
                .map_err(|error| error.raw_os_error())
                .err(),
            Some(Some(libc::EBADF))
        );
        Ok(())
    }

    #[test]
    fn it_is_the_same_file() -> std::io::Result<()> {
        let file = std::fs::File::open("/proc/self/stat")?;
        let mut text = String::new();
        std::fs::File::from(inherit(file.as_raw_fd())?).read_to_string(&mut text)?;
        assert!(!text.is_empty());
        Ok(())
    }

    #[test]
    fn a_closed_descriptor_is_an_error() {
        assert!(inherit(-1).is_err() && inherit(1 << 20).is_err());
    }
}
