//! [`ConnectionManager`]: accepts the connections of peers, and makes those that this rank opens.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use oxmpi_os::epoll::Epoll;
use oxmpi_os::host;
use oxmpi_os::tcp::Stream;
use oxmpi_wire::{Bytes, Fault};

use super::active_open::{ActiveOpen, ConnectParams, OpenStep};
use super::handshake_io::{ConnectError, read, write};
use super::listening_endpoint::ListeningEndpoint;
use super::peer_cards::{PeerCards, host_of};
use super::tx::TcpTx;
use super::{EventSource, OPERATIONS};
use crate::address::{address_pairs, routes};
use crate::handshake::{
    ConnectDecision, PeerState, PendingQueue, RankPair, ServerHandshake, decide,
};
use crate::log::warn;

/// Most connections that one poll accepts.
const MAX_ACCEPTS: usize = OPERATIONS / 4;

/// Pauses between accepts that the system refuses, until it accepts one. Times are in milliseconds.
#[derive(Debug, Default)]
struct AcceptPause {
    /// When the listener is to be watched again. `None`: no accept was refused; `u64::MAX`: it is watched.
    until: Option<u64>,
}

impl AcceptPause {
    const LENGTH: u64 = 100;

    fn begin(&mut self, now: u64) {
        self.until = Some(now + Self::LENGTH);
    }

    fn is_over(&self, now: u64) -> bool {
        self.until.is_some_and(|until| now >= until)
    }
}

/// The listening socket with its pending connections, and the connects of this rank under way.
#[derive(Debug)]
pub(super) struct ConnectionManager {
    me: u32,
    endpoint: ListeningEndpoint,
    cards: PeerCards,
    pending: PendingQueue<PendingConnection>,
    /// The number of the last pending connection.
    last_number: u64,
    opens: BTreeMap<u32, ActiveOpen>,
    /// When the next open has work to do, unless an event comes before.
    next_step: u64,
    began: Instant,
    /// Connections that were refused.
    refused: u64,
    /// Set after the system has refused an accept: the listener is not watched until this time.
    accept_pause: AcceptPause,
}

/// A connection that a peer opened, whose handshake is not done.
#[derive(Debug)]
struct PendingConnection {
    stream: Stream,
    from: SocketAddr,
    handshake: ServerHandshake,
}

impl ConnectionManager {
    pub(super) fn new(me: u32, cards: PeerCards, endpoint: ListeningEndpoint) -> Self {
        let timeout = endpoint.options.handshake_timeout.as_millis() as u64;
        let capacity = endpoint.options.pending_connections as usize;
        Self {
            me,
            endpoint,
            cards,
            pending: PendingQueue::new(capacity, timeout),
            last_number: 0,
            opens: BTreeMap::new(),
            next_step: 0,
            began: Instant::now(),
            refused: 0,
            accept_pause: AcceptPause::default(),
        }
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    /// Accepts connections that wait at the listener.
    pub(super) fn accept(&mut self, epoll: &Epoll) {
        for _ in 0..MAX_ACCEPTS {
            let (stream, from) = match self.endpoint.listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // Probably no descriptor is free: the oldest pending connection makes room.
                Err(_) if self.pending.remove_oldest().is_some() => continue,
                Err(error) => return self.pause(&error, epoll),
            };
            self.accept_pause = AcceptPause::default();
            if !self.is_allowed(&stream) {
                self.log_refused(&from, &"this rank does not advertise its local address");
                continue;
            }
            let Ok(nonce) = host::random() else {
                return;
            };
            self.last_number += 1;
            let source = EventSource::Pending(self.last_number);
            let ranks = self.cards.len() as u32;
            let handshake = ServerHandshake::new(self.endpoint.key.clone(), self.me, ranks, nonce);
            if epoll.watch(&stream, source.word()).is_err() {
                continue;
            }
            let pending = PendingConnection {
                stream,
                from,
                handshake,
            };
            if let Some(oldest) = self.pending.insert(self.last_number, pending, self.now()) {
                self.log_refused(&oldest.from, &"newer connections took its place");
            }
        }
    }

    /// Stops watching the listener for a while: it is level-triggered and would wake every wait.
    fn pause(&mut self, error: &io::Error, epoll: &Epoll) {
        if self.accept_pause.until.is_none() {
            let message = format_args!("connections cannot be accepted: {error}");
            warn(self.me, self.endpoint.options.log, message);
        }
        // If this fails, the next event pauses again.
        let _ = epoll.forget(&self.endpoint.listener);
        self.accept_pause.begin(self.now());
    }

