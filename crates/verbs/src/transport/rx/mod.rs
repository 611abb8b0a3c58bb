//! [`VerbsRx`]: the receiving half, which polls the completion queue of all connections.

mod events;
mod incoming;
mod ring;
mod shared;
mod sleep;
#[cfg(test)]
mod tests;

pub(super) use self::incoming::Incoming;
pub(super) use self::shared::SharedReceives;

use self::events::Events;
use self::ring::Rings;
use super::buffers::Buffers;
use super::control::Control;
use super::data_head::is_data;
use super::frame_head::{FrameHead, HEAD};
use super::open_device::OpenDevice;
use super::options::{EagerRings, VerbsTransportError};
use super::order::{Held, Place};
use super::request_id::RequestId;
use super::tx::{VerbsTx, is_left_notice};
use crate::error::VerbsError;
use crate::objects::{Completion, ProtectionDomain};
use oxmpi_wire::{AsTx, Fault, Header, Kind, Peer, Rx, Sink, Take};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Completions that are taken at a time.
const BATCH: usize = 16;

/// Completions of one poll that are no frames, so that a peer cannot keep this rank from its other work.
const OTHERS: u32 = 64;

/// The receiving half of a rank's connections.
#[derive(Debug)]
pub struct VerbsRx {
    peers: Vec<Option<Incoming>>,
    /// By receive queue; `None` where each peer has its own.
    shared: Vec<Option<SharedReceives>>,
    /// The peers by the shared queues from which their queue pairs take receives, and the numbers of these.
    by_number: BTreeMap<(u8, u32), u32>,
    /// Peers whose next frame waits for the sink.
    ready: VecDeque<u32>,
    rings: Rings,
    ring_options: EagerRings,
    /// By rail.
    domains: Vec<ProtectionDomain>,
    /// The one that is polled.
    device: OpenDevice,
    /// The others, the next one first.
    others: VecDeque<OpenDevice>,
    /// Where a poll finds completions, so that it need not clear the places each time.
    room: Vec<Completion>,
    /// Completions so far.
    taken: u64,
    /// Completions that were found when this half was armed.
    ahead: VecDeque<Completion>,
    /// The last poll found nothing and left nothing to do.
    quiet: bool,
    events: Events,
}

/// What a completion was: an arrival for the sink, or something else.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Frame,
    Other,
}

/// A message in a buffer.
#[derive(Clone, Copy)]
struct Arrival {
    peer: u32,
    queue: u8,
    buffer: u32,
    len: usize,
}

impl VerbsRx {
    pub(super) fn new(
        devices: Vec<OpenDevice>,
        peers: u32,
        shared: Vec<Option<SharedReceives>>,
        (ring_options, domains): (EagerRings, Vec<ProtectionDomain>),
        patience: Option<Duration>,
    ) -> Self {
        let mut others = VecDeque::from(devices);
        let device = others.pop_front().expect("a device");
        Self {
            peers: (0..peers).map(|_| None).collect(),
            shared,
            by_number: BTreeMap::new(),
            ready: VecDeque::new(),
            rings: Rings::default(),
            ring_options,
            domains,
            device,
            others,
            room: vec![Completion::default(); BATCH],
            taken: 0,
            ahead: VecDeque::new(),
            quiet: false,
            events: Events::new(patience),
        }
    }

    /// Adds `peer`, whose queue pairs for these queues have these numbers.
    pub(super) fn add(&mut self, peer: u32, numbers: &[(u8, u32)], incoming: Incoming) {
        for (queue, number) in numbers {
            if self.shared[usize::from(*queue)].is_some() {
                self.by_number.insert((*queue, *number), peer);
            }
        }
        self.peers[peer as usize] = Some(incoming);
    }

    /// Removes `peer`, from which nothing has come.
    pub(crate) fn forget(&mut self, peer: u32) {
        self.by_number.retain(|_, of| *of != peer);
        self.peers[peer as usize] = None;
    }

    /// Completions that were taken so far.
    pub(crate) const fn taken(&self) -> u64 {
        self.taken
    }

    /// Lets another device be polled next, if there is one.
    fn next_device(&mut self) {
        if let Some(next) = self.others.pop_front() {
            let last = std::mem::replace(&mut self.device, next);
            self.others.push_back(last);
        }
    }

    /// All devices.
    fn devices(&self) -> impl Iterator<Item = &OpenDevice> {
        [&self.device].into_iter().chain(&self.others)
    }

