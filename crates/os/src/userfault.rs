//! [`MemoryWatch`]: learns when this process unmaps, discards or moves memory that it watches.
//!
//! A userfaultfd reports these events of registered memory. Whoever unmaps waits until the event is read. The memory is
//! registered in write-protect mode and never protected: in missing mode, the first access to memory that was discarded
//! would wait for an answer that nobody gives.
//!
//! Events of fork are not asked for: they need a privilege, and without them a child's memory is not registered, so that
//! a child waits for nobody.
//!
//! Source: userfaultfd(2), ioctl_userfaultfd(2), the kernel's admin-guide/mm/userfaultfd.rst.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use crate::pipe::{self, PollFd, PollFlags};

/// The file of this process's mappings.
const MAPS: &str = "/proc/self/maps";

/// `UFFD_USER_MODE_ONLY`: no faults of system calls, which unprivileged processes may not handle.
const USER_MODE_ONLY: i32 = 1;
/// `UFFD_API`.
const API: u64 = 0xaa;
/// `UFFD_FEATURE_PAGEFAULT_FLAG_WP`, `EVENT_REMAP`, `EVENT_REMOVE` and `EVENT_UNMAP`.
const FEATURES: u64 = 1 << 0 | 1 << 2 | 1 << 3 | 1 << 6;
/// `UFFDIO_REGISTER_MODE_WP`.
const MODE_WP: u64 = 2;
const UFFDIO_API: libc::Ioctl = 0xc018_aa3f_u32 as libc::Ioctl;
const UFFDIO_REGISTER: libc::Ioctl = 0xc020_aa00_u32 as libc::Ioctl;
const UFFDIO_WRITEPROTECT: libc::Ioctl = 0xc018_aa06_u32 as libc::Ioctl;

/// `PROCMAP_QUERY`, in Linux 6.11 and later, and its flag `PROCMAP_QUERY_COVERING_OR_NEXT_VMA`.
const PROCMAP_QUERY: libc::Ioctl = 0xc068_6611_u32 as libc::Ioctl;
const COVERING_OR_NEXT: u64 = 0x10;
/// Words of `struct procmap_query`.
const PROCMAP_WORDS: usize = 13;

/// Bytes of `struct uffd_msg`.
const MESSAGE: usize = 32;

/// A userfaultfd for the memory of this process.
#[derive(Debug)]
pub struct MemoryWatch {
    fd: OwnedFd,
    /// `/proc/self/maps`.
    maps: File,
}

/// The end of what was at some addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryEvent {
    /// The addresses are unmapped, or others were mapped in their place: `UFFD_EVENT_UNMAP`.
    Unmapped(Addresses),
    /// Their pages are discarded: `UFFD_EVENT_REMOVE`.
    Discarded(Addresses),
    /// Their pages are at others now: `UFFD_EVENT_REMAP`.
    Moved(Addresses),
    /// An event that this process has not asked for.
    Unknown,
}

/// Addresses from a first one to one behind the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// The first one.
    pub start: u64,
    /// The one behind the last.
    pub end: u64,
}

/// Why memory cannot be watched.
#[derive(Debug)]
pub struct WatchUnavailable(io::Error);

impl fmt::Display for WatchUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let remedy = match self.0.raw_os_error() {
            Some(libc::ENOSYS) => "the kernel is built without CONFIG_USERFAULTFD",
            Some(libc::EPERM) => {
                "a filter of system calls (a container's seccomp profile) refuses userfaultfd, or the kernel is older \
                 than 5.11 and /proc/sys/vm/unprivileged_userfaultfd is 0"
            }
            Some(libc::EINVAL) => "the kernel is older than 5.7, whose userfaultfd cannot do it",
            _ => "see userfaultfd(2)",
        };
        write!(f, "userfaultfd: {}: {remedy}", self.0)
    }
}

impl std::error::Error for WatchUnavailable {}

impl MemoryWatch {
    /// Watches nothing yet.
    ///
    /// # Errors
    /// [`WatchUnavailable`], which says what to change.
    pub fn open() -> Result<Self, WatchUnavailable> {
        let flags = libc::O_CLOEXEC | libc::O_NONBLOCK;
        let fd = userfaultfd(flags | USER_MODE_ONLY)
            .or_else(|_| userfaultfd(flags))
            .map_err(WatchUnavailable)?;
        let maps = File::open(MAPS).map_err(WatchUnavailable)?;
        let watch = Self { fd, maps };
        let mut api = [API, FEATURES, 0];
        call(&watch.fd, UFFDIO_API, &mut api).map_err(WatchUnavailable)?;
        Ok(watch)
    }

