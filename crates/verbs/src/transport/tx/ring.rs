//! [`RingTx`]: the sending side of an eager ring, and the word by which a rank answers the sender of its own ring.

use super::VerbsTx;
use super::inline_message::InlineMessage;
use crate::error::PostError;
use crate::objects::{
    Access, MemoryRegion, Payload, QueuePair, ReadyToSend, RemoteAddress, Segment, SendFlags,
};
use crate::transport::control::Control;
use crate::transport::frame_head::{FrameHead, HEAD};
use crate::transport::queue_sizes::QueueSizes;
use crate::transport::ring::{FOOTER, RingShape, Word, footer};
use oxmpi_wire::{Header, Put};

/// The ring of a peer, to which this rank writes.
#[derive(Debug)]
pub(super) struct RingTx {
    /// The queue pair by which it is written.
    queue: u8,
    /// Copies of messages that are not written inline, and the [`Word`].
    memory: MemoryRegion,
    shape: RingShape,
    start: RemoteAddress,
    /// The number of the next message.
    next: u32,
    /// Writes that have not ended.
    in_flight: u32,
    /// The most of them: the queue pair has room for no more.
    most: u32,
    /// The sleep of the receiver for which it was woken.
    woken: u32,
}

impl RingTx {
    fn word(&self) -> Word {
        Word::from_bits(u64::from_le(self.memory.load(self.shape.word_at())))
    }

    /// Whether a frame with a body of `len` bytes can be written now.
    #[inline]
    pub(super) fn can_send(&self, len: u32) -> bool {
        len <= self.shape.size() && self.in_flight < self.most && {
            let last = self.next.wrapping_sub(1);
            last.wrapping_sub(self.word().taken) < self.shape.slots()
        }
    }

    /// Writes to the copy of the next message, whose body has `len` bytes, from its byte `at` on.
    pub(super) fn stage(&self, len: usize, at: usize, bytes: &[u8]) {
        let start = self.shape.message_at(self.next, HEAD + len);
        self.memory.write(start + at, bytes);
    }

    /// Where the next message of `len` bytes goes, and its footer.
    fn place(&mut self, len: usize) -> (usize, RemoteAddress, [u8; FOOTER]) {
        let number = self.next;
        let at = self.shape.message_at(number, len);
        let to = RemoteAddress {
            address: self.start.address + at as u64,
            ..self.start
        };
        self.next = number.wrapping_add(1);
        self.in_flight += 1;
        (at, to, footer(number, len).to_le_bytes())
    }

    /// Writes the message whose body is staged.
    pub(super) fn send_staged(
        &mut self,
        pair: &QueuePair<ReadyToSend>,
        id: u64,
        head: &FrameHead,
    ) -> Result<(), PostError> {
        let len = HEAD + head.header.len as usize;
        let (at, to, footer) = self.place(len);
        self.memory.write(at, &head.bytes());
        self.memory.write(at + len, &footer);
        let message = [self.memory.segment(at..at + len + FOOTER)];
        pair.post_write(
            id,
            Payload::Segments(&message),
            to,
            None,
            SendFlags::SIGNALED,
        )
    }

    /// Writes a message inline.
    pub(super) fn send_inline(
        &mut self,
        pair: &QueuePair<ReadyToSend>,
        id: u64,
        head: &FrameHead,
        message: &mut InlineMessage,
    ) -> Result<(), PostError> {
        let (_, to, footer) = self.place(message.len());
        message.put(&footer);
        let message = Payload::Inline(message.with_head(&head.bytes()));
        pair.post_write(id, message, to, None, SendFlags::SIGNALED)
    }

    /// The place of the copy of the oldest message whose write has not ended. It counts as ended.
    pub(super) fn take_oldest(&mut self) -> usize {
        let number = self.next.wrapping_sub(self.in_flight);
        self.in_flight -= 1;
        let footer = u64::from_le(self.memory.load(self.shape.footer_at(number)));
        self.shape.message_at(number, footer as u32 as usize)
    }

    /// Copies bytes of the copies of messages.
    pub(super) fn read(&self, at: usize, to: &mut [u8]) {
        self.memory.read(at, to);
    }

    /// Takes no frame any more, if it is written by a rail that was left.
    pub(super) fn close_on(&mut self, rail: u8, sizes: &QueueSizes) {
        if sizes.rail_of(self.queue) == rail {
            self.most = 0;
        }
    }

