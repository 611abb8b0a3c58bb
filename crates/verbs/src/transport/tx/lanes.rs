//! [`Lanes`]: the lanes of a link, and what becomes of frames and accesses on one whose rail fails.
//!
//! ```text
//!  a request fails: all queue pairs of its lane are put in error
//!  Left{lanes}      ->           by another lane; the peer puts its own in error
//!                   <-  Left{lanes}
//!  what was not confirmed  ->    again
//! ```
//!
//! A send is confirmed when the peer's device has acknowledged it: its completion succeeds. What is not may have
//! arrived nevertheless. So frames are repeated under their numbers, by which the receiver drops those that it has; reads
//! and writes are begun anew. All of that waits until the peer has left the lane, too: nothing late arrives by it then,
//! no write in memory that its owner uses again. The notices are not numbered: no frame before them is waited for.
//!
//! A rank with several lanes to a peer sends it nothing inline, as a staged frame can be repeated.

use super::VerbsTx;
use super::link::Link;
use super::pair::Posted;
use crate::objects::CompletionError;
use crate::transport::frame_head::{FrameHead, HEAD};
use crate::transport::queue_sizes::QueueSizes;
use oxmpi_wire::regions::RegionId;
use oxmpi_wire::{Envelope, Fault, Flags, Header, Kind};
use std::collections::VecDeque;

/// The lanes of a link, which are numbered as the peer does.
#[derive(Debug)]
pub(in crate::transport) struct Lanes {
    /// The rail of this rank, and whether both sides' memory is reached by the lane.
    rails: Vec<(u8, bool)>,
    /// The lane by which frames are sent.
    current: usize,
    /// Lanes that this rank has left, a bit each.
    left: u8,
    /// Those that the peer has left.
    left_there: u8,
    /// What the peer was told last.
    told: u8,
    /// Frames to repeat.
    unconfirmed: VecDeque<Unconfirmed>,
    /// Operations to begin anew, by index.
    broken_off: Vec<u32>,
}

/// A frame that was not confirmed on a lane that was left.
#[derive(Debug)]
struct Unconfirmed {
    head: FrameHead,
    body: Vec<u8>,
    /// As of the frame.
    released: Option<RegionId>,
}

/// The tag of a notice of the lanes that its sender has left.
const LEFT: u32 = 2;

/// The header of such a notice. Its body is a bit for each lane.
const LEFT_HEADER: Header = Header {
    kind: Kind::Transport,
    flags: Flags::empty(),
    len: 1,
    envelope: Envelope {
        context: 0,
        tag: LEFT,
    },
};

/// Whether a frame of the transport says which lanes its sender has left.
pub(in crate::transport) fn is_left_notice(header: &Header) -> bool {
    *header == LEFT_HEADER
}

impl Lanes {
    /// Lanes of these rails, of which some have failed: a bit each. `turn` deals frames to the others.
    pub(in crate::transport) fn new(rails: Vec<(u8, bool)>, left: u8, turn: usize) -> Self {
        let mut turns = (0..rails.len()).map(|lane| (turn + lane) % rails.len());
        Self {
            current: turns.find(|lane| left >> lane & 1 == 0).unwrap_or(0),
            rails,
            left,
            left_there: 0,
            told: 0,
            unconfirmed: VecDeque::new(),
            broken_off: Vec::new(),
        }
    }

    pub(in crate::transport) const fn has_several(&self) -> bool {
        self.rails.len() > 1
    }

    /// The rail by which frames are sent.
    pub(super) fn rail(&self) -> u8 {
        self.rails[self.current].0
    }

    /// The lane of a rail.
    pub(super) fn of_rail(&self, rail: u8) -> Option<usize> {
        self.rails.iter().position(|(of, _)| *of == rail)
    }

    /// The rail of a lane by which this rank sends and receives.
    pub(super) fn open_rail(&self, lane: usize) -> Option<u8> {
        let (rail, _) = *self.rails.get(lane)?;
        (!self.has_left(lane)).then_some(rail)
    }

