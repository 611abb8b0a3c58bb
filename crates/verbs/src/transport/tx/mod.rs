//! [`VerbsTx`]: the sending half of a rank's connections, with gets, puts and registered memory.

mod access;
mod link;
mod loss;
mod memory;
mod operations;

pub(super) use self::link::Link;
pub(super) use self::memory::Registrations;

use self::link::Posted;
use self::memory::Note;
use self::operations::Operations;
use super::OPERATIONS;
use super::control::Control;
use super::credits::Credits;
use super::frame_head::{FrameHead, HEAD, MAX_INLINE, own_header};
use super::request_id::RequestId;
use crate::objects::{Completion, ProtectionDomain, Segment};
use oxmpi_os::RawBytes;
use oxmpi_wire::regions::{RegionId, Regions};
use oxmpi_wire::{AsTx, Busy, Bytes, Fault, Header, Limits, Peer, Put, Sink, Slot, Token, Tx};
use std::collections::VecDeque;
use std::fmt;

/// The sending half of a rank's connections.
pub struct VerbsTx {
    // Dropped first: devices then reach no memory of the regions below.
    links: Vec<Option<Box<Link>>>,
    domain: ProtectionDomain,
    limits: Limits,
    /// Bytes that one request reads or writes at most.
    piece: u32,
    regions: Regions<RawBytes, Note>,
    registrations: Registrations,
    operations: Operations,
    /// Peers for which a call has returned [`Busy`].
    peers_awaiting_room: Vec<u32>,
    completions: VecDeque<(Token, Result<(), Fault>)>,
    losses: VecDeque<(u32, Fault)>,
}

impl fmt::Debug for VerbsTx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerbsTx")
            .field("domain", &self.domain)
            .finish_non_exhaustive()
    }
}

impl VerbsTx {
    pub(super) fn new(
        domain: ProtectionDomain,
        peers: u32,
        limits: Limits,
        piece: u32,
        registrations: Registrations,
    ) -> Self {
        Self {
            links: (0..peers).map(|_| None).collect(),
            domain,
            limits,
            piece,
            regions: Regions::new(),
            registrations,
            operations: Operations::new(),
            peers_awaiting_room: Vec::new(),
            completions: VecDeque::new(),
            losses: VecDeque::new(),
        }
    }

    pub(super) fn add(&mut self, peer: u32, link: Link) {
        self.links[peer as usize] = Some(Box::new(link));
    }

    /// The connection to `peer`.
    ///
    /// # Panics
    /// If there has never been one.
    #[inline]
    fn link(&mut self, peer: u32) -> &mut Link {
        self.links[peer as usize]
            .as_mut()
            .expect("a peer that was connected")
    }

    pub(super) fn credits(&mut self, peer: u32) -> &mut Credits {
        &mut self.link(peer).credits
    }

    /// Notes that a call returns [`Busy`] for `peer`, so that the sink gets [`Sink::room`] later.
    #[cold]
    fn refuse(&mut self, peer: u32) -> Busy {
        if !self.peers_awaiting_room.contains(&peer) {
            self.peers_awaiting_room.push(peer);
        }
        Busy
    }

    /// Checks that a frame can be sent to `peer`. A lost one takes any.
    #[inline]
    fn admit(&mut self, peer: u32, len: u32) -> Result<(), Busy> {
        let max = self.limits.frame;
        assert!(len <= max, "a frame of {len} B; the longest has {max} B");
        match &self.links[peer as usize] {
            Some(link) if link.lost.is_some() || link.takes_frame() => Ok(()),
            _ => Err(self.refuse(peer)),
        }
    }

    /// Sends the frame whose body is in the next staged buffer of `peer`.
    fn send_staged(&mut self, peer: u32, header: &Header, released: Option<RegionId>) {
        let link = self.link(peer);
        if link.lost.is_none() {
            let grant = link.credits.send_frame();
            let head = FrameHead {
                grant,
                header: *header,
            };
            let posted = link.send_staged(peer, head, released);
            self.check(peer, posted);
        }
    }

    fn send_control(&mut self, peer: u32, control: &Control) {
        let bytes = control.bytes();
        let link = self.link(peer);
        link.staging.write(link.next_staged(), HEAD, &bytes);
        let released = match control {
            Control::Released { region } => Some(*region),
            _ => None,
        };
        self.send_staged(peer, &own_header(bytes.len()), released);
    }