    /// Takes completions, at most as many as `room` has places.
    fn take<'a>(&mut self, room: &'a mut [Completion]) -> Result<&'a [Completion], VerbsError> {
        if self.ahead.is_empty() {
            return self.device.queue.poll(room);
        }
        let count = self.ahead.len().min(room.len());
        for (to, completion) in room.iter_mut().zip(self.ahead.drain(..count)) {
            *to = completion;
        }
        Ok(&room[..count])
    }

    fn handle<T: AsTx<VerbsTx>, S: Sink<T>>(
        &mut self,
        completion: &Completion,
        tx: &mut T,
        sink: &mut S,
    ) -> Step {
        match RequestId::from_word(completion.id()) {
            RequestId::Send { peer, queue } => {
                tx.as_tx().sent(peer, queue, completion);
                Step::Other
            }
            RequestId::Opening { .. } => Step::Other,
            RequestId::Receive {
                peer,
                queue,
                buffer,
            } => self.received(completion, [peer, buffer], queue, tx, sink),
            RequestId::Shared { queue, buffer } => {
                let step = match self.by_number.get(&(queue, completion.queue_pair())) {
                    Some(&peer) => self.received(completion, [peer, buffer], queue, tx, sink),
                    None => Step::Other,
                };
                let shared = self.shared[queue as usize].as_mut();
                if let Err(why) = shared.map_or(Ok(()), |shared| shared.free(buffer)) {
                    tx.as_tx().device_failed(&why);
                }
                step
            }
        }
    }

    /// Handles the completion of a receive.
    fn received<T: AsTx<VerbsTx>, S: Sink<T>>(
        &mut self,
        completion: &Completion,
        [peer, buffer]: [u32; 2],
        queue: u8,
        tx: &mut T,
        sink: &mut S,
    ) -> Step {
        if tx.as_tx().is_lost(peer) {
            return Step::Other;
        }
        if let Err(why) = completion.result() {
            tx.as_tx().broken(peer, queue, &why);
            return Step::Other;
        }
        let arrival = Arrival {
            peer,
            queue,
            buffer,
            len: completion.len(),
        };
        match self.arrived(arrival, tx, sink) {
            Ok(step) => step,
            Err(rule) => {
                tx.as_tx().lose(peer, Fault::Protocol(rule));
                Step::Other
            }
        }
    }

    /// Handles a message, and frees its buffer if that is the peer's own.
    ///
    /// # Errors
    /// The rule that the peer broke.
    fn arrived<T, S>(
        &mut self,
        arrival: Arrival,
        tx: &mut T,
        sink: &mut S,
    ) -> Result<Step, &'static str>
    where
        T: AsTx<VerbsTx>,
        S: Sink<T>,
    {
        let Arrival {
            peer,
            queue,
            buffer,
            len,
        } = arrival;
        let Some(incoming) = &mut self.peers[peer as usize] else {
            return Ok(Step::Other);
        };
        let shared = self.shared[queue as usize].as_ref();
        let head = FrameHead::parse(&incoming.buffers(queue, shared).read(buffer, 0));
        let head = head.map_err(|_| "a frame whose header is none")?;
        if len != HEAD + head.header.len as usize {
            return Err("a frame of another length than its header says");
        }
        let credits = tx.as_tx().credits(peer, queue);
        credits.take(head.grant)?;
        let is_own = head.header.kind == Kind::Transport;
        if is_own && head.header.len == 0 {
            credits.credit_message_arrived()?;
            if shared.is_none() {
                let buffers = incoming.own_mut(queue);
                buffers.free.push(buffer);
                post(buffers, [peer, 1], queue, tx.as_tx());
            }
            tx.as_tx().advance(peer);
            return Ok(Step::Other);
        }
        let is_left_notice = is_own && is_left_notice(&head.header);
        let place = match is_left_notice {
            true => Place::Before,
            false => incoming.order.place(head.sequence)?,
        };
        let buffers = incoming.buffers(queue, shared);
        let mut body = buffers.body(buffer, head.header.len as usize);
        let step = match place {
            Place::Before if is_left_notice => {
                let [left] = body.take_exact();
                tx.as_tx().peer_left(peer, left)?;
                Step::Other
            }
            Place::Before => Step::Other,
            Place::Next => deliver(peer, &head.header, &mut body, tx, sink)?,
            Place::Early => {
                let mut held = vec![0; body.left()];
                body.take(&mut held);
                let header = head.header;
                incoming
                    .order
                    .hold(head.sequence, Held { header, body: held });
                Step::Other
            }
        };
        if incoming.order.has_next() && !self.ready.contains(&peer) {
            self.ready.push_back(peer);
        }
        let count = tx.as_tx().credits(peer, queue).frame_arrived()?;
        if shared.is_none() {
            let buffers = incoming.own_mut(queue);
            buffers.free.push(buffer);
            post(buffers, [peer, count], queue, tx.as_tx());
        }
        tx.as_tx().advance(peer);
        self.count_frame(peer, queue, tx);
        Ok(step)
    }

    /// Hands over the next frame of a peer that is ready.
    fn deliver_ready<T: AsTx<VerbsTx>, S: Sink<T>>(
        &mut self,
        tx: &mut T,
        sink: &mut S,
    ) -> Option<Step> {
        let peer = self.ready.pop_front()?;
        let incoming = self.peers[peer as usize].as_mut()?;
        if tx.as_tx().is_lost(peer) {
            incoming.order.clear();
            return Some(Step::Other);
        }
        let held = incoming.order.take_next()?;
        if incoming.order.has_next() {
            self.ready.push_front(peer);
        }
        match deliver(peer, &held.header, &mut &held.body[..], tx, sink) {
            Ok(step) => Some(step),
            Err(rule) => {
                tx.as_tx().lose(peer, Fault::Protocol(rule));
                Some(Step::Other)
            }
        }
    }
}

