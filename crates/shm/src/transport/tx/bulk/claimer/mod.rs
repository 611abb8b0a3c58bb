//! The claimer's side of bulk transfers: the life of its claims, and a file for each protocol.
//!
//! The owner *offers* bytes; the claimer *claims* the offer; a *pushed* message already lies in a ping-pong *window*.
//!
//! A get of offered bytes claims the offer by a protocol, moves the bytes in steps, and finishes the claim. Where the
//! protocol fails, the get goes on by a pull through the link's buffers.

mod claim;
mod cma;
mod double_copy;
mod mapped;

use std::boxed::Box;
use std::time::Instant;
use std::vec::Vec;

use oxmpi_wire::regions::RegionId;
use oxmpi_wire::{Bytes, Fault, Key};

use self::claim::{Claim, ClaimProgress, ClaimStep};
use super::TimedGet;
use super::choice::{BulkChoice, CostTable};
use super::grant::{OfferWindow, piece};
use super::protocol::{BulkPreference, BulkProtocol, ProtocolSet};
use crate::segment::area::{OFFERS_PER_PEER, WINDOWS_PER_PAIR};
use crate::transport::cma::CmaAccess;
use crate::transport::control::OperationId;
use crate::transport::offer_key::OfferKey;
use crate::transport::tx::{ShmTx, WordWait};
use crate::transport::windows::PingPongWindows;

/// All open claims of a rank, and the measured costs by which it picks protocols.
pub(in crate::transport) struct Claims {
    open: Vec<Claim>,
    /// By peer, once a get from it has picked a protocol.
    costs: Vec<Option<Box<PeerCosts>>>,
    /// By peer: whether this process may read its memory.
    access: Vec<CmaAccess>,
}

/// The measured costs of gets from one peer.
#[derive(Clone, Default)]
struct PeerCosts {
    /// Of contiguous bytes while nothing goes the other way, and while something does; then of bytes with gaps on
    /// either side.
    tables: [CostTable; 4],
    /// When the last get ended.
    ended: Option<Instant>,
}

impl PeerCosts {
    fn table(&mut self, bidirectional: bool, gaps: bool) -> &mut CostTable {
        &mut self.tables[2 * usize::from(gaps) + usize::from(bidirectional)]
    }
}

impl Claims {
    pub(in crate::transport) fn new(ranks: u32) -> Self {
        Self {
            open: Vec::new(),
            costs: vec![None; ranks as usize],
            access: vec![CmaAccess::default(); ranks as usize],
        }
    }

    pub(super) fn any(&self) -> bool {
        !self.open.is_empty()
    }

    pub(super) fn choices(&self, peer: u32, preference: &BulkPreference) -> Vec<BulkChoice> {
        let known = self.costs.get(peer as usize).and_then(Option::as_ref);
        let mut choices = known.map_or_else(Vec::new, |known| {
            let kinds = [(false, false), (true, false), (false, true), (true, true)];
            let tables = known.tables.iter().zip(kinds);
            tables
                .flat_map(|(table, (bidirectional, gaps))| table.choices(bidirectional, gaps))
                .collect()
        });
        if let Some(protocol) = preference.protocol {
            for choice in &mut choices {
                (choice.protocol, choice.reason) = (protocol, "shm_protocol is set to it");
            }
        }
        choices
    }
}

