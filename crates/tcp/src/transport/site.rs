//! A rank's place in the network, before it knows the others: where it listens, and what it tells them.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use oxmpi_os::pipe::{PollFd, PollFlags, poll};
use oxmpi_os::tcp::Listener;
use oxmpi_os::{host, interface};
use oxmpi_wire::paths::{Cost, Costs};
use oxmpi_wire::{Bytes, Limits, Peer};

use super::rx::TcpRx;
use super::tx::TcpTx;
use crate::address::{Card, Filter, offered};
use crate::door::JobKey;
use crate::frame::framed;

/// What can be set. The defaults are those of the [settings](crate::settings).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Longest frame, in bytes of its body; at least 128.
    pub frame: u32,
    /// Bytes of bulk between two looks at what else waits for the same peer.
    pub chunk: u32,
    /// Bytes of a region that a peer may read which follow its key before the peer asks for them.
    pub ahead: u64,
    /// Longest get or put whose bytes may go by page; 0: none, as with a `stall`. The kernel reads them until the
    /// peer has them all: one that was lost, but lives, may have what was written there since.
    pub pages: u64,
    /// Callers that may wait for their greeting at once.
    pub guests: u32,
    /// How long each of them may wait.
    pub greeting: Duration,
    /// How long a peer is called before it counts as lost.
    pub patience: Duration,
    /// How long a peer's host may be silent before the peer counts as lost.
    pub silence: Duration,
    /// How long a connection may bring nothing although the peer is asked to answer; `None`: it is not asked.
    pub stall: Option<Duration>,
    /// Whether strangers that are turned away and peers that break the protocol leave a line on the standard error
    /// stream, in a program without a `tracing` subscriber.
    pub log: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            frame: 64 << 10,
            chunk: 1 << 20,
            ahead: 1 << 20,
            pages: 1 << 20,
            guests: 128,
            greeting: Duration::from_secs(10),
            patience: Duration::from_secs(30),
            silence: Duration::from_secs(20),
            stall: None,
            log: true,
        }
    }
}

impl Options {
    /// Costs over the loopback device of a Zen 4, as rounded lines: medians of `examples/pingpong.rs`, 8 B
    /// to 1 MiB. What the switch points between the paths need is their relation, which a farther network
    /// changes little.
    const COSTS: Costs = Costs {
        short: Cost::line(8_000, 850),
        frame: Cost::line(8_000, 850),
        // One more message each way; then the bytes are copied by the kernel only.
        get: Cost::line(33_000, 500),
        put: Cost::line(34_000, 500),
    };

    /// What frames of these lengths carry, and what the engine's paths cost over them.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits {
            costs: Self::COSTS,
            ..Limits::new(self.frame.min(4096), self.frame)
        }
    }

    /// [`Options::pages`] where they may be used.
    pub(super) const fn by_page(&self) -> u64 {
        if self.stall.is_some() { 0 } else { self.pages }
    }

    /// Bytes that wait for one peer at most: two of the longest frames, so that one can be filled while
    /// the other leaves.
    pub(super) const fn outbox(&self) -> usize {
        2 * framed(self.frame as usize)
    }
}

/// Where each peer is, once it is known.
pub(super) type Cards = Arc<[OnceLock<Card>]>;

/// A rank that listens and does not know the others yet.
#[derive(Debug)]
pub struct Site {
    listener: Listener,
    card: Card,
    key: JobKey,
    options: Options,
}

impl Site {
    /// Listens, and offers the addresses of this host that `filter` allows.
    ///
    /// # Errors
    /// What the system says when no socket can be made or interfaces cannot be listed;
    /// [`io::ErrorKind::AddrNotAvailable`] if `filter` leaves no address.
    pub fn open(key: JobKey, filter: &Filter, options: Options) -> io::Result<Self> {
        let any_v6 = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
        let any_v4 = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let listener = Listener::bind(any_v6).or_else(|_| Listener::bind(any_v4))?;
        let at = listener.local()?;
        let mut addresses = offered(&interface::list()?, filter);
        if at.is_ipv4() {
            addresses.retain(|subnet| subnet.address.is_ipv4());
        }
        if addresses.is_empty() {
            let why = format!("no interface of {} is allowed by {filter}", host::name());
            return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, why));
        }
        let card = Card {
            host: host::name(),
            port: at.port(),
            addresses,
        };
        Ok(Self {
            listener,
            card,
            key,
            options,
        })
    }

    /// Where this rank can be reached: tell the others.
    #[must_use]
    pub const fn card(&self) -> &Card {
        &self.card
    }

    /// The transport of rank `me`, whose peers are the ranks that gave `cards`, in their order. Its own
    /// place among them is not used: a rank sends to itself by other means.
    ///
    /// # Errors
    /// As [`Site::enter`].
    ///
    /// # Panics
    /// If `me` has no place in `cards`.
    pub fn join<B: Bytes>(self, me: u32, cards: Vec<Card>) -> io::Result<(TcpTx<B>, TcpRx<B>)> {
        let (tx, rx) = self.enter(me, cards.len() as u32)?;
        for (peer, card) in (0..).zip(cards) {
            tx.introduce(Peer(peer), card);
        }
        Ok((tx, rx))
    }

    /// The transport of rank `me` of `ranks`, which hears from every peer, and sends to those that it is
    /// told of by [`TcpTx::introduce`].
    ///
    /// # Errors
    /// What the system says when nothing more can be watched.
    ///
    /// # Panics
    /// If there is no rank `me`.
    pub fn enter<B: Bytes>(self, me: u32, ranks: u32) -> io::Result<(TcpTx<B>, TcpRx<B>)> {
        assert!(me < ranks, "rank {me} of {ranks}");
        let cards: Cards = (0..ranks).map(|_| OnceLock::new()).collect();
        let tx = TcpTx::new(me, Arc::clone(&cards), self.options);
        let rx = TcpRx::new(me, cards, self.card, self.listener, self.key, self.options)?;
        Ok((tx, rx))
    }
}

/// Longest time that leaving takes.
const FAREWELL: Duration = Duration::from_secs(5);

/// Says farewell to all peers of `tx` and writes what waits.
pub(super) fn farewell<B: Bytes>(tx: &mut TcpTx<B>) {
    let until = Instant::now() + FAREWELL;
    let mut first = true;
    while !tx.take_leave(first) {
        first = false;
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let streams: Vec<_> = tx.open().map(|(_, stream)| Arc::clone(stream)).collect();
        let mut fds: Vec<_> = streams
            .iter()
            .map(|stream| PollFd::new(&**stream, PollFlags::OUT))
            .collect();
        if poll(&mut fds, Some(left)).is_err() {
            break;
        }
    }
    for (_, stream) in tx.open() {
        // What the peer sent and nobody reads any more must not take back what it has yet to read.
        let _ = stream.finish();
        let mut space = [0; 4096];
        while stream
            .read(&mut space, &mut [])
            .is_ok_and(|count| count > 0)
        {}
    }
}
