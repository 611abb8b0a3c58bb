//! Tries each system call that the transports need once, for reports.
//!
//! A container's seccomp filter may refuse any of these calls, and old kernels lack some.

use std::io;
use std::sync::atomic::AtomicU32;

/// Tries to make and map a memfd.
///
/// # Errors
/// The error of memfd_create or mmap.
pub fn memfd() -> io::Result<()> {
    crate::memory::Memfd::create("oxmpi-probe", 4096)?
        .map()
        .map(drop)
}

/// Tries a futex wake.
///
/// # Errors
/// The error of futex.
pub fn futex() -> io::Result<()> {
    crate::futex::wake(&AtomicU32::new(0)).map(drop)
}

/// Tries a global expedited membarrier. Registers this process.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`].
pub fn membarrier() -> io::Result<()> {
    let there = crate::membarrier::register() && crate::membarrier::everywhere();
    there.then_some(()).ok_or(io::ErrorKind::Unsupported.into())
}

/// Tries to open a pidfd.
///
/// # Errors
/// The error of pidfd_open.
pub fn pidfd() -> io::Result<()> {
    crate::pidfd::PidfdSet::new().add(0, std::process::id())
}

/// Tries to read this process's own memory by process_vm_readv. Whether it may read a peer's memory depends
/// on both (ptrace(2), "Ptrace access mode checking").
///
/// # Errors
/// The error of process_vm_readv.
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
    fn required_system_calls_exist() {
        super::memfd().unwrap();
        super::futex().unwrap();
    }

    #[test]
    fn process_vm_readv_reads_the_bytes_or_fails() {
        if let Err(error) = super::process_vm_readv() {
            assert_ne!(error.kind(), std::io::ErrorKind::UnexpectedEof, "{error}");
        }
    }
}