    const fn has_left(&self, lane: usize) -> bool {
        self.left >> lane & 1 != 0
    }

    /// The rail of a lane by which memory is reached: that of frames, if it does.
    pub(super) fn rail_of_accesses(&self) -> Option<u8> {
        self.rails_of_accesses().next()
    }

    /// The rails of all lanes by which memory is reached: that of frames first, if it does.
    pub(super) fn rails_of_accesses(&self) -> impl Iterator<Item = u8> {
        let lanes = (0..self.rails.len()).map(|lane| (self.current + lane) % self.rails.len());
        let reaching = lanes.filter(|lane| self.rails[*lane].1 && !self.has_left(*lane));
        reaching.map(|lane| self.rails[lane].0)
    }

    /// Whether a lane was left.
    #[inline]
    pub(super) const fn has_failed(&self) -> bool {
        self.left != 0
    }

    /// Whether something waits to be sent anew.
    pub(super) fn has_unsent(&self) -> bool {
        self.told != self.left || !(self.unconfirmed.is_empty() && self.broken_off.is_empty())
    }

    /// The numbers of the frames to repeat.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.unconfirmed.iter().map(|frame| frame.head.sequence)
    }

    /// Drops an operation, which has ended.
    pub(super) fn forget(&mut self, index: u32) {
        self.broken_off.retain(|broken_off| *broken_off != index);
    }

    /// Drops what waits to be sent anew. Returns the regions whose release it announces.
    pub(super) fn clear(&mut self) -> impl Iterator<Item = RegionId> {
        self.broken_off.clear();
        let unconfirmed = std::mem::take(&mut self.unconfirmed);
        unconfirmed.into_iter().filter_map(|frame| frame.released)
    }
}

impl Link {
    /// Leaves a lane, if another one is open. Its requests then fail one by one.
    fn leave(&mut self, lane: usize, sizes: &QueueSizes) -> bool {
        let lanes = &mut self.lanes;
        let is_open = |at: &usize| *at != lane && lanes.left >> *at & 1 == 0;
        let Some(other) = (0..lanes.rails.len()).find(is_open) else {
            return false;
        };
        lanes.left |= 1 << lane;
        let (rail, _) = lanes.rails[lane];
        if lanes.current == lane {
            lanes.current = other;
        }
        self.queues = sizes.on_rail(self.lanes.rail());
        let of_rail = &mut self.pairs[sizes.queues_of(rail)];
        of_rail.iter_mut().for_each(super::Pair::retire);
        self.close_rings(rail, sizes);
        true
    }
}

impl VerbsTx {
    /// A request of a queue pair of `peer` has failed, or one of its receives: leaves its lane, or loses the peer if that
    /// is the last one, or the lane is not the reason.
    #[cold]
    pub(in crate::transport) fn broken(&mut self, peer: u32, queue: u8, error: &CompletionError) {
        let rail = self.queues.rail_of(queue);
        let link = self.link(peer);
        let lane = link.lanes.of_rail(rail).expect("a rail with a lane");
        if link.lanes.has_left(lane) {
            return;
        }
        tracing::debug!(peer, %error, "a connection failed");
        match is_of_the_rail(error) && self.leave_lane(peer, lane) {
            true => self.advance(peer),
            false => self.lose(peer, super::loss::fault(error)),
        }
    }

    /// Leaves a lane, if another one is open.
    fn leave_lane(&mut self, peer: u32, lane: usize) -> bool {
        let link = self.links[peer as usize].as_mut();
        if !link.is_some_and(|link| link.leave(lane, &self.queues)) {
            return false;
        }
        tracing::warn!(
            peer,
            lane,
            "a rail to a peer has failed; its messages take another one"
        );
        self.break_off_pending(peer);
        true
    }

