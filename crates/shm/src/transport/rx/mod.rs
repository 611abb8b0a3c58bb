//! The receiving half of the transport: [`ShmRx`]. Polls hand arrivals over; the head of a ring, liveness and
//! sleep have files of their own.

mod head;
mod liveness;
mod sleep;

use std::io;
use std::sync::Arc;
use std::vec::Vec;

use oxmpi_os::membarrier;
use oxmpi_os::pidfd::PidfdSet;
use oxmpi_wire::{
    AsTx, Bytes, Envelope, EnvelopeFilter, Fault, Header, Kind, Peer, QueueHead, Rx, ShortMessage,
    Sink,
};

pub use self::sleep::ShmSleeper;

use self::head::{RingHead, WaitingFrame};
use super::control::Control;
use super::link::{LinkState, ReceiveLink};
use super::tx::{ShmTx, WordWait};
use super::{SHORT, WORD};
use crate::ring::{BODY, Corrupt, MappedWords, OpenedLinks, RingSlot};
use crate::segment::Segment;

/// Empty polls between two checks of the peers' processes: about a millisecond of spinning.
const POLLS_PER_CHECK: u32 = 1 << 15;

/// In a stream, the line of the slot this far ahead is prefetched: each line comes from another processor's
/// cache.
const AHEAD: u32 = 3;

/// The receiving half of a node's transport.
pub struct ShmRx<B = oxmpi_os::RawBytes> {
    /// By peer, open or not.
    links: Vec<ReceiveLink>,
    /// The peers whose links are open.
    open: Vec<u32>,
    opened_links: OpenedLinks<MappedWords<'static>>,
    empty: u32,
    /// The index in `open` at which the next poll begins.
    next_link: usize,
    /// Words whose change moves the sending half on, as noted at the last poll.
    waits: Vec<WordWait>,
    noted: bool,
    /// A sleep was tried: the next poll notes `waits`.
    to_note: bool,
    watch: PidfdSet,
    /// Whether membarrier works, so that no wake is missed.
    reliable: bool,
    me: u32,
    segment: Arc<Segment>,
    bytes: std::marker::PhantomData<fn() -> B>,
}

impl<B: Bytes> ShmRx<B> {
    pub(crate) fn new(segment: Arc<Segment>, me: u32) -> io::Result<Self> {
        let ranks = segment.layout().ranks;
        let mut watch = PidfdSet::new();
        for peer in (0..ranks).filter(|&peer| peer != me) {
            watch.add(peer, segment.pid(peer))?;
        }
        // SAFETY: `segment` is kept beside it.
        let opened_links = unsafe { segment.opened_links(me).detach() };
        Ok(Self {
            links: (0..ranks)
                .map(|peer| ReceiveLink::shut(peer, LinkState::Closed))
                .collect(),
            open: Vec::new(),
            opened_links,
            empty: 0,
            next_link: 0,
            waits: Vec::new(),
            noted: true,
            to_note: false,
            watch,
            reliable: membarrier::register(),
            me,
            segment,
            bytes: std::marker::PhantomData,
        })
    }

    /// The segment, and which rank of it this is.
    pub(crate) fn segment(&self) -> (&Arc<Segment>, u32) {
        (&self.segment, self.me)
    }

    /// Opens this side of the links that senders have opened since the last call.
    #[cold]
    #[inline(never)]
    fn admit(&mut self) {
        self.opened_links.acknowledge();
        for link in &mut self.links {
            if link.state == LinkState::Closed && self.opened_links.is_open(link.peer as usize) {
                // SAFETY: `segment` is kept beside the links.
                *link = unsafe { ReceiveLink::new(&self.segment, link.peer, self.me) };
                self.open.push(link.peer);
            }
        }
    }

    /// Hands the next arrival of `link` to the sink, if there is one.
    #[inline(always)]
    fn poll_link<T: AsTx<ShmTx<B>>, S: Sink<T>>(
        link: &mut ReceiveLink,
        tx: &mut T,
        sink: &mut S,
    ) -> bool {
        let head = Self::accept_head(link, tx.as_tx(), |link, frame, len| {
            let envelope = Envelope::unpack(frame.envelope);
            let mut body = link.short(&frame.slot, len as usize);
            sink.expected(Peer(link.peer), envelope, &mut body)
        });
        match head {
            RingHead::Taken(_) => true,
            RingHead::Empty => false,
            RingHead::Other(frame) => {
                Self::deliver_other(link, frame, tx, sink);
                true
            }
        }
    }

