//! The receiving half.

mod fast_path;
mod liveness;
mod sleep;

use std::io;
use std::sync::Arc;
use std::vec::Vec;

use oxmpi_os::membarrier;
use oxmpi_os::pidfd::Watch;
use oxmpi_wire::{Bytes, Envelope, Fault, Header, Holds, Kind, Peer, Rx, Short, Sink, Wanted};

use self::fast_path::FastPoll;
use super::SHORT;
use super::control::Control;
use super::link::{LinkState, ReceiveLink};
use super::tx::{ShmTx, WordWait};
use crate::ring::{BODY, Corrupt, MappedWords, OpenedLinks, RingSlot};
use crate::segment::Segment;

/// Empty polls between two looks at the peers' processes: about a millisecond of spinning.
const LOOK: u32 = 1 << 15;

/// Slots from the one that was just emptied to the one whose line is asked for in a stream: each
/// comes from the other processor's cache.
const AHEAD: u32 = 3;

/// The 32 bits of a message of one word.
const WORD: u64 = Header::PLAIN as u64 + 8;

/// The receiving half of a node's transport.
pub struct ShmRx<B = oxmpi_os::RawBytes> {
    /// By peer; nothing comes by those that are not open.
    links: Vec<ReceiveLink>,
    /// The peers whose links are.
    open: Vec<u32>,
    opened_links: OpenedLinks<MappedWords<'static>>,
    empty: u32,
    /// Whose turn it is, by its place in `open`.
    turn: usize,
    /// SharedWords that the sending half waited for at the last poll, if they are noted.
    waits: Vec<WordWait>,
    noted: bool,
    /// Somebody is about to sleep: the next poll notes them.
    to_note: bool,
    watch: Watch,
    /// Whether sleepers are woken for certain.
    reliable: bool,
    me: u32,
    segment: Arc<Segment>,
    bytes: std::marker::PhantomData<fn() -> B>,
}

