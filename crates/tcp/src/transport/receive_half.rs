//! [`ReceiveHalf`]: the receiving half of one connection, from the socket to frames and bulk.

use std::io;
use std::sync::Arc;

use oxmpi_os::tcp::Stream;
use oxmpi_wire::{AsTx, Bytes, Fault, Kind, Peer, Sink, Take};

use super::tx::{InboundBulk, TcpTx};
use crate::frame::{Control, Inbound, ReceiveBuffer};
use crate::liveness::StallDetector;

/// Bytes that a read takes besides bulk: a request and the frame that announces its bytes. More would be
/// bulk that passes through the buffer, with one more copy.
const BESIDE_BULK: usize = 128;

/// The receiving half of the connection with one peer.
#[derive(Debug)]
pub(super) struct ReceiveHalf {
    pub(super) stream: Arc<Stream>,
    buffer: ReceiveBuffer,
    /// A read would not block, as far as is known.
    pub(super) readable: bool,
    /// The peer has closed, which no later event reports: reads go on to the end of the stream.
    pub(super) ended: bool,
    /// The peer is in the list of peers to poll.
    pub(super) listed: bool,
    pub(super) stall: StallDetector,
    /// The target of the bulk that is arriving.
    bulk: Option<InboundBulk>,
    /// The last frame had or announced bulk: the next one probably has bulk, too.
    expects_bulk: bool,
    /// The last call of [`ReceiveHalf::receive`] stopped before the end of the bytes.
    pub(super) stopped_early: bool,
}

impl ReceiveHalf {
    pub(super) fn new(stream: Arc<Stream>, buffer: ReceiveBuffer) -> Self {
        Self {
            stream,
            buffer,
            readable: true,
            ended: false,
            listed: false,
            stall: StallDetector::default(),
            bulk: None,
            expects_bulk: false,
            stopped_early: false,
        }
    }

    /// Hands at most `budget` frames and pieces of bulk from `peer` to `sink`, and reads while bytes
    /// arrive. Returns how many. Stops after a request to send, so that the caller can post its
    /// receive before the pushed bytes behind the request are dropped.
    pub(super) fn receive<B: Bytes, T: AsTx<TcpTx<B>>, S: Sink<T>>(
        &mut self,
        peer: u32,
        tx: &mut T,
        budget: u32,
        sink: &mut S,
    ) -> u32 {
        let mut moved = 0;
        self.stopped_early = false;
        while moved < budget && !tx.as_tx().is_lost(peer) {
            if self.buffer.bulk() > 0 {
                if !self.buffer.has_bytes() {
                    if !self.read(peer, tx.as_tx()) {
                        break;
                    }
                } else {
                    let bytes = self.buffer.take_bulk();
                    tx.as_tx().place(self.bulk.as_mut(), bytes);
                }
                self.end_bulk(peer, tx.as_tx());
                moved += 1;
                continue;
            }
            match self.buffer.next() {
                Ok(Some(Inbound::Frame(head, mut body))) => {
                    sink.frame(tx, Peer(peer), &head, &mut body);
                    moved += 1;
                    self.stopped_early = head.kind == Kind::RequestToSend;
                    self.expects_bulk =
                        self.stopped_early || self.expects_bulk && head.kind != Kind::Eager;
                    if self.stopped_early {
                        break;
                    }
                }
                Ok(Some(Inbound::Control(Control::Pad))) => moved += 1,
                Ok(Some(Inbound::Control(control))) => {
                    self.expects_bulk |= control.bulk() > 0;
                    match tx.as_tx().control(peer, control) {
                        Ok(bulk) => self.bulk = bulk,
                        Err(rule) => tx.as_tx().violation(peer, &rule, rule),
                    }
                    self.end_bulk(peer, tx.as_tx());
                    moved += 1;
                }
                Ok(None) => {
                    if !self.read(peer, tx.as_tx()) {
                        break;
                    }
                }
                Err(violation) => tx.as_tx().violation(peer, &violation, violation.rule()),
            }
        }
        moved
    }

