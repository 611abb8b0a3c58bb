//! [`Memfd`] and [`Mapping`]: anonymous shared memory, sealed and mapped.
//!
//! A memfd has no name in a file system, so a crash leaves nothing behind. It is sparse: a page takes memory
//! at its first touch. Its size is sealed: a peer that truncated it would kill every other process that
//! accesses it.
//!
//! [`Memfd::create`] refuses a size beyond RLIMIT_FSIZE: the kernel would end the process by SIGXFSZ.
//!
//! Source: memfd_create(2), setrlimit(2), fcntl(2) "File sealing", madvise(2).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process;
use std::ptr::{self, NonNull};

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::limit;
pub use crate::page_size::page_size;

/// The system calls that create shared memory, each of which can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    MemfdCreate,
    Ftruncate,
    AddSeals,
    Mmap,
    Madvise,
}

/// Fails with `ENOMEM` if a test lets `call` fail.
#[cfg(test)]
fn inject(call: Call) -> io::Result<()> {
    if tests::REFUSED.get() == Some(call) {
        return Err(rustix::io::Errno::NOMEM.into());
    }
    Ok(())
}

#[cfg(not(test))]
#[inline(always)]
#[allow(clippy::unnecessary_wraps, reason = "the variant for tests fails")]
fn inject(_: Call) -> io::Result<()> {
    Ok(())
}

/// File system type of a memfd with pooled huge pages: HUGETLBFS_MAGIC of linux/magic.h.
const HUGETLBFS: u64 = 0x9584_58f6;

const READ_WRITE: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

/// Anonymous shared memory of a fixed, sealed size.
#[derive(Debug)]
pub struct Memfd {
    fd: OwnedFd,
    len: usize,
    /// Whether its pages come from the kernel's pool of huge pages.
    pooled: bool,
}

impl Memfd {
    /// Creates shared memory of `len` zero bytes and seals its size. `name` shows in `/proc/PID/maps` only.
    ///
    /// # Errors
    /// [`io::ErrorKind::FileTooLarge`] with size and limit if `len` exceeds RLIMIT_FSIZE; else the error of
    /// memfd_create, ftruncate or fcntl. Never "no space": the kernel allocates pages at first touch, so
    /// compare with [`crate::limit::available`] first.
    pub fn create(name: &str, len: usize) -> io::Result<Self> {
        Self::with_flags(name, len, MemfdFlags::empty())
    }

    /// As [`Memfd::create`], with huge pages of the kernel's pool (`/proc/sys/vm/nr_hugepages`); `len` is a
    /// multiple of [`crate::huge::SIZE`]. [`Mapping::populate`] takes them: a touch of a page that the pool
    /// lacks is a SIGBUS.
    ///
    /// # Errors
    /// As [`Memfd::create`]; also if the kernel has no such pages.
    pub fn create_pooled(name: &str, len: usize) -> io::Result<Self> {
        Self::with_flags(name, len, MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB)
    }

    fn with_flags(name: &str, len: usize, flags: MemfdFlags) -> io::Result<Self> {
        limit::check_file(len as u64)
            .map_err(|refusal| io::Error::new(io::ErrorKind::FileTooLarge, refusal))?;
        let pooled = flags.contains(MemfdFlags::HUGETLB);
        inject(Call::MemfdCreate)?;
        let flags = flags | MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let fd = rustix::fs::memfd_create(name, flags)?;
        inject(Call::Ftruncate)?;
        rustix::fs::ftruncate(&fd, len as u64)?;
        inject(Call::AddSeals)?;
        rustix::fs::fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok(Self { fd, len, pooled })
    }

