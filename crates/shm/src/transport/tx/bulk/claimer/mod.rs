//! The claimer's side of offered bytes: gets that need no frame.

use std::boxed::Box;
use std::hint::spin_loop;
use std::time::Instant;
use std::vec::Vec;

use oxmpi_os::vm::Denied;
use oxmpi_wire::regions::Name;
use oxmpi_wire::{Bytes, Fault, Key};

use super::choice::{BulkChoice, CostTable};
use super::owner::{Grant, NO_WINDOW, OfferWindow, piece};
use super::protocol::{BulkPreference, BulkProtocol, ProtocolSet};
use super::{BATCH, MAX_COPY, TimedGet};
use crate::ring::{
    BulkOffer, ClaimLost, Corrupt, FifoReader, MappedWords, OfferStage, OwnerProgress,
};
use crate::segment::area::{OFFERS_PER_PEER, WINDOWS_PER_PAIR};
use crate::transport::cma::{CmaAccess, CmaBytes, PeerProcess};
use crate::transport::control::OperationId;
use crate::transport::offer_key::{OfferKey, PushedWindow};
use crate::transport::shared_bytes::SharedBytes;
use crate::transport::tx::{ShmTx, WordWait};
use crate::transport::windows::PingPongWindows;

/// Looks with a PAUSE each at whether the next piece is in a pipe, before the transport looks around
/// again: about the time in which one is copied.
const LOOKS: u32 = 64;

/// All claims of a rank, and by which protocols it goes.
pub(in crate::transport) struct Claims {
    open: Vec<Claim>,
    /// By peer: what its protocols cost, once it was got from.
    known: Vec<Option<Box<PeerCosts>>>,
    /// By peer: whether its memory can be read.
    spaces: Vec<CmaAccess>,
}

/// What is known of the protocols from one peer.
#[derive(Clone, Default)]
struct PeerCosts {
    /// While nothing goes the other way, and while something does.
    tables: [CostTable; 2],
    /// When the last transfer ended.
    ended: Option<Instant>,
}

/// One claimed offer.
struct Claim {
    id: OperationId,
    peer: u32,
    offer: BulkOffer<MappedWords<'static>>,
    turn: u32,
    /// What to ask for if the protocol ends.
    name: Name,
    from_at: u64,
    len: u64,
    protocol: BulkProtocol,
    /// It needs no claim: it came in a window with the message that told of it.
    pushed: bool,
    /// Whether something went to the peer when it was claimed.
    bidirectional: bool,
    started: Instant,
    progress: ClaimProgress,
}

enum ClaimProgress {
    /// No pipe is granted yet but one of no use, if that.
    Waiting { granted: u64 },
    Draining {
        pipe: OfferWindow,
        drain: FifoReader<MappedWords<'static>>,
        window: u64,
    },
    /// So many bytes from `from` on are here.
    Reading {
        space: PeerProcess,
        from: u64,
        done: u64,
    },
    /// As `Reading`, straight from `from`.
    Copying { from: *mut u8, done: u64 },
    Sharing {
        space: PeerProcess,
        from: u64,
        /// Pieces that this side did, and those that the owner said it did.
        mine: u64,
        theirs: u64,
        /// The owner's memory cannot be read: what is left is taken to keep the owner from it, and
        /// what the owner has taken is waited for. Then the protocol ends.
        failed: bool,
    },
    /// The protocol has ended: pull as soon as there is room to ask.
    Ended,
}

// SAFETY: the address in `Copying` is shared memory, reached by opaque copies only, and belongs to
// no thread.
unsafe impl Send for ClaimProgress {}

/// What a step came to.
enum ClaimStep {
    /// Nothing could be done.
    Idle,
    Moved,
    Complete,
    /// The protocol is closed.
    Ended,
    /// The peer was asked to stream: the operation goes on by frames.
    Asked,
    /// The peer is not what it was.
    Broken(Fault),
}

impl From<Corrupt> for ClaimStep {
    fn from(corrupt: Corrupt) -> Self {
        Self::Broken(Fault::Protocol(corrupt.0))
    }
}

impl From<ClaimLost> for ClaimStep {
    fn from(void: ClaimLost) -> Self {
        match void {
            ClaimLost::Revoked => Self::Broken(Fault::Refused("the peer has given this rank up")),
            ClaimLost::Corrupt(corrupt) => corrupt.into(),
        }
    }
}

