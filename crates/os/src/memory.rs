//! Shared memory without a name: memfd, sealed and mapped.
//!
//! A memfd has no file anywhere, so nothing is left after a crash. It is sparse: a page costs
//! memory once it is touched. Its size is sealed, since a peer that cut it shorter would kill
//! every other process that touches it.
//!
//! Source: memfd_create(2), fcntl(2) "File sealing", madvise(2).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{Advice, MapFlags, ProtFlags};

/// Anonymous shared memory of a fixed size.
#[derive(Debug)]
pub struct Memfd {
    fd: OwnedFd,
    len: usize,
}

impl Memfd {
    /// Makes shared memory of `len` bytes, all zero, its size sealed. `name` shows in
    /// `/proc/PID/maps` only.
    ///
    /// # Errors
    /// What memfd_create, ftruncate or fcntl say. Never "no space": pages come at first touch, so
    /// compare with [`crate::limit::available`] first.
    pub fn create(name: &str, len: usize) -> io::Result<Self> {
        let fd = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        rustix::fs::ftruncate(&fd, len as u64)?;
        rustix::fs::fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok(Self { fd, len })
    }

    /// Takes over shared memory that a peer made.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if its size is not sealed: the peer could cut it shorter.
    pub fn adopt(fd: OwnedFd) -> io::Result<Self> {
        let seals = rustix::fs::fcntl_get_seals(&fd)?;
        if !seals.contains(SealFlags::SHRINK | SealFlags::GROW) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "shared memory whose size is not sealed",
            ));
        }
        let len = usize::try_from(rustix::fs::fstat(&fd)?.st_size)
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        Ok(Self { fd, len })
    }

    /// Size in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the size is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Maps all of it, readable and writable, hidden from forked children.
    ///
    /// # Errors
    /// What mmap or madvise say; an empty memfd cannot be mapped.
    pub fn map(&self) -> io::Result<Mapping> {
        // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
        let base = unsafe {
            rustix::mm::mmap(
                ptr::null_mut(),
                self.len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &self.fd,
                0,
            )
        }?;
        let mapping = Mapping {
            base: NonNull::new(base.cast()).ok_or(io::ErrorKind::InvalidData)?,
            len: self.len,
        };
        mapping.advise(Advice::LinuxDontFork)?;
        Ok(mapping)
    }
}

impl AsFd for Memfd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Mapped shared memory, unmapped when dropped.
///
/// It gives an address and a length and never a reference: other processes write these bytes at
/// any time. Reach them through atomics or [`crate::copy`].
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping is an address range of the process, not of a thread; this type never
// dereferences it.
unsafe impl Send for Mapping {}
// SAFETY: as above; shared use gives copies of the address only.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// First byte; aligned to a page.
    #[must_use]
    pub fn base(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the length is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Asks for huge pages. True if the kernel took the wish; it may still not follow it.
    #[must_use]
    pub fn ask_huge_pages(&self) -> bool {
        self.advise(Advice::LinuxHugepage).is_ok()
    }

    fn advise(&self, advice: Advice) -> io::Result<()> {
        // SAFETY: the range is this value's own mapping, and the advices used here change neither
        // contents nor validity in this process.
        unsafe { rustix::mm::madvise(self.base.as_ptr().cast(), self.len, advice) }
            .map_err(Into::into)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range came from mmap in `Memfd::map` and is unmapped once, here; whoever
        // keeps addresses into it keeps this value alive.
        let gone = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len) };
        debug_assert!(gone.is_ok(), "munmap of an own mapping failed: {gone:?}");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn two_mappings_show_the_same_memory() {
        let memory = Memfd::create("oxmpi-test", 8192).unwrap();
        let (one, two) = (memory.map().unwrap(), memory.map().unwrap());
        assert_ne!(one.base(), two.base());
        let word = |m: &Mapping| m.base().wrapping_add(4096).cast::<u64>();
        // SAFETY: aligned, inside a live mapping, and reached by atomics only.
        unsafe { AtomicU64::from_ptr(word(&one)) }.store(7, Ordering::Release);
        // SAFETY: as above.
        let seen = unsafe { AtomicU64::from_ptr(word(&two)) }.load(Ordering::Acquire);
        assert_eq!(seen, 7);
    }

    #[test]
    fn size_is_sealed_and_unsealed_memory_is_refused() {
        let memory = Memfd::create("oxmpi-test", 4096).unwrap();
        assert!(rustix::fs::ftruncate(&memory, 0).is_err());
        assert!(rustix::fs::ftruncate(&memory, 8192).is_err());
        let again = Memfd::adopt(memory.as_fd().try_clone_to_owned().unwrap()).unwrap();
        assert_eq!(again.len(), 4096);

        let open = rustix::fs::memfd_create("oxmpi-test", MemfdFlags::ALLOW_SEALING).unwrap();
        let error = Memfd::adopt(open).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
