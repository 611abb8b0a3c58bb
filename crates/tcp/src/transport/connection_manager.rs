//! [`ConnectionManager`]: makes connections, from pending ones that peers open and from this rank's own.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use oxmpi_os::epoll::Epoll;
use oxmpi_os::host;
use oxmpi_os::tcp::{Listener, Stream};
use oxmpi_wire::{Bytes, Fault};

use super::active_open::{ActiveOpen, ConnectParams, OpenStep};
use super::handshake_io::{ConnectError, read, write};
use super::options::TcpOptions;
use super::peer_cards::{PeerCards, host_of};
use super::tx::TcpTx;
use super::{EventSource, OPERATIONS};
use crate::address::{BusinessCard, address_pairs, routes};
use crate::handshake::{
    ConnectDecision, JobKey, PeerState, PendingQueue, RankPair, ServerHandshake, decide,
};
use crate::log::warn;

/// Most connections that one poll accepts.
const MAX_ACCEPTS: usize = OPERATIONS / 4;

/// Milliseconds until the next try to accept, after the system refused one.
const ACCEPT_PAUSE: u64 = 100;

/// The listening socket with its pending connections, and this rank's connects that are under way.
#[derive(Debug)]
pub(super) struct ConnectionManager {
    me: u32,
    key: JobKey,
    listener: Listener,
    own: BusinessCard,
    cards: PeerCards,
    options: TcpOptions,
    pending: PendingQueue<PendingConnection>,
    /// The number of the last pending connection.
    last_number: u64,
    opens: BTreeMap<u32, ActiveOpen>,
    /// When an open is due, if nothing happens to it before.
    next_step: u64,
    began: Instant,
    /// Connections that were refused.
    refused: u64,
    /// The system refused to accept: the listener is not watched until this time.
    paused_until: Option<u64>,
}

/// A connection that a peer opened, whose handshake is not done.
#[derive(Debug)]
struct PendingConnection {
    stream: Stream,
    from: SocketAddr,
    handshake: ServerHandshake,
}

impl ConnectionManager {
    pub(super) fn new(
        me: u32,
        cards: PeerCards,
        own: BusinessCard,
        listener: Listener,
        key: JobKey,
        options: TcpOptions,
    ) -> Self {
        let timeout = options.handshake_timeout.as_millis() as u64;
        Self {
            me,
            key,
            listener,
            own,
            cards,
            pending: PendingQueue::new(options.pending_connections as usize, timeout),
            options,
            last_number: 0,
            opens: BTreeMap::new(),
            next_step: 0,
            began: Instant::now(),
            refused: 0,
            paused_until: None,
        }
    }

    pub(super) const fn listener(&self) -> &Listener {
        &self.listener
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    /// Accepts connections that wait at the listener.
    pub(super) fn accept(&mut self, epoll: &Epoll) {
        for _ in 0..MAX_ACCEPTS {
            let (stream, from) = match self.listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // Probably out of descriptors: the oldest pending connection makes room.
                Err(_) if self.pending.remove_oldest().is_some() => continue,
                Err(error) => return self.pause(&error, epoll),
            };
            self.paused_until = None;
            if !self.is_allowed(&stream) {
                self.log_refused(&from, &"it came by an interface that is not to be used");
                continue;
            }
            let Ok(nonce) = host::random() else {
                return;
            };
            self.last_number += 1;
            let source = EventSource::Pending(self.last_number);
            let ranks = self.cards.len() as u32;
            let handshake = ServerHandshake::new(self.key.clone(), self.me, ranks, nonce);
            if epoll.watch(&stream, source.word()).is_err() {
                continue;
            }
            let pending = PendingConnection {
                stream,
                from,
                handshake,
            };
            if let Some(oldest) = self.pending.insert(self.last_number, pending, self.now()) {
                self.log_refused(&oldest.from, &"others came while it said nothing");
            }
        }
    }

