//! [`TcpRx`]: the receiving half of a rank's connections, which polls sockets and watches peers.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use oxmpi_os::RawBytes;
use oxmpi_os::epoll::{Epoll, Events};
use oxmpi_os::tcp::Stream;
use oxmpi_wire::{AsTx, Bytes, Fault, Network, Peer, Rx, Sink, Sleeper, WaitObjects};

use super::EventSource;
use super::connection_manager::ConnectionManager;
use super::listening_endpoint::ListeningEndpoint;
use super::options::TcpOptions;
use super::peer_cards::{PeerCards, index};
use super::receive_half::ReceiveHalf;
use super::tx::TcpTx;
use crate::frame::{Control, ReceiveBuffer};
use crate::liveness::{StallDetector, StallVerdict, is_unresponsive};

/// Send buffer of a connection within the host; the kernel doubles it. It fits half of a second-level
/// cache: more makes messages of 1 MiB and longer 5 to 10 % slower (Cascade Lake).
const LOCAL_SEND_BUFFER: usize = 256 << 10;

/// Polls between two reads of the clock, unless the rank sleeps between. A power of two.
const POLLS_PER_CHECK: u32 = 1024;

/// Longest sleep: the interval in which connection attempts and hosts are checked.
const MAX_SLEEP: Duration = Duration::from_millis(100);

/// The receiving half of a rank's connections.
///
/// It is also a descriptor: after [`Sleeper::arm`] has returned true, it becomes readable when a poll may
/// find something.
pub struct TcpRx<B: Bytes = RawBytes> {
    epoll: Epoll,
    /// Events of the last wait that no poll has handled yet.
    events: Events,
    manager: ConnectionManager,
    /// By peer.
    peers: Vec<Option<Box<ReceiveHalf>>>,
    /// Peers that may have sent something, in the order of polls.
    listed: VecDeque<u32>,
    options: TcpOptions,
    polls: u32,
    hosts_checked: Instant,
    streams_checked: Instant,
    /// The last poll found nothing and left nothing to do.
    quiet: bool,
    bytes: std::marker::PhantomData<fn(B)>,
}

impl<B: Bytes> fmt::Debug for TcpRx<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpRx").finish_non_exhaustive()
    }
}

impl<B: Bytes> AsFd for TcpRx<B> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

impl<B: Bytes> TcpRx<B> {
    pub(super) fn new(me: u32, cards: PeerCards, endpoint: ListeningEndpoint) -> io::Result<Self> {
        let epoll = Epoll::new()?;
        let peers = cards.iter().map(|_| None).collect();
        let options = endpoint.options;
        epoll.watch_readable(&endpoint.listener, EventSource::Listener.word())?;
        Ok(Self {
            epoll,
            events: Events::default(),
            manager: ConnectionManager::new(me, cards, endpoint),
            peers,
            listed: VecDeque::new(),
            options,
            polls: 0,
            hosts_checked: Instant::now(),
            streams_checked: Instant::now(),
            quiet: false,
            bytes: std::marker::PhantomData,
        })
    }

    /// Sleeps until something arrives, at most `limit` and 100 ms: for a rank without other transports. Call it
    /// after [`Sleeper::arm`] has returned true, and poll afterwards.
    pub fn nap(&mut self, limit: Duration) {
        // However the wait ends, the caller polls again.
        let _ = self.epoll.wait(&mut self.events, limit.min(MAX_SLEEP));
    }

    /// Takes `stream` as the connection with `peer`, whose handshake is done.
    fn connected(&mut self, peer: u32, stream: Stream, tx: &mut TcpTx<B>) {
        let key = EventSource::Connection(peer).word();
        let tuned = stream.tune(self.options.host_timeout / 2);
        let tuned = tuned.and_then(|()| stream.tune_local(LOCAL_SEND_BUFFER));
        if let Err(error) = tuned.and_then(|()| self.epoll.modify(&stream, key)) {
            return tx.broken(peer, &error);
        }
        let stream = Arc::new(stream);
        let buffer = ReceiveBuffer::new(self.options.frame, self.options.chunk);
        tx.connected(peer, Arc::clone(&stream));
        self.peers[peer as usize] = Some(Box::new(ReceiveHalf::new(stream, buffer)));
        self.list(peer);
    }

