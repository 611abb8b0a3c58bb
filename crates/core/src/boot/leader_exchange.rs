//! The exchange of node address tables between the leaders of nodes, over the first connections of the job,
//! which messages between these ranks use later.

use std::fmt;
use std::time::{Duration, Instant};

use oxmpi_os::RawBytes;
use oxmpi_tcp::{TcpRx, TcpTx};
use oxmpi_wire::exchange::{AddressExchange, ExchangeError, ExchangeStep};
use oxmpi_wire::{
    Busy, Envelope, Fault, Flags, Header, Kind, Network, Peer, Put, Rx, Sink, Sleeper, Slot, Take,
    Token, Tx,
};

use super::ExchangeTraffic;
use crate::error::{Error, Result};
use crate::links::sleep;

/// The sending and receiving half of a rank's network.
pub(super) type NetworkEnds = (TcpTx<RawBytes>, TcpRx<RawBytes>);

/// The leader of a node, and its business card, if it has published one.
pub(super) struct LeaderAddress {
    pub(super) rank: u32,
    pub(super) card: Option<String>,
}

/// The longest message: 100,000 nodes with the longest tables take half of it.
const LONGEST: usize = 1 << 30;

/// What is being done here, for error messages.
const STEP: &str = "exchanging the addresses of ranks with other nodes";

/// Runs the `exchange` of this leader to its end, for `timeout` at most. `leader_address` finds the leader
/// of a node, and with `true` its addresses.
///
/// # Errors
/// When a leader does not connect, is lost, or sends data that is not part of an exchange.
pub(super) fn run(
    exchange: &mut AddressExchange,
    ends: NetworkEnds,
    timeout: Duration,
    mut leader_address: impl FnMut(u32, bool) -> Result<LeaderAddress>,
) -> Result<(NetworkEnds, ExchangeTraffic)> {
    let mut mail = LeaderMessages::new(ends, timeout);
    loop {
        match exchange.next_step() {
            ExchangeStep::GetCard { node } => {
                let LeaderAddress { rank, card } = leader_address(node, true)?;
                exchange.card_received(card.is_some()).map_err(wrong)?;
                if let Some(card) = card {
                    let introduced = mail.tx.introduce(&card, &[(Peer(rank), None)]);
                    introduced.map_err(|why| malformed(&why))?;
                }
            }
            ExchangeStep::Send { node, bytes } => {
                mail.send(leader_address(node, false)?.rank, &bytes)?
            }
            ExchangeStep::Receive { node } => {
                let bytes = mail.receive(leader_address(node, false)?.rank)?;
                exchange.receive(node, &bytes).map_err(wrong)?;
            }
            ExchangeStep::Done => return mail.finish(),
        }
    }
}

/// The error of a business card that cannot be read.
pub(super) fn malformed(why: &dyn fmt::Display) -> Error {
    Error::start("looking for the ranks of other nodes", why)
}

pub(super) fn wrong(why: ExchangeError) -> Error {
    Error::start(STEP, why)
}

/// Messages of any length between leaders. Each is sent in frames, whose tags count how many more follow.
struct LeaderMessages {
    tx: TcpTx<RawBytes>,
    rx: TcpRx<RawBytes>,
    arrived: ArrivedMessages,
    traffic: ExchangeTraffic,
    timeout: Duration,
    until: Instant,
}

impl LeaderMessages {
    fn new((tx, rx): NetworkEnds, timeout: Duration) -> Self {
        Self {
            tx,
            rx,
            arrived: ArrivedMessages::default(),
            traffic: ExchangeTraffic::default(),
            timeout,
            until: Instant::now() + timeout,
        }
    }

