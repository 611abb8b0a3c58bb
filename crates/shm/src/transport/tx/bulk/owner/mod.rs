//! The owner's side of offered bytes.
//!
//! A region that a peer is told of is offered in a place of this rank's area. If the peer took such
//! sizes through a pipe the last time, the owner fills a pipe right behind its message, without
//! waiting for the claim: who waits for that message finds bytes beside it. A pipe that nobody
//! claimed is taken away again for one that is.
//!
//! A pipe is a window that the two sides write in turn, if this rank has one with the peer: then the
//! claimer has it next, once it has all. Else it is one of this rank's own. A window that is filled
//! before the claim is pushed: it goes over with the message that tells of the offer, and needs no
//! claim, so neither side waits for a line of the other's. Who shortage another protocol claims all the same.

use std::io::ErrorKind;
use std::ops::Range;
use std::vec::Vec;

use oxmpi_os::vm::Denied;
use oxmpi_wire::regions::Name;
use oxmpi_wire::{Access, Bytes, Fault};

use super::MAX_COPY;
use super::choice::{CLASSES, size_class};
use super::protocol::{BulkPreference, BulkProtocol};
use crate::ring::{BulkOffer, Corrupt, FifoWriter, MappedWords, OfferStage, OwnerProgress};
use crate::segment::area::{FIFO_LEN, FIFOS, OFFERS_PER_PEER, WINDOWS_PER_PAIR};
use crate::transport::cma::{CmaAccess, CmaBytes};
use crate::transport::offer_key::{OfferKey, PushedWindow};
use crate::transport::shared_bytes::SharedBytes;
use crate::transport::tx::{ShmTx, WordWait};
use crate::transport::windows::PingPongWindows;

/// What an owner grants who has no pipe left: the claimer pulls through the link's buffers.
pub(super) const NO_WINDOW: u64 = u64::MAX;

/// Where a pipe has its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OfferWindow {
    /// The owner's own, by number.
    Fifo(usize),
    /// The pair's, by the number that this rank knows it by.
    PingPong(usize),
}

/// What an owner grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) pipe: OfferWindow,
    /// How much of the owner's pipe is used; or how long the message is in a window in turn, which is
    /// the claimer's next if it takes all of it.
    pub(super) bytes: u64,
}

impl Grant {
    fn word(self) -> u64 {
        let number = match self.pipe {
            OfferWindow::Fifo(pipe) => pipe,
            OfferWindow::PingPong(i) => FIFOS + i,
        };
        self.bytes << 8 | (number as u64 + 1)
    }

    /// The reverse of [`Grant::word`], as the claimer counts windows, whoever wrote it. Nothing if
    /// there is no such pipe.
    pub(super) fn of_word(word: u64) -> Option<Self> {
        let number = ((word & 0xff) as usize).checked_sub(1)?;
        let bytes = word >> 8;
        let pipe = match number.checked_sub(FIFOS) {
            None if (1..=FIFO_LEN as u64).contains(&bytes) => OfferWindow::Fifo(number),
            Some(i) if i < WINDOWS_PER_PAIR => OfferWindow::PingPong(PingPongWindows::across(i)),
            _ => return None,
        };
        Some(Self { pipe, bytes })
    }
}

/// Bytes of a piece of a transfer that both sides share.
pub(super) fn piece(len: u64) -> u64 {
    (len / 4).next_power_of_two().clamp(32 << 10, 256 << 10)
}

/// All offers of a rank.
pub(in crate::transport) struct OwnedOffers {
    open: Vec<OwnedOffer>,
    fifos: [FifoState; FIFOS],
    peers: Vec<OfferPeer>,
}

/// What is known of one peer.
#[derive(Clone, Copy)]
struct OfferPeer {
    /// The turn of the last offer to it.
    turn: u32,
    /// Its places that are taken, a bit each.
    taken: u32,
    /// By class of sizes: the protocol of its last claim ...
    last_protocols: [BulkProtocol; CLASSES],
    /// ... and whether that was after this rank's last claim of the peer's.
    answered: [bool; CLASSES],
    /// Whether its memory can be written.
    entry: CmaAccess,
}

const _: () = assert!(OFFERS_PER_PEER <= u32::BITS as usize);

