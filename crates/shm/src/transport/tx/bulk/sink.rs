//! The claimer's side of offered bytes: gets that need no frame.

use std::boxed::Box;
use std::hint::spin_loop;
use std::time::Instant;
use std::vec::Vec;

use oxmpi_os::vm::Denied;
use oxmpi_wire::regions::Name;
use oxmpi_wire::{Bytes, Fault, Key};

use super::choice::{Road, RoadWish, Roads, Row, Table};
use super::single::{Afar, Entry, Space};
use super::source::{Grant, NO_PIPE, Pipe, piece};
use super::{BATCH, PIPED, Timed};
use crate::area::{OFFERS, SHARED};
use crate::ring::{
    BulkOffer, ClaimLost, Corrupt, FifoReader, MappedWords, OfferStage, OwnerProgress,
};
use crate::transport::control::Id;
use crate::transport::foreign::Foreign;
use crate::transport::offered::{Offered, Pushed};
use crate::transport::tx::{ShmTx, Wait};
use crate::transport::windows::Windows;

/// Looks with a PAUSE each at whether the next piece is in a pipe, before the transport looks around
/// again: about the time in which one is copied.
const LOOKS: u32 = 64;

/// All claims of a rank, and by which roads it goes.
pub(in crate::transport) struct Sinks {
    claims: Vec<Claim>,
    /// By peer: what its roads cost, once it was got from.
    known: Vec<Option<Box<Known>>>,
    /// By peer: whether its memory can be read.
    spaces: Vec<Entry>,
}

/// What is known of the roads from one peer.
#[derive(Clone, Default)]
struct Known {
    /// While nothing goes the other way, and while something does.
    tables: [Table; 2],
    /// When the last transfer ended.
    ended: Option<Instant>,
}

/// One claimed offer.
struct Claim {
    id: Id,
    peer: u32,
    offer: BulkOffer<MappedWords<'static>>,
    turn: u32,
    /// What to ask for if the road ends.
    name: Name,
    from_at: u64,
    len: u64,
    road: Road,
    /// It needs no claim: it came in a window with the message that told of it.
    pushed: bool,
    /// Whether something went to the peer when it was claimed.
    both_ways: bool,
    started: Instant,
    progress: Progress,
}

enum Progress {
    /// No pipe is granted yet but one of no use, if that.
    Waiting { granted: u64 },
    Draining {
        pipe: Pipe,
        drain: FifoReader<MappedWords<'static>>,
        window: u64,
    },
    /// So many bytes from `from` on are here.
    Reading { space: Space, from: u64, done: u64 },
    /// As `Reading`, straight from `from`.
    Copying { from: *mut u8, done: u64 },
    Sharing {
        space: Space,
        from: u64,
        /// Pieces that this side did, and those that the owner said it did.
        mine: u64,
        theirs: u64,
        /// The owner's memory cannot be read: what is left is taken to keep the owner from it, and
        /// what the owner has taken is waited for. Then the road ends.
        failed: bool,
    },
    /// The road has ended: pull as soon as there is room to ask.
    Ended,
}

// SAFETY: the address in `Copying` is shared memory, reached by opaque copies only, and belongs to
// no thread.
unsafe impl Send for Progress {}

/// What a step came to.
enum Step {
    /// Nothing could be done.
    Idle,
    Moved,
    Complete,
    /// The road is closed.
    Ended,
    /// The peer was asked to stream: the operation goes on by frames.
    Asked,
    /// The peer is not what it was.
    Broken(Fault),
}

impl From<Corrupt> for Step {
    fn from(corrupt: Corrupt) -> Self {
        Self::Broken(Fault::Protocol(corrupt.0))
    }
}

impl From<ClaimLost> for Step {
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
                protocol: self.road.code(),
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
            return self.offer.finish(self.turn, self.road.code());
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

impl Sinks {
    pub(in crate::transport) fn new(ranks: u32) -> Self {
        Self {
            claims: Vec::new(),
            known: vec![None; ranks as usize],
            spaces: vec![Entry::default(); ranks as usize],
        }
    }

