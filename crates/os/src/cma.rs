//! Cross-memory attach (CMA): reads and writes another process's memory in a single copy.
//!
//! The kernel copies page by page between the two address spaces. It may refuse (`EPERM`: ptrace scope,
//! containers, other users; `ENOSYS`), so callers test it once and have another protocol. A pid does not
//! identify a process: it may name another one in this PID namespace, a later process, or a later program of
//! the same process. So each process publishes the address of a [`AddressSpaceId`] of random bytes; each [`read`]
//! reads the address-space id in the same system call, which accesses one address space.
//!
//! Source: process_vm_readv(2).

use std::io;

/// Random bytes that identify this process's address space.
#[derive(Debug)]
pub struct AddressSpaceId(Box<[u8; Self::LEN]>);

impl AddressSpaceId {
    /// Length in bytes.
    pub const LEN: usize = 16;

    /// A new address-space id of this process. It must live as long as peers read this process's memory.
    ///
    /// # Errors
    /// The error of getrandom(2).
    pub fn new() -> io::Result<Self> {
        Ok(Self(Box::new(crate::host::random()?)))
    }

    /// The address-space id's address and bytes, for peers.
    #[must_use]
    pub fn proof(&self) -> ExpectedAddressSpace {
        ExpectedAddressSpace {
            at: self.0.as_ptr().addr() as u64,
            bytes: *self.0,
        }
    }
}

/// The address-space id that a [`read`] must find in the other process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedAddressSpace {
    /// Address in the other process.
    pub at: u64,
    /// The bytes there.
    pub bytes: [u8; AddressSpaceId::LEN],
}

/// Why a read or write failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CmaError {
    /// There is no such process.
    Gone,
    /// The process with this pid does not have the address-space id.
    Stranger,
    /// The system lacks the call or refuses it permanently.
    Forbidden,
    /// The range is not fully mapped there, or the copy ended early.
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

/// Reads `to.len()` bytes from address `from` of process `pid`, if that process has the address-space id `proof`. With
/// an empty `to` it checks whether the process may be read at all.
///
/// # Errors
/// [`CmaError`]; the contents of `to` are then unspecified.
///
/// # Cost
/// About a microsecond, and a page-table walk for each page of 4 KiB.
pub fn read(
    pid: u32,
    proof: &ExpectedAddressSpace,
    from: u64,
    to: &mut [u8],
) -> Result<(), CmaError> {
    read_each(pid, proof, &[(from, to.len())], &mut [to])
}

/// Most ranges of [`read_each`] and [`write_each`]. More than these gain little: 64 ranges of 4 KiB took 3% longer than
/// 1,024, of 1 KiB 15% (Zen 5, November 2026).
pub const MAX_RANGES: usize = 64;

/// As [`read`], from several ranges, each an address and a length, into several: as many bytes of both, in their order.
///
/// # Errors
/// As [`read`].
///
/// # Panics
/// If there are more than [`MAX_RANGES`] of either.
pub fn read_each(
    pid: u32,
    proof: &ExpectedAddressSpace,
    from: &[(u64, usize)],
    to: &mut [&mut [u8]],
) -> Result<(), CmaError> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| CmaError::Gone)?;
    let (ranges, len) = (to.len(), to.iter().map(|to| to.len()).sum::<usize>());
    let mut address_space_id = [0; AddressSpaceId::LEN];
    let mut local = [at(0, 0); 1 + MAX_RANGES];
    local[0] = of(&mut address_space_id);
    for (entry, to) in local[1..=ranges].iter_mut().zip(to) {
        *entry = of(to);
    }
    let mut remote = [at(0, 0); 1 + MAX_RANGES];
    remote[0] = at(proof.at, AddressSpaceId::LEN);
    for (entry, &(from, len)) in remote[1..=from.len()].iter_mut().zip(from) {
        *entry = at(from, len);
    }
    let (remote, [count, remotes]) = (remote.as_ptr(), counts([1 + ranges, 1 + from.len()]));
    // SAFETY: the local ranges are exclusive borrows, and live; remote ones are looked up by the
    // kernel in the other process.
    let done = unsafe { libc::process_vm_readv(pid, local.as_ptr(), count, remote, remotes, 0) };
    if done < 0 {
        // The kernel read nothing, so the address-space id's address is not mapped.
        return Err(match CmaError::of(&io::Error::last_os_error()) {
            CmaError::Partly => CmaError::Stranger,
            denied => denied,
        });
    }
    if (done as usize) < AddressSpaceId::LEN || address_space_id != proof.bytes {
        return Err(CmaError::Stranger);
    }
    if done as usize == AddressSpaceId::LEN + len {
        Ok(())
    } else {
        Err(CmaError::Partly)
    }
}

/// Whether this process may call [`write_each`]: a seccomp filter may deny it alone. Permission to read a
/// process includes permission to write it.
#[must_use]
pub fn may_write() -> bool {
    let (none, me) = (at(0, 0), std::process::id().cast_signed());
    // SAFETY: there are no bytes in either range.
    let done = unsafe { libc::process_vm_writev(me, &raw const none, 1, &raw const none, 1, 0) };
    done == 0
}