    /// Answers a request of `peer` as soon as there is room.
    ///
    /// # Errors
    /// The rule that the peer broke.
    fn answer(&mut self, peer: u32, control: Control) -> Result<(), &'static str> {
        let link = self.link(peer);
        let answers = link.waiting.iter().filter(|control| control.is_answer());
        if answers.count() >= OPERATIONS {
            return Err("more requests at once than a rank may have");
        }
        link.waiting.push_back(control);
        self.advance(peer);
        Ok(())
    }

    /// Sends and posts to `peer` what has waited for room.
    pub(super) fn advance(&mut self, peer: u32) {
        while self.link(peer).can_send()
            && let Some(control) = self.link(peer).waiting.pop_front()
        {
            self.send_control(peer, &control);
        }
        self.post_pieces(peer);
        let link = self.link(peer);
        let posted = link.send_credit_message(peer);
        self.check(peer, posted);
    }

    /// Counts the end of the oldest request of the send queue of `peer`.
    pub(super) fn sent(&mut self, peer: u32, completion: &Completion) {
        if self.is_lost(peer) {
            return;
        }
        if let Err(why) = completion.result() {
            self.end_refused(peer, &why);
            return self.broken(peer, &why);
        }
        match self.link(peer).done() {
            Some(Posted::Message { released, .. }) => {
                released.into_iter().for_each(|region| self.leave(region));
            }
            Some(Posted::Access { operation }) => self.piece_ended(operation),
            None => {}
        }
        self.advance(peer);
    }

    pub(super) fn post_receive(&mut self, peer: u32, buffer: u32, to: &[Segment<'_>]) {
        if let Some(pair) = &self.link(peer).pair {
            let id = RequestId::Receive { peer, buffer };
            let posted = pair.post_receive(id.word(), to);
            self.check(peer, posted);
        }
    }

    /// Reports completions, losses and room to `sink`. Returns how many.
    pub(super) fn report<T: AsTx<Self>, S: Sink<T>>(tx: &mut T, sink: &mut S) -> u32 {
        let mut reported = 0;
        while let Some((token, result)) = tx.as_tx().completions.pop_front() {
            sink.done(tx, token, result);
            reported += 1;
        }
        while let Some((peer, why)) = tx.as_tx().losses.pop_front() {
            sink.lost(tx, Peer(peer), why);
            reported += 1;
        }
        for at in (0..tx.as_tx().peers_awaiting_room.len()).rev() {
            if let Some(peer) = tx.as_tx().take_unblocked(at) {
                sink.room(tx, Peer(peer));
                reported += 1;
            }
        }
        reported
    }

    /// The peer awaiting room at index `at`, removed from the list, if there is room for it now.
    fn take_unblocked(&mut self, at: usize) -> Option<u32> {
        let &peer = self.peers_awaiting_room.get(at)?;
        let link = self.links[peer as usize].as_ref()?;
        if !link.takes_frame() || !self.has_operation_room() {
            return None;
        }
        self.peers_awaiting_room.swap_remove(at);
        Some(peer)
    }

    fn complete(&mut self, token: Token, result: Result<(), Fault>) {
        self.completions.push_back((token, result));
    }
}

/// A frame under construction, in a registered buffer.
#[derive(Debug)]
pub struct VerbsSlot<'a> {
    tx: &'a mut VerbsTx,
    to: u32,
    header: Header,
    /// Bytes of the body so far.
    len: usize,
}

impl Put for VerbsSlot<'_> {
    fn room(&self) -> usize {
        self.header.len as usize - self.len
    }

    fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.room(), "more than there is room for");
        let link = self.tx.link(self.to);
        link.staging
            .write(link.next_staged(), HEAD + self.len, bytes);
        self.len += bytes.len();
    }
}

impl Slot for VerbsSlot<'_> {
    fn send(self) {
        assert_eq!(self.room(), 0, "the frame is not full");
        self.tx.send_staged(self.to, &self.header, None);
    }
}

/// A message that is sent inline.
struct InlineMessage {
    bytes: [u8; MAX_INLINE],
    len: usize,
}

impl Put for InlineMessage {
    fn room(&self) -> usize {
        self.bytes.len() - self.len
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.len..][..bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }
}

impl Tx for VerbsTx {
    type Slot<'a> = VerbsSlot<'a>;

    fn limits(&self, _to: Peer) -> &Limits {
        &self.limits
    }

    /// # Cost
    /// The body is copied once, and the device's library copies the message once; a longer one than is granted inline
    /// goes by [`Tx::frame`].
    fn short<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> Result<(), Busy> {
        let (len, peer) = (head.len as usize, to.0);
        self.admit(peer, head.len)?;
        let link = self.link(peer);
        if link.lost.is_some() || !link.inlines(HEAD + len) {
            return self.whole(to, head, body);
        }
        let mut message = InlineMessage {
            bytes: [0; MAX_INLINE],
            len: HEAD,
        };
        body.drain(0, len, &mut message);
        let grant = link.credits.send_frame();
        let head = FrameHead {
            grant,
            header: *head,
        };
        message.bytes[..HEAD].copy_from_slice(&head.bytes());
        let posted = link.send_inline(peer, &message.bytes[..message.len]);
        self.check(peer, posted);
        Ok(())
    }

    fn frame(&mut self, to: Peer, head: &Header, len: usize) -> Result<VerbsSlot<'_>, Busy> {
        debug_assert_eq!(head.len as usize, len, "the header says the body's length");
        self.admit(to.0, head.len)?;
        Ok(VerbsSlot {
            tx: self,
            to: to.0,
            header: *head,
            len: 0,
        })
    }

    fn give_up(&mut self, peer: Peer, why: Fault) {
        self.lose(peer.0, why);
    }
}