impl Claim {
    /// How far the offer has come while it is used.
    fn stage(&self) -> OfferStage {
        if self.pushed {
            OfferStage::Open
        } else {
            OfferStage::Claimed {
                protocol: self.protocol.code(),
            }
        }
    }

    /// Whether the owner still keeps to it.
    fn holds(&self) -> Result<(), ClaimLost> {
        self.offer.holds(self.turn, self.stage())
    }

    /// Tells the owner that nothing of the offer is used any more.
    fn finish(&self) -> Result<(), ClaimLost> {
        if !self.pushed {
            return self.offer.finish(self.turn, self.protocol.code());
        }
        // Not if it is one of which the owner fills in more than this side takes.
        if self.is_whole() {
            self.offer.took(self.turn);
        }
        Ok(())
    }

    /// Whether all that the owner fills into its window was taken.
    fn is_whole(&self) -> bool {
        Grant::of_word(self.offer.granted()).is_some_and(|grant| grant.bytes == self.len)
    }
}

impl Claims {
    pub(in crate::transport) fn new(ranks: u32) -> Self {
        Self {
            open: Vec::new(),
            known: vec![None; ranks as usize],
            spaces: vec![CmaAccess::default(); ranks as usize],
        }
    }

    pub(super) fn any(&self) -> bool {
        !self.open.is_empty()
    }

    pub(super) fn choices(&self, peer: u32, preference: &BulkPreference) -> Vec<BulkChoice> {
        let known = self.known.get(peer as usize).and_then(Option::as_ref);
        let mut choices = known.map_or_else(Vec::new, |known| {
            let [one_way, bidirectional] = &known.tables;
            [one_way.choices(false), bidirectional.choices(true)].concat()
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
    /// Takes the `len` bytes from `at` on of a peer's offer into operation `id`, by the best protocol that
    /// is open. False: none is.
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
            // It is no part of what the protocol costs. The owner has found the memory to be there.
            let i = PingPongWindows::across(pushed.window.into());
            let absent = self.windows.absent(peer, i, len);
            self.populate_window(peer, i, absent);
        }
        let started = Instant::now();
        let bidirectional = self.offers.has_open(peer);
        let protocols = self.open_protocols(peer, id, offered, at, len);
        let last_protocol = self.offers.last_protocol(peer, len);
        let in_turn = offered.pushed.is_some() && protocols.has(BulkProtocol::Slots);
        let together = self.offers.is_ping_pong_exchange(peer, len) || bidirectional;
        let follows =
            together && peer < self.me && (last_protocol != BulkProtocol::Slots || in_turn);
        let protocol = match self.preference.protocol {
            Some(protocol) if protocols.has(protocol) => protocol,
            Some(BulkProtocol::Buffers) => return false,
            Some(_) if protocols.has(BulkProtocol::Slots) => BulkProtocol::Slots,
            Some(_) if protocols.has(BulkProtocol::Copy) => BulkProtocol::Copy,
            // Each side's choice bears on what the other one sees: one of them chooses.
            None if follows && protocols.has(last_protocol) => last_protocol,
            None if protocols != ProtocolSet::default() => {
                let known = self.claims.known[peer as usize].get_or_insert_default();
                known.tables[usize::from(bidirectional)].pick(len, protocols, in_turn)
            }
            _ => return false,
        };
        let pushed = offered.pushed.filter(|_| protocol == BulkProtocol::Slots);
        if pushed.is_none() && !offer.claim(offered.turn, protocol.code()) {
            return false;
        }
        let from = offered.address.wrapping_add(at);
        let space = self.space(peer);
        let progress = match (protocol, space) {
            (BulkProtocol::Cma, Some(space)) => ClaimProgress::Reading {
                space,
                from,
                done: 0,
            },
            (BulkProtocol::CmaBoth, Some(space)) => {
                if let Some(to) = self.target(peer, id) {
                    offer.join([to, len]);
                }
                ClaimProgress::Sharing {
                    space,
                    from,
                    mine: 0,
                    theirs: 0,
                    failed: false,
                }
            }
            (BulkProtocol::Mapped, _) => match self.mapped(peer, offered, at, len) {
                Some(from) => ClaimProgress::Copying { from, done: 0 },
                None => ClaimProgress::Ended,
            },
            _ => match pushed.map(|pushed| self.begin_draining(peer, &offer, len, pushed)) {
                Some(Ok(draining)) => draining,
                Some(Err(corrupt)) => {
                    self.breach(peer, corrupt);
                    ClaimProgress::Ended
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
            turn: offered.turn,
            name: Name::of_key(key).0,
            from_at: at,
            len,
            protocol,
            pushed: pushed.is_some(),
            bidirectional,
            started,
            progress,
        });
        self.chores = true;
        true
    }

    /// The protocols by which such a get can go now.
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
            if offered.pushed.is_some() || self.windows.others(peer) {
                protocols = protocols.with(BulkProtocol::Slots);
            }
        }
        if self.mapped(peer, offered, at, len).is_some() {
            protocols = protocols.with(BulkProtocol::Mapped);
        }
        let wanted = match self.preference.protocol {
            None => true,
            Some(protocol) => matches!(protocol, BulkProtocol::Cma | BulkProtocol::CmaBoth),
        };
        let side_by_side = offered.address != 0 && self.target(peer, id).is_some();
        if wanted && side_by_side && self.space(peer).is_some() {
            protocols = protocols.with(BulkProtocol::Cma);
            if at == 0 && len > piece(len) {
                protocols = protocols.with(BulkProtocol::CmaBoth);
            }
        }
        protocols
    }