    fn list(&mut self, peer: u32) {
        if let Some(half) = &mut self.peers[peer as usize]
            && !half.listed
        {
            half.listed = true;
            self.listed.push_back(peer);
        }
    }

    /// Handles the events of all sockets: one system call.
    fn handle_events(&mut self, tx: &mut TcpTx<B>) {
        if self.events.is_empty() {
            // The next poll repeats a failed wait.
            let _ = self.epoll.wait(&mut self.events, Duration::ZERO);
        }
        let events = std::mem::take(&mut self.events);
        for ready in events.iter() {
            match EventSource::from_word(ready.key) {
                EventSource::Listener => self.manager.accept(&self.epoll),
                EventSource::Pending(number) => {
                    if let Some((peer, stream)) = self.manager.pending_readable(number, tx) {
                        self.connected(peer, stream, tx);
                    }
                }
                EventSource::Connecting(peer) => {
                    if let Some(stream) = self.manager.connecting_ready(peer) {
                        self.connected(peer, stream, tx);
                    }
                }
                EventSource::Connection(peer) => {
                    if ready.writable {
                        tx.writable(peer);
                    }
                    if ready.readable
                        && let Some(half) = &mut self.peers[peer as usize]
                    {
                        half.readable = true;
                        half.ended |= ready.ended;
                        self.list(peer);
                    }
                }
            }
        }
        self.events = events;
        self.events.clear();
    }

    /// Does the work that depends on time: attempts to connect, checks of hosts and connections.
    fn tick(&mut self, tx: &mut TcpTx<B>) {
        self.manager.tick(&self.epoll, tx);
        if self.polls & (POLLS_PER_CHECK - 1) == 0 {
            self.check_hosts(tx);
            self.check_streams(tx);
        }
        self.polls = self.polls.wrapping_add(1);
    }

    /// Counts peers whose hosts do not answer as lost.
    fn check_hosts(&mut self, tx: &mut TcpTx<B>) {
        if self.hosts_checked.elapsed() >= self.options.host_timeout / 4 {
            self.hosts_checked = Instant::now();
            let limit = self.options.host_timeout;
            self.manager.check_hosts(limit);
            let is_lost = |stream: &Stream| {
                stream
                    .tcp_info()
                    .is_ok_and(|info| is_unresponsive(&info, limit))
            };
            let open = tx.open().filter(|(_, stream)| is_lost(stream));
            let lost: Vec<u32> = open.map(|(peer, _)| peer).collect();
            for peer in lost {
                tx.lose(peer, Fault::Silent);
            }
        }
    }

    /// With a stall timeout, pings peers whose connections are quiet, and loses those that do not answer.
    fn check_streams(&mut self, tx: &mut TcpTx<B>) {
        let pause =
            (self.options.stall_timeout).map(|limit| limit / u32::from(StallDetector::CHECKS));
        if pause.is_none_or(|pause| self.streams_checked.elapsed() < pause) {
            return;
        }
        self.streams_checked = Instant::now();
        for (peer, half) in (0..).zip(&mut self.peers) {
            let Some(half) = half.as_mut().filter(|_| !tx.is_lost(peer)) else {
                continue;
            };
            match half.stall.check() {
                StallVerdict::Wait => {}
                StallVerdict::Ping => tx.send_control(peer, Control::Ping),
                StallVerdict::Lost => tx.lose(peer, Fault::Silent),
            }
        }
    }