    /// Counts the end of a write. Returns whether the receiver sleeps and has to be woken.
    pub(super) fn ended(&mut self) -> bool {
        self.in_flight -= 1;
        let Word {
            sleeps, is_asleep, ..
        } = self.word();
        is_asleep && std::mem::replace(&mut self.woken, sleeps) != sleeps
    }
}

impl VerbsTx {
    /// Whether a frame with a body of `len` bytes can be written to the ring of `peer` now.
    #[inline]
    pub(super) fn takes_ring_frame(&self, peer: u32, len: u32) -> bool {
        let link = self.links[peer as usize].as_ref();
        link.is_some_and(|link| link.takes_ring_frame(len))
    }

    /// Offers `peer` a ring of this rank, in the memory of the device of a rail.
    pub(in crate::transport) fn offer_ring(
        &mut self,
        peer: u32,
        rail: u8,
        start: RemoteAddress,
        shape: RingShape,
    ) {
        let word_queue = self.queues.on_rail(rail).of_accesses();
        let link = self.link(peer);
        let Some(port_pair) = link.port_pairs.of_rail(rail) else {
            return;
        };
        link.word_queue = word_queue;
        let port_pair = port_pair as u8;
        link.waiting.push_back(Control::Ring {
            start,
            shape,
            port_pair,
        });
        self.advance(peer);
    }

    /// Takes the ring that `peer` offers for a port pair. Without rings of this rank's own, or memory for it, frames go by queues as
    /// before.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(super) fn take_ring(
        &mut self,
        peer: u32,
        port_pair: u8,
        start: RemoteAddress,
        shape: RingShape,
    ) -> Result<(), &'static str> {
        let link = self.link(peer);
        if link.ring.is_some() {
            return Err("a second ring");
        }
        // It belongs to the port pair by which frames went, and no other is written by the queue pair of the next one.
        let rail = link.port_pairs.rail();
        if link.port_pairs.open_rail(port_pair.into()) != Some(rail) {
            return Ok(());
        }
        let most = self.ring_slots.min(shape.slots());
        if most == 0 {
            return Ok(());
        }
        let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let domain = &self.domains[usize::from(rail)];
        let memory = match domain.register(shape.bytes(), access) {
            Ok(memory) => memory,
            Err(why) => {
                tracing::debug!(peer, %why, "no memory for an eager ring");
                return Ok(());
            }
        };
        let word = memory.remote(shape.word_at());
        let link = self.link(peer);
        link.short_below = 0;
        link.ring = Some(RingTx {
            queue: link.queues.of_accesses(),
            memory,
            shape,
            start,
            next: 1,
            in_flight: 0,
            most,
            woken: 0,
        });
        link.waiting.push_back(Control::RingTaken { word });
        self.advance(peer);
        Ok(())
    }

    /// Takes where `peer` has the word of this rank's ring. If the ring's port pair was left meanwhile, nothing comes by it
    /// any more.
    pub(super) fn take_word(&mut self, peer: u32, word: RemoteAddress) {
        let of_rail = self.queues_of_rail();
        let link = self.link(peer);
        let rail = link.word_queue / of_rail;
        let port_pair = link.port_pairs.of_rail(rail);
        let is_open = port_pair.and_then(|port_pair| link.port_pairs.open_rail(port_pair));
        link.word = is_open.map(|_| word);
    }

    /// Sends the frame whose body is staged for the ring of `peer`.
    pub(super) fn send_ring_frame(&mut self, peer: u32, header: &Header) {
        let posted = self.link(peer).send_ring_frame(header);
        self.check(peer, posted);
    }

    /// Writes the word of this rank's ring to `peer`, from `source` if the device grants nothing inline. Returns whether
    /// there was room.
    pub(in crate::transport) fn write_word(
        &mut self,
        peer: u32,
        word: Word,
        source: &[Segment<'_>],
    ) -> bool {
        let link = self.link(peer);
        let Some(to) = link.word else {
            return false;
        };
        let pair = link.pair(link.word_queue);
        if !pair.takes_access() {
            return false;
        }
        let posted = pair.write_word(word.bits(), to, source);
        self.check(peer, posted);
        true
    }

    /// Whether `peer` has taken this rank's ring.
    pub(in crate::transport) fn has_word(&mut self, peer: u32) -> bool {
        self.link(peer).word.is_some()
    }

    /// Whether all words that were written to `peer` have arrived, or never will.
    pub(in crate::transport) fn words_arrived(&self, peer: u32) -> bool {
        let link = self.links[peer as usize].as_ref();
        link.is_none_or(|link| link.pairs[link.word_queue as usize].words() == 0)
    }
}
