//! Reading and writing another process's memory: the single copy of large messages.
//!
//! The kernel copies between the two address spaces, page by page, without a buffer in between. It
//! may refuse (`EPERM`: ptrace scope, containers, other users; `ENOSYS`), so callers ask once and
//! have another way. A process number says little: it may be another process's in this namespace
//! of numbers, or of a later process, or of a later program in the same process. So a process
//! makes a [`Badge`], tells others where it lies, and each [`read`] takes the badge along: one
//! call sees one address space, and whose badge it finds, that process's memory it has read.
//!
//! Source: process_vm_readv(2).

use std::io;

/// Bytes that only one program has at one place, to be known by.
#[derive(Debug)]
pub struct Badge(Box<[u8; Self::LEN]>);

impl Badge {
    /// Length in bytes.
    pub const LEN: usize = 16;

    /// A new badge of this process. It must live as long as others look for it.
    ///
    /// # Errors
    /// What getrandom says.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Box::new(crate::host::random()?)))
    }

    /// Where others find it, and what they find.
    #[must_use]
    pub fn proof(&self) -> ExpectedBadge {
        ExpectedBadge {
            at: self.0.as_ptr().addr() as u64,
            bytes: *self.0,
        }
    }
}

/// How to know another process's memory: where its badge lies, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedBadge {
    /// Address in the other process.
    pub at: u64,
    /// The badge.
    pub bytes: [u8; Badge::LEN],
}

/// Why memory was not reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CmaError {
    /// There is no such process.
    Gone,
    /// The process that has this number is not the one with the badge.
    Stranger,
    /// The system does not allow it, or does not have the call: it will not later either.
    Forbidden,
    /// The memory is not mapped there, or the copy ended early.
    Partly,
}

impl CmaError {
    fn of(error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::ESRCH) => Self::Gone,
            Some(libc::EFAULT | libc::ENOMEM | libc::EINTR) => Self::Partly,
            _ => Self::Forbidden,
        }
    }
}

/// Reads `to.len()` bytes from address `from` of process `pid`, if that is the one that `proof` is
/// of. With no bytes to read this asks whether it may be read at all.
///
/// # Errors
/// [`CmaError`]; then `to` holds anything.
///
/// # Cost
/// About a microsecond, and for each page of 4 KiB what finding it takes.
pub fn read(pid: u32, proof: &ExpectedBadge, from: u64, to: &mut [u8]) -> Result<(), CmaError> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| CmaError::Gone)?;
    let mut badge = [0; Badge::LEN];
    let local = [of(&mut badge), of(to)];
    let remote = [at(proof.at, Badge::LEN), at(from, to.len())];
    // SAFETY: the local ranges are exclusive borrows, and live; remote ones are looked up by the
    // kernel in the other process.
    let done = unsafe { libc::process_vm_readv(pid, local.as_ptr(), 2, remote.as_ptr(), 2, 0) };
    if done < 0 {
        // Nothing was read, so what is not mapped is the place of the badge.
        return Err(match CmaError::of(&io::Error::last_os_error()) {
            CmaError::Partly => CmaError::Stranger,
            denied => denied,
        });
    }
    if (done as usize) < Badge::LEN || badge != proof.bytes {
        return Err(CmaError::Stranger);
    }
    if done as usize == Badge::LEN + to.len() {
        Ok(())
    } else {
        Err(CmaError::Partly)
    }
}

/// Whether this process may call [`write()`] at all: a filter of calls may deny that alone. Whose memory it may
/// write is whose it may read.
#[must_use]
pub fn may_write() -> bool {
    let (none, me) = (at(0, 0), std::process::id().cast_signed());
    // SAFETY: there are no bytes in either range.
    let done = unsafe { libc::process_vm_writev(me, &raw const none, 1, &raw const none, 1, 0) };
    done == 0
}

/// Writes `from` to address `to` of process `pid`.
///
/// # Safety
/// A [`read`] with no bytes just found the right process there, and it lets this process write
/// those bytes: nothing of it uses them meanwhile.
///
/// The system has no call that takes the badge along. So if that process ends, is waited for, and its
/// number becomes another process's of this user, all between the two calls, those bytes of the
/// other one are written that are mapped there. A `read` afterwards tells that this may have been.
///
/// # Errors
/// [`CmaError`]; then some of the bytes may have been written.
///
/// # Cost
/// As [`read`].
pub unsafe fn write(pid: u32, from: &[u8], to: u64) -> Result<(), CmaError> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| CmaError::Gone)?;
    let local = at(from.as_ptr().addr() as u64, from.len());
    let remote = at(to, from.len());
    // SAFETY: the kernel only reads the local range, a live borrow; what is written belongs to the
    // other process, which allows it by the caller's word.
    let done =
        unsafe { libc::process_vm_writev(pid, &raw const local, 1, &raw const remote, 1, 0) };
    match usize::try_from(done) {
        Ok(done) if done == from.len() => Ok(()),
        Ok(_) => Err(CmaError::Partly),
        Err(_) => Err(CmaError::of(&io::Error::last_os_error())),
    }
}

fn of(bytes: &mut [u8]) -> libc::iovec {
    libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    }
}

fn at(address: u64, len: usize) -> libc::iovec {
    libc::iovec {
        iov_base: std::ptr::without_provenance_mut(address as usize),
        iov_len: len,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(bytes: &[u8]) -> u64 {
        bytes.as_ptr().expose_provenance() as u64
    }

    /// Some sandboxes forbid the calls; then there is nothing more to see.
    fn allowed(badge: &Badge) -> bool {
        let answer = read(std::process::id(), &badge.proof(), 0, &mut []);
        assert!(
            matches!(answer, Ok(()) | Err(CmaError::Forbidden)),
            "{answer:?}"
        );
        answer.is_ok()
    }

    #[test]
    fn moves_bytes_both_ways() {
        let badge = Badge::new().unwrap();
        if !allowed(&badge) {
            return;
        }
        assert!(may_write());
        let me = std::process::id();
        let mut source: Vec<u8> = (0..100_000).map(|i| (i * 7) as u8).collect();
        let mut copy = vec![0; 100_000];
        read(me, &badge.proof(), address(&source), &mut copy).unwrap();
        assert_eq!(copy, source);
        copy.reverse();
        let to = source.as_mut_ptr().expose_provenance() as u64;
        // SAFETY: this process, which keeps its hands off meanwhile.
        unsafe { write(me, &copy, to) }.unwrap();
        assert_eq!(copy, source);
    }

    #[test]
    fn says_what_is_wrong() {
        let badge = Badge::new().unwrap();
        if !allowed(&badge) {
            return;
        }
        let (me, proof) = (std::process::id(), badge.proof());
        let mut bytes = [0; 64];
        assert_eq!(read(me, &proof, 8, &mut bytes), Err(CmaError::Partly));
        let other = ExpectedBadge {
            bytes: [1; Badge::LEN],
            ..proof
        };
        assert_eq!(read(me, &other, 0, &mut []), Err(CmaError::Stranger));
        let other = ExpectedBadge { at: 8, ..proof };
        assert_eq!(read(me, &other, 0, &mut []), Err(CmaError::Stranger));
        assert_eq!(read(0, &proof, 0, &mut []), Err(CmaError::Gone));
        assert_eq!(read(u32::MAX, &proof, 0, &mut []), Err(CmaError::Gone));
        // SAFETY: nothing is mapped there.
        assert_eq!(unsafe { write(me, &bytes, 8) }, Err(CmaError::Partly));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let gone = child.id();
        child.wait().unwrap();
        assert_eq!(read(gone, &proof, 0, &mut []), Err(CmaError::Gone));
    }
}