/// Hands the next frame of `peer` to the sink, or to the sending half if it is one of the transport's own.
///
/// # Errors
/// The rule that the peer broke.
fn deliver<T: AsTx<VerbsTx>, S: Sink<T>>(
    peer: u32,
    header: &Header,
    body: &mut impl Take,
    tx: &mut T,
    sink: &mut S,
) -> Result<Step, &'static str> {
    if header.kind != Kind::Transport {
        sink.frame(tx, Peer(peer), header, body);
        return Ok(Step::Frame);
    }
    if is_data(header) {
        tx.as_tx().take_data(peer, body)?;
        return Ok(Step::Other);
    }
    if body.left() != Control::LEN {
        return Err("a frame of the transport of another length");
    }
    let control = Control::parse(&body.take_exact());
    let control = control.ok_or("an unknown frame of the transport")?;
    tx.as_tx().control(peer, control)?;
    Ok(Step::Other)
}

/// Posts `count` free buffers to the queue pair of `peer`.
fn post(buffers: &mut Buffers, [peer, count]: [u32; 2], queue: u8, tx: &mut VerbsTx) {
    for _ in 0..count {
        let buffer = buffers
            .free
            .pop()
            .expect("as many free buffers as arrivals");
        tx.post_receive(peer, queue, buffer, &[buffers.segment(buffer)]);
    }
}

impl<T: AsTx<VerbsTx>> Rx<T> for VerbsRx {
    fn poll<S: Sink<T>>(&mut self, tx: &mut T, budget: u32, sink: &mut S) -> u32 {
        let (mut frames, mut others) = (0, 0);
        // Devices that had nothing, one after the other.
        let mut idle = 0;
        if self.events.is_due() {
            self.act_on_events(tx.as_tx());
        }
        let mut room = std::mem::take(&mut self.room);
        while frames < budget && others < OTHERS {
            if let Some(step) = self.deliver_ready(tx, sink) {
                match step {
                    Step::Frame => frames += 1,
                    Step::Other => others += 1,
                }
                continue;
            }
            let [ring_frames, ring_others] = self.poll_rings(budget - frames, tx, sink);
            frames += ring_frames;
            others += ring_others;
            let most = BATCH.min((budget - frames) as usize);
            let found = match self.take(&mut room[..most]) {
                Ok(found) => found,
                Err(why) => {
                    tx.as_tx().device_failed(&why);
                    break;
                }
            };
            if found.is_empty() && ring_frames + ring_others == 0 {
                if self.events.has_ended() {
                    self.destroy_ended(tx.as_tx());
                }
                if idle == self.others.len() {
                    break;
                }
                idle += 1;
                self.next_device();
                continue;
            }
            idle = 0;
            self.taken += found.len() as u64;
            for completion in found {
                match self.handle(completion, tx, sink) {
                    Step::Frame => frames += 1,
                    Step::Other => others += 1,
                }
            }
        }
        self.room = room;
        let moved = frames + others + VerbsTx::report(tx, sink);
        self.quiet = moved == 0;
        if self.quiet && self.events.count() {
            // A device that gives none has others that tell of its failures.
            let _ = self.take_events();
        }
        self.next_device();
        self.prepare_sleep(frames > 0, tx);
        moved
    }

    /// All connections have one completion queue: other peers' arrivals are handed over, too.
    fn poll_from<S: Sink<T>>(&mut self, tx: &mut T, _from: Peer, sink: &mut S) -> u32 {
        self.poll(tx, 1, sink)
    }
}