    /// Reports the end of a frame's bulk once all of it has arrived.
    fn end_bulk<B: Bytes>(&mut self, peer: u32, tx: &mut TcpTx<B>) {
        if self.buffer.bulk() == 0
            && let Some(bulk) = self.bulk.take()
        {
            tx.arrived(peer, bulk);
        }
    }

    /// Reads once; false if no bytes were read.
    fn read<B: Bytes>(&mut self, peer: u32, tx: &mut TcpTx<B>) -> bool {
        if !self.readable {
            return false;
        }
        let (requested, result) = self.read_once(peer, tx);
        match result {
            Ok(0) => {
                tx.lose(peer, Fault::PeerDead);
                false
            }
            Ok(count) => {
                self.stall.received();
                self.readable = count == requested || self.ended;
                true
            }
            Err(error) => {
                self.readable = false;
                if error.kind() != io::ErrorKind::WouldBlock {
                    tx.broken(peer, &error);
                }
                false
            }
        }
    }

    /// Reads bulk to its memory and the rest to the buffer. Returns the bytes requested, and the result.
    fn read_once<B: Bytes>(&mut self, peer: u32, tx: &TcpTx<B>) -> (usize, io::Result<usize>) {
        let left = usize::try_from(self.buffer.bulk()).unwrap_or(usize::MAX);
        let target = self.bulk.as_ref().and_then(|bulk| tx.target(bulk));
        if let Some((bytes, at)) = target.filter(|_| left > 0) {
            let space = self.buffer.space();
            let len = space.len().min(BESIDE_BULK);
            let mut source = SocketSource {
                stream: &self.stream,
                space: &mut space[..len],
                left,
                read: None,
            };
            bytes.fill(at, &mut source);
            if let Some(BulkRead {
                requested,
                direct,
                result,
            }) = source.read
            {
                let count = *result.as_ref().unwrap_or(&0);
                let direct = count.min(direct);
                self.buffer.received(direct as u64, count - direct);
                if let Some(bulk) = &mut self.bulk {
                    bulk.advance(direct as u64);
                }
                return (requested, result);
            }
        }
        let mut space = self.buffer.space();
        if self.expects_bulk || tx.awaits_bulk(peer) {
            // Bulk without an operation is dropped, so it need not be read alone.
            let len = space.len().min(left.saturating_add(BESIDE_BULK));
            space = &mut space[..len];
        }
        let requested = space.len();
        let result = self.stream.read(space, &mut []);
        self.buffer.received(0, *result.as_ref().unwrap_or(&0));
        (requested, result)
    }

    /// Ends the connection, and gives up bulk that was arriving.
    pub(super) fn end<B: Bytes>(self, tx: &mut TcpTx<B>) {
        if let Some(bulk) = self.bulk {
            tx.abandon(bulk);
        }
    }
}

/// A read into the user's memory.
struct BulkRead {
    /// Bytes that it requested.
    requested: usize,
    /// Bytes of them for the user's memory; the others are for the buffer.
    direct: usize,
    result: io::Result<usize>,
}

/// A socket as the source of the user's bytes: one read fills the first contiguous bytes of the user's memory,
/// and then `space`.
struct SocketSource<'a> {
    stream: &'a Stream,
    space: &'a mut [u8],
    left: usize,
    read: Option<BulkRead>,
}

impl Take for SocketSource<'_> {
    fn left(&self) -> usize {
        self.left
    }

    fn take(&mut self, to: &mut [u8]) {
        if self.read.is_some() || to.is_empty() {
            return; // behind a gap: the next read fills it
        }
        self.read = Some(BulkRead {
            requested: to.len() + self.space.len(),
            direct: to.len(),
            result: self.stream.read(to, self.space),
        });
    }
}