impl<B: Bytes> ShmRx<B> {
    pub(crate) fn new(segment: Arc<Segment>, me: u32) -> io::Result<Self> {
        let ranks = segment.layout().ranks;
        let mut watch = Watch::new();
        for peer in (0..ranks).filter(|&peer| peer != me) {
            watch.add(peer, segment.pid(peer))?;
        }
        // SAFETY: the segment is kept beside it.
        let opened_links = unsafe { segment.opened_links(me).detach() };
        Ok(Self {
            links: (0..ranks)
                .map(|peer| ReceiveLink::shut(peer, LinkState::Closed))
                .collect(),
            open: Vec::new(),
            opened_links,
            empty: 0,
            turn: 0,
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

    /// Takes up the links that were opened since the last time.
    #[cold]
    #[inline(never)]
    fn admit(&mut self) {
        self.opened_links.acknowledge();
        for link in &mut self.links {
            if link.state == LinkState::Closed && self.opened_links.is_open(link.peer as usize) {
                // SAFETY: the segment is kept beside the links.
                *link = unsafe { ReceiveLink::new(&self.segment, link.peer, self.me) };
                self.open.push(link.peer);
            }
        }
    }

    /// Hands over the next arrival of `link`, if there is one.
    #[inline(always)]
    fn one<T: Holds<ShmTx<B>>, S: Sink<T>>(
        link: &mut ReceiveLink,
        tx: &mut T,
        sink: &mut S,
    ) -> bool {
        let Some((slot, compact)) = link.ring.next() else {
            return false;
        };
        let envelope = Envelope::unpack(link.ring.get(&slot, 0));
        match Header::plain(compact, SHORT as u32) {
            Some(len) => {
                let mut body = link.short(&slot, len as usize);
                if !sink.expected(Peer(link.peer), envelope, &mut body) {
                    Self::other(link, slot, compact, envelope, tx, sink);
                }
            }
            None => Self::other(link, slot, compact, envelope, tx, sink),
        }
        Self::advance(link, tx.part(), &slot);
        true
    }

    /// Gives the slot of the next message back, which is read. True if the sender was told.
    #[inline(always)]
    fn advance(
        link: &mut ReceiveLink,
        tx: &mut ShmTx<B>,
        slot: &RingSlot<MappedWords<'static>>,
    ) -> bool {
        let told = link.ring.advance(slot);
        if slot.is_ping_pong() {
            tx.back(link.peer).ring.gain_ping_pong();
        }
        if told {
            tx.told(link.peer);
        }
        told
    }

    /// Hands over an arrival that is no plain message in its slot, or that nobody expects.
    #[inline(never)]
    fn other<T: Holds<ShmTx<B>>, S: Sink<T>>(
        link: &mut ReceiveLink,
        slot: RingSlot<MappedWords<'static>>,
        compact: u32,
        envelope: Envelope,
        tx: &mut T,
        sink: &mut S,
    ) {
        let short = (compact & 0xffff) as usize <= SHORT;
        let done = match Header::expand(compact, envelope) {
            Ok(head) if head.kind == Kind::Transport => Self::control(link, &slot, tx, sink),
            Ok(head) if short => {
                let mut body = link.short(&slot, head.len as usize);
                sink.frame(tx, Peer(link.peer), &head, &mut body);
                Ok(())
            }
            Ok(head) => Self::buffered(link, &slot, tx, &head, sink),
            Err(_) => Err(Corrupt("a frame's header")),
        };
        if let Err(corrupt) = done {
            tx.part().breach(link.peer, corrupt);
        }
    }

    /// The place in `open` that comes `step` places after the one whose turn it is.
    #[inline(always)]
    fn turn_after(&self, step: usize) -> usize {
        let i = self.turn + step;
        i - if i < self.open.len() {
            0
        } else {
            self.open.len()
        }
    }

    fn buffered<T: Holds<ShmTx<B>>, S: Sink<T>>(
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
        if let Some((turn, mut body)) =
            link.in_turn(&tx.part().back(link.peer).turns, buffer, len)?
        {
            sink.frame(tx, Peer(link.peer), head, &mut body);
            // Only now: an answer from inside the arrival must not overwrite it.
            tx.part().back(link.peer).turns.gain(turn);
            return Ok(());
        }
        let mut body = link.buffer(buffer, len)?;
        sink.frame(tx, Peer(link.peer), head, &mut body);
        if link.free(head.len as usize) {
            tx.part().wake_if_asleep(link.peer);
        }
        Ok(())
    }

    fn control<T: Holds<ShmTx<B>>, S: Sink<T>>(
        link: &mut ReceiveLink,
        slot: &RingSlot<MappedWords<'static>>,
        tx: &mut T,
        sink: &mut S,
    ) -> Result<(), Corrupt> {
        let words: [u64; BODY] = std::array::from_fn(|i| link.ring.get(slot, i));
        let control = Control::parse(&words).ok_or(Corrupt("a transport frame"))?;
        let peer = link.peer;
        let mut done = None;
        let len = match control {
            Control::Pull { id, from, at, len } => {
                tx.part().pulled(peer, id, from, at, len)?;
                return Ok(());
            }
            Control::Refused { id } => {
                tx.part().ended(
                    peer,
                    id,
                    Err(Fault::Refused("the peer's memory is not registered")),
                );
                return Ok(());
            }
            Control::Pushed { id, ok } => {
                let refused = Fault::Refused("the peer's memory is not registered");
                tx.part().ended(peer, id, ok.then_some(()).ok_or(refused));
                return Ok(());
            }
            Control::Data { id, first, len } => {
                let mut body = link.buffer(first.into(), len as usize)?;
                done = tx.part().arrived(peer, id, len as usize, &mut body)?;
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
                tx.part().pushed(peer, id, to, at, last, &mut body)?;
                len
            }
        };
        if link.free(len as usize) {
            tx.part().wake_if_asleep(peer);
        }
        if let Some(token) = done {
            sink.done(tx, token, Ok(()));
        }
        Ok(())
    }

    /// What is not on every poll's path: bulk, room, broken peers.
    #[cold]
    #[inline(never)]
    fn chores<T: Holds<ShmTx<B>>, S: Sink<T>>(&mut self, tx: &mut T, sink: &mut S) -> u32 {
        let mut moved = ShmTx::advance(tx, sink);
        while let Some((peer, why)) = tx.part().broken.pop() {
            moved += self.lose(peer, why, tx, sink);
        }
        self.note_waits(tx.part());
        moved
    }

    /// Remembers what the sending half waits for, which ends a sleep as well. Most polls are followed
    /// by no sleep, so it is put off until one is tried.
    fn note_waits(&mut self, tx: &mut ShmTx<B>) {
        self.noted = self.to_note || !tx.chores;
        if self.noted {
            self.waits.clear();
            tx.waits(&mut self.waits);
        }
    }

    /// The end of a poll that handed over `n`.
    #[inline(always)]
    fn after<T: Holds<ShmTx<B>>, S: Sink<T>>(
        &mut self,
        mut n: u32,
        tx: &mut T,
        sink: &mut S,
    ) -> u32 {
        if tx.part().chores {
            n += self.chores(tx, sink);
        }
        if n == 0 {
            self.empty = self.empty.wrapping_add(1);
            if self.empty.is_multiple_of(LOOK) {
                n += self.look(tx, sink);
            }
        }
        n
    }
}

impl<B: Bytes, T: Holds<ShmTx<B>>> Rx<T> for ShmRx<B> {
    #[inline(always)]
    fn poll<S: Sink<T>>(&mut self, tx: &mut T, budget: u32, sink: &mut S) -> u32 {
        if self.opened_links.has_new() {
            self.admit();
        }
        let mut n = 0;
        let open = self.open.len();
        for step in 0..open {
            let i = self.turn_after(step);
            let link = &mut self.links[self.open[i] as usize];
            while n < budget && Self::one(link, tx, sink) {
                // Not in a dialogue, where the next message is not yet written.
                if n != 0 {
                    link.ring.prefetch(AHEAD);
                }
                n += 1;
            }
            if n >= budget {
                self.turn = (i + 1) % open;
                break;
            }
        }
        self.after(n, tx, sink)
    }

    #[inline]
    fn poll_from<S: Sink<T>>(&mut self, tx: &mut T, from: Peer, sink: &mut S) -> u32 {
        let mut n = 0;
        if self.links[from.0 as usize].state == LinkState::Open {
            n = u32::from(Self::one(&mut self.links[from.0 as usize], tx, sink));
        } else if self.opened_links.has_new() {
            self.admit();
        }
        self.after(n, tx, sink)
    }

    #[inline(always)]
    fn poll_short<C: Bytes, S: Sink<T>>(
        &mut self,
        tx: &mut T,
        from: Option<Peer>,
        wanted: Wanted,
        body: &C,
        sink: &mut S,
    ) -> Option<Short> {
        // Chores need the sink, and links that are not open yet a look at the opened_links.
        if !tx.part().chores {
            let next = match from {
                Some(from) => Self::take(&mut self.links[from.0 as usize], tx.part(), wanted, body),
                None if self.opened_links.has_new() => FastPoll::Other,
                None => self.take_any(tx.part(), wanted, body),
            };
            match next {
                FastPoll::Taken(short) => return Some(short),
                FastPoll::Nothing if !self.empty.wrapping_add(1).is_multiple_of(LOOK) => {
                    self.empty = self.empty.wrapping_add(1);
                    return None;
                }
                _ => {}
            }
        }
        // A copy: what a call sees by reference would be kept in memory on the fast path too.
        self.usual(tx, from, wanted, body.clone(), sink)
    }

    /// Looks into the ring only: what is in a dialogue's slot has mostly been waited for.
    ///
    /// # Cost
    /// One line read.
    #[inline(always)]
    fn take_short<C: Bytes>(
        &mut self,
        tx: &mut T,
        from: Peer,
        wanted: Wanted,
        body: &C,
    ) -> Option<Short> {
        let link = self.links.get_mut(from.0 as usize)?;
        let slot = link.ring.slot();
        let ahead = link.ring.ahead_at(&slot);
        if ahead != WORD {
            let is_plain = |head| Header::plain(head, SHORT as u32).is_some();
            return if u32::try_from(ahead).is_ok_and(is_plain) {
                Self::take_other(link, tx.part(), wanted, body.clone())
            } else {
                None
            };
        }
        let envelope = link.ring.get(&slot, 0);
        if !wanted.takes(envelope) || !body.fill_word(link.ring.get(&slot, 1)) {
            return None;
        }
        Some(Self::taken(link, tx.part(), &slot, envelope, 8))
    }
}