    /// Stops watching the listener for a while: level-triggered, it would report without end.
    fn pause(&mut self, error: &io::Error, epoll: &Epoll) {
        if self.paused_until.is_none() {
            let message = format_args!("connections cannot be accepted: {error}");
            warn(self.me, self.options.log, message);
        }
        // If this fails, the next event pauses again.
        let _ = epoll.forget(&self.listener);
        self.paused_until = Some(self.now() + ACCEPT_PAUSE);
    }

    /// Watches the listener again after a pause, which the next accepted connection ends.
    fn resume(&mut self, epoll: &Epoll) {
        let now = self.now();
        if self.paused_until.is_some_and(|until| now >= until) {
            let source = EventSource::Listener.word();
            let watched = epoll.watch_readable(&self.listener, source).is_ok();
            self.paused_until = Some(if watched {
                u64::MAX
            } else {
                now + ACCEPT_PAUSE
            });
        }
    }

    /// Whether a connection came to an address on this rank's business card.
    fn is_allowed(&self, stream: &Stream) -> bool {
        let addresses = &self.own.addresses;
        let has = |local: SocketAddr| addresses.iter().any(|own| own.address == local.ip());
        stream.local().is_ok_and(has)
    }

    /// Gives up attempts to connect to hosts that have not answered for `limit`.
    pub(super) fn check_hosts(&mut self, limit: Duration) {
        let now = self.now();
        for open in self.opens.values_mut() {
            open.check_hosts(now, limit);
        }
        self.next_step = 0;
    }

    /// Warns of a refused connection: of each of the first 16, then at each power of two.
    fn log_refused(&mut self, from: &SocketAddr, why: &dyn std::fmt::Display) {
        self.refused += 1;
        if self.refused <= 16 || self.refused.is_power_of_two() {
            let message = format_args!(
                "a connection from {from} is turned away ({} so far): {why}",
                self.refused
            );
            warn(self.me, self.options.log, message);
        }
    }

    /// Bytes arrived on pending connection `number`. `Some`: it becomes the connection with that rank.
    pub(super) fn pending_readable<B: Bytes>(
        &mut self,
        number: u64,
        tx: &TcpTx<B>,
    ) -> Option<(u32, Stream)> {
        let pending = self.pending.get(number)?;
        let ranks = match pending.read() {
            Ok(None) => return None,
            Ok(Some(ranks)) => ranks,
            Err(why) => {
                let pending = self.pending.remove(number)?;
                if why.is_close() {
                    // It violated nothing: perhaps a peer that leaves the job.
                    tracing::info!(from = %pending.from, %why, "a pending connection was closed");
                } else {
                    self.log_refused(&pending.from, &why);
                }
                return None;
            }
        };
        let mut pending = self.pending.remove(number)?;
        let decision = decide(self.me, ranks.from, self.peer_state(ranks.from, tx));
        pending.handshake.conclude(decision);
        let sent = pending.write();
        if decision != ConnectDecision::Accept || sent.is_err() {
            return None;
        }
        self.opens.remove(&ranks.from);
        Some((ranks.from, pending.stream))
    }

    /// The state of `peer`, which has connected.
    fn peer_state<B: Bytes>(&self, peer: u32, tx: &TcpTx<B>) -> PeerState {
        let open = self.opens.get(&peer);
        match tx.peer_state(peer) {
            PeerState::Connecting if open.is_some_and(ActiveOpen::is_authenticated) => {
                PeerState::Authenticated
            }
            state => state,
        }
    }

    /// See [`TcpRx::routes`](super::TcpRx::routes).
    pub(super) fn routes(&self, peer: u32) -> String {
        match self.cards[peer as usize].get() {
            Some(card) => routes(&self.own.addresses, card),
            None => format!("this rank waits for its connection at {}", self.own),
        }
    }

    /// Begins to connect to `peer`.
    fn open(&mut self, peer: u32) {
        let card = self.cards[peer as usize].get();
        let remote = card.map_or(&[][..], |card| &card.addresses);
        let pairs = address_pairs(&self.own.addresses, remote);
        let timeout = self.options.connect_timeout.as_millis() as u64;
        let open = ActiveOpen::new(pairs, self.now(), timeout);
        self.opens.insert(peer, open);
        self.next_step = 0;
    }

