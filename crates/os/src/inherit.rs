//! Takes over descriptors that the parent process left open.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};
use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::net::{SocketType, getpeername, sockopt::socket_type};

/// Duplicates the inherited descriptor `fd` and sets FD_CLOEXEC on both.
///
/// # Errors
/// `EBADF` if `fd` is not open; `InvalidInput` if it is negative.
pub fn inherit(fd: i32) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the borrow ends with this function, and it is only given to system calls that answer
    // EBADF when the number names nothing.
    let theirs = unsafe { BorrowedFd::borrow_raw(fd) };
    let ours = fcntl_dupfd_cloexec(theirs, 0)?;
    fcntl_setfd(theirs, FdFlags::CLOEXEC)?;
    Ok(ours)
}

/// As [`inherit`], for a stream that another process reads and writes: a connected stream socket, or a pipe that is
/// open in both directions. Nothing is read or written.
///
/// # Errors
/// `EBADF` when nothing is open at that number; `InvalidInput` with what is open there when that is no such stream.
pub fn inherit_stream(fd: i32) -> io::Result<OwnedFd> {
    let ours = inherit(fd)?;
    if is_stream(&ours)? {
        return Ok(ours);
    }
    let name = std::fs::read_link(format!("/proc/self/fd/{fd}")).unwrap_or_default();
    let why = format!(
        "{} is open there, no connected stream socket",
        name.display()
    );
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}

fn is_stream(fd: impl AsFd) -> io::Result<bool> {
    Ok(match FileType::from_raw_mode(fstat(&fd)?.st_mode) {
        FileType::Socket => socket_type(&fd)? == SocketType::STREAM && getpeername(&fd).is_ok(),
        FileType::Fifo => fcntl_getfl(&fd)? & OFlags::RWMODE == OFlags::RDWR,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read};
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

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
        let others: [OwnedFd; 5] = [
            datagrams.into(),
            reader.into(),
            writer.into(),
            listener?.into(),
            std::fs::File::open("/dev/null")?.into(),
        ];
        for other in others {
            let refused = inherit_stream(other.as_raw_fd()).expect_err("no stream");
            assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{refused}");
            let says = refused.to_string();
            assert!(
                says.ends_with(" is open there, no connected stream socket"),
                "{says}"
            );
            let named = ["socket:[", "pipe:[", "/dev/null "];
            assert!(named.iter().any(|name| says.starts_with(name)), "{says}");
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
