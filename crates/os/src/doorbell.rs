//! Doorbells: what wakes a process that waits for descriptors.
//!
//! A futex cannot be waited for beside sockets; a datagram can. Whoever has a doorbell is rung there and rings
//! others, each at a name. A ring is kept until it is heard, so none is lost between a last look and the sleep.
//! It says no more than that there is something to look at, so it does not matter who else rings.
//!
//! Source: unix(7), "Abstract sockets".

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, recv, sendto,
};

/// Rings that are heard at once: more than a rank's peers ring while it sleeps.
const RINGS: u32 = 256;

/// A doorbell of this process. It can be waited for as a descriptor: readable means that it was rung.
#[derive(Debug)]
pub struct Doorbell {
    fd: OwnedFd,
}

/// Where a doorbell is, in this network namespace.
#[derive(Clone, Debug)]
pub struct DoorbellAddress(SocketAddrUnix);

impl DoorbellAddress {
    /// The place called `name`.
    ///
    /// # Errors
    /// If the name has more than 107 bytes.
    pub fn new(name: &str) -> io::Result<Self> {
        Ok(Self(SocketAddrUnix::new_abstract_name(name.as_bytes())?))
    }
}

impl Doorbell {
    /// A doorbell at `address`.
    ///
    /// # Errors
    /// [`io::ErrorKind::AddrInUse`] if there is one; else what socket and bind say.
    pub fn new(address: &DoorbellAddress) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let kind = SocketType::DGRAM;
        let fd = rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None)?;
        rustix::net::bind(&fd, &address.0)?;
        Ok(Self { fd })
    }

    /// Rings at another one's. Nothing happens where there is none any more, or as many rings wait there
    /// as the system keeps: one is enough.
    ///
    /// # Cost
    /// One system call.
    pub fn ring(&self, at: &DoorbellAddress) {
        let _ = retry_on_intr(|| sendto(&self.fd, &[1], SendFlags::NOSIGNAL, &at.0));
    }

    /// Hears the rings until now: many at once at most, so that nobody who rings without end keeps this process
    /// here. What is left says once more that there is something to look at.
    ///
    /// # Cost
    /// A system call for each, and one more.
    pub fn hear(&self) {
        let mut ring = [0];
        for _ in 0..RINGS {
            if let Err(Errno::AGAIN) = recv(&self.fd, &mut ring, RecvFlags::empty()) {
                return;
            }
        }
    }
}

impl AsFd for Doorbell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipe::{PollFd, PollFlags, poll};
    use std::time::Duration;

    #[test]
    fn rings_are_kept_until_they_are_heard() {
        let chance = crate::host::random().unwrap();
        let addresses =
            [0, 1, 2].map(|n| DoorbellAddress::new(&format!("oxmpi-{chance:x?}-{n}")).unwrap());
        let [one, two] = [0, 1].map(|n| Doorbell::new(&addresses[n]).unwrap());
        let taken = Doorbell::new(&addresses[0]).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
        let rung = |limit| poll(&mut [PollFd::new(&two, PollFlags::IN)], Some(limit)).unwrap() > 0;
        assert!(!rung(Duration::ZERO));
        // More than the system keeps, and at nobody's.
        for _ in 0..10_000 {
            one.ring(&addresses[1]);
        }
        one.ring(&addresses[2]);
        assert!(rung(Duration::from_secs(120)));
        while rung(Duration::ZERO) {
            two.hear();
        }
        assert!(DoorbellAddress::new(&"x".repeat(108)).is_err());
    }
}
