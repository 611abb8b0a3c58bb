//! [`Epoll`]: waits for many descriptors, at a cost linear in the ready ones.
//!
//! Source: epoll(7).

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{Timespec, epoll};

/// A set of watched descriptors. It is a descriptor itself.
#[derive(Debug)]
pub struct Epoll {
    fd: OwnedFd,
}

impl Epoll {
    const EDGES: epoll::EventFlags = epoll::EventFlags::IN
        .union(epoll::EventFlags::OUT)
        .union(epoll::EventFlags::RDHUP)
        .union(epoll::EventFlags::ET);

    /// An empty set.
    ///
    /// # Errors
    /// The error of epoll_create1(2).
    pub fn new() -> io::Result<Self> {
        let fd = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { fd })
    }

    /// Reports `fd` under `key` when it becomes readable or writable, or ends (edge-triggered): read or write
    /// until that would block. Closing `fd` removes it.
    ///
    /// # Errors
    /// The error of epoll_ctl(2).
    pub fn watch(&self, fd: impl AsFd, key: u64) -> io::Result<()> {
        self.add(fd, key, Self::EDGES)
    }

    /// Changes the key of `fd`, which is watched edge-triggered, and reports its current state once more.
    ///
    /// # Errors
    /// The error of epoll_ctl(2).
    pub fn modify(&self, fd: impl AsFd, key: u64) -> io::Result<()> {
        let data = epoll::EventData::new_u64(key);
        Ok(epoll::modify(&self.fd, fd, data, Self::EDGES)?)
    }

    /// Reports `fd` under `key` as long as it is readable (level-triggered).
    ///
    /// # Errors
    /// The error of epoll_ctl(2).
    pub fn watch_readable(&self, fd: impl AsFd, key: u64) -> io::Result<()> {
        self.add(fd, key, epoll::EventFlags::IN)
    }

    /// Stops watching `fd`.
    ///
    /// # Errors
    /// The error of epoll_ctl(2).
    pub fn forget(&self, fd: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.fd, fd)?)
    }

    fn add(&self, fd: impl AsFd, key: u64, flags: epoll::EventFlags) -> io::Result<()> {
        Ok(epoll::add(
            &self.fd,
            fd,
            epoll::EventData::new_u64(key),
            flags,
        )?)
    }

    /// Waits for events, at most `limit`. Returns their number; 0 after a signal, too.
    ///
    /// # Errors
    /// The error of epoll_wait(2).
    ///
    /// # Cost
    /// One system call.
    pub fn wait(&self, events: &mut Events, limit: Duration) -> io::Result<usize> {
        let limit = Timespec {
            tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: limit.subsec_nanos().into(),
        };
        let mut list = [MaybeUninit::uninit(); Events::MAX];
        let (list, _) = match epoll::wait(&self.fd, &mut list, Some(&limit)) {
            Err(rustix::io::Errno::INTR) => (&mut [][..], &mut [][..]),
            other => other?,
        };
        events.count = list.len();
        for (ready, event) in events.list.iter_mut().zip(list) {
            *ready = ReadyEvent::of(event);
        }
        Ok(events.count)
    }
}

impl AsFd for Epoll {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The events of one wait.
#[derive(Debug)]
pub struct Events {
    list: [ReadyEvent; Self::MAX],
    count: usize,
}

impl Events {
    /// Most events of one wait; the next wait returns the others.
    pub const MAX: usize = 64;

    /// All events.
    pub fn iter(&self) -> impl Iterator<Item = ReadyEvent> + use<'_> {
        self.list[..self.count].iter().copied()
    }

    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Drops all events.
    pub fn clear(&mut self) {
        self.count = 0;
    }
}

impl Default for Events {
    fn default() -> Self {
        Self {
            list: [ReadyEvent::default(); Self::MAX],
            count: 0,
        }
    }
}

/// An event. A descriptor that has ended is readable and writable; the read or write returns how it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadyEvent {
    /// The key given to [`Epoll::watch`].
    pub key: u64,
    /// A read would not block.
    pub readable: bool,
    /// A write would not block.
    pub writable: bool,
    /// The peer sends nothing after what can be read now. Reported once.
    pub ended: bool,
}

impl ReadyEvent {
    fn of(event: &epoll::Event) -> Self {
        let (flags, data) = (event.flags, event.data);
        let broken = flags.intersects(epoll::EventFlags::ERR | epoll::EventFlags::HUP);
        let ended = broken || flags.contains(epoll::EventFlags::RDHUP);
        Self {
            key: data.u64(),
            readable: ended || flags.contains(epoll::EventFlags::IN),
            writable: broken || flags.contains(epoll::EventFlags::OUT),
            ended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    const LONG: Duration = Duration::from_secs(120);

    #[test]
    fn edges_and_levels() {
        let (mut from, mut to) = io::pipe().unwrap();
        let (epoll, mut events) = (Epoll::new().unwrap(), Events::default());
        epoll.watch(&from, 7).unwrap();
        assert_eq!(epoll.wait(&mut events, Duration::ZERO).unwrap(), 0);
        to.write_all(b"a").unwrap();
        assert_eq!(epoll.wait(&mut events, LONG).unwrap(), 1);
        let ready = events.iter().next().unwrap();
        assert_eq!((ready.key, ready.readable), (7, true));
        assert_eq!(epoll.wait(&mut events, Duration::ZERO).unwrap(), 0, "list");
        assert!(events.is_empty());
        epoll.modify(&from, 9).unwrap();
        assert_eq!(epoll.wait(&mut events, LONG).unwrap(), 1, "list again");
        assert_eq!(events.iter().next().unwrap().key, 9);

        let level = Epoll::new().unwrap();
        level.watch_readable(&from, 8).unwrap();
        for _ in 0..2 {
            assert_eq!(level.wait(&mut events, LONG).unwrap(), 1, "not yet read");
        }
        from.read_exact(&mut [0]).unwrap();
        assert_eq!(level.wait(&mut events, Duration::ZERO).unwrap(), 0);
        drop(to);
        assert_eq!(level.wait(&mut events, LONG).unwrap(), 1, "it has ended");
        assert!(events.iter().all(|ready| ready.readable && ready.writable));
        assert_eq!(events.len(), 1);
    }
}
