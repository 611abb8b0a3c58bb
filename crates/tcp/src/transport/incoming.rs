//! The incoming half of a connection.

use std::io;
use std::sync::Arc;

use oxmpi_os::tcp::Stream;
use oxmpi_wire::{Bytes, Fault, Holds, Kind, Peer, Sink, Take};

use super::bulk::Arriving;
use super::tx::TcpTx;
use crate::frame::{Arrival, Control, Inbox};
use crate::pulse::Stall;

/// Bytes that are read ahead of bulk, and behind it: a request and what announces its bytes, and no more, since
/// bulk in the inbox is copied once more.
const AHEAD: usize = 128;

/// What comes from one peer.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) stream: Arc<Stream>,
    inbox: Inbox,
    /// As far as is known, a read would not block.
    pub(super) readable: bool,
    /// Nothing comes after what can be read now, and no further event will say so: reads go on to the end.
    pub(super) ended: bool,
    /// It is in the list of those to look at.
    pub(super) listed: bool,
    /// Whether it brings anything.
    pub(super) stall: Stall,
    /// Where the bulk goes that comes.
    arriving: Option<Arriving>,
    /// What came last had bulk, or is about to: so has perhaps what comes next.
    bulky: bool,
    /// The last look ended early.
    pub(super) pauses: bool,
}

impl Incoming {
    pub(super) fn new(stream: Arc<Stream>, inbox: Inbox) -> Self {
        Self {
            stream,
            inbox,
            readable: true,
            ended: false,
            listed: false,
            stall: Stall::default(),
            arriving: None,
            bulky: false,
            pauses: false,
        }
    }

    /// Hands at most `budget` arrivals from `peer` to `sink`, reading as long as there is something to
    /// read. Returns how many, a piece of bulk counted as one. A request to send is the last of them: so who looks
    /// can post its receive before the bytes are dropped that follow it.
    pub(super) fn receive<B: Bytes, T: Holds<TcpTx<B>>, S: Sink<T>>(
        &mut self,
        peer: u32,
        tx: &mut T,
        budget: u32,
        sink: &mut S,
    ) -> u32 {
        let mut moved = 0;
        self.pauses = false;
        while moved < budget && !tx.part().is_lost(peer) {
            if self.inbox.bulk() > 0 {
                if !self.inbox.has_bytes() {
                    if !self.read(peer, tx.part()) {
                        break;
                    }
                } else {
                    let bytes = self.inbox.take_bulk();
                    tx.part().place(self.arriving.as_mut(), bytes);
                }
                self.settle(peer, tx.part());
                moved += 1;
                continue;
            }
            match self.inbox.next() {
                Ok(Some(Arrival::Frame(head, mut body))) => {
                    sink.frame(tx, Peer(peer), &head, &mut body);
                    moved += 1;
                    self.pauses = head.kind == Kind::RequestToSend;
                    self.bulky = self.pauses || self.bulky && head.kind != Kind::Eager;
                    if self.pauses {
                        break;
                    }
                }
                Ok(Some(Arrival::Control(Control::Pad))) => moved += 1,
                Ok(Some(Arrival::Control(control))) => {
                    self.bulky |= control.bulk() > 0;
                    match tx.part().control(peer, control) {
                        Ok(arriving) => self.arriving = arriving,
                        Err(rule) => tx.part().breach(peer, &rule, rule),
                    }
                    self.settle(peer, tx.part());
                    moved += 1;
                }
                Ok(None) => {
                    if !self.read(peer, tx.part()) {
                        break;
                    }
                }
                Err(breach) => tx.part().breach(peer, &breach, breach.rule()),
            }
        }
        moved
    }

    /// Tells when all bulk of a frame is here.
    fn settle<B: Bytes>(&mut self, peer: u32, tx: &mut TcpTx<B>) {
        if self.inbox.bulk() == 0
            && let Some(arriving) = self.arriving.take()
        {
            tx.arrived(peer, arriving);
        }
    }

    /// Reads once. False: there is nothing to read.
    fn read<B: Bytes>(&mut self, peer: u32, tx: &mut TcpTx<B>) -> bool {
        if !self.readable {
            return false;
        }
        let (asked, result) = self.read_once(peer, tx);
        match result {
            Ok(0) => {
                tx.lose(peer, Fault::PeerDead);
                false
            }
            Ok(count) => {
                self.stall.heard();
                self.readable = count == asked || self.ended;
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

    fn read_once<B: Bytes>(&mut self, peer: u32, tx: &TcpTx<B>) -> (usize, io::Result<usize>) {
        let left = usize::try_from(self.inbox.bulk()).unwrap_or(usize::MAX);
        let target = self.arriving.as_ref().and_then(|a| tx.target(a));
        if let Some((bytes, at)) = target.filter(|_| left > 0) {
            let mut socket = Socket {
                stream: &self.stream,
                space: ahead(self.inbox.space()),
                left,
                read: None,
            };
            bytes.fill(at, &mut socket);
            if let Some(Read {
                asked,
                straight,
                result,
            }) = socket.read
            {
                let count = *result.as_ref().unwrap_or(&0);
                let straight = count.min(straight);
                self.inbox.came(straight as u64, count - straight);
                if let Some(arriving) = &mut self.arriving {
                    arriving.moved(straight as u64);
                }
                return (asked, result);
            }
        }
        let mut space = self.inbox.space();
        if self.bulky || tx.awaits_bulk(peer) {
            // Bulk that nobody waits for is dropped, and not copied.
            let len = space.len().min(left.saturating_add(AHEAD));
            space = &mut space[..len];
        }
        let asked = space.len();
        let result = self.stream.read(space, &mut []);
        self.inbox.came(0, *result.as_ref().unwrap_or(&0));
        (asked, result)
    }

    /// The connection has ended: what was under way is given up.
    pub(super) fn end<B: Bytes>(self, tx: &mut TcpTx<B>) {
        if let Some(arriving) = self.arriving {
            tx.abandon(arriving);
        }
    }
}

fn ahead(space: &mut [u8]) -> &mut [u8] {
    let len = space.len().min(AHEAD);
    &mut space[..len]
}

/// A read into the user's memory: how it was asked and how it went.
struct Read {
    asked: usize,
    /// Bytes that the user's memory took at most.
    straight: usize,
    result: io::Result<usize>,
}

/// A socket as a source for the user's bytes: the first run that is taken is read from the kernel, and
/// what comes behind it into `space`.
struct Socket<'a> {
    stream: &'a Stream,
    space: &'a mut [u8],
    left: usize,
    read: Option<Read>,
}

impl Take for Socket<'_> {
    fn left(&self) -> usize {
        self.left
    }

    fn take(&mut self, to: &mut [u8]) {
        if self.read.is_some() || to.is_empty() {
            return; // behind a gap: the next read brings it
        }
        self.read = Some(Read {
            asked: to.len() + self.space.len(),
            straight: to.len(),
            result: self.stream.read(to, self.space),
        });
    }
}