    pub(super) fn any(&self) -> bool {
        !self.claims.is_empty()
    }

    pub(super) fn rows(&self, peer: u32, wish: &RoadWish) -> Vec<Row> {
        let known = self.known.get(peer as usize).and_then(Option::as_ref);
        let mut rows = known.map_or_else(Vec::new, |known| {
            let [one_way, both_ways] = &known.tables;
            [one_way.rows(false), both_ways.rows(true)].concat()
        });
        if let Some(road) = wish.road {
            for row in &mut rows {
                (row.road, row.why) = (road, "the setting shm_road says so");
            }
        }
        rows
    }
}

impl<B: Bytes> ShmTx<B> {
    /// Takes the `len` bytes from `at` on of a peer's offer into operation `id`, by the best road that
    /// is open. False: none is.
    pub(super) fn claim(&mut self, peer: u32, id: Id, key: &Key, at: u64, len: u64) -> bool {
        let offered = &Offered::of_key(key);
        let place = offered.place.filter(|&place| (place as usize) < OFFERS);
        let Some(offer) = place.and_then(|place| self.offer_at(peer, self.me, place)) else {
            return false;
        };
        if let Some(pushed) = offered
            .pushed
            .filter(|pushed| usize::from(pushed.window) < SHARED)
        {
            // It is no part of what the road costs. The owner has found the memory to be there.
            let i = Windows::across(pushed.window.into());
            let absent = self.windows.absent(peer, i, len);
            self.populate_window(peer, i, absent);
        }
        let started = Instant::now();
        let both_ways = self.sources.has_open(peer);
        let roads = self.open_roads(peer, id, offered, at, len);
        let habit = self.sources.habit(peer, len);
        let in_turn = offered.pushed.is_some() && roads.has(Road::Turn);
        let together = self.sources.is_dialogue(peer, len) || both_ways;
        let follows = together && peer < self.me && (habit != Road::Turn || in_turn);
        let road = match self.wish.road {
            Some(road) if roads.has(road) => road,
            Some(Road::Buffers) => return false,
            Some(_) if roads.has(Road::Turn) => Road::Turn,
            Some(_) if roads.has(Road::Cache) => Road::Cache,
            // Each side's choice bears on what the other one sees: one of them chooses.
            None if follows && roads.has(habit) => habit,
            None if roads != Roads::default() => {
                let known = self.sinks.known[peer as usize].get_or_insert_default();
                known.tables[usize::from(both_ways)].pick(len, roads, in_turn)
            }
            _ => return false,
        };
        let pushed = offered.pushed.filter(|_| road == Road::Turn);
        if pushed.is_none() && !offer.claim(offered.turn, road.code()) {
            return false;
        }
        let from = offered.address.wrapping_add(at);
        let space = self.space(peer);
        let progress = match (road, space) {
            (Road::Single, Some(space)) => Progress::Reading {
                space,
                from,
                done: 0,
            },
            (Road::Both, Some(space)) => {
                if let Some(to) = self.target(peer, id) {
                    offer.join([to, len]);
                }
                Progress::Sharing {
                    space,
                    from,
                    mine: 0,
                    theirs: 0,
                    failed: false,
                }
            }
            (Road::Direct, _) => match self.mapped(peer, offered, at, len) {
                Some(from) => Progress::Copying { from, done: 0 },
                None => Progress::Ended,
            },
            _ => match pushed.map(|pushed| self.begin_draining(peer, &offer, len, pushed)) {
                Some(Ok(draining)) => draining,
                Some(Err(corrupt)) => {
                    self.breach(peer, corrupt);
                    Progress::Ended
                }
                None => Progress::Waiting { granted: 0 },
            },
        };
        if pushed.is_none() {
            self.wake_if_asleep(peer);
        }
        self.sinks.claims.push(Claim {
            id,
            peer,
            offer,
            turn: offered.turn,
            name: Name::of_key(key).0,
            from_at: at,
            len,
            road,
            pushed: pushed.is_some(),
            both_ways,
            started,
            progress,
        });
        self.chores = true;
        true
    }

