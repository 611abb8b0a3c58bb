//! The receiving half.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;
use std::vec::Vec;

use oxmpi_os::pidfd::Watch;
use oxmpi_os::pipe::{PollFd, PollFlags, poll};
use oxmpi_os::{futex, membarrier};
use oxmpi_wire::{
    Bytes, Envelope, Fault, Header, Holds, Kind, Peer, Rx, Short, Sink, Sleeper, Wanted, direct,
};

use super::control::Control;
use super::link::{LinkState, ReceiveLink};
use super::tx::{ShmTx, WordWait};
use super::{Expedited, SHORT};
use crate::ring::{BODY, Corrupt, MappedWords, OpenedLinks, RingSlot};
use crate::segment::Segment;

/// Empty polls between two looks at the peers' processes: about a millisecond of spinning.
const LOOK: u32 = 1 << 15;

/// Slots from the one that was just emptied to the one whose line is asked for in a stream: each
/// comes from the other processor's cache.
const AHEAD: u32 = 3;

/// Short naps between two looks: some milliseconds.
const NAPS: u32 = 64;

/// The 32 bits of a message of one word.
const WORD: u64 = Header::PLAIN as u64 + 8;

/// What a direct look finds at the head of a ring.
enum FastPoll {
    Taken(Short),
    Nothing,
    /// Something that the look does not take.
    Other,
}

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

    /// The message of `link` that a direct look shortage, if it is there.
    #[inline(always)]
    fn take<C: Bytes>(
        link: &mut ReceiveLink,
        tx: &mut ShmTx<B>,
        wanted: Wanted,
        body: &C,
    ) -> FastPoll {
        if link.state != LinkState::Open {
            return FastPoll::Other;
        }
        let Some((slot, compact)) = link.ring.next() else {
            return FastPoll::Nothing;
        };
        let envelope = link.ring.get(&slot, 0);
        let Some(len) = Header::plain(compact, SHORT as u32) else {
            return FastPoll::Other;
        };
        if u64::from(len) > body.len() || !wanted.takes(envelope) {
            return FastPoll::Other;
        }
        if len != 8 || !body.fill_word(link.ring.get(&slot, 1)) {
            body.fill(0, &mut link.short(&slot, len as usize));
        }
        FastPoll::Taken(Self::taken(link, tx, &slot, envelope, len))
    }

    /// What a direct look has taken from `link` gives its slot back.
    #[inline(always)]
    fn taken(
        link: &mut ReceiveLink,
        tx: &mut ShmTx<B>,
        slot: &RingSlot<MappedWords<'static>>,
        envelope: u64,
        len: u32,
    ) -> Short {
        let told = Self::advance(link, tx, slot);
        Short {
            from: Peer(link.peer),
            tag: envelope as u32,
            len,
            // Who always finds a message waiting looks after the rest once every quarter of a ring.
            poll: told && tx.chores,
        }
    }

    /// The same of any link, from the one whose turn it is on.
    fn take_any<C: Bytes>(&mut self, tx: &mut ShmTx<B>, wanted: Wanted, body: &C) -> FastPoll {
        let open = self.open.len();
        for step in 0..open {
            let i = self.turn_after(step);
            match Self::take(&mut self.links[self.open[i] as usize], tx, wanted, body) {
                FastPoll::Nothing => {}
                next => {
                    self.turn = if i + 1 < open { i + 1 } else { 0 };
                    return next;
                }
            }
        }
        FastPoll::Nothing
    }

    /// [`Rx::take_short`] for bodies of other lengths.
    #[inline(never)]
    fn take_other<C: Bytes>(
        link: &mut ReceiveLink,
        tx: &mut ShmTx<B>,
        wanted: Wanted,
        body: C,
    ) -> Option<Short> {
        match Self::take(link, tx, wanted, &body) {
            FastPoll::Taken(short) => Some(short),
            FastPoll::Nothing | FastPoll::Other => None,
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

    /// A direct look at what is no short message: the general path, which also takes longer ones.
    #[inline(never)]
    fn usual<T: Holds<ShmTx<B>>, C: Bytes, S: Sink<T>>(
        &mut self,
        tx: &mut T,
        from: Option<Peer>,
        wanted: Wanted,
        body: C,
        sink: &mut S,
    ) -> Option<Short> {
        direct::poll_short(self, tx, from, wanted, &body, sink)
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

    /// Looks whether peers still live and rings are sound.
    #[cold]
    #[inline(never)]
    fn look<T: Holds<ShmTx<B>>, S: Sink<T>>(&mut self, tx: &mut T, sink: &mut S) -> u32 {
        // All senders count their knocks in one word, so a broken one can undo another's.
        self.admit();
        let mut moved = 0;
        // Where the look fails (no memory for the list) the next one comes soon.
        for peer in self.watch.ended().unwrap_or_default() {
            if !self.segment.exit_flag(peer).left() {
                moved += self.lose_after_all(peer, Fault::PeerDead, tx, sink);
            }
        }
        for peer in 0..self.links.len() as u32 {
            if self.segment.exit_flag(peer).left() {
                moved += self.lose_after_all(peer, Fault::Left, tx, sink);
            }
        }
        for &peer in &self.open {
            if let Err(corrupt) = self.links[peer as usize].ring.check() {
                tx.part().breach(peer, corrupt);
            }
        }
        self.note_waits(tx.part());
        moved
    }

    /// `peer` publishes nothing more: takes in what it has, then ends everything with it.
    fn lose_after_all<T: Holds<ShmTx<B>>, S: Sink<T>>(
        &mut self,
        peer: u32,
        why: Fault,
        tx: &mut T,
        sink: &mut S,
    ) -> u32 {
        if tx.part().is_lost(peer) {
            return 0;
        }
        self.admit();
        let mut moved = 0;
        while Self::one(&mut self.links[peer as usize], tx, sink) {
            moved += 1;
        }
        moved + self.lose(peer, why, tx, sink)
    }

    fn lose<T: Holds<ShmTx<B>>, S: Sink<T>>(
        &mut self,
        peer: u32,
        why: Fault,
        tx: &mut T,
        sink: &mut S,
    ) -> u32 {
        if !tx.part().lose(peer, why) {
            return 0;
        }
        // Its door stays open, and it is not admitted again.
        self.links[peer as usize] = ReceiveLink::shut(peer, LinkState::Lost);
        self.open.retain(|&open| open != peer);
        // The turn may have been that of a place beyond those that are left.
        self.turn = 0;
        let moved = ShmTx::advance(tx, sink);
        sink.lost(tx, Peer(peer), why);
        moved + 1
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

    /// Whether something came that a poll would hand over.
    fn something(&self) -> bool {
        self.opened_links.has_new()
            || (self.open.iter()).any(|&peer| self.links[peer as usize].ring.next().is_some())
            || self.waits.iter().any(WordWait::is_over)
    }

    /// Sleeps until a peer sends, or about `limit`. Only after [`Sleeper::arm`] said true; the next poll
    /// looks whether peers still live.
    ///
    /// # Cost
    /// Two switches of the processor; a wake from another one takes about 20 us.
    pub fn nap(&mut self, limit: Duration) {
        let limit = limit.min(self.longest_nap());
        // However the wait ends, the caller polls again.
        if let Some(doorbells) = self.segment.doorbells() {
            let _ = poll(
                &mut [PollFd::new(doorbells.own(), PollFlags::IN)],
                Some(limit),
            );
        } else {
            let _ = futex::wait(self.asleep(), 1, limit);
        }
        self.disarm();
    }

    /// The longest sleep in which nothing is missed for longer.
    #[must_use]
    pub const fn longest_nap(&self) -> Duration {
        // Without membarrier a wake may be missed.
        match self.reliable {
            true => Duration::MAX,
            false => Duration::from_millis(1),
        }
    }

    /// What is readable when a peer has woken this rank, where [doorbells](crate::Node::with_doorbells) do that:
    /// who sleeps by other means than [`ShmRx::nap`] waits for this too, and calls [`ShmRx::disarm`] then.
    #[must_use]
    pub fn doorbell(&self) -> Option<BorrowedFd<'_>> {
        Some(self.segment.doorbells()?.own().as_fd())
    }

    fn asleep(&self) -> &AtomicU32 {
        let word = self.segment.asleep(self.me);
        // SAFETY: the word is aligned and in the segment, which `self` keeps; the kernel compares
        // it by its address.
        unsafe { AtomicU32::from_ptr(word) }
    }

    /// A short nap was taken between two polls. It counts as many empty polls: who rests mostly
    /// still looks in time whether peers live.
    pub fn napped(&mut self) {
        self.empty |= LOOK / NAPS - 1;
    }

    /// Takes [`Sleeper::arm`] back, for who does not sleep after all, or has slept.
    pub fn disarm(&mut self) {
        self.segment.sleep_flag(self.me).clear();
        if let Some(doorbells) = self.segment.doorbells() {
            doorbells.own().hear();
        }
        self.empty = LOOK - 1;
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

impl<B: Bytes> Sleeper for ShmRx<B> {
    /// The first one of a sleep says false while bulk transfers are under way: the next poll notes what
    /// they wait for.
    ///
    /// # Cost
    /// A membarrier: 0.4 us, or 11 us while a peer runs on another processor.
    fn arm(&mut self) -> bool {
        self.to_note = !self.noted;
        if self.to_note {
            return false;
        }
        let sleep_flag = self.segment.sleep_flag(self.me);
        sleep_flag.announce(&Expedited);
        let come = self.something();
        if come {
            sleep_flag.clear();
        }
        !come
    }
}