impl<B: Bytes> ShmTx<B> {
    /// Claims the `len` bytes from `at` on of a peer's offer for operation `id`, by the best protocol that is
    /// available. False: none is.
    pub(super) fn claim(
        &mut self,
        peer: u32,
        id: OperationId,
        key: &Key,
        at: u64,
        len: u64,
    ) -> bool {
        let offered = &OfferKey::of_key(key);
        let place = offered
            .place
            .filter(|&place| (place as usize) < OFFERS_PER_PEER);
        let Some(offer) = place.and_then(|place| self.offer_at(peer, self.me, place)) else {
            return false;
        };
        if let Some(pushed) = offered
            .pushed
            .filter(|pushed| usize::from(pushed.window) < WINDOWS_PER_PAIR)
        {
            // Before the clock starts: page faults are no cost of the protocol. The owner has checked the memory.
            let i = PingPongWindows::peer_index(pushed.window.into());
            let absent = self.windows.absent(peer, i, len);
            self.populate_window(peer, i, absent);
        }
        let started = Instant::now();
        let bidirectional = self.offers.has_open(peer);
        let gaps = offered.address == 0 || self.target(peer, id).is_none();
        let protocols = self.open_protocols(peer, id, offered, at, len);
        let last_protocol = self.offers.last_protocol(peer, len);
        let pushed_here = offered.pushed.is_some() && protocols.has(BulkProtocol::Slots);
        let is_exchange = self.offers.is_ping_pong_exchange(peer, len) || bidirectional;
        let peer_chooses =
            is_exchange && peer < self.me && (last_protocol != BulkProtocol::Slots || pushed_here);
        let protocol = match self.preference.protocol {
            Some(protocol) if protocols.has(protocol) => protocol,
            Some(BulkProtocol::Buffers) => return false,
            Some(_) if protocols.has(BulkProtocol::Slots) => BulkProtocol::Slots,
            Some(_) if protocols.has(BulkProtocol::Copy) => BulkProtocol::Copy,
            // Of a pair that exchanges messages the lower rank chooses: see `choice`.
            None if peer_chooses && protocols.has(last_protocol) => last_protocol,
            None if protocols != ProtocolSet::default() => {
                let known = self.claims.costs[peer as usize].get_or_insert_default();
                known
                    .table(bidirectional, gaps)
                    .pick(len, protocols, pushed_here)
            }
            _ => return false,
        };
        let pushed = offered.pushed.filter(|_| protocol == BulkProtocol::Slots);
        if pushed.is_none() && !offer.claim(offered.generation, protocol.code()) {
            return false;
        }
        let from = offered.address.wrapping_add(at);
        let process = self.peer_process(peer);
        let target = self.target(peer, id);
        let join = || target.into_iter().for_each(|to| offer.join([to, len]));
        let progress = match (protocol, process) {
            (BulkProtocol::Cma, Some(_)) if offered.address == 0 => {
                join();
                ClaimProgress::Written { theirs: 0 }
            }
            (BulkProtocol::Cma, Some(process)) => ClaimProgress::Reading {
                process,
                from,
                done: 0,
            },
            (BulkProtocol::CmaBoth, Some(process)) => {
                join();
                ClaimProgress::Sharing {
                    process,
                    from,
                    mine: 0,
                    theirs: 0,
                    failed: false,
                }
            }
            (BulkProtocol::Mapped, _) => match self.mapped(peer, offered, at, len) {
                Some((from, runs)) => ClaimProgress::Copying {
                    from,
                    runs,
                    done: 0,
                },
                None => ClaimProgress::Pull,
            },
            _ => match pushed.map(|pushed| self.begin_draining(peer, &offer, len, pushed)) {
                Some(Ok(draining)) => draining,
                Some(Err(corrupt)) => {
                    self.breach(peer, corrupt);
                    ClaimProgress::Pull
                }
                None => ClaimProgress::Waiting { granted: 0 },
            },
        };
        if pushed.is_none() {
            self.wake_if_asleep(peer);
        }
        self.claims.open.push(Claim {
            id,
            peer,
            offer,
            generation: offered.generation,
            name: RegionId::from_key(key).0,
            from_at: at,
            pushed: pushed.is_some(),
            progress,
            timed: TimedGet {
                protocol,
                bidirectional,
                gaps,
                started,
                len,
            },
        });
        self.has_slow_work = true;
        true
    }

    /// The protocols that are available to such a get now.
    fn open_protocols(
        &mut self,
        peer: u32,
        id: OperationId,
        offered: &OfferKey,
        at: u64,
        len: u64,
    ) -> ProtocolSet {
        let mut protocols = ProtocolSet::default();
        if at == 0 {
            protocols = protocols
                .with(BulkProtocol::Copy)
                .with(BulkProtocol::CopyNt);
            if offered.pushed.is_some() || self.windows.may_belong_to(peer) {
                protocols = protocols.with(BulkProtocol::Slots);
            }
        }
        if self.mapped(peer, offered, at, len).is_some() {
            protocols = protocols.with(BulkProtocol::Mapped);
        }
        let may_use_cma = match self.preference.protocol {
            None => true,
            Some(protocol) => matches!(protocol, BulkProtocol::Cma | BulkProtocol::CmaBoth),
        };
        if may_use_cma && self.peer_process(peer).is_some() {
            // The owner writes pieces to one range of this process.
            let owner_can = at == 0 && self.target(peer, id).is_some();
            let reads = offered.address != 0;
            if reads || owner_can {
                protocols = protocols.with(BulkProtocol::Cma);
            }
            if reads && owner_can && len > piece(len) {
                protocols = protocols.with(BulkProtocol::CmaBoth);
            }
        }
        protocols
    }

    /// Ends the claims on offers of `peer`, which is lost; the caller ends their operations.
    pub(super) fn drop_claims(&mut self, peer: u32) {
        let (lost, left) = std::mem::take(&mut self.claims.open)
            .into_iter()
            .partition(|claim| claim.peer == peer);
        self.claims.open = left;
        let lost: Vec<Claim> = lost;
        // A peer that is still alive takes no further piece. One that it took before (256 KiB at most) may still land
        // in memory that the program has back. Only a rank that broke the protocol is given up alive, and a process
        // that the system lets write into this one needs no offer for it.
        for claim in lost {
            claim.offer.leave();
        }
    }

