//! [`Doorbell`]: a datagram socket that wakes a process which waits for descriptors.
//!
//! epoll can wait for a datagram socket beside other sockets, but not for a futex. A ring stays in the socket
//! until it is read, so none is lost between the last poll and the sleep. A ring only makes the receiver poll
//! again, so a ring of a foreign process does no harm.
//!
//! Source: unix(7), "Abstract sockets".

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, recv, sendto,
};

/// Most rings that one call of [`Doorbell::drain`] reads.
const RINGS: u32 = 256;

/// A doorbell of this process; its descriptor is readable after a ring.
#[derive(Debug)]
pub struct Doorbell {
    fd: OwnedFd,
}

/// The abstract name of a doorbell, in this network namespace.
#[derive(Clone, Debug)]
pub struct DoorbellAddress(SocketAddrUnix);

impl DoorbellAddress {
    /// The address called `name`.
    ///
    /// # Errors
    /// If the name has more than 107 bytes.
    pub fn new(name: &str) -> io::Result<Self> {
        Ok(Self(SocketAddrUnix::new_abstract_name(name.as_bytes())?))
    }
}

impl Doorbell {
    /// Creates the doorbell at `address`.
    ///
    /// # Errors
    /// [`io::ErrorKind::AddrInUse`] if the address is taken; else the error of socket or bind.
    pub fn new(address: &DoorbellAddress) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let kind = SocketType::DGRAM;
        let fd = rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None)?;
        rustix::net::bind(&fd, &address.0)?;
        Ok(Self { fd })
    }

    /// Rings the doorbell at `at`. Does nothing if no process has it, or its queue is full: one pending ring
    /// is enough.
    ///
    /// # Cost
    /// One system call.
    pub fn ring(&self, at: &DoorbellAddress) {
        let _ = retry_on_intr(|| sendto(&self.fd, &[1], SendFlags::NOSIGNAL, &at.0));
    }

    /// Reads pending rings, at most 256, so that a peer that keeps ringing cannot hold up this process. The
    /// descriptor stays readable while rings are left.
    ///
    /// # Cost
    /// A system call for each ring, and one more.
    pub fn drain(&self) {
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
        // More rings than the queue holds, and one at an address that no socket has.
        for _ in 0..10_000 {
            one.ring(&addresses[1]);
        }
        one.ring(&addresses[2]);
        assert!(rung(Duration::from_secs(120)));
        while rung(Duration::ZERO) {
            two.drain();
        }
        assert!(DoorbellAddress::new(&"x".repeat(108)).is_err());
    }
}