    /// Watches `range`, which consists of whole pages, until the process ends. Watching it again changes nothing.
    ///
    /// It watches all of the mappings that have some of the range: one that is watched in part becomes two in the
    /// kernel, and mremap(2) does not move those as one.
    ///
    /// From now on, a thread that unmaps, discards or moves some of it waits until the event is [read](Self::next).
    ///
    /// # Errors
    /// When it is not anonymous or shared memory of this process (but that of System V, or a file), or when another
    /// userfaultfd has it.
    pub fn watch(&self, range: Range<u64>) -> io::Result<()> {
        let first = self.mapping(range.start)?;
        let last = match range.end <= first.end {
            true => first,
            false => self.mapping(range.end - 1)?,
        };
        let mut register = [first.start, last.end - first.start, MODE_WP, 0];
        call(&self.fd, UFFDIO_REGISTER, &mut register)
    }

    /// The mapping that has `address`, or the next one.
    fn mapping(&self, address: u64) -> io::Result<Addresses> {
        let mut query = [0; PROCMAP_WORDS];
        query[0] = size_of_val(&query) as u64;
        (query[1], query[2]) = (COVERING_OR_NEXT, address);
        if call(&self.maps, PROCMAP_QUERY, &mut query).is_ok() {
            return Ok(Addresses {
                start: query[3],
                end: query[4],
            });
        }
        let lines = BufReader::new(File::open(MAPS)?).lines();
        let mut mappings = lines.map_while(|line| mapping_of(&line.ok()?));
        let found = mappings.find(|mapping| address < mapping.end);
        found.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Whether another thread is in a call that changes watched memory, whose event it does not know to be read.
    ///
    /// If not, the events of all watched memory whose addresses this thread can have seen reused are read.
    ///
    /// # Cost
    /// A system call that does nothing: about 1 µs in a virtual machine.
    #[must_use]
    pub fn is_changing(&self) -> bool {
        // Before its arguments, of which these are invalid, the call looks at `mmap_changing`, which the kernel raises
        // before the change, under the lock of the mappings, and lowers when the event is read.
        let mut nothing = [0, 0, 0];
        let result = call(&self.fd, UFFDIO_WRITEPROTECT, &mut nothing);
        result.is_err_and(|why| why.raw_os_error() == Some(libc::EAGAIN))
    }

    /// Sleeps until there is an event.
    ///
    /// It allocates nothing and takes no lock, and so does [`next`](Self::next): the thread that waits for the event may
    /// be in the allocator.
    ///
    /// # Errors
    /// The error of poll(2).
    pub fn wait(&self) -> io::Result<()> {
        pipe::poll(&mut [PollFd::new(&self.fd, PollFlags::IN)], None).map(drop)
    }

    /// Reads the next event, which lets its thread go on. `None`: there is none.
    ///
    /// # Errors
    /// The error of read(2).
    pub fn next(&self) -> io::Result<Option<MemoryEvent>> {
        let mut message = [0; MESSAGE];
        match rustix::io::read(&self.fd, &mut message) {
            Ok(_) => Ok(Some(event(&message))),
            Err(rustix::io::Errno::AGAIN) => Ok(None),
            Err(why) => Err(why.into()),
        }
    }
}

fn call<const N: usize>(
    fd: impl AsFd,
    request: libc::Ioctl,
    argument: &mut [u64; N],
) -> io::Result<()> {
    let fd = fd.as_fd().as_raw_fd();
    // SAFETY: the requests above read and write as many words as their callers pass; none changes the memory of the
    // addresses in them.
    match unsafe { libc::ioctl(fd, request, argument.as_mut_ptr()) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The addresses in a line of proc_pid_maps(5).
fn mapping_of(line: &str) -> Option<Addresses> {
    let (start, end) = line.split(' ').next()?.split_once('-')?;
    let address = |text| u64::from_str_radix(text, 16).ok();
    Some(Addresses {
        start: address(start)?,
        end: address(end)?,
    })
}

fn userfaultfd(flags: i32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers.
    let fd = unsafe { libc::syscall(libc::SYS_userfaultfd, flags) };
    match i32::try_from(fd) {
        // SAFETY: the call has just made this descriptor, and no other value owns it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The event in a `struct uffd_msg`.
fn event(message: &[u8; MESSAGE]) -> MemoryEvent {
    let word = |at: usize| message.as_chunks::<8>().0[at];
    let [first, second, third] = [1, 2, 3].map(|at| u64::from_ne_bytes(word(at)));
    let to = |end| Addresses { start: first, end };
    match message[0] {
        0x14 => MemoryEvent::Moved(to(first.saturating_add(third))),
        0x15 => MemoryEvent::Discarded(to(second)),
        0x16 => MemoryEvent::Unmapped(to(second)),
        _ => MemoryEvent::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::mm::{
        Advice, MapFlags, MremapFlags, ProtFlags, madvise, mmap_anonymous, mremap, munmap,
    };
    use std::sync::mpsc;

    const PAGE: usize = 4096;

    fn map(pages: usize) -> *mut u8 {
        let both = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new private mapping at an address of the kernel's choice.
        unsafe { mmap_anonymous(std::ptr::null_mut(), pages * PAGE, both, MapFlags::PRIVATE) }
            .expect("a mapping")
            .cast()
    }

    fn addresses(start: *mut u8, pages: usize) -> Addresses {
        let start = start.expose_provenance() as u64;
        Addresses {
            start,
            end: start + (pages * PAGE) as u64,
        }
    }

    /// Every way to lose memory, each on a mapping of its own, in the order of the events.
    #[test]
    fn what_becomes_of_memory_is_reported_before_the_call_returns() {
        let watch = match MemoryWatch::open() {
            Ok(watch) => watch,
            // In a container that forbids it.
            Err(why) => return assert!(why.to_string().starts_with("userfaultfd: "), "{why}"),
        };
        let (send, events) = mpsc::channel();
        let watch = &watch;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for _ in 0..4 {
                    watch.wait().expect("poll");
                    send.send(watch.next().expect("read").expect("an event"))
                        .unwrap();
                }
            });
            let starts = [0; 3].map(|_| map(8));
            for start in starts {
                let at = addresses(start, 8);
                watch.watch(at.start..at.end).expect("anonymous memory");
            }
            assert!(!watch.is_changing());
            let [discarded, moved, replaced] = starts;
            // SAFETY: nobody uses the memory of this test.
            unsafe {
                madvise(
                    discarded.wrapping_add(PAGE).cast(),
                    PAGE,
                    Advice::LinuxDontNeed,
                )
            }
            .unwrap();
            let expected = MemoryEvent::Discarded(addresses(discarded.wrapping_add(PAGE), 1));
            assert_eq!(events.recv(), Ok(expected));
            // The page that was discarded is written without anybody's help.
            // SAFETY: it is mapped.
            unsafe { discarded.wrapping_add(PAGE).write(1) };
            // SAFETY: as above.
            let to = unsafe { mremap(moved.cast(), 8 * PAGE, 1 << 24, MremapFlags::MAYMOVE) };
            assert!(to.is_ok_and(|to| to != moved.cast()), "it has moved");
            assert_eq!(events.recv(), Ok(MemoryEvent::Moved(addresses(moved, 8))));
            let old = events.recv();
            assert_eq!(old, Ok(MemoryEvent::Unmapped(addresses(moved, 8))));
            // SAFETY: as above.
            unsafe { munmap(replaced.wrapping_add(PAGE).cast(), 2 * PAGE) }.unwrap();
            let expected = MemoryEvent::Unmapped(addresses(replaced.wrapping_add(PAGE), 2));
            assert_eq!(events.recv(), Ok(expected));
            assert!(!watch.is_changing());
        });
    }

    #[test]
    fn a_thread_that_unmaps_is_seen_until_its_event_is_read() {
        let Ok(watch) = MemoryWatch::open() else {
            return;
        };
        let at = addresses(map(1), 1);
        watch.watch(at.start..at.end).expect("anonymous memory");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let start = std::ptr::with_exposed_provenance_mut(at.start as usize);
                // SAFETY: nobody uses the memory of this test.
                unsafe { munmap(start, PAGE) }.unwrap();
            });
            watch.wait().expect("poll");
            assert!(watch.is_changing());
            assert_eq!(watch.next().unwrap(), Some(MemoryEvent::Unmapped(at)));
        });
        assert!(!watch.is_changing());
        assert_eq!(watch.next().unwrap(), None);
    }

    /// Memory of which a part is watched moves as a whole, and both ways to find its mapping agree.
    #[test]
    fn a_mapping_is_watched_as_a_whole() {
        let Ok(watch) = MemoryWatch::open() else {
            return;
        };
        let start = map(8);
        let middle = addresses(start.wrapping_add(2 * PAGE), 1);
        let found = watch.mapping(middle.start).expect("it is mapped");
        let lines = std::fs::read_to_string(MAPS).expect("mappings");
        assert!(
            lines
                .lines()
                .filter_map(mapping_of)
                .any(|mapping| mapping == found)
        );
        assert!(found.start <= middle.start && middle.end <= found.end);
        watch
            .watch(middle.start..middle.end)
            .expect("anonymous memory");
        std::thread::scope(|scope| {
            let last = addresses(start.wrapping_add(7 * PAGE), 1);
            scope.spawn(move || {
                let page = std::ptr::with_exposed_provenance_mut(last.start as usize);
                // SAFETY: nobody uses the memory of this test.
                unsafe { madvise(page, PAGE, Advice::LinuxDontNeed) }.unwrap();
            });
            watch.wait().expect("poll");
            assert_eq!(watch.next().unwrap(), Some(MemoryEvent::Discarded(last)));
        });
    }

    #[test]
    fn memory_of_a_file_is_refused() {
        let Ok(watch) = MemoryWatch::open() else {
            return;
        };
        let code = (addresses as fn(_, _) -> _ as usize & !(PAGE - 1)) as u64;
        let refused = watch.watch(code..code + PAGE as u64);
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(libc::EINVAL));
    }
}