    /// Handles the end of the oldest request of a queue pair, which has failed. On a lane that was left it is kept to be
    /// repeated.
    #[cold]
    pub(super) fn failed(&mut self, peer: u32, queue: u8, why: &CompletionError) {
        self.end_refused(peer, queue, why);
        self.broken(peer, queue, why);
        if !self.is_lost(peer) {
            self.keep_oldest(peer, queue);
        }
        let shared = self.shared[queue as usize].as_mut();
        self.links[peer as usize]
            .as_mut()
            .and_then(|link| link.pair(queue).done(shared));
        if !self.is_lost(peer) {
            self.advance(peer);
        }
    }

    /// Keeps what the oldest request of a queue pair was for, which has failed.
    fn keep_oldest(&mut self, peer: u32, queue: u8) {
        let shared = self.shared[queue as usize].as_ref();
        let Some(link) = &mut self.links[peer as usize] else {
            return;
        };
        let pair = &link.pairs[queue as usize];
        match pair.oldest() {
            Some(Posted::Frame {
                staged: Some(buffer),
                released,
                ..
            }) => {
                let staging = pair.staging(shared);
                let bytes = staging.read(buffer, 0);
                let read = |body: &mut [u8]| staging.read_part(buffer, HEAD, body);
                link.lanes.keep(&bytes, read, released);
            }
            Some(Posted::RingFrame { .. }) => {
                if let Some(ring) = &mut link.ring {
                    let at = ring.take_oldest();
                    let mut bytes = [0; HEAD];
                    ring.read(at, &mut bytes);
                    link.lanes
                        .keep(&bytes, |body| ring.read(at + HEAD, body), None);
                }
            }
            Some(Posted::Left { .. }) => link.lanes.told = 0,
            Some(Posted::Access { operation }) => self.break_off(peer, operation, queue),
            Some(Posted::Frame { staged: None, .. } | Posted::Credits { .. } | Posted::Word)
            | None => {}
        }
    }

    /// Lets operations that wait for their turn begin anew, unless the lane for them is still open.
    fn break_off_pending(&mut self, peer: u32) {
        let pending = std::mem::take(&mut self.link(peer).pending);
        for index in pending {
            let operation = &mut self.operations.open[index];
            operation.is_broken_off = true;
            if operation.in_flight == 0 {
                self.link(peer).lanes.broken_off.push(index);
            }
        }
    }

    /// Notes that an access of an operation by a queue has failed.
    fn break_off(&mut self, peer: u32, index: u32, queue: u8) {
        let operation = &mut self.operations.open[index];
        operation.is_broken_off = true;
        let is_in_pieces = operation.kind.is_in_pieces();
        let link = self.link(peer);
        link.pending.retain(|pending| *pending != index);
        if is_in_pieces {
            link.lanes.forget(index);
            link.lanes.broken_off.push(index);
            return self.post_again(index, queue);
        }
        self.access_ended(index);
    }

    /// Counts the end of an access of an operation that was broken off.
    pub(super) fn access_ended(&mut self, index: u32) {
        let operation = &mut self.operations.open[index];
        operation.in_flight -= 1;
        if operation.in_flight == 0 {
            let peer = operation.peer;
            self.link(peer).lanes.broken_off.push(index);
        }
    }