    fn send(&mut self, to: u32, bytes: &[u8]) -> Result<()> {
        let longest = self.tx.limits(Peer(to)).frame as usize;
        let pieces = bytes.chunks(longest);
        for (left, piece) in (0..pieces.len() as u32).rev().zip(pieces) {
            while !self.put(to, left, piece) {
                self.wait_step(to)?;
            }
            self.tx.flush();
        }
        self.traffic.messages += 1;
        self.traffic.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Sends one frame of a message of which `left` more follow. False: there is no room now.
    fn put(&mut self, to: u32, left: u32, piece: &[u8]) -> bool {
        let head = Header {
            kind: Kind::Eager,
            flags: Flags::empty(),
            len: piece.len() as u32,
            envelope: Envelope {
                context: 0,
                tag: left,
            },
        };
        match self.tx.frame(Peer(to), &head, piece.len()) {
            Ok(mut slot) => {
                slot.put(piece);
                slot.send();
                true
            }
            Err(Busy) => false,
        }
    }

    /// Waits for a message from rank `from`.
    fn receive(&mut self, from: u32) -> Result<Vec<u8>> {
        loop {
            if let Some(bytes) = self.arrived.take(from) {
                return Ok(bytes);
            }
            self.wait_step(from)?;
        }
    }

    /// Makes progress, or sleeps until there is some. Errors name rank `awaited`.
    fn wait_step(&mut self, awaited: u32) -> Result<()> {
        if self.progress_until_late()? {
            return Ok(());
        }
        let waited = self.timeout.as_secs_f32();
        let routes = self.tx.routes(Peer(awaited));
        let why = format!(
            "rank {awaited}, which leads its node, has sent nothing in {waited} s; {routes}"
        );
        Err(Error::start(STEP, why))
    }

    /// Makes progress, or sleeps until there is some. False: the time is over.
    fn progress_until_late(&mut self) -> Result<bool> {
        let moved = self.rx.poll(&mut self.tx, u32::MAX, &mut self.arrived);
        self.check()?;
        let left = self.until.saturating_duration_since(Instant::now());
        if moved == 0 && !left.is_zero() && self.rx.arm() {
            sleep(&self.rx, None, left);
        }
        Ok(!left.is_zero())
    }

    fn check(&self) -> Result<()> {
        let Some((peer, fault)) = self.arrived.lost else {
            return Ok(());
        };
        let host = self.tx.host(peer);
        let why = format!(
            "lost rank {} on {host}, which leads its node: {fault}; {}",
            peer.0,
            self.tx.routes(peer)
        );
        Err(Error::start(STEP, why))
    }

    /// Waits until the system has taken all that was sent.
    fn finish(mut self) -> Result<(NetworkEnds, ExchangeTraffic)> {
        while self.tx.has_unsent() {
            if !self.progress_until_late()? {
                let waited = self.timeout.as_secs_f32();
                let why = format!(
                    "the leader of another node has not received this node's addresses in {waited} s"
                );
                return Err(Error::start(STEP, why));
            }
        }
        Ok(((self.tx, self.rx), self.traffic))
    }
}

/// The messages that have arrived. Their senders have proved that they belong to this job.
#[derive(Default)]
struct ArrivedMessages {
    whole: Vec<(u32, Vec<u8>)>,
    parts: Vec<(u32, Vec<u8>)>,
    lost: Option<(Peer, Fault)>,
}

impl ArrivedMessages {
    fn take(&mut self, from: u32) -> Option<Vec<u8>> {
        take(&mut self.whole, from)
    }
}

fn take(list: &mut Vec<(u32, Vec<u8>)>, from: u32) -> Option<Vec<u8>> {
    let at = list.iter().position(|(rank, _)| *rank == from)?;
    Some(list.swap_remove(at).1)
}

impl<T> Sink<T> for ArrivedMessages {
    fn frame(&mut self, _: &mut T, from: Peer, head: &Header, body: &mut impl Take) {
        let mut bytes = take(&mut self.parts, from.0).unwrap_or_default();
        let at = bytes.len();
        if at > LONGEST {
            let why = Fault::Protocol("node address tables have at most 1 GiB");
            self.lost.get_or_insert((from, why));
            return;
        }
        bytes.resize(at + body.left(), 0);
        body.take(&mut bytes[at..]);
        let list = match head.envelope.tag {
            0 => &mut self.whole,
            _ => &mut self.parts,
        };
        list.push((from.0, bytes));
    }

    fn done(&mut self, _: &mut T, _: Token, _: std::result::Result<(), Fault>) {}

    fn room(&mut self, _: &mut T, _: Peer) {}

    fn lost(&mut self, _: &mut T, peer: Peer, why: Fault) {
        self.lost.get_or_insert((peer, why));
    }
}

#[cfg(test)]
mod tests;