    /// The roads by which such a get can go now.
    fn open_roads(&mut self, peer: u32, id: Id, offered: &Offered, at: u64, len: u64) -> Roads {
        let mut roads = Roads::default();
        if at == 0 {
            roads = roads.with(Road::Cache).with(Road::Stream);
            if offered.pushed.is_some() || self.windows.others(peer) {
                roads = roads.with(Road::Turn);
            }
        }
        if self.mapped(peer, offered, at, len).is_some() {
            roads = roads.with(Road::Direct);
        }
        let wanted = match self.wish.road {
            None => true,
            Some(road) => matches!(road, Road::Single | Road::Both),
        };
        let side_by_side = offered.address != 0 && self.target(peer, id).is_some();
        if wanted && side_by_side && self.space(peer).is_some() {
            roads = roads.with(Road::Single);
            if at == 0 && len > piece(len) {
                roads = roads.with(Road::Both);
            }
        }
        roads
    }

    /// The address space of `peer`, if this process may read it.
    fn space(&mut self, peer: u32) -> Option<Space> {
        let area = self.segment.area()?;
        self.sinks.spaces[peer as usize].space(&self.segment, area, peer)
    }

    /// The address where operation `id` puts its bytes, if they go side by side.
    fn target(&self, peer: u32, id: Id) -> Option<u64> {
        let open = self.operation(id, peer)?;
        let place = self.regions.bytes(open.region)?.place()?;
        place.checked_add(open.at)
    }

    /// Where offered bytes are mapped in this process.
    fn mapped(&self, peer: u32, offered: &Offered, at: u64, len: u64) -> Option<*mut u8> {
        let from = offered.heap?.checked_add(at)?;
        self.segment.heap_place(peer, from, len)
    }

