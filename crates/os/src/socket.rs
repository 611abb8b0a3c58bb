//! Abstract Unix sockets with credentials, descriptor passing and a deadline for every wait.
//!
//! The sockets keep message boundaries (`SOCK_SEQPACKET`). Their abstract names leave no file behind.
//!
//! Source: unix(7), "Abstract sockets", `SO_PEERCRED`, `SCM_RIGHTS`.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
    sockopt,
};

/// The peer process of a socket, as the kernel reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// Its pid in this process's PID namespace.
    pub pid: u32,
    /// Its effective user ID.
    pub uid: u32,
}

/// A listening Unix socket.
#[derive(Debug)]
pub struct LocalListener {
    fd: OwnedFd,
}

impl LocalListener {
    /// Listens at the abstract name `name`.
    ///
    /// # Errors
    /// The error of socket, bind or listen; [`io::ErrorKind::AddrInUse`] if the name is taken.
    pub fn bind(name: &str) -> io::Result<Self> {
        let fd = new_socket()?;
        rustix::net::bind(&fd, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
        rustix::net::listen(&fd, 1024)?;
        Ok(Self { fd })
    }

    /// Accepts the next connection.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] at the deadline; else the error of accept.
    pub fn accept(&self, deadline: Instant) -> io::Result<LocalChannel> {
        until(self.fd.as_fd(), PollFlags::IN, deadline)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = rustix::net::accept_with(&self.fd, flags)?;
        Ok(LocalChannel { fd })
    }
}

impl AsFd for LocalListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A connected Unix socket that carries whole messages.
#[derive(Debug)]
pub struct LocalChannel {
    fd: OwnedFd,
}

impl LocalChannel {
    /// Connects to the listener at the abstract name `name`.
    ///
    /// # Errors
    /// [`io::ErrorKind::ConnectionRefused`] if no socket listens there; [`io::ErrorKind::TimedOut`] at the
    /// deadline.
    pub fn connect(name: &str, deadline: Instant) -> io::Result<Self> {
        let fd = new_socket()?;
        let address = SocketAddrUnix::new_abstract_name(name.as_bytes())?;
        loop {
            match rustix::net::connect(&fd, &address) {
                Ok(()) => return Ok(Self { fd }),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if Instant::now() < deadline => {
                    // The listener's queue is full, and no event reports that it has room.
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The peer process.
    ///
    /// # Errors
    /// The error of getsockopt.
    pub fn peer(&self) -> io::Result<Credentials> {
        let peer = sockopt::socket_peercred(&self.fd)?;
        Ok(Credentials {
            pid: peer.pid.as_raw_nonzero().get().unsigned_abs(),
            uid: peer.uid.as_raw(),
        })
    }

    /// Whether the peer process runs under this process's effective user ID.
    ///
    /// # Errors
    /// The error of getsockopt.
    pub fn same_user(&self) -> io::Result<bool> {
        Ok(self.peer()?.uid == rustix::process::geteuid().as_raw())
    }

    /// Sends one message, with a descriptor if given.
    ///
    /// # Errors
    /// [`io::ErrorKind::BrokenPipe`] if the peer has closed its end; [`io::ErrorKind::TimedOut`] at the
    /// deadline.
    pub fn send(
        &self,
        message: &[u8],
        descriptor: Option<BorrowedFd<'_>>,
        deadline: Instant,
    ) -> io::Result<()> {
        let fds: Vec<BorrowedFd<'_>> = descriptor.into_iter().collect();
        loop {
            until(self.fd.as_fd(), PollFlags::OUT, deadline)?;
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            if !fds.is_empty() {
                control.push(SendAncillaryMessage::ScmRights(&fds));
            }
            let message = [IoSlice::new(message)];
            match rustix::net::sendmsg(&self.fd, &message, &mut control, SendFlags::NOSIGNAL) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Receives one message into `buffer`. Returns its length (0 if the peer has closed its end) and the
    /// descriptor that the peer passed.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] at the deadline; [`io::ErrorKind::InvalidData`] if the message
    /// is longer than `buffer`.
    pub fn recv(
        &self,
        buffer: &mut [u8],
        deadline: Instant,
    ) -> io::Result<(usize, Option<OwnedFd>)> {
        loop {
            until(self.fd.as_fd(), PollFlags::IN, deadline)?;
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let received = rustix::net::recvmsg(
                &self.fd,
                &mut [IoSliceMut::new(buffer)],
                &mut control,
                RecvFlags::CMSG_CLOEXEC,
            );
            let received = match received {
                Ok(received) => received,
                Err(Errno::INTR | Errno::AGAIN) => continue,
                Err(Errno::CONNRESET) => return Ok((0, None)),
                Err(error) => return Err(error.into()),
            };
            if received.flags.contains(ReturnFlags::TRUNC) {
                let why = "the peer's message is longer than expected";
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            let descriptor = control.drain().find_map(|message| match message {
                RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
                _ => None,
            });
            return Ok((received.bytes, descriptor));
        }
    }
}

impl AsFd for LocalChannel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Waits until one of `sockets` is readable or closed. Returns for each whether it is.
///
/// # Errors
/// [`io::ErrorKind::TimedOut`] at the deadline; else the error of poll.
pub fn readable(sockets: &[BorrowedFd<'_>], deadline: Instant) -> io::Result<Vec<bool>> {
    let mut fds: Vec<PollFd<'_>> = sockets
        .iter()
        .map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN))
        .collect();
    wait(&mut fds, deadline)?;
    Ok(fds.iter().map(|fd| !fd.revents().is_empty()).collect())
}

fn new_socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    Ok(rustix::net::socket_with(family, kind, flags, None)?)
}

fn until(fd: BorrowedFd<'_>, what: PollFlags, deadline: Instant) -> io::Result<()> {
    wait(&mut [PollFd::from_borrowed_fd(fd, what)], deadline)
}

fn wait(fds: &mut [PollFd<'_>], deadline: Instant) -> io::Result<()> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = left.try_into().map_err(|_| Errno::INVAL)?;
        match poll(fds, Some(&left)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name() -> String {
        format!("oxmpi-test-{:x?}", crate::host::random().unwrap())
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(120)
    }

    #[test]
    fn message_descriptor_and_credentials() {
        let name = name();
        let listener = LocalListener::bind(&name).unwrap();
        let one = LocalChannel::connect(&name, soon()).unwrap();
        let two = listener.accept(soon()).unwrap();
        assert!(one.same_user().unwrap() && two.same_user().unwrap());
        assert_eq!(two.peer().unwrap().pid, std::process::id());

        let memory = crate::memory::Memfd::create("oxmpi-test", 4096).unwrap();
        one.send(b"here", Some(memory.as_fd()), soon()).unwrap();
        let mut buffer = [0; 16];
        let (len, fd) = two.recv(&mut buffer, soon()).unwrap();
        assert_eq!(&buffer[..len], b"here");
        let adopted = crate::memory::Memfd::adopt(fd.unwrap()).unwrap();
        assert_eq!(adopted.len(), 4096);
    }

    #[test]
    fn ends_and_deadlines() {
        let name = name();
        let listener = LocalListener::bind(&name).unwrap();
        let taken = LocalListener::bind(&name).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
        let past = Instant::now();
        let late = listener.accept(past).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        let one = LocalChannel::connect(&name, soon()).unwrap();
        let two = listener.accept(soon()).unwrap();
        let mut buffer = [0; 4];
        let late = two.recv(&mut buffer, past).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        one.send(b"longer", None, soon()).unwrap();
        let longer = two.recv(&mut buffer, soon()).unwrap_err();
        assert_eq!(longer.kind(), io::ErrorKind::InvalidData);
        drop(one);
        assert_eq!(readable(&[two.as_fd()], soon()).unwrap(), [true]);
        assert_eq!(two.recv(&mut buffer, soon()).unwrap().0, 0);
        assert!(LocalChannel::connect("oxmpi-test-nobody", soon()).is_err());
    }
}