    /// Hands over the arrival at the head of `link`, which is not a plain expected message in its slot.
    #[inline(never)]
    fn deliver_other<T: AsTx<ShmTx<B>>, S: Sink<T>>(
        link: &mut ReceiveLink,
        frame: WaitingFrame,
        tx: &mut T,
        sink: &mut S,
    ) {
        let WaitingFrame { slot, compact, .. } = frame;
        let envelope = Envelope::unpack(frame.envelope);
        let short = (compact & 0xffff) as usize <= SHORT;
        let done = match Header::expand(compact, envelope) {
            Ok(head) if head.kind == Kind::Transport => Self::control(link, &slot, tx, sink),
            Ok(head) if short => {
                let mut body = link.short(&slot, head.len as usize);
                sink.frame(tx, Peer(link.peer), &head, &mut body);
                Ok(())
            }
            Ok(head) => Self::buffered(link, &slot, tx, &head, sink),
            Err(_) => Err(Corrupt("an invalid frame header")),
        };
        if let Err(corrupt) = done {
            tx.as_tx().breach(link.peer, corrupt);
        }
        Self::advance(link, tx.as_tx(), &slot);
    }

    /// The index in `open` that comes `step` places after `next_link`.
    #[inline(always)]
    fn link_after(&self, step: usize) -> usize {
        let i = self.next_link + step;
        i - if i < self.open.len() {
            0
        } else {
            self.open.len()
        }
    }

    fn buffered<T: AsTx<ShmTx<B>>, S: Sink<T>>(
        link: &mut ReceiveLink,
        slot: &RingSlot<MappedWords<'static>>,
        tx: &mut T,
        head: &Header,
        sink: &mut S,
    ) -> Result<(), Corrupt> {
        if head.len > link.size() {
            return Err(Corrupt("a frame longer than a buffer"));
        }
        let (buffer, len) = (link.ring.get(slot, 1), head.len as usize);
        if let Some((index, mut body)) =
            link.ping_pong_buffer(&tx.as_tx().back(link.peer).shared, buffer, len)?
        {
            sink.frame(tx, Peer(link.peer), head, &mut body);
            // Only now: an answer that the sink sends must not overwrite the body.
            tx.as_tx().back(link.peer).shared.gain(index);
            return Ok(());
        }
        let mut body = link.buffer(buffer, len)?;
        sink.frame(tx, Peer(link.peer), head, &mut body);
        if link.free(head.len as usize) {
            tx.as_tx().wake_if_asleep(link.peer);
        }
        Ok(())
    }

    fn control<T: AsTx<ShmTx<B>>, S: Sink<T>>(
        link: &mut ReceiveLink,
        slot: &RingSlot<MappedWords<'static>>,
        tx: &mut T,
        sink: &mut S,
    ) -> Result<(), Corrupt> {
        let words: [u64; BODY] = std::array::from_fn(|i| link.ring.get(slot, i));
        let control = Control::parse(&words).ok_or(Corrupt("an invalid control frame"))?;
        let peer = link.peer;
        let mut done = None;
        let len = match control {
            Control::Pull { id, from, at, len } => {
                tx.as_tx().pulled(peer, id, from, at, len)?;
                return Ok(());
            }
            Control::Pushed { id, ok: true } => {
                tx.as_tx().ended(peer, id, Ok(()));
                return Ok(());
            }
            Control::Refused { id } | Control::Pushed { id, ok: false } => {
                tx.as_tx().ended(peer, id, Err(Fault::NOT_REGISTERED));
                return Ok(());
            }
            Control::Atomic {
                id,
                to,
                at,
                width,
                atomic,
            } => return tx.as_tx().change(peer, id, (to, at), (width, atomic)),
            Control::Changed { id, old } => return tx.as_tx().changed(peer, id, old),
            Control::Data { id, first, len } => {
                let mut body = link.buffer(first.into(), len as usize)?;
                done = tx.as_tx().arrived(peer, id, len as usize, &mut body)?;
                len
            }
            Control::Push {
                id,
                to,
                at,
                first,
                len,
                last,
            } => {
                let mut body = link.buffer(first.into(), len as usize)?;
                tx.as_tx().pushed(peer, id, to, at, last, &mut body)?;
                len
            }
        };
        if link.free(len as usize) {
            tx.as_tx().wake_if_asleep(peer);
        }
        if let Some(token) = done {
            sink.done(tx, token, Ok(()));
        }
        Ok(())
    }

    /// Does what most polls need not: bulk transfers, room, broken peers.
    #[cold]
    #[inline(never)]
    fn slow_path<T: AsTx<ShmTx<B>>, S: Sink<T>>(&mut self, tx: &mut T, sink: &mut S) -> u32 {
        let mut moved = ShmTx::advance(tx, sink);
        while let Some((peer, why)) = tx.as_tx().broken.pop() {
            moved += self.lose(peer, why, tx, sink);
        }
        self.note_waits(tx.as_tx());
        moved
    }

    /// Notes the words that the sending half waits for, which end a sleep, too. Most polls are followed by no
    /// sleep, so they are noted only once a sleep is tried.
    fn note_waits(&mut self, tx: &mut ShmTx<B>) {
        self.noted = self.to_note || !tx.has_slow_work;
        if self.noted {
            self.waits.clear();
            tx.waits(&mut self.waits);
        }
    }