/// A pipe of this rank's own.
#[derive(Clone, Copy, Default)]
struct FifoState {
    taken: bool,
    /// Its memory was found to be there.
    afforded: bool,
}

/// One offer.
struct OwnedOffer {
    to: u32,
    place: u32,
    offer: BulkOffer<MappedWords<'static>>,
    turn: u32,
    region: Name,
    len: u64,
    filling: Option<OfferFill>,
    /// By which protocol it was claimed.
    claimed: Option<BulkProtocol>,
    /// The region was released: its token waits for the claimer.
    released: bool,
    /// Pieces of a shared transfer done by now; `None` once it cannot take part.
    shared: Option<u64>,
}

struct OfferFill {
    pipe: OfferWindow,
    fill: FifoWriter<MappedWords<'static>>,
    window: u64,
    chunk: ChunkSizes,
    streamed: bool,
}

impl OwnedOffers {
    pub(in crate::transport) fn new(ranks: u32) -> Self {
        let partner = OfferPeer {
            turn: 0,
            taken: 0,
            last_protocols: [BulkProtocol::Slots; CLASSES],
            answered: [false; CLASSES],
            entry: CmaAccess::default(),
        };
        Self {
            open: Vec::new(),
            fifos: [FifoState::default(); FIFOS],
            peers: vec![partner; ranks as usize],
        }
    }

    pub(super) fn any(&self) -> bool {
        !self.open.is_empty()
    }

    /// By which protocol `peer` took the last message of a length like `len`.
    pub(super) fn last_protocol(&self, peer: u32, len: u64) -> BulkProtocol {
        self.peers[peer as usize].last_protocols[size_class(len)]
    }

    fn set_last_protocol(&mut self, peer: u32, len: u64, protocol: BulkProtocol) {
        let (partner, class) = (&mut self.peers[peer as usize], size_class(len));
        partner.last_protocols[class] = protocol;
        partner.answered[class] = true;
    }

    /// Whether `peer` took a message of a length like `len` since this rank took one, which it does
    /// now: such messages go to and fro.
    pub(super) fn is_ping_pong_exchange(&mut self, peer: u32, len: u64) -> bool {
        std::mem::take(&mut self.peers[peer as usize].answered[size_class(len)])
    }

    /// Whether something is on its way to `peer`.
    pub(super) fn has_open(&self, peer: u32) -> bool {
        self.open.iter().any(|source| source.to == peer)
    }
}

impl OfferFill {
    /// What its claimer is granted, of a message of `len` bytes.
    fn grant(&self, len: u64) -> Grant {
        Grant {
            pipe: self.pipe,
            bytes: match self.pipe {
                OfferWindow::Fifo(_) => self.window,
                OfferWindow::PingPong(_) => len,
            },
        }
    }
}

impl OwnedOffer {
    /// Whether a window with its bytes goes over with the message that tells of it.
    fn is_pushed(&self) -> bool {
        let in_turn = |filling: &OfferFill| matches!(filling.pipe, OfferWindow::PingPong(_));
        self.claimed.is_none() && self.filling.as_ref().is_some_and(in_turn)
    }

    /// The word that says how far its offer has come, as far as the owner knows.
    fn state(&self) -> u64 {
        let stage = match self.claimed {
            None => OfferStage::Open,
            Some(protocol) => OfferStage::Claimed {
                protocol: protocol.code(),
            },
        };
        stage.word(self.turn)
    }
}