    /// Moves every claim on. Returns how many moved.
    pub(super) fn pump_claims(&mut self) -> u32 {
        let mut moved = 0;
        let mut i = 0;
        let mut last = None;
        while i < self.claims.open.len() {
            // One long message of a peer after the other, in the order in which the peer copies them in.
            if last == Some(self.claims.open[i].peer) {
                i += 1;
                continue;
            }
            let mut claim = self.claims.open.swap_remove(i);
            let step = match self.step(&mut claim) {
                // A peer that has given this rank up does no more for it, and may have reused the bytes: then the
                // operation fails.
                ClaimStep::Idle => claim
                    .holds()
                    .map_or_else(ClaimStep::from, |()| ClaimStep::Idle),
                ClaimStep::Complete => claim
                    .finish()
                    .map_or_else(ClaimStep::from, |()| ClaimStep::Complete),
                step => step,
            };
            moved += u32::from(!matches!(step, ClaimStep::Idle));
            last = matches!(step, ClaimStep::Moved).then_some(claim.peer);
            let stays = match step {
                ClaimStep::Idle | ClaimStep::Moved => true,
                ClaimStep::Complete => {
                    self.complete(&claim);
                    false
                }
                ClaimStep::Unavailable => {
                    claim.progress = ClaimProgress::Pull;
                    true
                }
                ClaimStep::Pulled => {
                    if let Some(open) = self.operations.get_mut(claim.id.index) {
                        open.tried = Some(claim.timed);
                    }
                    false
                }
                ClaimStep::Broken(fault) => {
                    self.report(claim.peer, fault);
                    false
                }
            };
            // The order of claims stays.
            if stays {
                self.claims.open.push(claim);
                let last = self.claims.open.len() - 1;
                self.claims.open.swap(i, last);
                i += 1;
            } else if i < self.claims.open.len() {
                self.claims.open[i..].rotate_left(1);
            }
        }
        moved
    }

    /// Completes the operation of `claim`, which is finished.
    fn complete(&mut self, claim: &Claim) {
        self.wake_if_asleep(claim.peer);
        if let ClaimProgress::Draining { window, .. } = &claim.progress
            && let OfferWindow::PingPong(i) = *window
            && (!claim.pushed || claim.takes_all())
        {
            self.windows.gain(claim.peer, i);
        }
        self.learn(claim.peer, &claim.timed);
        if let Some(open) = self.close(claim.id) {
            self.finish(open.token, Ok(()));
        }
    }

    /// Records that a get from `peer` ends now.
    pub(super) fn learn(&mut self, peer: u32, timed: &TimedGet) {
        let Some(costs) = &mut self.claims.costs[peer as usize] else {
            return;
        };
        let now = Instant::now();
        // Gets go one after the other: this one waited for the one before.
        let ended = costs.ended.replace(now);
        let started = ended.map_or(timed.started, |ended| ended.max(timed.started));
        costs.table(timed.bidirectional, timed.gaps).learn(
            timed.len,
            timed.protocol,
            now.duration_since(started),
        );
    }

    /// Does the next part of a claim.
    fn step(&mut self, claim: &mut Claim) -> ClaimStep {
        if let ClaimProgress::Waiting { .. } = claim.progress {
            match self.start_draining(claim) {
                Ok(progress) => claim.progress = progress,
                Err(corrupt) => return corrupt.into(),
            }
        }
        let Some(open) = self.operation(claim.id, claim.peer) else {
            return ClaimStep::Broken(Fault::Protocol("a claim without its operation"));
        };
        if self.regions.bytes(open.region).is_none() {
            return ClaimStep::Broken(Fault::Protocol("a claim without its memory"));
        }
        match claim.progress {
            ClaimProgress::Waiting { .. } => ClaimStep::Idle,
            ClaimProgress::Draining { .. } => self.drain_window(claim, &open),
            ClaimProgress::Reading { .. } => self.read_piece(claim, &open),
            ClaimProgress::Copying { .. } => self.copy_mapped(claim, &open),
            ClaimProgress::Sharing { .. } => self.read_shared_piece(claim, &open),
            ClaimProgress::Written { .. } => Self::await_pieces(claim),
            ClaimProgress::Pull => {
                if !self.pull(
                    claim.peer,
                    claim.id,
                    claim.name,
                    claim.from_at,
                    claim.timed.len,
                ) {
                    return ClaimStep::Idle;
                }
                // An owner that has given this rank up does not answer.
                claim
                    .finish()
                    .map_or_else(ClaimStep::from, |()| ClaimStep::Pulled)
            }
        }
    }

    /// Adds the words whose change moves a claim on.
    pub(super) fn claim_waits(&self, waits: &mut Vec<WordWait>) {
        for claim in &self.claims.open {
            let offer = &claim.offer;
            let (state, stage) = (offer.state_word(), claim.stage().word(claim.generation));
            waits.push(WordWait::new(*offer.words(), state, stage));
            let (at, last) = match &claim.progress {
                ClaimProgress::Waiting { granted } => (offer.grant_word(), *granted),
                ClaimProgress::Draining { reader, .. } => reader.waits_for(),
                ClaimProgress::Sharing { theirs, .. } | ClaimProgress::Written { theirs } => {
                    (offer.share_word(), *theirs)
                }
                _ => continue,
            };
            waits.push(WordWait::new(*offer.words(), at, last));
        }
    }
}
