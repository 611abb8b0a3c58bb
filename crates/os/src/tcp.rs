//! Non-blocking TCP sockets, and the kernel's state of a connection (TCP_INFO).
//!
//! Source: tcp(7), ip(7), ipv6(7).

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, SocketFlags, SocketType,
    sockopt,
};

/// Length of the accept queue; the kernel limits it to net.core.somaxconn.
const BACKLOG: i32 = 4096;

/// A listening TCP socket.
#[derive(Debug)]
pub struct Listener {
    fd: OwnedFd,
}

impl Listener {
    /// Listens at `at`; for port 0 the kernel picks a port. The unspecified IPv6 address accepts IPv4 as
    /// well.
    ///
    /// # Errors
    /// The error of socket, bind or listen.
    pub fn bind(at: SocketAddr) -> io::Result<Self> {
        let fd = new_socket(&at)?;
        if at.is_ipv6() {
            sockopt::set_ipv6_v6only(&fd, false)?;
        }
        rustix::net::bind(&fd, &at)?;
        rustix::net::listen(&fd, BACKLOG)?;
        Ok(Self { fd })
    }

    /// The address that it listens at.
    ///
    /// # Errors
    /// The error of getsockname.
    pub fn local(&self) -> io::Result<SocketAddr> {
        local(self.fd.as_fd())
    }

    /// Accepts the next connection. Returns it and the peer's address.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if there is none; else the error of accept.
    pub fn accept(&self) -> io::Result<(Stream, SocketAddr)> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (fd, from) = retry_on_intr(|| rustix::net::acceptfrom_with(&self.fd, flags))?;
        let from = from.and_then(|from| SocketAddr::try_from(from).ok());
        let from = from.ok_or(Errno::AFNOSUPPORT)?;
        Ok((Stream { fd }, plain(from)))
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A TCP connection, established or connecting.
#[derive(Debug)]
pub struct Stream {
    fd: OwnedFd,
}

impl Stream {
    /// Starts to connect to `to`, from the address `from` if given. Once the socket is writable,
    /// [`Stream::outcome`] returns the result.
    ///
    /// # Errors
    /// An immediate error of socket, bind or connect.
    pub fn connect(to: SocketAddr, from: Option<IpAddr>) -> io::Result<Self> {
        let fd = new_socket(&to)?;
        if let Some(from) = from {
            rustix::net::bind(&fd, &SocketAddr::new(from, 0))?;
        }
        match rustix::net::connect(&fd, &to) {
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(Self { fd }),
            Err(error) => Err(error.into()),
        }
    }

    /// The result of connecting, once the socket is writable.
    ///
    /// # Errors
    /// The error of the connection attempt.
    pub fn outcome(&self) -> io::Result<()> {
        Ok(sockopt::socket_error(&self.fd)??)
    }

    /// Sets TCP_NODELAY, and keepalive probes after `idle` without traffic, then every `idle / 3`.
    ///
    /// # Errors
    /// The error of setsockopt.
    pub fn tune(&self, idle: Duration) -> io::Result<()> {
        sockopt::set_tcp_nodelay(&self.fd, true)?;
        sockopt::set_socket_keepalive(&self.fd, true)?;
        let second = Duration::from_secs(1);
        sockopt::set_tcp_keepidle(&self.fd, idle.max(second))?;
        sockopt::set_tcp_keepintvl(&self.fd, (idle / 3).max(second))?;
        sockopt::set_tcp_keepcnt(&self.fd, 3)?;
        Ok(())
    }

    /// Tunes a connection within this host: limits the send buffer to twice `bytes`, so that it stays in the
    /// caches, and sets the cheapest congestion control (reno). Does nothing for another host, or if the peer
    /// has reset the connection.
    ///
    /// # Errors
    /// The error of getsockname, getpeername or setsockopt.
    pub fn tune_local(&self, bytes: usize) -> io::Result<()> {
        let own = self.local()?;
        let other = match rustix::net::getpeername(&self.fd) {
            Err(rustix::io::Errno::NOTCONN) => return Ok(()),
            other => other?.and_then(|other| SocketAddr::try_from(other).ok()),
        };
        if other.is_some_and(|other| own.ip() == plain(other).ip()) {
            sockopt::set_socket_send_buffer_size(&self.fd, bytes)?;
            // Every kernel has reno. Where it is forbidden, the default works, a little slower.
            let _ = sockopt::set_tcp_congestion(&self.fd, "reno");
        }
        Ok(())
    }