    /// Ends a poll that handed `n` arrivals over.
    #[inline(always)]
    fn end_poll<T: AsTx<ShmTx<B>>, S: Sink<T>>(
        &mut self,
        mut n: u32,
        tx: &mut T,
        sink: &mut S,
    ) -> u32 {
        if tx.as_tx().has_slow_work {
            n += self.slow_path(tx, sink);
        }
        if n == 0 {
            self.empty = self.empty.wrapping_add(1);
            if self.empty.is_multiple_of(POLLS_PER_CHECK) {
                n += self.check_peers(tx, sink);
            }
        }
        n
    }
}

impl<B: Bytes, T: AsTx<ShmTx<B>>> Rx<T> for ShmRx<B> {
    #[inline(always)]
    fn poll<S: Sink<T>>(&mut self, tx: &mut T, budget: u32, sink: &mut S) -> u32 {
        if self.opened_links.has_new() {
            self.admit();
        }
        let mut n = 0;
        let open = self.open.len();
        for step in 0..open {
            let i = self.link_after(step);
            let link = &mut self.links[self.open[i] as usize];
            while n < budget && Self::poll_link(link, tx, sink) {
                // Not in a ping-pong, where the next message is not written yet.
                if n != 0 {
                    link.ring.prefetch(AHEAD);
                }
                n += 1;
            }
            if n >= budget {
                self.next_link = (i + 1) % open;
                break;
            }
        }
        self.end_poll(n, tx, sink)
    }

    #[inline]
    fn poll_from<S: Sink<T>>(&mut self, tx: &mut T, from: Peer, sink: &mut S) -> u32 {
        let mut n = 0;
        if self.links[from.0 as usize].state == LinkState::Open {
            n = u32::from(Self::poll_link(&mut self.links[from.0 as usize], tx, sink));
        } else if self.opened_links.has_new() {
            self.admit();
        }
        self.end_poll(n, tx, sink)
    }

    #[inline(always)]
    fn take_head<C: Bytes>(
        &mut self,
        tx: &mut T,
        from: Option<Peer>,
        wanted: EnvelopeFilter,
        body: &C,
    ) -> QueueHead {
        let tx = tx.as_tx();
        // Slow work needs a sink.
        if tx.has_slow_work {
            return QueueHead::Other;
        }
        let head = match from {
            Some(from) => Self::take_wanted(&mut self.links[from.0 as usize], tx, wanted, body),
            // New links are opened by a poll.
            None if self.opened_links.has_new() => QueueHead::Other,
            None => self.take_wanted_of_any(tx, wanted, body),
        };
        if head == QueueHead::Empty {
            let empty = self.empty.wrapping_add(1);
            if empty.is_multiple_of(POLLS_PER_CHECK) {
                // A poll finds nothing, either, and checks the peers.
                return QueueHead::Other;
            }
            self.empty = empty;
        }
        head
    }

    /// A message of one word in the ring is taken here, in 26 instructions. `take_wanted` looks at the same head for every
    /// other message, in the ping-pong slot too, out of line: such a message has mostly been waited for, and inlined
    /// its copy of any length would be most of a receive's code.
    ///
    /// # Cost
    /// One line read.
    #[inline(always)]
    fn take_short<C: Bytes>(
        &mut self,
        tx: &mut T,
        from: Peer,
        wanted: EnvelopeFilter,
        body: &C,
    ) -> Option<ShortMessage> {
        let link = self.links.get_mut(from.0 as usize)?;
        let slot = link.ring.slot();
        if link.ring.ahead_at(&slot) == u64::from(WORD) {
            let envelope = link.ring.get(&slot, 0);
            if wanted.matches(envelope) && body.fill_word(link.ring.get(&slot, 1)) {
                return Some(Self::taken(link, tx.as_tx(), &slot, envelope, 8));
            }
        }
        // By value: a reference would force the body into memory where a word is taken, too.
        Self::take_other(link, tx.as_tx(), wanted, body.clone())
    }

    #[inline(always)]
    fn take_word(
        &mut self,
        from: Peer,
        is_wanted: impl FnOnce(Envelope) -> bool,
    ) -> Option<(u64, u32)> {
        let link = self.links.get_mut(from.0 as usize)?;
        let slot = link.ring.slot();
        if link.ring.ahead_at(&slot) != u64::from(WORD) || link.ring.reports_next() {
            return None;
        }
        let envelope = Envelope::unpack(link.ring.get(&slot, 0));
        if !is_wanted(envelope) {
            return None;
        }
        let word = link.ring.get(&slot, 1);
        link.ring.advance(&slot);
        Some((word, envelope.tag))
    }
}
