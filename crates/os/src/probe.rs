//! Whether this system lets us use what the transports are made of: each tried once, for reports.
//!
//! A container's seccomp filter may refuse any of these calls, and old kernels lack some.

use std::io;
use std::sync::atomic::AtomicU32;

/// Shared memory without a name can be made and mapped.
///
/// # Errors
/// What memfd_create or mmap say.
pub fn memfd() -> io::Result<()> {
    crate::memory::Memfd::create("oxmpi-probe", 4096)?
        .map()
        .map(drop)
}

/// A sleeper on a word of memory can be woken.
///
/// # Errors
/// What futex says.
pub fn futex() -> io::Result<()> {
    crate::futex::wake(&AtomicU32::new(0)).map(drop)
}

/// A barrier on all registered processors is there. Registers this process.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`].
pub fn membarrier() -> io::Result<()> {
    let there = crate::membarrier::register() && crate::membarrier::everywhere();
    there.then_some(()).ok_or(io::ErrorKind::Unsupported.into())
}

/// The end of a process can be noticed.
///
/// # Errors
/// What pidfd_open says.
pub fn pidfd() -> io::Result<()> {
    crate::pidfd::PidfdSet::new().add(0, std::process::id())
}

/// Another process's memory can be read in one copy. Tried on this process itself: whether a peer
/// lets us in is that pair's affair (ptrace(2), "Ptrace access mode checking").
///
/// # Errors
/// What process_vm_readv says.
pub fn process_vm_readv() -> io::Result<()> {
    let from = 0x6f78_6d70_i64;
    let mut to = 0_i64;
    let vector = |base: *const i64| libc::iovec {
        iov_base: base.cast_mut().cast(),
        iov_len: size_of::<i64>(),
    };
    let (local, remote) = (vector(&raw mut to), vector(&raw const from));
    let own = std::process::id().cast_signed();
    // SAFETY: `local` names the bytes of `to`, which nothing else uses meanwhile; the kernel checks `remote`.
    let read = unsafe { libc::process_vm_readv(own, &raw const local, 1, &raw const remote, 1, 0) };
    match read {
        -1 => Err(io::Error::last_os_error()),
        _ if to == from => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_everything_stands_on_is_there() {
        super::memfd().unwrap();
        super::futex().unwrap();
    }

    #[test]
    fn one_copy_reads_right_bytes_or_says_why_not() {
        if let Err(error) = super::process_vm_readv() {
            assert_ne!(error.kind(), std::io::ErrorKind::UnexpectedEof, "{error}");
        }
    }
}
