//! The owner's side of bulk transfers: the life of its offers, and a file for each protocol.
//!
//! A rank offers the bytes of a region to one peer, in a place of its area. The peer claims the offer by a
//! [protocol](super::protocol) and finishes it; or the owner withdraws it.
//!
//! If the peer's last claim of such a size was by a double copy, the owner fills a window right after its message,
//! without waiting for the claim. An unclaimed FIFO is taken away again for an offer that is claimed. A ping-pong window
//! that was filled before the claim is *pushed*: the message names it, so no claim is needed, and neither side waits for
//! a cache line of the other. A peer that wants another protocol claims the offer all the same.

mod cma;
mod double_copy;

use std::vec::Vec;

use oxmpi_wire::Bytes;
use oxmpi_wire::regions::RegionId;

use self::double_copy::{FifoState, OfferFill};
use super::MAX_COPY;
use super::choice::{CLASSES, size_class};
use super::grant::{NO_WINDOW, OfferWindow};
use super::protocol::BulkProtocol;
use crate::ring::{BulkOffer, Corrupt, MappedWords, OfferStage};
use crate::segment::area::{FIFOS, OFFERS_PER_PEER};
use crate::transport::cma::CmaAccess;
use crate::transport::offer_key::{EqualRanges, OfferKey};
use crate::transport::tx::{ShmTx, WordWait};

/// All offers of a rank.
pub(in crate::transport) struct OwnedOffers {
    open: Vec<OwnedOffer>,
    fifos: [FifoState; FIFOS],
    peers: Vec<OfferPeer>,
}

/// The offers to one peer.
#[derive(Clone, Copy)]
struct OfferPeer {
    /// Generation of the last offer to it.
    generation: u32,
    /// Places in use, a bit each.
    taken: u32,
    /// By size class: the protocol of its last claim.
    last_protocols: [BulkProtocol; CLASSES],
    /// By size class: whether its last claim came after this rank's last claim.
    answered: [bool; CLASSES],
    /// Whether this process may write its memory.
    access: CmaAccess,
}

const _: () = assert!(OFFERS_PER_PEER <= u32::BITS as usize);

/// One offer of this rank.
struct OwnedOffer {
    to: u32,
    place: u32,
    offer: BulkOffer<MappedWords<'static>>,
    generation: u32,
    region: RegionId,
    len: u64,
    filling: Option<OfferFill>,
    /// The protocol of the claim.
    claimed: Option<BulkProtocol>,
    /// The region is released once the claimer has finished.
    released: bool,
    /// With `Cma` and `CmaBoth`: the pieces that this rank has copied; `None` once it copies no more.
    shared: Option<u64>,
    /// For how many polls the last check of the claimer's process counts; `None`: there was none.
    check_left: Option<u32>,
}

impl OwnedOffers {
    pub(in crate::transport) fn new(ranks: u32) -> Self {
        let peer_state = OfferPeer {
            generation: 0,
            taken: 0,
            last_protocols: [BulkProtocol::Slots; CLASSES],
            answered: [false; CLASSES],
            access: CmaAccess::default(),
        };
        Self {
            open: Vec::new(),
            fifos: [FifoState::default(); FIFOS],
            peers: vec![peer_state; ranks as usize],
        }
    }

    pub(super) fn any(&self) -> bool {
        !self.open.is_empty()
    }

    /// The protocol of the last claim of `peer` in the size class of `len`.
    pub(super) fn last_protocol(&self, peer: u32, len: u64) -> BulkProtocol {
        self.peers[peer as usize].last_protocols[size_class(len)]
    }

    fn set_last_protocol(&mut self, peer: u32, len: u64, protocol: BulkProtocol) {
        let (peer_state, class) = (&mut self.peers[peer as usize], size_class(len));
        peer_state.last_protocols[class] = protocol;
        peer_state.answered[class] = true;
    }

    /// Whether `peer` has claimed a message of this size class since this rank last did; this rank does so now.
    pub(super) fn is_ping_pong_exchange(&mut self, peer: u32, len: u64) -> bool {
        std::mem::take(&mut self.peers[peer as usize].answered[size_class(len)])
    }