    /// This end's address.
    ///
    /// # Errors
    /// The error of getsockname.
    pub fn local(&self) -> io::Result<SocketAddr> {
        local(self.fd.as_fd())
    }

    /// Reads into `first`, then into `second`. Returns the number of bytes, 0 at the end of the stream. With
    /// `second` empty it calls recv, which is faster than readv.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if no bytes have arrived; else the error of recv or readv.
    pub fn read(&self, first: &mut [u8], second: &mut [u8]) -> io::Result<usize> {
        if second.is_empty() {
            let (count, _) =
                retry_on_intr(|| rustix::net::recv(&self.fd, &mut *first, RecvFlags::empty()))?;
            return Ok(count);
        }
        let mut into = [IoSliceMut::new(first), IoSliceMut::new(second)];
        Ok(retry_on_intr(|| rustix::io::readv(&self.fd, &mut into))?)
    }

    /// Writes `pieces` in order. Returns the number of bytes that the kernel took. Raises no SIGPIPE.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if the send buffer is full; else the error of send or sendmsg.
    pub fn write(&self, pieces: [&[u8]; 3]) -> io::Result<usize> {
        if let [only, [], []] = pieces {
            return Ok(retry_on_intr(|| {
                rustix::net::send(&self.fd, only, SendFlags::NOSIGNAL)
            })?);
        }
        let pieces = pieces.map(IoSlice::new);
        let count = retry_on_intr(|| {
            let mut control = SendAncillaryBuffer::new(&mut []);
            rustix::net::sendmsg(&self.fd, &pieces, &mut control, SendFlags::NOSIGNAL)
        })?;
        Ok(count)
    }

    /// Writes `bytes` with MSG_MORE: the kernel may hold them back for the bytes that follow at once.
    ///
    /// # Errors
    /// As [`Stream::write`].
    pub fn write_more(&self, bytes: &[u8]) -> io::Result<usize> {
        let flags = SendFlags::NOSIGNAL | SendFlags::MORE;
        Ok(retry_on_intr(|| rustix::net::send(&self.fd, bytes, flags))?)
    }

    /// Shuts down the sending side: the peer reads what was written, then the end of the stream.
    ///
    /// # Errors
    /// The error of shutdown.
    pub fn finish(&self) -> io::Result<()> {
        Ok(rustix::net::shutdown(&self.fd, Shutdown::Write)?)
    }

    /// Makes closing this stream a reset, which drops undelivered bytes.
    ///
    /// # Errors
    /// The error of setsockopt.
    ///
    /// Source: socket(7), `SO_LINGER`.
    pub fn reset_at_end(&self) -> io::Result<()> {
        Ok(sockopt::set_socket_linger(&self.fd, Some(Duration::ZERO))?)
    }

    /// The kernel's state of the connection.
    ///
    /// # Errors
    /// The error of getsockopt.
    ///
    /// # Cost
    /// One system call.
    pub fn tcp_info(&self) -> io::Result<TcpInfo> {
        let mut info = std::mem::MaybeUninit::<libc::tcp_info>::zeroed();
        let mut len = size_of::<libc::tcp_info>() as libc::socklen_t;
        // SAFETY: `info` has room for `len` bytes, and the kernel writes no more than those.
        let result = unsafe {
            libc::getsockopt(
                self.fd.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                info.as_mut_ptr().cast(),
                &raw mut len,
            )
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: all of it is whole numbers, which zeroes are as well; the kernel wrote over them.
        let info = unsafe { info.assume_init() };
        Ok(TcpInfo {
            since_last_ack: Duration::from_millis(info.tcpi_last_ack_recv.into()),
            unacked: info.tcpi_unacked,
            retransmits: info.tcpi_retransmits,
            probes: info.tcpi_probes,
        })
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Some fields of the kernel's `tcp_info`. The peer's kernel acknowledges bytes before a process reads them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Time since the last acknowledgment (`tcpi_last_ack_recv`).
    pub since_last_ack: Duration,
    /// Segments without an acknowledgment.
    pub unacked: u32,
    /// Retransmissions of the oldest unacknowledged segment.
    pub retransmits: u8,
    /// Unanswered window and keepalive probes.
    pub probes: u8,
}

fn new_socket(of: &SocketAddr) -> io::Result<OwnedFd> {
    let family = match of {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let fd = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    Ok(fd)
}

fn local(fd: BorrowedFd<'_>) -> io::Result<SocketAddr> {
    let local = SocketAddr::try_from(rustix::net::getsockname(fd)?)?;
    Ok(plain(local))
}

/// An IPv4-mapped IPv6 address as IPv4.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::net::Ipv4Addr;
    use std::time::Instant;

    use super::*;
    use crate::epoll::{Epoll, Events};

    /// Waits until epoll reports an event of `stream`.
    pub(crate) fn wait(stream: &Stream) {
        let epoll = Epoll::new().unwrap();
        epoll.watch(stream, 1).unwrap();
        let limit = Duration::from_secs(120);
        assert!(epoll.wait(&mut Events::default(), limit).unwrap() > 0);
    }

    fn accept(listener: &Listener) -> (Stream, SocketAddr) {
        let start = Instant::now();
        loop {
            match listener.accept() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    assert!(start.elapsed() < Duration::from_secs(120));
                }
                other => return other.unwrap(),
            }
        }
    }