impl<B: Bytes> ShmTx<B> {
    /// BulkOffer `place` of `from` to `to`. It is mapped memory as long as this transport keeps its
    /// segment.
    pub(super) fn offer_at(
        &self,
        from: u32,
        to: u32,
        place: u32,
    ) -> Option<BulkOffer<MappedWords<'static>>> {
        let offer = self.segment.area()?.offer(from, to, place as usize);
        // SAFETY: the segment is kept beside all that uses the words.
        Some(BulkOffer::new(unsafe { offer.words().detach() }, 0))
    }

    /// Offers the bytes of `region` to `to`, once for a region: other peers ask for them. What the
    /// peer must know of it.
    pub(super) fn offer(&mut self, region: Name, to: u32) -> OfferKey {
        match self.regions.note(region).copied().flatten() {
            Some((peer, offered)) if peer == to => return offered,
            // The place is another peer's.
            Some(_) => return OfferKey::default(),
            None => {}
        }
        let offered = self.offer_anew(region, to).unwrap_or_default();
        self.set_offered(region, to, offered);
        offered
    }

    fn set_offered(&mut self, region: Name, to: u32, offered: OfferKey) {
        if let Some(note) = self.regions.note_mut(region) {
            *note = Some((to, offered));
        }
    }

    fn offer_anew(&mut self, region: Name, to: u32) -> Option<OfferKey> {
        if self.preference.protocol == Some(BulkProtocol::Buffers) {
            return None;
        }
        let bytes = self.regions.check(region, Some(Access::Read), 0, 0).ok()?;
        let (len, address) = (bytes.len(), bytes.place().unwrap_or(0));
        if len == 0 {
            return None;
        }
        let partner = &self.offers.peers[to as usize];
        let place = partner.taken.trailing_ones();
        if place as usize >= OFFERS_PER_PEER {
            return None;
        }
        let offer = self.offer_at(self.me, to, place)?;
        let last_protocol = self
            .preference
            .protocol
            .unwrap_or_else(|| self.offers.last_protocol(to, len));
        let turn = partner.turn.wrapping_add(1);
        let mut source = OwnedOffer {
            to,
            place,
            offer,
            turn,
            region,
            len,
            filling: None,
            claimed: None,
            released: false,
            shared: Some(0),
        };
        let mut grant = 0;
        if last_protocol.is_double_copy()
            && let Some(pipe) = self.free_window(to, len).or_else(|| self.free_fifo())
        {
            let filling = self.filling(pipe, &offer, len, last_protocol);
            grant = filling.grant(len).word();
            source.filling = Some(filling);
        }
        offer.open(turn, grant);
        let pushed = source.is_pushed();
        self.offers.open.push(source);
        let i = self.offers.open.len() - 1;
        let pushed = pushed.then(|| self.push(i)).flatten();
        let partner = &mut self.offers.peers[to as usize];
        partner.turn = turn;
        partner.taken |= 1 << place;
        self.chores = true;
        let heap = (address != 0)
            .then(|| {
                self.segment.heap_offset(
                    self.me,
                    std::ptr::with_exposed_provenance(address as usize),
                    len,
                )
            })
            .flatten();
        Some(OfferKey {
            place: Some(place),
            turn,
            address,
            heap,
            pushed,
        })
    }

    /// Fills the first piece of offer `i` in, which is pushed, before the peer is told of it.
    fn push(&mut self, i: usize) -> Option<PushedWindow> {
        self.fill(i, 1).ok()?;
        let filling = self.offers.open[i].filling.as_ref()?;
        match filling.pipe {
            OfferWindow::PingPong(window) => Some(PushedWindow::new(window, filling.fill.filled())),
            OfferWindow::Fifo(_) => None,
        }
    }

    /// A window in turn with `to` for a message of `len` bytes, which is on its way from now on.
    fn free_window(&mut self, to: u32, len: u64) -> Option<OfferWindow> {
        if !matches!(self.preference.protocol, None | Some(BulkProtocol::Slots)) {
            return None;
        }
        let i = self.windows.next(to)?;
        let absent = self.windows.absent(to, i, len);
        if !absent.is_empty() {
            self.afford(absent.len() as u64).ok()?;
            if !self.populate_window(to, i, absent) {
                return None;
            }
        }
        self.windows.give(to, i);
        Some(OfferWindow::PingPong(i))
    }

    /// Has pages for some bytes of window `i` with `peer` at once. False: there are none.
    pub(super) fn populate_window(&mut self, peer: u32, i: usize, bytes: Range<usize>) -> bool {
        let end = bytes.end;
        let Some(area) = self.segment.area().filter(|_| !bytes.is_empty()) else {
            return true;
        };
        match area.populate_pair_window(self.me, peer, i, bytes) {
            // A kernel that does not know the call: each page comes at first touch.
            Err(why) if why.kind() != ErrorKind::InvalidInput => return false,
            _ => self.windows.found(peer, i, end),
        }
        true
    }

    fn free_fifo(&mut self) -> Option<OfferWindow> {
        let pipe = self.offers.fifos.iter().position(|pipe| !pipe.taken)?;
        if !self.offers.fifos[pipe].afforded && self.afford(FIFO_LEN as u64).is_err() {
            return None;
        }
        self.offers.fifos[pipe] = FifoState {
            taken: true,
            afforded: true,
        };
        Some(OfferWindow::Fifo(pipe))
    }

    /// `pipe`, which had a message for `to`, is this rank's again.
    fn reuse_window(&mut self, to: u32, pipe: OfferWindow) {
        match pipe {
            OfferWindow::Fifo(pipe) => self.offers.fifos[pipe].taken = false,
            OfferWindow::PingPong(i) => self.windows.gain(to, i),
        }
    }

    fn filling(
        &self,
        pipe: OfferWindow,
        offer: &BulkOffer<MappedWords<'static>>,
        len: u64,
        protocol: BulkProtocol,
    ) -> OfferFill {
        let chunk = ChunkSizes::of(len, &self.preference);
        let window = match pipe {
            OfferWindow::Fifo(_) => (8 * chunk.last).min(FIFO_LEN as u64),
            // All that there is: lines that the claimer has just read are dear to write.
            OfferWindow::PingPong(_) => self.windows.len() as u64,
        };
        OfferFill {
            pipe,
            fill: FifoWriter::new(*offer.words(), offer.counters(), len, window),
            window,
            chunk,
            streamed: protocol == BulkProtocol::CopyNt,
        }
    }

    /// Takes the offer of `region` back, or lets its claimer finish: then the region counts as used.
    pub(super) fn withdraw(&mut self, region: Name) {
        let of_region = |source: &OwnedOffer| source.region == region;
        let Some(i) = self.offers.open.iter().position(of_region) else {
            return;
        };
        let OwnedOffer {
            to, offer, turn, ..
        } = self.offers.open[i];
        if self.offers.open[i].is_pushed() && offer.is_taken(turn) {
            // The window is the claimer's.
            let source = &mut self.offers.open[i];
            source.filling = None;
            let len = source.len;
            self.offers.set_last_protocol(to, len, BulkProtocol::Slots);
            self.end_offer(i);
        } else if offer.withdraw(turn) {
            self.end_offer(i);
        } else if let OfferStage::Done { protocol } = offer.look(turn) {
            self.end_done(i, protocol);
        } else {
            self.regions.enter(region);
            self.offers.open[i].released = true;
        }
    }

    /// The claimer of offer `i` has all, by protocol `protocol`.
    fn end_done(&mut self, i: usize, protocol: u8) {
        let source = &mut self.offers.open[i];
        let protocol = BulkProtocol::of_code(protocol);
        if let (Some(protocol), None) = (protocol, source.claimed) {
            // It was quicker than this side's look.
            let (to, len) = (source.to, source.len);
            self.offers.set_last_protocol(to, len, protocol);
        }
        let source = &mut self.offers.open[i];
        if protocol == Some(BulkProtocol::Slots) {
            source
                .filling
                .take_if(|f| matches!(f.pipe, OfferWindow::PingPong(_)));
        }
        self.end_offer(i);
    }

    /// Nobody uses offer `i` any more.
    fn end_offer(&mut self, i: usize) {
        let source = self.offers.open.remove(i);
        self.offers.peers[source.to as usize].taken &= !(1 << source.place);
        if let Some(filling) = source.filling {
            self.reuse_window(source.to, filling.pipe);
        }
        if source.released {
            self.leave(source.region);
        } else {
            // Whoever is told of the region again is told that it must ask.
            self.set_offered(source.region, source.to, OfferKey::default());
        }
    }

    /// Ends the offers to `peer`, which is lost.
    pub(super) fn drop_offers(&mut self, peer: u32) {
        let to_peer = |source: &OwnedOffer| source.to == peer;
        while let Some(i) = self.offers.open.iter().position(to_peer) {
            let OwnedOffer { offer, turn, .. } = self.offers.open[i];
            offer.revoke(turn);
            self.wake_if_asleep(peer);
            self.end_offer(i);
        }
    }

    /// Moves every offer on. Returns how many moved.
    pub(super) fn pump_offers(&mut self) -> u32 {
        let mut moved = 0;
        let mut i = 0;
        // One long message to a peer after the other: what is copied in is copied out while it is near.
        let mut last = None;
        while i < self.offers.open.len() {
            let OwnedOffer {
                to, offer, turn, ..
            } = self.offers.open[i];
            let step = match offer.look(turn) {
                OfferStage::Open | OfferStage::Claimed { .. } if last == Some(to) => Ok(false),
                OfferStage::Open => self.fill(i, MAX_COPY),
                OfferStage::Claimed { protocol } => self.serve(i, protocol),
                OfferStage::Done { protocol } => {
                    self.end_done(i, protocol);
                    moved += 1;
                    continue;
                }
                OfferStage::Closed => Err(Corrupt("an offer closed by another than its owner")),
            };
            match step {
                Ok(true) => {
                    moved += 1;
                    let source = &self.offers.open[i];
                    let filling = source.filling.as_ref();
                    last = filling.filter(|f| !f.fill.is_full()).map(|_| to);
                    if source.claimed.is_some() || source.is_pushed() {
                        self.wake_if_asleep(to);
                    }
                }
                Ok(false) => {}
                // What the loss of the peer ends ends then.
                Err(corrupt) => self.breach(to, corrupt),
            }
            i += 1;
        }
        moved
    }

    /// Does the owner's part of offer `i`, which was claimed by protocol `protocol`.
    fn serve(&mut self, i: usize, protocol: u8) -> Result<bool, Corrupt> {
        let protocol = BulkProtocol::of_code(protocol).ok_or(Corrupt("a claim by no protocol"))?;
        if self.offers.open[i].claimed.is_none() {
            self.claimed(i, protocol);
        }
        if protocol == BulkProtocol::CmaBoth {
            return Ok(self.share_piece(i));
        }
        self.fill(i, MAX_COPY)
    }

    /// BulkOffer `i` was claimed.
    fn claimed(&mut self, i: usize, protocol: BulkProtocol) {
        let OwnedOffer { to, len, offer, .. } = self.offers.open[i];
        self.offers.set_last_protocol(to, len, protocol);
        let source = &mut self.offers.open[i];
        source.claimed = Some(protocol);
        if !protocol.is_double_copy() {
            if let Some(filling) = source.filling.take() {
                self.reuse_window(to, filling.pipe);
            }
            return;
        }
        match &mut source.filling {
            // It was pushed, and is not wanted.
            Some(OfferFill { pipe, .. })
                if matches!(pipe, OfferWindow::PingPong(_)) && protocol != BulkProtocol::Slots =>
            {
                let pipe = *pipe;
                source.filling = None;
                self.reuse_window(to, pipe);
            }
            Some(filling) => {
                filling.streamed = protocol == BulkProtocol::CopyNt;
                return;
            }
            None => {}
        }
        let window = match protocol {
            BulkProtocol::Slots => self.free_window(to, len),
            _ => None,
        };
        let pipe = window.or_else(|| self.free_fifo());
        let pipe = pipe.or_else(|| self.reclaim());
        let grant = pipe.map_or(NO_WINDOW, |pipe| {
            let filling = self.filling(pipe, &offer, len, protocol);
            let grant = filling.grant(len).word();
            self.offers.open[i].filling = Some(filling);
            grant
        });
        offer.grant(grant);
        self.wake_if_asleep(to);
    }

    /// Takes a pipe of this rank's own away from an offer that nobody has claimed, for one that was.
    /// Who claims that one will be granted another.
    fn reclaim(&mut self) -> Option<OfferWindow> {
        for i in 0..self.offers.open.len() {
            let OwnedOffer {
                offer,
                turn,
                claimed,
                ref filling,
                ..
            } = self.offers.open[i];
            let own = (filling.as_ref()).is_some_and(|f| matches!(f.pipe, OfferWindow::Fifo(_)));
            if claimed.is_some() || !own {
                continue;
            }
            if !offer.withdraw(turn) {
                continue; // it was claimed just now
            }
            let filling = self.offers.open[i].filling.take();
            offer.open(turn, 0);
            return filling.map(|filling| filling.pipe);
        }
        None
    }

    /// Fills in what there is room for of offer `i`, until it is `most` bytes or more.
    fn fill(&mut self, i: usize, most: u64) -> Result<bool, Corrupt> {
        let OwnedOffer {
            filling: Some(filling),
            region,
            to,
            ..
        } = &mut self.offers.open[i]
        else {
            return Ok(false);
        };
        if filling.fill.is_full() {
            return Ok(false);
        }
        let (Some(bytes), Some(area)) = (self.regions.bytes(*region), self.segment.area()) else {
            return Ok(false);
        };
        let window = match filling.pipe {
            OfferWindow::Fifo(pipe) => area.fifo(self.me, pipe),
            OfferWindow::PingPong(i) => area.pair_window(self.me, *to, i),
        };
        let before = filling.fill.filled();
        while filling.fill.filled() - before < most {
            let at = filling.fill.filled();
            let len = filling.fill.room(filling.chunk.next(at))? as usize;
            if len == 0 {
                break;
            }
            let within = (at % filling.window) as usize;
            // SAFETY: within the window, which is no longer than the mapped one; `room` keeps pieces
            // from its end.
            let mut place = unsafe { SharedBytes::new(window.wrapping_add(within), len) };
            if filling.streamed {
                bytes.drain(at, len, &mut place.non_temporal());
            } else {
                bytes.drain(at, len, &mut place);
            }
            filling.fill.publish(len as u64);
        }
        Ok(filling.fill.filled() > before)
    }

    /// Writes the next piece of offer `i` into the claimer's memory.
    fn share_piece(&mut self, i: usize) -> bool {
        let source = &mut self.offers.open[i];
        let offer = source.offer;
        let (Some(done), Some([to, len])) = (source.shared, offer.joined()) else {
            return false;
        };
        let (Some(bytes), Some(area)) = (self.regions.bytes(source.region), self.segment.area())
        else {
            return false;
        };
        let peer = source.to;
        let entry = &mut self.offers.peers[peer as usize].entry;
        let space = entry.process(&self.segment, area, peer);
        // A peer that says it is this process would choose which of this process's bytes to write.
        let space = space.filter(|space| !space.is_here());
        let (Some(space), true) = (space, len <= source.len) else {
            source.shared = None; // the claimer takes all pieces
            return false;
        };
        let size = piece(len);
        let Some(number) = offer.take(len.div_ceil(size)) else {
            source.shared = None;
            // Who is there no more may have ended between a look and the write behind it.
            if done > 0 && matches!(space.find(), Err(Denied::Gone | Denied::Stranger)) {
                self.report(peer, Fault::PeerDead);
            }
            return false;
        };
        let from = number * size;
        let now = size.min(len - from) as usize;
        let mut place = CmaBytes::new(&space, to.wrapping_add(from), now);
        bytes.drain(from, now, &mut place);
        if place.result().is_ok() {
            source.shared = Some(done + 1);
            offer.share(OwnerProgress::Pieces(done + 1));
        } else {
            *entry = CmaAccess::Denied;
            source.shared = None;
            offer.share(OwnerProgress::Failed);
        }
        true
    }

    /// The words that offers wait for.
    pub(super) fn offer_waits(&self, waits: &mut Vec<WordWait>) {
        for source in &self.offers.open {
            let offer = &source.offer;
            waits.push(WordWait::new(
                *offer.words(),
                offer.state_word(),
                source.state(),
            ));
            if let Some(filling) = source.filling.as_ref().filter(|f| !f.fill.is_full()) {
                let (words, at, seen) = filling.fill.waits_for();
                waits.push(WordWait::new(*words, at, seen));
            }
        }
    }
}

/// Bytes of the pieces of a message in a pipe.
#[derive(Clone, Copy)]
struct ChunkSizes {
    first: u64,
    last: u64,
}

impl ChunkSizes {
    /// For a message of `len` bytes: some pieces a message, so that copying in and out overlap, of a
    /// size at which the counters cost nothing. The first ones are small: the sooner copying out
    /// begins, the sooner it ends.
    fn of(len: u64, preference: &BulkPreference) -> Self {
        let (first, last) = match preference.chunk {
            Some(chunk) => (u64::from(chunk), u64::from(chunk)),
            None => (
                4 << 10,
                (len / 8).next_power_of_two().clamp(8 << 10, 64 << 10),
            ),
        };
        let most = FIFO_LEN as u64 / 4;
        Self {
            first: first.min(most),
            last: last.min(most),
        }
    }

    /// The piece behind the first `at` bytes: as much again.
    fn next(self, at: u64) -> u64 {
        at.clamp(self.first, self.last)
    }
}