    /// The address space of `peer`, if this process may read it.
    fn space(&mut self, peer: u32) -> Option<PeerProcess> {
        let area = self.segment.area()?;
        self.claims.spaces[peer as usize].process(&self.segment, area, peer)
    }

    /// The address where operation `id` puts its bytes, if they go side by side.
    fn target(&self, peer: u32, id: OperationId) -> Option<u64> {
        let open = self.operation(id, peer)?;
        let place = self.regions.bytes(open.region)?.place()?;
        place.checked_add(open.at)
    }

    /// Where offered bytes are mapped in this process.
    fn mapped(&self, peer: u32, offered: &OfferKey, at: u64, len: u64) -> Option<*mut u8> {
        let from = offered.heap?.checked_add(at)?;
        self.segment.heap_place(peer, from, len)
    }

    /// Ends the claims on offers of `peer`, which is lost; their operations end elsewhere.
    pub(super) fn drop_claims(&mut self, peer: u32) {
        let (lost, left) = std::mem::take(&mut self.claims.open)
            .into_iter()
            .partition(|claim| claim.peer == peer);
        self.claims.open = left;
        let lost: Vec<Claim> = lost;
        // A peer that lives all the same, and does not know, takes no further piece. One that it took
        // before (256 KiB at most) may still land in memory that is its owner's again. Only a rank that
        // broke the protocol is given up alive; and whom the system lets write into this process needs
        // no offer for it.
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
            // One long message of a peer after the other, as the peer copies them in.
            if last == Some(self.claims.open[i].peer) {
                i += 1;
                continue;
            }
            let mut claim = self.claims.open.swap_remove(i);
            let step = match self.step(&mut claim) {
                // Who has given this rank up does nothing more for it. The operation ends with the
                // peer, and so does one whose bytes may be of something else by now.
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
                ClaimStep::Ended => {
                    claim.progress = ClaimProgress::Ended;
                    true
                }
                ClaimStep::Asked => {
                    if let Some(open) = &mut self.operations[(claim.id.0 >> 32) as usize].open {
                        open.tried = Some(TimedGet {
                            protocol: claim.protocol,
                            bidirectional: claim.bidirectional,
                            started: claim.started,
                            len: claim.len,
                        });
                    }
                    false
                }
                ClaimStep::Broken(fault) => {
                    self.report(claim.peer, fault);
                    false
                }
            };
            // Claims move on in the order in which they came: back into its place, or out of the row.
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

    /// All bytes of `claim` are here, and it is finished.
    fn complete(&mut self, claim: &Claim) {
        self.wake_if_asleep(claim.peer);
        if let ClaimProgress::Draining { pipe, .. } = &claim.progress
            && let OfferWindow::PingPong(i) = *pipe
            && (!claim.pushed || claim.is_whole())
        {
            self.windows.gain(claim.peer, i);
        }
        let timed = TimedGet {
            protocol: claim.protocol,
            bidirectional: claim.bidirectional,
            started: claim.started,
            len: claim.len,
        };
        self.learn(claim.peer, &timed);
        if let Some(open) = self.close(claim.id) {
            self.finish(open.token, Ok(()));
        }
    }

    /// A transfer from `peer` ends now.
    pub(super) fn learn(&mut self, peer: u32, timed: &TimedGet) {
        let Some(known) = &mut self.claims.known[peer as usize] else {
            return;
        };
        let now = Instant::now();
        // One goes after the other: while an earlier one was under way, this one waited.
        let ended = known.ended.replace(now);
        let started = ended.map_or(timed.started, |ended| ended.max(timed.started));
        known.tables[usize::from(timed.bidirectional)].learn(
            timed.len,
            timed.protocol,
            now.duration_since(started),
        );
    }

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
        let Some(bytes) = self.regions.bytes(open.region) else {
            return ClaimStep::Broken(Fault::Protocol("a claim without its memory"));
        };
        let len = claim.len;
        // Who has something to send meanwhile does that.
        let patience = if self.offers.any() { 0 } else { LOOKS };
        match &mut claim.progress {
            ClaimProgress::Waiting { .. } => ClaimStep::Idle,
            ClaimProgress::Draining {
                pipe,
                drain,
                window,
            } => {
                let Some(area) = self.segment.area() else {
                    return ClaimStep::Ended;
                };
                let first = match *pipe {
                    OfferWindow::Fifo(pipe) => area.fifo(claim.peer, pipe),
                    OfferWindow::PingPong(i) => area.pair_window(self.me, claim.peer, i),
                };
                let most = (*window / 4).clamp(1, MAX_COPY);
                let before = drain.drained();
                let mut looks = 0;
                while drain.drained() - before < MAX_COPY && !drain.is_empty() {
                    let n = match drain.ready(most) {
                        // Who has filled something in just now is at the next piece.
                        Ok(0) if drain.drained() > before && looks < patience => {
                            looks += 1;
                            spin_loop();
                            continue;
                        }
                        Ok(0) => break,
                        Ok(n) => n,
                        Err(corrupt) => return corrupt.into(),
                    };
                    looks = 0;
                    let at = drain.drained();
                    let place = first.wrapping_add((at % *window) as usize);
                    // SAFETY: within the window, which is no longer than the mapped one; `ready`
                    // keeps pieces from its end.
                    let mut place = unsafe { SharedBytes::new(place, n as usize) };
                    bytes.fill(open.at + at, &mut place);
                    drain.free(n);
                }
                if drain.drained() == before {
                    return ClaimStep::Idle;
                }
                self.wake_if_asleep(claim.peer);
                if drain.is_empty() {
                    return ClaimStep::Complete;
                }
                ClaimStep::Moved
            }
            ClaimProgress::Reading { space, from, done } => {
                let n = BATCH.min(len - *done);
                let mut afar = CmaBytes::new(space, from.wrapping_add(*done), n as usize);
                bytes.fill(open.at + *done, &mut afar);
                *done += n;
                let complete = *done == len;
                self.read(claim.peer, afar.result(), complete)
            }
            ClaimProgress::Copying { from, done } => {
                let n = BATCH.min(len - *done);
                // SAFETY: within the bytes that `mapped` found to be mapped; the segment keeps them.
                let mut place =
                    unsafe { SharedBytes::new(from.wrapping_add(*done as usize), n as usize) };
                bytes.fill(open.at + *done, &mut place);
                *done += n;
                if *done == len {
                    return ClaimStep::Complete;
                }
                ClaimStep::Moved
            }
            ClaimProgress::Sharing {
                space,
                from,
                mine,
                theirs,
                failed,
            } => {
                let size = piece(len);
                let pieces = len.div_ceil(size);
                if let Some(number) = claim.offer.take(pieces) {
                    *mine += 1;
                    if *failed {
                        return ClaimStep::Moved;
                    }
                    let at = number * size;
                    let n = size.min(len - at);
                    let mut afar = CmaBytes::new(space, from.wrapping_add(at), n as usize);
                    bytes.fill(open.at + at, &mut afar);
                    return match self.read(claim.peer, afar.result(), false) {
                        ClaimStep::Ended => {
                            *failed = true;
                            ClaimStep::Moved
                        }
                        step => step,
                    };
                }
                match (claim.offer.shared(), *failed) {
                    (OwnerProgress::Pieces(n), failed) => match mine.checked_add(n) {
                        Some(done) if done == pieces && failed => ClaimStep::Ended,
                        Some(done) if done == pieces => ClaimStep::Complete,
                        Some(done) if done < pieces => {
                            *theirs = n;
                            ClaimStep::Idle
                        }
                        _ => Corrupt("more pieces than there are").into(),
                    },
                    (OwnerProgress::Failed, true) => ClaimStep::Ended,
                    (OwnerProgress::Failed, false) => {
                        // Which pieces are missing is not known: all again, on this side.
                        claim.progress = ClaimProgress::Reading {
                            space: *space,
                            from: *from,
                            done: 0,
                        };
                        ClaimStep::Moved
                    }
                }
            }
            ClaimProgress::Ended => {
                if !self.pull(claim.peer, claim.id, claim.name, claim.from_at, len) {
                    return ClaimStep::Idle;
                }
                // Who has given this rank up does not answer.
                claim
                    .finish()
                    .map_or_else(ClaimStep::from, |()| ClaimStep::Asked)
            }
        }
    }