    /// Tells `peer` which lanes this rank has left. When the peer has left them, too, sends anew what was not confirmed, as
    /// much as there is room for.
    #[cold]
    pub(super) fn repeat(&mut self, peer: u32) {
        let link = self.links[peer as usize].as_mut();
        let Some(link) = link.filter(|link| link.lost.is_none()) else {
            return;
        };
        let queue = link.queues.of_control();
        let shared = self.shared[queue as usize].as_mut();
        if link.lanes.told != link.lanes.left && link.pair(queue).can_send(shared.as_deref()) {
            let left = link.lanes.left;
            link.lanes.told = left;
            let pair = link.pair(queue);
            pair.stage(shared.as_deref(), HEAD, &[left]);
            let sent = pair.send_left_notice(shared, &LEFT_HEADER);
            self.check(peer, sent);
        }
        while let Some(link) = &mut self.links[peer as usize]
            && link.lanes.left & !link.lanes.left_there == 0
            && let Some(frame) = link.lanes.unconfirmed.front()
        {
            let queue = link.queues.smallest(frame.head.header.len);
            let shared = self.shared[queue as usize].as_mut();
            let pair = &mut link.pairs[queue as usize];
            if !pair.can_send(shared.as_deref()) {
                return;
            }
            pair.stage(shared.as_deref(), HEAD, &frame.body);
            let grant = pair.send_frame();
            let head = FrameHead {
                grant,
                ..frame.head
            };
            let sent = pair.send_staged_frame(shared, &head, frame.released);
            link.lanes.unconfirmed.pop_front();
            self.check(peer, sent);
        }
        self.begin_anew(peer);
    }

    /// Begins the operations anew that were broken off: by frames, if no lane is left that reaches memory.
    fn begin_anew(&mut self, peer: u32) {
        if self.is_lost(peer) {
            return;
        }
        let link = self.link(peer);
        if link.lanes.left & !link.lanes.left_there != 0 {
            return;
        }
        let by_frames = link.lanes.rail_of_accesses().is_none();
        for index in std::mem::take(&mut link.lanes.broken_off) {
            let operation = &mut self.operations.open[index];
            operation.is_broken_off = false;
            if operation.kind.is_in_pieces() {
                self.resume(peer, index);
                continue;
            }
            operation.posted = 0;
            let (region, at) = operation.remote;
            if by_frames {
                operation.kind = operation.kind.by_frames();
                self.start_stream(peer, index, region, at);
            } else {
                self.link(peer).pending.push_back(index);
            }
        }
        self.post_pieces(peer);
    }

    /// Tells `peer`, which can receive, of the lanes that have failed already.
    pub(crate) fn connected(&mut self, peer: u32) {
        if self.links[peer as usize].is_some() && !self.is_lost(peer) {
            self.advance(peer);
        }
    }

    /// Takes the notice that `peer` has left lanes.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(in crate::transport) fn peer_left(
        &mut self,
        peer: u32,
        left: u8,
    ) -> Result<(), &'static str> {
        let lanes = &mut self.link(peer).lanes;
        let count = lanes.rails.len();
        if !lanes.has_several() || left.checked_shr(count as u32).unwrap_or(0) != 0 {
            return Err("it left a lane that there is not");
        }
        lanes.left_there |= left;
        for lane in (0..count).filter(|lane| left >> lane & 1 != 0) {
            if !self.link(peer).lanes.has_left(lane) && !self.leave_lane(peer, lane) {
                self.lose(peer, Fault::Silent);
                return Ok(());
            }
        }
        Ok(())
    }
}

impl Lanes {
    /// Keeps a frame of these first bytes, whose body is `read`.
    fn keep(
        &mut self,
        head: &[u8; HEAD],
        read: impl FnOnce(&mut [u8]),
        released: Option<RegionId>,
    ) {
        let Ok(head) = FrameHead::parse(head) else {
            return;
        };
        let mut body = vec![0; head.header.len as usize];
        read(&mut body);
        self.unconfirmed.push_back(Unconfirmed {
            head,
            body,
            released,
        });
    }
}

/// Whether another rail may do better.
fn is_of_the_rail(error: &CompletionError) -> bool {
    [
        // Soft-RoCE's reason where the link is down.
        "IBV_WC_LOC_QP_OP_ERR",
        "IBV_WC_RETRY_EXC_ERR",
        "IBV_WC_RESP_TIMEOUT_ERR",
        "IBV_WC_WR_FLUSH_ERR",
        "IBV_WC_FATAL_ERR",
    ]
    .contains(&error.name())
}