    /// Hands frames and bulk of `peer` to `sink`.
    fn receive<T: AsTx<TcpTx<B>>, S: Sink<T>>(
        &mut self,
        peer: u32,
        tx: &mut T,
        budget: u32,
        sink: &mut S,
    ) -> u32 {
        let Some(mut half) = self.peers[peer as usize].take() else {
            return 0;
        };
        let moved = half.receive(peer, tx, budget, sink);
        self.peers[peer as usize] = Some(half);
        moved
    }

    /// Ends a poll: writes replies, and reports completions and losses to `sink`.
    fn finish<T: AsTx<TcpTx<B>>, S: Sink<T>>(&mut self, tx: &mut T, sink: &mut S) -> u32 {
        let mut moved = tx.as_tx().advance();
        let mut number = 0;
        while let Some(peer) = tx.as_tx().loss(number) {
            if let Some(half) = self.peers[peer as usize].take() {
                half.end(tx.as_tx());
            }
            number += 1;
        }
        moved += TcpTx::report(tx, sink);
        self.quiet = moved == 0 && self.listed.is_empty() && !tx.as_tx().has_local_work();
        moved
    }
}

impl<B: Bytes, T: AsTx<TcpTx<B>>> Rx<T> for TcpRx<B> {
    /// # Cost
    /// One system call if nothing has arrived, and at least one read for each peer that has sent something.
    fn poll<S: Sink<T>>(&mut self, tx: &mut T, budget: u32, sink: &mut S) -> u32 {
        self.tick(tx.as_tx());
        self.handle_events(tx.as_tx());
        self.manager.drop_overdue();
        let mut moved = 0;
        for _ in 0..self.listed.len() {
            if moved >= budget {
                break;
            }
            let Some(peer) = self.listed.pop_front() else {
                break;
            };
            if let Some(half) = &mut self.peers[peer as usize] {
                half.listed = false;
            }
            moved += self.receive(peer, tx, budget - moved, sink);
            let half = self.peers[peer as usize].as_ref();
            // A peer that used up the budget may have sent more.
            if moved >= budget || half.is_some_and(|half| half.stopped_early) {
                self.list(peer);
            }
        }
        moved + self.finish(tx, sink)
    }

    /// # Cost
    /// One read of that peer's connection. All peers are polled every 64th time, and whenever bytes for
    /// that peer wait for room in the kernel.
    fn poll_from<S: Sink<T>>(&mut self, tx: &mut T, from: Peer, sink: &mut S) -> u32 {
        let all = self.polls & 63 == 0 || tx.as_tx().is_blocked(from.0);
        let known = self.peers[index(from)].as_mut();
        let Some(half) = known.filter(|_| !all) else {
            return self.poll(tx, 1, sink);
        };
        self.polls = self.polls.wrapping_add(1);
        half.readable = true;
        let moved = self.receive(from.0, tx, 1, sink);
        if moved > 0 {
            self.list(from.0);
        }
        moved + self.finish(tx, sink)
    }
}

impl<B: Bytes> Sleeper for TcpRx<B> {
    /// True if the last poll found nothing and nothing has arrived since. Then this value, as a descriptor, becomes
    /// readable with the next arrival. The poll after the sleep reads the clock.
    ///
    /// # Cost
    /// One system call.
    fn arm(&mut self) -> bool {
        if self.events.is_empty() {
            let _ = self.epoll.wait(&mut self.events, Duration::ZERO);
        }
        let sleeps = self.quiet && self.events.is_empty();
        if sleeps {
            self.polls = 0;
        }
        sleeps
    }
}

impl<B: Bytes> WaitObjects for TcpRx<B> {
    type WaitObject<'a>
        = BorrowedFd<'a>
    where
        Self: 'a;

    /// The epoll instance stands for all sockets.
    fn watch<'a>(&'a self, watch: &mut dyn FnMut(BorrowedFd<'a>)) {
        watch(self.as_fd());
    }

    fn longest_sleep(&self) -> Duration {
        MAX_SLEEP
    }
}