/// Writes each of `from`, one after the other, to the ranges `to` of process `pid`, each an address and a length: as many
/// bytes of both.
///
/// # Safety
/// A [`read`] with no bytes has just found the right process, and that process lets this one write the
/// bytes: it does not use them meanwhile.
///
/// No system call both checks the address-space id and writes. If another process of this user gets the pid between the
/// two calls, this call writes that process's memory. A `read` afterwards shows that this may have happened.
///
/// # Errors
/// [`CmaError`]; then some of the bytes may have been written.
///
/// # Panics
/// If there are more than [`MAX_RANGES`] of either.
///
/// # Cost
/// As [`read`].
pub unsafe fn write_each(pid: u32, from: &[&[u8]], to: &[(u64, usize)]) -> Result<(), CmaError> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| CmaError::Gone)?;
    let len = from.iter().map(|from| from.len()).sum::<usize>();
    let mut local = [at(0, 0); MAX_RANGES];
    for (entry, from) in local[..from.len()].iter_mut().zip(from) {
        *entry = at(from.as_ptr().addr() as u64, from.len());
    }
    let mut remote = [at(0, 0); MAX_RANGES];
    for (entry, &(to, len)) in remote[..to.len()].iter_mut().zip(to) {
        *entry = at(to, len);
    }
    let (remote, [count, remotes]) = (remote.as_ptr(), counts([from.len(), to.len()]));
    // SAFETY: the kernel only reads the local ranges, live borrows; what is written belongs to the
    // other process, which allows it by the caller's word.
    let done = unsafe { libc::process_vm_writev(pid, local.as_ptr(), count, remote, remotes, 0) };
    match usize::try_from(done) {
        Ok(done) if done == len => Ok(()),
        Ok(_) => Err(CmaError::Partly),
        Err(_) => Err(CmaError::of(&io::Error::last_os_error())),
    }
}

fn counts(counts: [usize; 2]) -> [libc::c_ulong; 2] {
    counts.map(|count| count as libc::c_ulong)
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

    /// Whether this sandbox allows the calls; the tests end where it does not.
    fn allowed(address_space_id: &AddressSpaceId) -> bool {
        let answer = read(std::process::id(), &address_space_id.proof(), 0, &mut []);
        assert!(
            matches!(answer, Ok(()) | Err(CmaError::Forbidden)),
            "{answer:?}"
        );
        answer.is_ok()
    }

    #[test]
    fn reads_and_writes_bytes() {
        let address_space_id = AddressSpaceId::new().unwrap();
        if !allowed(&address_space_id) {
            return;
        }
        assert!(may_write());
        let me = std::process::id();
        let mut source: Vec<u8> = (0..100_000).map(|i| (i * 7) as u8).collect();
        let mut copy = vec![0; 100_000];
        read(me, &address_space_id.proof(), address(&source), &mut copy).unwrap();
        assert_eq!(copy, source);
        let mut parts = vec![0; 99_000];
        let mut ranges: Vec<&mut [u8]> = parts.chunks_mut(99_000 / MAX_RANGES + 1).collect();
        let from = address(&source[1000..]);
        let halves = [(from, 7), (from + 7, 99_000 - 7)];
        read_each(me, &address_space_id.proof(), &halves, &mut ranges).unwrap();
        assert_eq!(parts, source[1000..]);
        copy.reverse();
        let to = source.as_mut_ptr().expose_provenance() as u64;
        // SAFETY: the range is this process's own, and nothing else uses it meanwhile.
        unsafe { write_each(me, &[&copy], &[(to, 100_000)]) }.unwrap();
        assert_eq!(copy, source);
        copy.reverse();
        let ranges: Vec<&[u8]> = copy.chunks(100_000 / MAX_RANGES + 1).collect();
        // SAFETY: as above.
        unsafe { write_each(me, &ranges, &[(to, 1), (to + 1, 99_999)]) }.unwrap();
        assert_eq!(copy, source);
    }

    #[test]
    fn each_failure_has_its_error() {
        let address_space_id = AddressSpaceId::new().unwrap();
        if !allowed(&address_space_id) {
            return;
        }
        let (me, proof) = (std::process::id(), address_space_id.proof());
        let mut bytes = [0; 64];
        assert_eq!(read(me, &proof, 8, &mut bytes), Err(CmaError::Partly));
        let other = ExpectedAddressSpace {
            bytes: [1; AddressSpaceId::LEN],
            ..proof
        };
        assert_eq!(read(me, &other, 0, &mut []), Err(CmaError::Stranger));
        let other = ExpectedAddressSpace { at: 8, ..proof };
        assert_eq!(read(me, &other, 0, &mut []), Err(CmaError::Stranger));
        assert_eq!(read(0, &proof, 0, &mut []), Err(CmaError::Gone));
        assert_eq!(read(u32::MAX, &proof, 0, &mut []), Err(CmaError::Gone));
        // SAFETY: nothing is mapped there.
        let written = unsafe { write_each(me, &[&bytes], &[(8, 64)]) };
        assert_eq!(written, Err(CmaError::Partly));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let gone = child.id();
        child.wait().unwrap();
        assert_eq!(read(gone, &proof, 0, &mut []), Err(CmaError::Gone));
    }
}