    /// Takes over shared memory that a peer created.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if its size is not sealed: the peer could truncate it.
    pub fn adopt(fd: OwnedFd) -> io::Result<Self> {
        let seals = rustix::fs::fcntl_get_seals(&fd)?;
        if !seals.contains(SealFlags::SHRINK | SealFlags::GROW) {
            let why = "the peer did not seal the size of its shared memory";
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        let status = rustix::fs::fstat(&fd)?;
        let len = usize::try_from(status.st_size)
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        let pooled = rustix::fs::fstatfs(&fd)?.f_type as u64 == HUGETLBFS;
        Ok(Self { fd, len, pooled })
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

    /// Maps the whole memory, readable and writable; forked children do not inherit the mapping.
    ///
    /// # Errors
    /// The error of mmap or madvise; an empty memfd cannot be mapped.
    pub fn map(&self) -> io::Result<Mapping> {
        self.map_part(0, self.len)
    }

    /// Maps `len` bytes from byte `at` on, a multiple of [`page_size`]; else as [`Memfd::map`].
    ///
    /// # Errors
    /// As [`Memfd::map`]; [`io::ErrorKind::InvalidInput`] if the range exceeds the memory.
    pub fn map_part(&self, at: usize, len: usize) -> io::Result<Mapping> {
        if at.checked_add(len).is_none_or(|end| end > self.len) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let flags = match self.pooled {
            // Without NORESERVE the mapping would reserve all its pages in the pool.
            true => MapFlags::SHARED | MapFlags::NORESERVE,
            false => MapFlags::SHARED,
        };
        inject(Call::Mmap)?;
        let (any, fd, at) = (ptr::null_mut(), &self.fd, at as u64);
        // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
        let base = unsafe { rustix::mm::mmap(any, len, READ_WRITE, flags, fd, at) }?;
        Mapping::new(base.cast(), len)
    }

    /// Duplicates the descriptor of the memory.
    ///
    /// # Errors
    /// The error of fcntl: this process has too many open files.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            fd: self.fd.try_clone()?,
            ..*self
        })
    }
}

impl AsFd for Memfd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Mapped memory, shared or private, unmapped when dropped.
///
/// It gives an address and a length, never a reference: other processes may write these bytes at any time.
/// Access them through atomics or [`crate::copy`].
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    len: usize,
    /// The pid of the process that mapped it; a forked child lacks the mapping.
    owner: u32,
}

