//! [`PortPairs`]: the port pairs of a link, and what becomes of frames and accesses on one whose rail fails.
//!
//! ```text
//!  a request fails: all queue pairs of its port pair are put in error
//!  Left{port pairs}        ->                        by another one; the peer puts its own in error
//!                          <-   Left{port pairs}
//!  what was not confirmed  ->                        again
//! ```
//!
//! A send is confirmed when the peer's device has acknowledged it: its completion succeeds. What is not may have
//! arrived nevertheless. So frames are repeated under their numbers, by which the receiver drops those that it has; reads
//! and writes are begun anew. All of that waits until the peer has left the port pair, too: nothing late arrives by it then,
//! no write in memory that its owner uses again. The notices are not numbered: no frame before them is waited for.
//!
//! A rank with several port pairs to a peer sends it nothing inline, as a staged frame can be repeated.

use super::VerbsTx;
use super::loss::NODE_LOST;
use super::send_queue::Posted;
use crate::objects::CompletionError;
use crate::transport::frame_head::{FrameHead, HEAD};
use oxmpi_wire::regions::RegionId;
use oxmpi_wire::{Envelope, Fault, Flags, Header, Kind};
use std::collections::VecDeque;

/// The places of the devices of a port pair: that of this rank, by which its memory is registered, and that of the peer.
pub(super) type Devices = [usize; 2];

/// The port pairs of a link, which are numbered as the peer does.
#[derive(Debug)]
pub(in crate::transport) struct PortPairs {
    /// The rail of this rank, and by which devices both sides' memory is reached, if it is.
    rails: Vec<(u8, Option<Devices>)>,
    /// The port pair by which frames are sent.
    current: usize,
    /// PortPairs that this rank has left, a bit each.
    left: u8,
    /// Those that the peer has left.
    left_there: u8,
    /// Those that were announced to the peer.
    announced: u8,
    /// Frames to repeat.
    unconfirmed: VecDeque<Unconfirmed>,
    /// Operations to begin anew, by index.
    broken_off: Vec<u32>,
}

/// A frame that was not confirmed on a port pair that was left.
#[derive(Debug)]
struct Unconfirmed {
    head: FrameHead,
    body: Vec<u8>,
    /// As of the frame.
    released: Option<RegionId>,
}

/// The tag of a notice of the port pairs that its sender has left.
const LEFT: u32 = 2;

/// The header of such a notice. Its body is a bit for each port pair.
const LEFT_HEADER: Header = Header {
    kind: Kind::Transport,
    flags: Flags::empty(),
    len: 1,
    envelope: Envelope {
        context: 0,
        tag: LEFT,
    },
};

/// Whether a frame of the transport says which port pairs its sender has left.
pub(in crate::transport) fn is_left_notice(header: &Header) -> bool {
    *header == LEFT_HEADER
}