    /// Ends the claims on offers of `peer`, which is lost; their operations end elsewhere.
    pub(super) fn drop_claims(&mut self, peer: u32) {
        let (lost, left) = std::mem::take(&mut self.sinks.claims)
            .into_iter()
            .partition(|claim| claim.peer == peer);
        self.sinks.claims = left;
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
    pub(super) fn pump_sinks(&mut self) -> u32 {
        let mut moved = 0;
        let mut i = 0;
        let mut last = None;
        while i < self.sinks.claims.len() {
            // One long message of a peer after the other, as the peer copies them in.
            if last == Some(self.sinks.claims[i].peer) {
                i += 1;
                continue;
            }
            let mut claim = self.sinks.claims.swap_remove(i);
            let step = match self.step(&mut claim) {
                // Who has given this rank up does nothing more for it. The operation ends with the
                // peer, and so does one whose bytes may be of something else by now.
                Step::Idle => claim.holds().map_or_else(Step::from, |()| Step::Idle),
                Step::Complete => claim.finish().map_or_else(Step::from, |()| Step::Complete),
                step => step,
            };
            moved += u32::from(!matches!(step, Step::Idle));
            last = matches!(step, Step::Moved).then_some(claim.peer);
            let stays = match step {
                Step::Idle | Step::Moved => true,
                Step::Complete => {
                    self.complete(&claim);
                    false
                }
                Step::Ended => {
                    claim.progress = Progress::Ended;
                    true
                }
                Step::Asked => {
                    if let Some(open) = &mut self.operations[(claim.id.0 >> 32) as usize].open {
                        open.tried = Some(Timed {
                            road: claim.road,
                            both_ways: claim.both_ways,
                            started: claim.started,
                            len: claim.len,
                        });
                    }
                    false
                }
                Step::Broken(fault) => {
                    self.report(claim.peer, fault);
                    false
                }
            };
            // Claims move on in the order in which they came: back into its place, or out of the row.
            if stays {
                self.sinks.claims.push(claim);
                let last = self.sinks.claims.len() - 1;
                self.sinks.claims.swap(i, last);
                i += 1;
            } else if i < self.sinks.claims.len() {
                self.sinks.claims[i..].rotate_left(1);
            }
        }
        moved
    }

    /// All bytes of `claim` are here, and it is finished.
    fn complete(&mut self, claim: &Claim) {
        self.wake_if_asleep(claim.peer);
        if let Progress::Draining { pipe, .. } = &claim.progress
            && let Pipe::Turn(i) = *pipe
            && (!claim.pushed || claim.is_whole())
        {
            self.windows.gain(claim.peer, i);
        }
        let timed = Timed {
            road: claim.road,
            both_ways: claim.both_ways,
            started: claim.started,
            len: claim.len,
        };
        self.learn(claim.peer, &timed);
        if let Some(open) = self.close(claim.id) {
            self.finish(open.token, Ok(()));
        }
    }

    /// A transfer from `peer` ends now.
    pub(super) fn learn(&mut self, peer: u32, timed: &Timed) {
        let Some(known) = &mut self.sinks.known[peer as usize] else {
            return;
        };
        let now = Instant::now();
        // One goes after the other: while an earlier one was under way, this one waited.
        let ended = known.ended.replace(now);
        let started = ended.map_or(timed.started, |ended| ended.max(timed.started));
        let nanoseconds = now.duration_since(started).as_nanos() as u64;
        known.tables[usize::from(timed.both_ways)].learn(timed.len, timed.road, nanoseconds);
    }

    fn step(&mut self, claim: &mut Claim) -> Step {
        if let Progress::Waiting { .. } = claim.progress {
            match self.start_draining(claim) {
                Ok(progress) => claim.progress = progress,
                Err(corrupt) => return corrupt.into(),
            }
        }
        let Some(open) = self.operation(claim.id, claim.peer) else {
            return Step::Broken(Fault::Protocol("a claim without its operation"));
        };
        let Some(bytes) = self.regions.bytes(open.region) else {
            return Step::Broken(Fault::Protocol("a claim without its memory"));
        };
        let len = claim.len;
        // Who has something to send meanwhile does that.
        let patience = if self.sources.any() { 0 } else { LOOKS };
        match &mut claim.progress {
            Progress::Waiting { .. } => Step::Idle,
            Progress::Draining {
                pipe,
                drain,
                window,
            } => {
                let Some(area) = self.segment.area() else {
                    return Step::Ended;
                };
                let first = match *pipe {
                    Pipe::Own(pipe) => area.window(claim.peer, pipe),
                    Pipe::Turn(i) => area.shared(self.me, claim.peer, i),
                };
                let most = (*window / 4).clamp(1, PIPED);
                let before = drain.drained();
                let mut looks = 0;
                while drain.drained() - before < PIPED && !drain.is_empty() {
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
                    let mut place = unsafe { Foreign::new(place, n as usize) };
                    bytes.fill(open.at + at, &mut place);
                    drain.free(n);
                }
                if drain.drained() == before {
                    return Step::Idle;
                }
                self.wake_if_asleep(claim.peer);
                if drain.is_empty() {
                    return Step::Complete;
                }
                Step::Moved
            }
            Progress::Reading { space, from, done } => {
                let n = BATCH.min(len - *done);
                let mut afar = Afar::new(space, from.wrapping_add(*done), n as usize);
                bytes.fill(open.at + *done, &mut afar);
                *done += n;
                let complete = *done == len;
                self.read(claim.peer, afar.result(), complete)
            }
            Progress::Copying { from, done } => {
                let n = BATCH.min(len - *done);
                // SAFETY: within the bytes that `mapped` found to be mapped; the segment keeps them.
                let mut place =
                    unsafe { Foreign::new(from.wrapping_add(*done as usize), n as usize) };
                bytes.fill(open.at + *done, &mut place);
                *done += n;
                if *done == len {
                    return Step::Complete;
                }
                Step::Moved
            }
            Progress::Sharing {
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
                        return Step::Moved;
                    }
                    let at = number * size;
                    let n = size.min(len - at);
                    let mut afar = Afar::new(space, from.wrapping_add(at), n as usize);
                    bytes.fill(open.at + at, &mut afar);
                    return match self.read(claim.peer, afar.result(), false) {
                        Step::Ended => {
                            *failed = true;
                            Step::Moved
                        }
                        step => step,
                    };
                }
                match (claim.offer.shared(), *failed) {
                    (OwnerProgress::Pieces(n), failed) => match mine.checked_add(n) {
                        Some(done) if done == pieces && failed => Step::Ended,
                        Some(done) if done == pieces => Step::Complete,
                        Some(done) if done < pieces => {
                            *theirs = n;
                            Step::Idle
                        }
                        _ => Corrupt("more pieces than there are").into(),
                    },
                    (OwnerProgress::Failed, true) => Step::Ended,
                    (OwnerProgress::Failed, false) => {
                        // Which pieces are missing is not known: all again, on this side.
                        claim.progress = Progress::Reading {
                            space: *space,
                            from: *from,
                            done: 0,
                        };
                        Step::Moved
                    }
                }
            }
            Progress::Ended => {
                if !self.pull(claim.peer, claim.id, claim.name, claim.from_at, len) {
                    return Step::Idle;
                }
                // Who has given this rank up does not answer.
                claim.finish().map_or_else(Step::from, |()| Step::Asked)
            }
        }
    }

