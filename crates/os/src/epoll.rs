//! Waiting for many descriptors at once, at a cost that grows with those that have something to say.
//!
//! Source: epoll(7).

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{Timespec, epoll};

/// Descriptors that are watched. It can be waited for itself, beside others.
#[derive(Debug)]
pub struct Epoll {
    fd: OwnedFd,
}

impl Epoll {
    const EDGES: epoll::EventFlags = epoll::EventFlags::IN
        .union(epoll::EventFlags::OUT)
        .union(epoll::EventFlags::RDHUP)
        .union(epoll::EventFlags::ET);

    /// Watches nothing yet.
    ///
    /// # Errors
    /// What epoll_create1 says.
    pub fn new() -> io::Result<Self> {
        let fd = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { fd })
    }

    /// Tells under `key` whenever `fd` begins to be readable or writable, or ends (edge-triggered):
    /// who is told reads or writes until that would block. Closing `fd` ends it.
    ///
    /// # Errors
    /// What epoll_ctl says.
    pub fn watch(&self, fd: impl AsFd, key: u64) -> io::Result<()> {
        self.add(fd, key, Self::EDGES)
    }

    /// Tells of `fd`, which is watched, under `key` from now on; also of what was told before.
    ///
    /// # Errors
    /// What epoll_ctl says.
    pub fn modify(&self, fd: impl AsFd, key: u64) -> io::Result<()> {
        let data = epoll::EventData::new_u64(key);
        Ok(epoll::modify(&self.fd, fd, data, Self::EDGES)?)
    }

    /// Tells under `key` as long as `fd` is readable (level-triggered).
    ///
    /// # Errors
    /// What epoll_ctl says.
    pub fn watch_readable(&self, fd: impl AsFd, key: u64) -> io::Result<()> {
        self.add(fd, key, epoll::EventFlags::IN)
    }

    /// Tells nothing more of `fd`, which is watched.
    ///
    /// # Errors
    /// What epoll_ctl says.
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

    /// Waits for something to tell, for `limit` at most, and gives how much there is: 0 also when a
    /// signal came.
    ///
    /// # Errors
    /// What epoll_wait says.
    ///
    /// # Cost
    /// One system call.
    pub fn wait(&self, events: &mut Events, limit: Duration) -> io::Result<usize> {
        let limit = Timespec {
            tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: limit.subsec_nanos().into(),
        };
        let mut told = [MaybeUninit::uninit(); Events::MOST];
        let (told, _) = match epoll::wait(&self.fd, &mut told, Some(&limit)) {
            Err(rustix::io::Errno::INTR) => (&mut [][..], &mut [][..]),
            other => other?,
        };
        events.count = told.len();
        for (ready, event) in events.list.iter_mut().zip(told) {
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

/// What one wait told.
#[derive(Debug)]
pub struct Events {
    list: [ReadyEvent; Self::MOST],
    count: usize,
}

impl Events {
    /// As many are told by one wait at most; the next wait tells the others.
    pub const MOST: usize = 64;

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = ReadyEvent> + use<'_> {
        self.list[..self.count].iter().copied()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.count = 0;
    }
}

impl Default for Events {
    fn default() -> Self {
        Self {
            list: [ReadyEvent::default(); Self::MOST],
            count: 0,
        }
    }
}

/// A descriptor that has something to say. One that has ended is both readable and writable, and the
/// read or write tells how it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadyEvent {
    /// As it was given to [`Epoll::watch`].
    pub key: u64,
    /// A read would not block.
    pub readable: bool,
    /// A write would not block.
    pub writable: bool,
    /// Nothing more comes than what can be read now: that it has ended is told once, with it.
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
        assert_eq!(epoll.wait(&mut events, Duration::ZERO).unwrap(), 0, "told");
        assert!(events.is_empty());
        epoll.modify(&from, 9).unwrap();
        assert_eq!(epoll.wait(&mut events, LONG).unwrap(), 1, "told again");
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
