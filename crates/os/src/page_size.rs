//! [`page_size`]: the size of this machine's small pages.

/// Bytes of a small page of this machine.
#[must_use]
pub fn page_size() -> u64 {
    // The C library's answer: rustix reads the auxiliary vector itself, which crashes under valgrind.
    // SAFETY: sysconf takes no pointers.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}
