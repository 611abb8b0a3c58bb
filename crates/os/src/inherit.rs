//! Takes over descriptors that the parent process left open.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};

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

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::fd::AsRawFd;

    use super::inherit;

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