    /// What a read from the memory of `peer` came to.
    fn read(&mut self, peer: u32, result: Result<(), Denied>, complete: bool) -> ClaimStep {
        match result {
            Ok(()) if complete => ClaimStep::Complete,
            Ok(()) => ClaimStep::Moved,
            // The number is another process's now, or another program runs in the peer's.
            Err(Denied::Stranger) => ClaimStep::Broken(Fault::PeerDead),
            Err(Denied::Forbidden | Denied::Gone | Denied::Partly) => {
                self.claims.spaces[peer as usize] = CmaAccess::Denied;
                ClaimStep::Ended
            }
        }
    }

    /// Looks for the pipe that was granted.
    fn start_draining(&self, claim: &Claim) -> Result<ClaimProgress, Corrupt> {
        let granted = claim.offer.granted();
        let grant = match granted {
            0 => return Ok(ClaimProgress::Waiting { granted }),
            NO_WINDOW => return Ok(ClaimProgress::Ended),
            word => Grant::of_word(word).ok_or(Corrupt("a pipe that cannot be"))?,
        };
        let window = match grant.pipe {
            // What was pushed; another pipe is granted for it.
            OfferWindow::PingPong(_) if claim.protocol != BulkProtocol::Slots => {
                return Ok(ClaimProgress::Waiting { granted });
            }
            OfferWindow::Fifo(_) => grant.bytes,
            OfferWindow::PingPong(i) => {
                self.windows.check(claim.peer, i)?;
                self.windows.len() as u64
            }
        };
        let (words, at) = (*claim.offer.words(), claim.offer.counters());
        Ok(ClaimProgress::Draining {
            pipe: grant.pipe,
            drain: FifoReader::new(words, at, claim.len, window),
            window,
        })
    }

