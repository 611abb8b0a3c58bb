//! [`ForkGuard`]: tells a forked child from its parent.
//!
//! A forked child must not use the parent's shared memory. A page that the kernel wipes on fork shows which
//! of the two a process is, for one load.
//!
//! Source: madvise(2), `MADV_WIPEONFORK`.

use std::ffi::c_void;
use std::io;
use std::ptr::{self, NonNull};
use std::sync::Arc;
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

/// A word that reads as 0 in every child forked after [`SharedWipedWord::new`], for atomic accesses of several threads.
#[derive(Debug)]
pub struct SharedWipedWord {
    page: NonNull<c_void>,
}

// SAFETY: this value alone owns the page, and the page belongs to no thread.
unsafe impl Send for SharedWipedWord {}
// SAFETY: it only gives the word's address.
unsafe impl Sync for SharedWipedWord {}

impl SharedWipedWord {
    /// The place of the word in its page, on a line that [`WipeOnForkWord`] has not.
    const PLACE: usize = 128;

    /// Maps a word that is 0.
    ///
    /// # Errors
    /// As [`ForkGuard::new`].
    ///
    /// # Cost
    /// A page.
    pub fn new() -> io::Result<Self> {
        page().map(|page| Self { page })
    }

    /// The address of the word, which is mapped as long as `self`.
    #[must_use]
    pub fn address(&self) -> NonNull<u64> {
        // SAFETY: within the page.
        unsafe { self.page.byte_add(Self::PLACE).cast() }
    }
}

impl Drop for SharedWipedWord {
    fn drop(&mut self) {
        // SAFETY: `new` mapped the page, and no other value owns it. One that stays mapped does no harm.
        let _ = unsafe { rustix::mm::munmap(self.page.as_ptr(), PAGE) };
    }
}

/// A thread's word that reads as 0 in every child forked after [`SharedWipedWord::new`]: in the page of one.
#[derive(Debug)]
pub struct WipeOnForkWord {
    word: NonNull<u32>,
    _page: Arc<SharedWipedWord>,
}

// SAFETY: this value alone names the word, which belongs to no thread.
unsafe impl Send for WipeOnForkWord {}

impl WipeOnForkWord {
    /// A word that is 0, in the page of `shared`: the only one there.
    #[must_use]
    pub fn beside(shared: SharedWipedWord) -> (Self, Arc<SharedWipedWord>) {
        let word = shared.page.cast();
        let page = Arc::new(shared);
        let own = Self {
            word,
            _page: Arc::clone(&page),
        };
        (own, page)
    }

    /// The word.
    ///
    /// # Cost
    /// A plain load. Only this thread writes the word, and the kernel in a forked child. The compiler carries
    /// no earlier load into a child, since fork is an opaque call.
    #[inline(always)]
    #[must_use]
    pub fn get(&self) -> u32 {
        // SAFETY: the page is aligned and mapped as long as `self`, and this type is not `Sync`.
        unsafe { self.word.read() }
    }

    /// Changes the word.
    #[inline(always)]
    pub fn set(&self, value: u32) {
        // SAFETY: as in `get`.
        unsafe { self.word.write(value) };
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
        let (own, shared) = WipeOnForkWord::beside(SharedWipedWord::new().unwrap());
        // SAFETY: the page is mapped as long as `shared`, and all accesses are atomic.
        let word = unsafe { AtomicU64::from_ptr(shared.address().as_ptr()) };
        assert_eq!((own.get(), word.swap(7, Ordering::Relaxed)), (0, 0));
        own.set(8);
        assert!(!guard.forked());
        assert!(ForkGuard::closed().forked());
        // SAFETY: the child makes two loads and leaves by _exit, both safe after a fork of a
        // process with several threads.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let code =
                i32::from(!guard.forked() || own.get() != 0 || word.load(Ordering::Relaxed) != 0);
            // SAFETY: ends the child at once, running no destructor.
            unsafe { libc::_exit(code) };
        }
        assert!(child > 0);
        let mut status = -1;
        // SAFETY: `status` is valid for writing and the child is ours.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!((waited, status), (child, 0));
        assert!(!guard.forked());
        assert_eq!((own.get(), word.load(Ordering::Relaxed)), (8, 7));
    }
}