    /// Watches the listener again after a pause, which the next accepted connection ends.
    fn resume(&mut self, epoll: &Epoll) {
        let now = self.now();
        if self.accept_pause.is_over(now) {
            let source = EventSource::Listener.word();
            match epoll.watch_readable(&self.endpoint.listener, source) {
                Ok(()) => self.accept_pause.until = Some(u64::MAX),
                Err(_) => self.accept_pause.begin(now),
            }
        }
    }

    /// Whether the local address of a connection is on this rank's business card.
    fn is_allowed(&self, stream: &Stream) -> bool {
        let addresses = &self.endpoint.card.addresses;
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
                "refused a connection from {from} ({} so far): {why}",
                self.refused
            );
            warn(self.me, self.endpoint.options.log, message);
        }
    }

    /// Reads from pending connection `number`. `Some`: it becomes the connection with that rank.
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
                    // No violation: perhaps the peer leaves the job.
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

    /// Begins to connect to `peer`.
    fn open(&mut self, peer: u32) {
        let card = self.cards[peer as usize].get();
        let remote = card.map_or(&[][..], |card| &card.addresses);
        let pairs = address_pairs(&self.endpoint.card.addresses, remote);
        let timeout = self.endpoint.options.connect_timeout.as_millis() as u64;
        let open = ActiveOpen::new(pairs, self.now(), timeout);
        self.opens.insert(peer, open);
        self.next_step = 0;
    }

    /// Handles an event of a socket that connects to `peer`. `Some`: it is the connection.
    pub(super) fn connecting_ready(&mut self, peer: u32) -> Option<Stream> {
        let now = self.now();
        let params = connect_params(self.me, peer, &self.endpoint, &self.cards);
        let stream = self.opens.get_mut(&peer)?.ready(now, &params);
        if stream.is_some() {
            self.opens.remove(&peer);
        }
        self.next_step = 0;
        stream
    }

    /// Refuses pending connections whose handshake took too long. Call it after their bytes have been read.
    pub(super) fn drop_overdue(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let now = self.now();
        while let Some(pending) = self.pending.overdue(now) {
            self.log_refused(&pending.from, &"its handshake took too long");
        }
    }

    /// Begins to connect, tries further addresses and gives up, as the time demands.
    pub(super) fn tick<B: Bytes>(&mut self, epoll: &Epoll, tx: &mut TcpTx<B>) {
        while let Some(peer) = tx.next_to_connect() {
            self.open(peer);
        }
        if self.accept_pause.until.is_some() {
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
        let (me, endpoint, cards) = (self.me, &self.endpoint, &self.cards);
        let next_step = &mut self.next_step;
        self.opens.retain(|&peer, open| {
            if tx.is_lost(peer) {
                return false;
            }
            let source = EventSource::Connecting(peer).word();
            let watch = |stream: &Stream| epoll.watch(stream, source);
            match open.step(now, &connect_params(me, peer, endpoint, cards), watch) {
                OpenStep::Wait(until) => *next_step = until.min(*next_step),
                OpenStep::Failed(why) => {
                    if let (Fault::Unreachable(_), Some(card)) = (&why, cards[peer as usize].get())
                    {
                        let (host, routes) = (&card.host, routes(&endpoint.card.addresses, card));
                        let message = format_args!(
                            "rank {peer} on {host} cannot be reached: {why}; {routes}"
                        );
                        warn(me, endpoint.options.log, message);
                    }
                    tx.lose(peer, why);
                }
            }
            !tx.is_lost(peer)
        });
    }
}

/// The parameters of the connect of `me` to `peer`.
fn connect_params<'a>(
    me: u32,
    peer: u32,
    endpoint: &'a ListeningEndpoint,
    cards: &'a PeerCards,
) -> ConnectParams<'a> {
    let ListeningEndpoint { key, options, .. } = endpoint;
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
    /// Sends a leave to peers that may have accepted this rank: without it they would take the end of the
    /// connection for the death of this process.
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

    /// Reads and answers. `Some`: the peer has proved its knowledge of the key.
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

#[cfg(test)]
mod tests {
    use super::AcceptPause;

    #[test]
    fn a_pause_ends_after_its_length() {
        let mut pause = AcceptPause::default();
        assert!(!pause.is_over(u64::MAX), "there is none");
        for now in [0, 7, 5000] {
            pause.begin(now);
            let end = now + AcceptPause::LENGTH;
            assert!(!pause.is_over(end - 1) && pause.is_over(end), "at {now}");
        }
    }
}