    /// The window in which `len` bytes came.
    fn begin_draining(
        &self,
        peer: u32,
        offer: &BulkOffer<MappedWords<'static>>,
        len: u64,
        pushed: PushedWindow,
    ) -> Result<ClaimProgress, Corrupt> {
        let i = usize::from(pushed.window);
        if i >= WINDOWS_PER_PAIR {
            return Err(Corrupt("a window that there is not"));
        }
        let i = PingPongWindows::across(i);
        self.windows.check(peer, i)?;
        let window = self.windows.len() as u64;
        let filled = (u64::from(pushed.pages) * PushedWindow::PAGE).min(len);
        let drain = FifoReader::new(*offer.words(), offer.counters(), len, window);
        Ok(ClaimProgress::Draining {
            pipe: OfferWindow::PingPong(i),
            drain: drain.begun(filled)?,
            window,
        })
    }

    /// The words that claims wait for.
    pub(super) fn claim_waits(&self, waits: &mut Vec<WordWait>) {
        for claim in &self.claims.open {
            let word = claim.offer.state_word();
            waits.push(WordWait::new(
                *claim.offer.words(),
                word,
                claim.stage().word(claim.turn),
            ));
            match &claim.progress {
                ClaimProgress::Waiting { granted } => {
                    let at = claim.offer.grant_word();
                    waits.push(WordWait::new(*claim.offer.words(), at, *granted));
                }
                ClaimProgress::Draining { drain, .. } => {
                    let (words, at, seen) = drain.waits_for();
                    waits.push(WordWait::new(*words, at, seen));
                }
                ClaimProgress::Sharing { theirs, .. } => waits.push(WordWait::new(
                    *claim.offer.words(),
                    claim.offer.share_word(),
                    *theirs,
                )),
                _ => {}
            }
        }
    }
}