    /// What a read from the memory of `peer` came to.
    fn read(&mut self, peer: u32, result: Result<(), Denied>, complete: bool) -> Step {
        match result {
            Ok(()) if complete => Step::Complete,
            Ok(()) => Step::Moved,
            // The number is another process's now, or another program runs in the peer's.
            Err(Denied::Stranger) => Step::Broken(Fault::PeerDead),
            Err(Denied::Forbidden | Denied::Gone | Denied::Partly) => {
                self.sinks.spaces[peer as usize] = Entry::Closed;
                Step::Ended
            }
        }
    }

    /// Looks for the pipe that was granted.
    fn start_draining(&self, claim: &Claim) -> Result<Progress, Corrupt> {
        let granted = claim.offer.granted();
        let grant = match granted {
            0 => return Ok(Progress::Waiting { granted }),
            NO_PIPE => return Ok(Progress::Ended),
            word => Grant::of_word(word).ok_or(Corrupt("a pipe that cannot be"))?,
        };
        let window = match grant.pipe {
            // What was pushed; another pipe is granted for it.
            Pipe::Turn(_) if claim.road != Road::Turn => {
                return Ok(Progress::Waiting { granted });
            }
            Pipe::Own(_) => grant.bytes,
            Pipe::Turn(i) => {
                self.windows.check(claim.peer, i)?;
                self.windows.len() as u64
            }
        };
        let (words, at) = (*claim.offer.words(), claim.offer.counters());
        Ok(Progress::Draining {
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
        pushed: Pushed,
    ) -> Result<Progress, Corrupt> {
        let i = usize::from(pushed.window);
        if i >= SHARED {
            return Err(Corrupt("a window that there is not"));
        }
        let i = Windows::across(i);
        self.windows.check(peer, i)?;
        let window = self.windows.len() as u64;
        let filled = (u64::from(pushed.pages) * Pushed::PAGE).min(len);
        let drain = FifoReader::new(*offer.words(), offer.counters(), len, window);
        Ok(Progress::Draining {
            pipe: Pipe::Turn(i),
            drain: drain.begun(filled)?,
            window,
        })
    }

    /// The words that claims wait for.
    pub(super) fn sink_waits(&self, waits: &mut Vec<Wait>) {
        for claim in &self.sinks.claims {
            let word = claim.offer.state_word();
            waits.push(Wait::new(
                *claim.offer.words(),
                word,
                claim.stage().word(claim.turn),
            ));
            match &claim.progress {
                Progress::Waiting { granted } => {
                    let at = claim.offer.grant_word();
                    waits.push(Wait::new(*claim.offer.words(), at, *granted));
                }
                Progress::Draining { drain, .. } => {
                    let (words, at, seen) = drain.waits_for();
                    waits.push(Wait::new(*words, at, seen));
                }
                Progress::Sharing { theirs, .. } => waits.push(Wait::new(
                    *claim.offer.words(),
                    claim.offer.share_word(),
                    *theirs,
                )),
                _ => {}
            }
        }
    }
}