    /// A socket that connects to `peer` is ready. `Some`: it is the connection.
    pub(super) fn connecting_ready(&mut self, peer: u32) -> Option<Stream> {
        let now = self.now();
        let params = connect_params(self.me, peer, &self.key, &self.cards, &self.options);
        let stream = self.opens.get_mut(&peer)?.ready(now, &params);
        if stream.is_some() {
            self.opens.remove(&peer);
        }
        self.next_step = 0;
        stream
    }

    /// Refuses pending connections whose time is over. Call it after their bytes have been read.
    pub(super) fn drop_overdue(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let now = self.now();
        while let Some(pending) = self.pending.overdue(now) {
            self.log_refused(&pending.from, &"it took too long to prove who it is");
        }
    }

    /// Does what is due: begins to connect, tries further addresses, gives up.
    pub(super) fn tick<B: Bytes>(&mut self, epoll: &Epoll, tx: &mut TcpTx<B>) {
        while let Some(peer) = tx.next_to_connect() {
            self.open(peer);
        }
        if self.paused_until.is_some() {
            self.resume(epoll);
        }
        if self.opens.is_empty() {
            return;
        }
        let now = self.now();
        if now < self.next_step {
            return;
        }
        self.next_step = u64::MAX;
        let (me, key, cards, options) = (self.me, &self.key, &self.cards, &self.options);
        let own = &self.own;
        let next_step = &mut self.next_step;
        self.opens.retain(|&peer, open| {
            if tx.is_lost(peer) {
                return false;
            }
            let source = EventSource::Connecting(peer).word();
            let watch = |stream: &Stream| epoll.watch(stream, source);
            match open.step(now, &connect_params(me, peer, key, cards, options), watch) {
                OpenStep::Wait(until) => *next_step = until.min(*next_step),
                OpenStep::Failed(why) => {
                    if let (Fault::Unreachable(_), Some(card)) = (&why, cards[peer as usize].get())
                    {
                        let (host, routes) = (&card.host, routes(&own.addresses, card));
                        let message = format_args!(
                            "rank {peer} on {host} cannot be reached: {why}; {routes}"
                        );
                        warn(me, options.log, message);
                    }
                    tx.lose(peer, why);
                }
            }
            !tx.is_lost(peer)
        });
    }
}

/// How `me` connects to `peer`.
fn connect_params<'a>(
    me: u32,
    peer: u32,
    key: &'a JobKey,
    cards: &'a PeerCards,
    options: &TcpOptions,
) -> ConnectParams<'a> {
    let millis = |time: Duration| time.as_millis() as u64;
    ConnectParams {
        key,
        ranks: RankPair { from: me, to: peer },
        host: host_of(cards, peer),
        port: cards[peer as usize].get().map_or(0, |card| card.port),
        keepalive_idle: options.host_timeout / 2,
        connect_timeout: millis(options.connect_timeout),
        handshake_timeout: millis(options.handshake_timeout),
        stall_timeout: options.stall_timeout.map(millis),
    }
}

impl Drop for ConnectionManager {
    /// Tells peers that may have accepted this rank that it leaves: a connection that merely ends is that
    /// of a dead process.
    fn drop(&mut self) {
        self.opens.values().for_each(ActiveOpen::leave);
    }
}

impl PendingConnection {
    fn write(&mut self) -> Result<(), ConnectError> {
        let count = write(&self.stream, self.handshake.output())?;
        self.handshake.sent(count);
        Ok(())
    }

    /// Reads and answers. `Some`: the peer has proved that it knows the key.
    fn read(&mut self) -> Result<Option<RankPair>, ConnectError> {
        while let Some(count) = read(&self.stream, self.handshake.input())? {
            let result = self.handshake.received(count);
            if !self.handshake.output().is_empty() {
                self.write()?;
            }
            if let Some(ranks) = result? {
                return Ok(Some(ranks));
            }
        }
        Ok(None)
    }
}