impl PortPairs {
    /// Those of these rails, of which some have failed: a bit each. Frames of connections are dealt to the others by their
    /// numbers.
    pub(in crate::transport) fn new(
        rails: Vec<(u8, Option<Devices>)>,
        left: u8,
        connection: usize,
    ) -> Self {
        let mut open = (0..rails.len()).map(|port_pair| (connection + port_pair) % rails.len());
        Self {
            current: open
                .find(|port_pair| left >> port_pair & 1 == 0)
                .unwrap_or(0),
            rails,
            left,
            left_there: 0,
            announced: 0,
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

    /// The port pair of a rail.
    pub(super) fn of_rail(&self, rail: u8) -> Option<usize> {
        self.rails.iter().position(|(of, _)| *of == rail)
    }

    /// The rail of a port pair by which this rank sends and receives.
    pub(super) fn open_rail(&self, port_pair: usize) -> Option<u8> {
        let (rail, _) = *self.rails.get(port_pair)?;
        (!self.has_left(port_pair)).then_some(rail)
    }

    pub(super) const fn has_left(&self, port_pair: usize) -> bool {
        self.left >> port_pair & 1 != 0
    }

    /// The rails of all port pairs by which memory is reached, and the devices: that of frames first, if it does.
    pub(super) fn rails_of_accesses(&self) -> impl Iterator<Item = (u8, Devices)> {
        let port_pairs =
            (0..self.rails.len()).map(|port_pair| (self.current + port_pair) % self.rails.len());
        let open = port_pairs.filter(|port_pair| !self.has_left(*port_pair));
        open.filter_map(|port_pair| {
            let (rail, devices) = self.rails[port_pair];
            Some((rail, devices?))
        })
    }

    /// Leaves a port pair, if another one is open. Returns its rail.
    pub(super) fn leave(&mut self, port_pair: usize) -> Option<u8> {
        let mut others = (0..self.rails.len()).filter(|at| *at != port_pair && !self.has_left(*at));
        let other = others.next()?;
        self.left |= 1 << port_pair;
        if self.current == port_pair {
            self.current = other;
        }
        Some(self.rails[port_pair].0)
    }

    /// Whether a port pair was left.
    #[inline]
    pub(super) const fn has_failed(&self) -> bool {
        self.left != 0
    }

    /// Whether something waits to be sent anew.
    pub(super) fn has_unsent(&self) -> bool {
        self.announced != self.left || !(self.unconfirmed.is_empty() && self.broken_off.is_empty())
    }

    /// Whether a notice or a frame waits for a buffer to be sent from.
    pub(super) fn awaits_buffers(&self) -> bool {
        let may_repeat = self.left & !self.left_there == 0;
        self.announced != self.left || may_repeat && !self.unconfirmed.is_empty()
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

impl VerbsTx {
    /// A request of a queue pair of `peer` has failed, or one of its receives: leaves its port pair, or loses the peer if that
    /// is the last one, or the port pair is not the reason.
    #[cold]
    pub(in crate::transport) fn broken(&mut self, peer: u32, queue: u8, error: &CompletionError) {
        let rail = self.queues.rail_of(queue);
        let link = self.link(peer);
        let port_pair = link
            .port_pairs
            .of_rail(rail)
            .expect("a rail with a port pair");
        let is_of_the_rail = is_of_the_rail(error);
        // What fails otherwise would fail on another rail, too.
        if is_of_the_rail && link.port_pairs.has_left(port_pair) {
            return;
        }
        tracing::debug!(peer, %error, "a connection failed");
        match is_of_the_rail && self.leave_port_pair(peer, port_pair) {
            true => self.advance(peer),
            false => {
                let is_shared = self.link(peer).pair(queue).initiator().is_some();
                let why = match error.is_flushed() && is_shared {
                    true => NODE_LOST,
                    false => super::loss::fault(error),
                };
                self.lose(peer, why);
            }
        }
    }

    /// Leaves a port pair, if another one is open.
    pub(super) fn leave_port_pair(&mut self, peer: u32, port_pair: usize) -> bool {
        let link = self.links[peer as usize].as_mut();
        if !link.is_some_and(|link| link.leave(port_pair, &self.queues)) {
            return false;
        }
        tracing::warn!(
            peer,
            port_pair,
            "a rail to a peer has failed; its messages take another one"
        );
        self.break_off_pending(peer);
        true
    }

    /// Handles the end of the oldest request of a queue pair, which has failed. On a port pair that was left it is kept to be
    /// repeated.
    #[cold]
    pub(super) fn failed(&mut self, peer: u32, queue: u8, why: &CompletionError) {
        self.end_refused(peer, queue, why);
        self.link(peer).pair(queue).fail_initiator();
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
    pub(super) fn keep_oldest(&mut self, peer: u32, queue: u8) {
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
                link.port_pairs.keep(&bytes, read, released);
            }
            Some(Posted::RingFrame { .. }) => {
                if let Some(ring) = &mut link.ring {
                    let at = ring.take_oldest();
                    let mut bytes = [0; HEAD];
                    ring.read(at, &mut bytes);
                    link.port_pairs
                        .keep(&bytes, |body| ring.read(at + HEAD, body), None);
                }
            }
            Some(Posted::Access { operation }) => self.break_off(peer, operation, queue),
            // A notice by a port pair that was left then is followed by one that says so, too.
            Some(
                Posted::Frame { staged: None, .. }
                | Posted::Credits { .. }
                | Posted::Left { .. }
                | Posted::Confirmation
                | Posted::Word,
            )
            | None => {}
        }
    }

    /// Lets operations that wait for their turn begin anew, unless the port pair for them is still open.
    fn break_off_pending(&mut self, peer: u32) {
        let pending = std::mem::take(&mut self.link(peer).pending);
        for index in pending {
            let operation = &mut self.operations.open[index];
            operation.is_broken_off = true;
            if operation.in_flight == 0 {
                self.link(peer).port_pairs.broken_off.push(index);
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
            link.port_pairs.forget(index);
            link.port_pairs.broken_off.push(index);
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
            self.link(peer).port_pairs.broken_off.push(index);
        }
    }

    /// Tells `peer` which port pairs this rank has left. When the peer has left them, too, sends anew what was not confirmed, as
    /// much as there is room for.
    #[cold]
    pub(super) fn repeat(&mut self, peer: u32) {
        let link = self.links[peer as usize].as_mut();
        let Some(link) = link.filter(|link| link.lost.is_none()) else {
            return;
        };
        let queue = link.queues.of_control();
        let shared = self.shared[queue as usize].as_mut();
        if link.port_pairs.announced != link.port_pairs.left
            && link.pair(queue).can_send(shared.as_deref())
        {
            let left = link.port_pairs.left;
            link.port_pairs.announced = left;
            let pair = link.pair(queue);
            pair.stage(shared.as_deref(), HEAD, &[left]);
            let sent = pair.send_left_notice(shared, &LEFT_HEADER);
            self.check(peer, sent);
        }
        while let Some(link) = &mut self.links[peer as usize]
            && link.port_pairs.left & !link.port_pairs.left_there == 0
            && let Some(frame) = link.port_pairs.unconfirmed.front()
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
            link.port_pairs.unconfirmed.pop_front();
            self.check(peer, sent);
        }
        self.begin_anew(peer);
    }

    /// Begins the operations anew that were broken off: by frames, if no port pair is left that reaches their memory.
    fn begin_anew(&mut self, peer: u32) {
        if self.is_lost(peer) {
            return;
        }
        let link = self.link(peer);
        if link.port_pairs.left & !link.port_pairs.left_there != 0 {
            return;
        }
        for index in std::mem::take(&mut link.port_pairs.broken_off) {
            let operation = &mut self.operations.open[index];
            operation.is_broken_off = false;
            if operation.kind.is_in_pieces() {
                self.resume(peer, index);
                continue;
            }
            operation.posted = 0;
            let operation = *operation;
            if self.has_rail(&operation) {
                self.link(peer).pending.push_back(index);
            } else {
                self.operations.open[index].kind = operation.kind.by_frames();
                let (region, at) = operation.remote;
                self.start_stream(peer, index, region, at);
            }
        }
        self.post_pieces(peer);
    }

    /// Tells `peer`, which can receive, of the port pairs that have failed already.
    pub(crate) fn connected(&mut self, peer: u32) {
        if self.links[peer as usize].is_some() && !self.is_lost(peer) {
            self.advance(peer);
        }
    }

    /// Takes the notice that `peer` has left port pairs.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(in crate::transport) fn peer_left(
        &mut self,
        peer: u32,
        left: u8,
    ) -> Result<(), &'static str> {
        let port_pairs = &mut self.link(peer).port_pairs;
        let count = port_pairs.rails.len();
        if !port_pairs.has_several() || left.checked_shr(count as u32).unwrap_or(0) != 0 {
            return Err("it left a port pair that there is not");
        }
        port_pairs.left_there |= left;
        for port_pair in (0..count).filter(|port_pair| left >> port_pair & 1 != 0) {
            if !self.link(peer).port_pairs.has_left(port_pair)
                && !self.leave_port_pair(peer, port_pair)
            {
                self.lose(peer, Fault::Silent);
                return Ok(());
            }
        }
        Ok(())
    }
}

impl PortPairs {
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
