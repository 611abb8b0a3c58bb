//! [`ForkGuard`]: tells a forked child from its parent.
//!
//! A forked child must not use the parent's shared memory. A page that the kernel wipes on fork shows which
//! of the two a process is, for one load.
//!
//! Source: madvise(2), `MADV_WIPEONFORK`.

use std::ffi::c_void;
use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::mm::{Advice, MapFlags, ProtFlags};

const PAGE: usize = 4096;

/// Shows whether this process was forked since the guard was made.
///
/// The page stays mapped until the process ends: create one guard per process and copy it.
#[derive(Clone, Copy, Debug)]
pub struct ForkGuard {
    word: &'static AtomicU32,
}

/// The word of [`ForkGuard::closed`].
static CLOSED: AtomicU32 = AtomicU32::new(0);

impl ForkGuard {
    /// Marks this process as the parent.
    ///
    /// # Errors
    /// The error of mmap(2) or madvise(2); kernels before 4.14 have no such page.
    pub fn new() -> io::Result<Self> {
        // SAFETY: the page is aligned, its zero bytes are a valid atomic, and it is never unmapped.
        let word = unsafe { AtomicU32::from_ptr(page()?.cast().as_ptr()) };
        word.store(1, Ordering::Relaxed);
        Ok(Self { word })
    }

    /// A guard that reports every process as a forked child.
    #[must_use]
    pub fn closed() -> Self {
        Self { word: &CLOSED }
    }

    /// Whether this is a child forked after [`ForkGuard::new`].
    ///
    /// # Cost
    /// One load and a compare.
    #[inline(always)]
    #[must_use]
    pub fn forked(self) -> bool {
        self.word.load(Ordering::Relaxed) == 0
    }
}

/// A word that reads as 0 in every child forked after [`WipeOnForkWord::new`]. It is for atomic accesses.
#[derive(Debug)]
pub struct WipeOnForkWord {
    word: NonNull<u64>,
}

// SAFETY: this value alone owns the page, and the page belongs to no thread.
unsafe impl Send for WipeOnForkWord {}
// SAFETY: it only gives the word's address.
unsafe impl Sync for WipeOnForkWord {}

impl WipeOnForkWord {
    /// Maps a word that is 0.
    ///
    /// # Errors
    /// As [`ForkGuard::new`].
    ///
    /// # Cost
    /// A page.
    pub fn new() -> io::Result<Self> {
        page().map(|page| Self { word: page.cast() })
    }

    /// The address of the word, which is mapped as long as `self`. The compiler carries no earlier load into a child, since
    /// fork is an opaque call.
    #[must_use]
    pub const fn address(&self) -> NonNull<u64> {
        self.word
    }
}

impl Drop for WipeOnForkWord {
    fn drop(&mut self) {
        // SAFETY: `new` mapped the page, and no other value owns it. One that stays mapped does no harm.
        let _ = unsafe { rustix::mm::munmap(self.word.as_ptr().cast(), PAGE) };
    }
}

/// Maps a page of zeros that the kernel wipes in every forked child.
fn page() -> io::Result<NonNull<c_void>> {
    // SAFETY: a new private mapping at an address of the kernel's choice.
    let page = unsafe {
        rustix::mm::mmap_anonymous(
            ptr::null_mut(),
            PAGE,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE,
        )
    }?;
    // SAFETY: the range is the mapping just made.
    if let Err(why) = unsafe { rustix::mm::madvise(page, PAGE, Advice::LinuxWipeOnFork) } {
        // SAFETY: as above, and no reference to the page exists.
        let _ = unsafe { rustix::mm::munmap(page, PAGE) };
        return Err(why.into());
    }
    Ok(NonNull::new(page).expect("the system maps nothing at 0"))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[test]
    fn child_knows() {
        let guard = ForkGuard::new().unwrap();
        let latch = WipeOnForkWord::new().unwrap();
        // SAFETY: the page is mapped as long as `latch`, and all accesses are atomic.
        let word = unsafe { AtomicU64::from_ptr(latch.address().as_ptr()) };
        assert_eq!(word.swap(7, Ordering::Relaxed), 0);
        assert!(!guard.forked());
        assert!(ForkGuard::closed().forked());
        // SAFETY: the child makes two loads and leaves by _exit, both safe after a fork of a
        // process with several threads.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let code = i32::from(!guard.forked() || word.load(Ordering::Relaxed) != 0);
            // SAFETY: ends the child at once, running no destructor.
            unsafe { libc::_exit(code) };
        }
        assert!(child > 0);
        let mut status = -1;
        // SAFETY: `status` is valid for writing and the child is ours.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!((waited, status), (child, 0));
        assert!(!guard.forked());
        assert_eq!(word.load(Ordering::Relaxed), 7);
    }
}