// SAFETY: the mapping is an address range of the process, not of a thread; this type never
// dereferences it.
unsafe impl Send for Mapping {}
// SAFETY: as above; shared use gives copies of the address only.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` private zero bytes that forked children do not inherit.
    ///
    /// # Errors
    /// The error of mmap or madvise; mmap refuses 0 bytes.
    pub fn own(len: usize) -> io::Result<Self> {
        inject(Call::Mmap)?;
        let (any, flags) = (ptr::null_mut(), MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
        let base = unsafe { rustix::mm::mmap_anonymous(any, len, READ_WRITE, flags) }?;
        Self::new(base.cast(), len)
    }

    /// A new mapping, not inherited by forked children.
    fn new(base: *mut u8, len: usize) -> io::Result<Self> {
        let mapping = Self {
            base: NonNull::new(base).ok_or(io::ErrorKind::InvalidData)?,
            len,
            owner: process::id(),
        };
        inject(Call::Madvise)?;
        mapping.advise(0, len, Advice::LinuxDontFork)?;
        Ok(mapping)
    }

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

    /// Advises the kernel to use huge pages. True if it accepts the advice, which it may still ignore.
    #[must_use]
    pub fn ask_huge_pages(&self) -> bool {
        self.advise(0, self.len, Advice::LinuxHugepage).is_ok()
    }

    /// Allocates the pages of `len` bytes from byte `at` on now, not at their first touch.
    ///
    /// # Errors
    /// The error of madvise: no page is left, or the kernel is older than 5.14.
    ///
    /// # Panics
    /// If the range is not within the mapping.
    ///
    /// # Cost
    /// A page fault for each page, less the entry into the kernel.
    pub fn populate(&self, at: usize, len: usize) -> io::Result<()> {
        self.advise(at, len, Advice::LinuxPopulateWrite)
    }

    /// Makes sure that the `len` bytes from byte `at` on can be read: a touch of a page that the kernel
    /// cannot allocate would raise SIGBUS.
    ///
    /// # Errors
    /// The error of madvise: no page is left, or the kernel is older than 5.14.
    ///
    /// # Panics
    /// If the range is not within the mapping.
    ///
    /// # Cost
    /// A system call, and a page-table walk for each page.
    pub fn ensure(&self, at: usize, len: usize) -> io::Result<()> {
        self.advise(at, len, Advice::LinuxPopulateRead)
    }

    /// Frees the memory of `len` bytes from byte `at` on, for every process that maps it; both are multiples
    /// of the page size. The bytes are zero afterwards.
    ///
    /// # Safety
    /// No process uses the range during the call: its contents are lost.
    ///
    /// # Errors
    /// The error of madvise.
    ///
    /// # Panics
    /// If the range is not within the mapping.
    pub unsafe fn give_back(&self, at: usize, len: usize) -> io::Result<()> {
        self.advise(at, len, Advice::LinuxRemove)
    }

    /// Whether this process mapped it; false in a forked child, which lacks the mapping.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.owner == process::id()
    }

    fn advise(&self, at: usize, len: usize, advice: Advice) -> io::Result<()> {
        assert!(
            at <= self.len && len <= self.len - at,
            "advice beyond the mapping"
        );
        let start = self.base.as_ptr().wrapping_add(at);
        // SAFETY: the range is this value's own mapping by the assertion, and the advices used here
        // change neither contents nor validity in this process, but for the one of `give_back`,
        // whose caller answers for the contents.
        unsafe { rustix::mm::madvise(start.cast(), len, advice) }.map_err(Into::into)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // A forked child may have other memory at these addresses by now.
        if !self.is_here() {
            return;
        }
        // SAFETY: the range came from mmap in `Memfd::map` and is unmapped once, here; whoever
        // keeps addresses into it keeps this value alive.
        let gone = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len) };
        debug_assert!(gone.is_ok(), "munmap of an own mapping failed: {gone:?}");
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    thread_local! {
        /// The system call that [`inject`] lets fail on this thread.
        pub(super) static REFUSED: Cell<Option<Call>> = const { Cell::new(None) };
    }

    /// Whether this process has a descriptor or a mapping of memory called `name`.
    fn exists(name: &str) -> bool {
        let open = fs::read_dir("/proc/self/fd").unwrap().any(|entry| {
            // Another test may have closed its descriptor meanwhile.
            entry.is_ok_and(|entry| {
                let target = fs::read_link(entry.path()).unwrap_or_default();
                target.to_string_lossy().contains(name)
            })
        });
        open || fs::read_to_string("/proc/self/maps")
            .unwrap()
            .contains(name)
    }

    #[test]
    fn each_refused_call_is_an_error_and_leaves_nothing() {
        let name = "oxmpi-refused-memory";
        for call in [
            Call::MemfdCreate,
            Call::Ftruncate,
            Call::AddSeals,
            Call::Mmap,
            Call::Madvise,
        ] {
            REFUSED.set(Some(call));
            let made = Memfd::create(name, 8192).and_then(|memory| memory.map());
            REFUSED.set(None);
            let error = made.expect_err("refused");
            assert_eq!(error.raw_os_error(), Some(libc::ENOMEM), "{call:?}");
            assert!(!exists(name), "after {call:?}");
        }
        let memory = Memfd::create(name, 8192).unwrap();
        let _mapping = memory.map().unwrap();
        drop(memory);
        assert!(exists(name), "what is there is seen");
    }

    #[test]
    fn pages_given_back_are_zero_for_all_and_cost_nothing() {
        let page = rustix::param::page_size();
        let memory = Memfd::create("oxmpi-test", 4 * page).unwrap();
        let (one, two) = (memory.map().unwrap(), memory.map().unwrap());
        let taken = || rustix::fs::fstat(&memory).unwrap().st_blocks as usize * 512;
        let ones = vec![1; 4 * page];
        // SAFETY: the mapping has these bytes.
        unsafe { crate::copy::copy_to_shared(&ones, one.base()) };
        assert_eq!(taken(), 4 * page);
        // SAFETY: no other code uses these pages.
        unsafe { one.give_back(page, 2 * page) }.unwrap();
        assert_eq!(taken(), 2 * page);
        let mut zeroed = vec![9; 4 * page];
        // SAFETY: as above.
        unsafe { crate::copy::copy_from_shared(two.base(), &mut zeroed) };
        let expected = [&ones[..page], &vec![0; 2 * page], &ones[..page]].concat();
        assert!(zeroed == expected);
    }

    #[test]
    fn two_mappings_show_the_same_memory() {
        let memory = Memfd::create("oxmpi-test", 8192).unwrap();
        let (one, two) = (memory.map().unwrap(), memory.map().unwrap());
        assert_ne!(one.base(), two.base());
        let word = |m: &Mapping| m.base().wrapping_add(4096).cast::<u64>();
        // SAFETY: aligned, inside a live mapping, and reached by atomics only.
        unsafe { AtomicU64::from_ptr(word(&one)) }.store(7, Ordering::Release);
        // SAFETY: as above.
        let value = unsafe { AtomicU64::from_ptr(word(&two)) }.load(Ordering::Acquire);
        assert_eq!(value, 7);
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
