//! The states of a peer in the sending half: first use, connected, blocked, lost.

use std::fmt;
use std::io;
use std::sync::Arc;

use oxmpi_os::tcp::Stream;
use oxmpi_wire::{Bytes, Fault, Network, Peer};

use super::TcpTx;
use crate::handshake::PeerState;
use crate::log::warn;
use crate::transport::send_half::SendHalf;

impl<B: Bytes> TcpTx<B> {
    pub(in crate::transport) fn is_lost(&self, peer: u32) -> bool {
        let half = self.peers[peer as usize].as_ref();
        half.is_some_and(|half| half.lost.is_some())
    }

    /// The sending half of the connection to `peer`. After the first use the next poll connects to it.
    #[inline]
    pub(super) fn half(&mut self, peer: u32) -> &mut SendHalf {
        if self.peers[peer as usize].is_none() {
            self.add_peer(peer);
        }
        self.peers[peer as usize].as_mut().expect("added above")
    }

    #[cold]
    #[inline(never)]
    fn add_peer(&mut self, peer: u32) {
        let half = SendHalf::new(self.options.send_buffer_len());
        self.peers[peer as usize] = Some(Box::new(half));
        if peer == self.me {
            let why = Fault::Unreachable("a rank has no connection to itself");
            self.lose(peer, why);
        } else {
            self.to_connect.push(peer);
        }
    }

    /// The next peer to connect to; each call gives another one.
    pub(in crate::transport) fn next_to_connect(&mut self) -> Option<u32> {
        self.to_connect.pop()
    }

    /// The state of `peer`, except that this half does not know whether a connect is authenticated.
    pub(in crate::transport) fn peer_state(&self, peer: u32) -> PeerState {
        match &self.peers[peer as usize] {
            None => PeerState::Unconnected,
            Some(half) if half.lost.is_some() => PeerState::Lost,
            Some(half) if half.stream.is_some() => PeerState::Connected,
            Some(_) => PeerState::Connecting,
        }
    }

    /// Takes `stream` as the connection to `peer`.
    pub(in crate::transport) fn connected(&mut self, peer: u32, stream: Arc<Stream>) {
        let half = self.half(peer);
        half.stream = Some(stream);
        half.writable = true;
        self.to_connect.retain(|wanted| *wanted != peer);
        self.schedule(peer);
    }

    /// Notes that the kernel accepts bytes for `peer` again.
    pub(in crate::transport) fn writable(&mut self, peer: u32) {
        if let Some(half) = &mut self.peers[peer as usize]
            && !half.shut
        {
            half.writable = true;
            if !half.is_idle() {
                self.schedule(peer);
            }
        }
    }

    /// Whether bytes for `peer` wait for room in the kernel.
    #[inline]
    pub(in crate::transport) fn is_blocked(&self, peer: u32) -> bool {
        let half = self.peers[peer as usize].as_ref();
        half.is_some_and(|half| !half.writable && !half.is_idle())
    }

    /// The open connections.
    pub(in crate::transport) fn open(&self) -> impl Iterator<Item = (u32, &Arc<Stream>)> {
        let peers = (0..).zip(&self.peers);
        peers.filter_map(|(peer, half)| Some((peer, half.as_ref()?.stream.as_ref()?)))
    }

    /// Counts `peer` as lost for the reason `why`, and reports that to the sink once.
    pub(in crate::transport) fn lose(&mut self, peer: u32, why: Fault) {
        let half = self.half(peer);
        if half.lost.is_some() {
            return;
        }
        half.lost = Some(why);
        if let Some(stream) = half.stream.take()
            && why.is_failure()
        {
            // Bytes in the kernel may be pages that the user writes to again: a reset drops them.
            let _ = stream.reset_at_end();
        }
        half.awaits_room = false;
        half.buffer.clear();
        half.replies.clear();
        self.zero_copy.lose(peer);
        self.drop_bulk(peer, why);
        self.peers_awaiting_room.retain(|waiting| *waiting != peer);
        self.to_connect.retain(|wanted| *wanted != peer);
        self.losses.push_back((peer, why));
        if why.is_failure() {
            let host = self.host(Peer(peer));
            tracing::info!(peer, host, %why, "connection lost");
        }
    }

    /// Handles a failed write to `peer`. If the peer has closed, the receiving half decides why it is lost, by the
    /// last frames of the peer.
    #[cold]
    pub(super) fn write_failed(&mut self, peer: u32, error: &io::Error) {
        use io::ErrorKind::{BrokenPipe, ConnectionReset};
        if matches!(error.kind(), ConnectionReset | BrokenPipe) {
            let half = self.half(peer);
            half.shut = true;
            half.writable = false;
        } else {
            self.broken(peer, error);
        }
    }

    /// Loses `peer`, whose connection has failed with `error`.
    pub(in crate::transport) fn broken(&mut self, peer: u32, error: &io::Error) {
        let why = match error.kind() {
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Fault::PeerDead,
            io::ErrorKind::TimedOut => Fault::Silent,
            io::ErrorKind::HostUnreachable => Fault::Unreachable("no route to its host"),
            io::ErrorKind::NetworkUnreachable => Fault::Unreachable("no route to its network"),
            _ => Fault::Refused("the connection to the peer"),
        };
        let host = self.host(Peer(peer));
        tracing::debug!(peer, host, %error, "a connection failed");
        self.lose(peer, why);
    }

    /// Loses `peer`, which violated `rule` of the protocol; `details` goes to the log.
    #[cold]
    pub(in crate::transport) fn violation(
        &mut self,
        peer: u32,
        details: &dyn fmt::Display,
        rule: &'static str,
    ) {
        let host = self.host(Peer(peer));
        let message = format_args!("rank {peer} on {host} broke the protocol: {details}");
        warn(self.me, self.options.log, message);
        self.lose(peer, Fault::Protocol(rule));
    }
}