    pub(crate) fn pair() -> (Stream, Stream) {
        let listener = Listener::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let one = Stream::connect(listener.local().unwrap(), None).unwrap();
        let (two, from) = accept(&listener);
        assert_eq!(from, one.local().unwrap());
        wait(&one);
        one.outcome().unwrap();
        (one, two)
    }

    #[test]
    fn bytes_in_pieces() {
        let (one, two) = pair();
        one.tune(Duration::from_secs(6)).unwrap();
        one.tune_local(64 << 10).unwrap();
        assert_eq!(sockopt::socket_send_buffer_size(&one).unwrap(), 128 << 10);
        assert_eq!(sockopt::tcp_congestion(&one).unwrap(), "reno");
        let blocked = two.read(&mut [0; 1], &mut []).unwrap_err();
        assert_eq!(blocked.kind(), io::ErrorKind::WouldBlock);
        assert_eq!(one.write([b"he", b"", b"llo"]).unwrap(), 5);
        wait(&two);
        let (mut first, mut second) = ([0; 2], [0; 9]);
        assert_eq!(two.read(&mut first, &mut second).unwrap(), 5);
        assert_eq!((&first[..], &second[..3]), (&b"he"[..], &b"llo"[..]));
        one.finish().unwrap();
        wait(&two);
        assert_eq!(two.read(&mut first, &mut second).unwrap(), 0);
    }

    /// Bytes sent before a reset can be read after it, also after socket options are set.
    #[test]
    fn a_reset_connection_can_still_be_tuned_and_read() {
        let (one, two) = pair();
        two.write([b"unread", b"", b""]).unwrap();
        wait(&one);
        one.write([b"last", b"", b""]).unwrap();
        wait(&two);
        drop(one);
        while two.write([b"x", b"", b""]).is_ok() {}
        two.tune(Duration::from_secs(6)).unwrap();
        two.tune_local(64 << 10).unwrap();
        let mut last = [0; 9];
        assert_eq!(two.read(&mut last, &mut []).unwrap(), 4);
    }

    #[test]
    fn tcp_info_shows_a_live_peer() {
        let (one, two) = pair();
        one.write([b"x", b"", b""]).unwrap();
        wait(&two);
        let info = one.tcp_info().unwrap();
        assert!(info.since_last_ack < Duration::from_secs(120), "{info:?}");
        assert_eq!((info.retransmits, info.probes), (0, 0));
    }

    #[test]
    fn absent_and_closed_peers_are_errors() {
        let home = Ipv4Addr::LOCALHOST;
        // A port below the ephemeral range; its service (tcpmux) is obsolete.
        let refused = Stream::connect((home, 1).into(), Some(home.into())).and_then(|stream| {
            wait(&stream);
            stream.outcome()
        });
        assert_eq!(
            refused.unwrap_err().kind(),
            io::ErrorKind::ConnectionRefused
        );
        let (one, two) = pair();
        drop(two);
        wait(&one);
        let gone = (0..).find_map(|_| one.write([b"x", b"", b""]).err());
        assert_ne!(gone.unwrap().kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn both_families_at_one_port() {
        let Ok(listener) = Listener::bind("[::]:0".parse().unwrap()) else {
            return; // a kernel without IPv6
        };
        let port = listener.local().unwrap().port();
        let one = Stream::connect((Ipv4Addr::LOCALHOST, port).into(), None).unwrap();
        let (two, from) = accept(&listener);
        assert!(from.is_ipv4() && two.local().unwrap().is_ipv4());
        drop(one);
    }
}