    /// Whether an offer to `peer` is open.
    pub(super) fn has_open(&self, peer: u32) -> bool {
        self.open.iter().any(|offered| offered.to == peer)
    }
}

impl OwnedOffer {
    /// Whether a ping-pong window with its bytes goes over with the message, without a claim.
    fn is_pushed(&self) -> bool {
        let ping_pong = |filling: &OfferFill| matches!(filling.window, OfferWindow::PingPong(_));
        self.claimed.is_none() && self.filling.as_ref().is_some_and(ping_pong)
    }

    /// The state word of the offer, as the owner last saw it.
    fn state(&self) -> u64 {
        let stage = match self.claimed {
            None => OfferStage::Open,
            Some(protocol) => OfferStage::Claimed {
                protocol: protocol.code(),
            },
        };
        stage.word(self.generation)
    }
}

impl<B: Bytes> ShmTx<B> {
    /// Offer `place` of rank `from` to rank `to`.
    pub(super) fn offer_at(
        &self,
        from: u32,
        to: u32,
        place: u32,
    ) -> Option<BulkOffer<MappedWords<'static>>> {
        let offer = self.segment.area()?.offer(from, to, place as usize);
        // SAFETY: this transport keeps the segment beside all that uses the words.
        Some(BulkOffer::new(unsafe { offer.words().detach() }, 0))
    }

    /// Offers the bytes of `region` to `to` and returns what the region's key says of the offer. A region has one offer;
    /// further peers pull. Bytes that peers may write are not offered: an offer is claimed once, and may hold a copy.
    pub(super) fn offer(&mut self, region: RegionId, to: u32) -> OfferKey {
        match self.regions.note(region).copied().flatten() {
            Some((peer, key)) if peer == to => return key,
            // Offered to another peer.
            Some(_) => return OfferKey::default(),
            None => {}
        }
        let key = self.offer_anew(region, to).unwrap_or_default();
        self.set_key(region, to, key);
        key
    }

    fn set_key(&mut self, region: RegionId, to: u32, key: OfferKey) {
        if let Some(note) = self.regions.note_mut(region) {
            *note = Some((to, key));
        }
    }

    fn offer_anew(&mut self, region: RegionId, to: u32) -> Option<OfferKey> {
        if self.preference.protocol == Some(BulkProtocol::Buffers) {
            return None;
        }
        let bytes = self.regions.ahead(region)?;
        let (len, address) = (bytes.len(), bytes.address().unwrap_or(0));
        if len == 0 {
            return None;
        }
        let peer_state = &self.offers.peers[to as usize];
        let place = peer_state.taken.trailing_ones();
        if place as usize >= OFFERS_PER_PEER {
            return None;
        }
        let offer = self.offer_at(self.me, to, place)?;
        let last_protocol = self
            .preference
            .protocol
            .unwrap_or_else(|| self.offers.last_protocol(to, len));
        let generation = peer_state.generation.wrapping_add(1);
        let mut offered = OwnedOffer {
            to,
            place,
            offer,
            generation,
            region,
            len,
            filling: None,
            claimed: None,
            released: false,
            shared: Some(0),
            check_left: None,
        };
        let mut grant = 0;
        if last_protocol.is_double_copy()
            && let Some(window) = self.free_window(to, len).or_else(|| self.free_fifo())
        {
            let filling = self.filling(window, &offer, len, last_protocol);
            grant = filling.grant(len).word();
            offered.filling = Some(filling);
        }
        offer.open(generation, grant);
        let pushed = offered.is_pushed();
        self.offers.open.push(offered);
        let i = self.offers.open.len() - 1;
        let pushed = pushed.then(|| self.push(i)).flatten();
        let peer_state = &mut self.offers.peers[to as usize];
        peer_state.generation = generation;
        peer_state.taken |= 1 << place;
        self.has_slow_work = true;
        let (heap, ranges) = self.place_in_heap(region).unzip();
        Some(OfferKey {
            place: Some(place),
            generation,
            address,
            heap,
            ranges: ranges.flatten(),
            pushed,
        })
    }

    /// The offset of the first byte of `region` in this rank's area of the heap, and its ranges if it has gaps; `None`
    /// if some bytes lie elsewhere, or a key cannot say where.
    fn place_in_heap(&self, region: RegionId) -> Option<(u64, Option<EqualRanges>)> {
        let areas = self.segment.rank_areas()?;
        let bytes = self.regions.bytes(region)?;
        let (first, runs) = bytes.strided()?;
        let span = runs.span(0, bytes.len())?;
        let low = std::ptr::with_exposed_provenance(first.checked_add_signed(span.start)? as usize);
        let place = areas.offset(self.me, low, span.start.abs_diff(span.end))?;
        let ranges = match bytes.address() {
            Some(_) => None,
            None => Some(EqualRanges::of(&runs)?),
        };
        Some((place.checked_add_signed(-span.start)?, ranges))
    }

    /// Takes the offer of `region` back, or lets its claimer finish; until then the region stays in use.
    pub(super) fn withdraw(&mut self, region: RegionId) {
        let of_region = |offered: &OwnedOffer| offered.region == region;
        let Some(i) = self.offers.open.iter().position(of_region) else {
            return;
        };
        let OwnedOffer {
            to,
            offer,
            generation,
            ..
        } = self.offers.open[i];
        if self.offers.open[i].is_pushed() && offer.is_taken(generation) {
            // The claimer has the window now.
            let offered = &mut self.offers.open[i];
            offered.filling = None;
            let len = offered.len;
            self.offers.set_last_protocol(to, len, BulkProtocol::Slots);
            self.end_offer(i);
        } else if offer.withdraw(generation) {
            self.end_offer(i);
        } else if let OfferStage::Done { protocol } = offer.stage(generation) {
            self.end_done(i, protocol);
        } else {
            self.regions.enter(region);
            self.offers.open[i].released = true;
        }
    }

    /// Ends offer `i`, whose claimer has all bytes, by the protocol of this code.
    fn end_done(&mut self, i: usize, protocol: u8) {
        let offered = &mut self.offers.open[i];
        let protocol = BulkProtocol::of_code(protocol);
        if let (Some(protocol), None) = (protocol, offered.claimed) {
            // The claimer finished before the owner saw the claim.
            let (to, len) = (offered.to, offered.len);
            self.offers.set_last_protocol(to, len, protocol);
        }
        let offered = &mut self.offers.open[i];
        if protocol == Some(BulkProtocol::Slots) {
            offered
                .filling
                .take_if(|f| matches!(f.window, OfferWindow::PingPong(_)));
        }
        self.end_offer(i);
    }

    /// Removes offer `i`, which neither side uses any more.
    fn end_offer(&mut self, i: usize) {
        let offered = self.offers.open.remove(i);
        self.offers.peers[offered.to as usize].taken &= !(1 << offered.place);
        if let Some(filling) = offered.filling {
            self.reuse_window(offered.to, filling.window);
        }
        if offered.released {
            self.leave(offered.region);
        } else {
            // The next peer that gets a key of the region pulls.
            self.set_key(offered.region, offered.to, OfferKey::default());
        }
    }

    /// Ends the offers to `peer`, which is lost.
    pub(super) fn drop_offers(&mut self, peer: u32) {
        let to_peer = |offered: &OwnedOffer| offered.to == peer;
        while let Some(i) = self.offers.open.iter().position(to_peer) {
            let OwnedOffer {
                offer, generation, ..
            } = self.offers.open[i];
            offer.revoke(generation);
            self.wake_if_asleep(peer);
            self.end_offer(i);
        }
    }

    /// Moves every offer on. Returns how many moved.
    pub(super) fn pump_offers(&mut self) -> u32 {
        let mut moved = 0;
        let mut i = 0;
        // One long message to a peer after the other, so that the claimer finds the bytes in a cache.
        let mut last = None;
        while i < self.offers.open.len() {
            let OwnedOffer {
                to,
                offer,
                generation,
                ..
            } = self.offers.open[i];
            let step = match offer.stage(generation) {
                OfferStage::Open | OfferStage::Claimed { .. } if last == Some(to) => Ok(false),
                OfferStage::Open => {
                    self.check_early(i);
                    self.fill(i, MAX_COPY)
                }
                OfferStage::Claimed { protocol } => self.serve(i, protocol),
                OfferStage::Done { protocol } => {
                    self.end_done(i, protocol);
                    moved += 1;
                    continue;
                }
                OfferStage::Closed => Err(Corrupt("the peer closed an offer of this rank")),
            };
            match step {
                Ok(true) => {
                    moved += 1;
                    let offered = &self.offers.open[i];
                    let filling = offered.filling.as_ref();
                    last = filling.filter(|f| !f.writer.is_full()).map(|_| to);
                    if offered.claimed.is_some() || offered.is_pushed() {
                        self.wake_if_asleep(to);
                    }
                }
                Ok(false) => {}
                // The loss of the peer ends the offer.
                Err(corrupt) => self.breach(to, corrupt),
            }
            i += 1;
        }
        moved
    }

    /// Does the owner's part of offer `i`, claimed by the protocol of this code.
    fn serve(&mut self, i: usize, protocol: u8) -> Result<bool, Corrupt> {
        let protocol =
            BulkProtocol::of_code(protocol).ok_or(Corrupt("a claim by an unknown protocol"))?;
        if self.offers.open[i].claimed.is_none() {
            self.claimed(i, protocol);
        }
        // By `Cma` the claimer joins only where it cannot read, so that this rank copies all.
        if matches!(protocol, BulkProtocol::Cma | BulkProtocol::CmaBoth) {
            return Ok(self.share_piece(i));
        }
        self.fill(i, MAX_COPY)
    }

    /// Prepares offer `i`, which the peer has claimed: grants a window where the protocol needs one.
    fn claimed(&mut self, i: usize, protocol: BulkProtocol) {
        let OwnedOffer { to, len, offer, .. } = self.offers.open[i];
        self.offers.set_last_protocol(to, len, protocol);
        let offered = &mut self.offers.open[i];
        offered.claimed = Some(protocol);
        if !protocol.is_double_copy() {
            if let Some(filling) = offered.filling.take() {
                self.reuse_window(to, filling.window);
            }
            return;
        }
        match &mut offered.filling {
            // Pushed, but the peer wants another protocol.
            Some(OfferFill { window, .. })
                if matches!(window, OfferWindow::PingPong(_))
                    && protocol != BulkProtocol::Slots =>
            {
                let window = *window;
                offered.filling = None;
                self.reuse_window(to, window);
            }
            Some(filling) => {
                filling.non_temporal = protocol == BulkProtocol::CopyNt;
                return;
            }
            None => {}
        }
        let window = match protocol {
            BulkProtocol::Slots => self.free_window(to, len),
            _ => None,
        };
        let window = window.or_else(|| self.free_fifo());
        let window = window.or_else(|| self.reclaim());
        let grant = window.map_or(NO_WINDOW, |window| {
            let filling = self.filling(window, &offer, len, protocol);
            let grant = filling.grant(len).word();
            self.offers.open[i].filling = Some(filling);
            grant
        });
        offer.grant(grant);
        self.wake_if_asleep(to);
    }

    /// Adds the words whose change moves an offer on.
    pub(super) fn offer_waits(&self, waits: &mut Vec<WordWait>) {
        for offered in &self.offers.open {
            let offer = &offered.offer;
            let mut wait = |at, last| waits.push(WordWait::new(*offer.words(), at, last));
            wait(offer.state_word(), offered.state());
            // The claimer joins after its claim.
            let may_join = matches!(
                offered.claimed,
                Some(BulkProtocol::Cma | BulkProtocol::CmaBoth)
            );
            if may_join && offered.shared == Some(0) {
                wait(offer.join_word(), 0);
            }
            if let Some(filling) = offered.filling.as_ref().filter(|f| !f.writer.is_full()) {
                let (at, last) = filling.writer.waits_for();
                wait(at, last);
            }
        }
    }
}
