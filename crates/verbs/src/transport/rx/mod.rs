//! [`VerbsRx`]: the receiving half, which polls the completion queue of all connections.

mod events;
mod found;
mod incoming;
mod other_arrivals;
mod ring;
mod shared;
mod sleep;
#[cfg(test)]
mod tests;

pub(super) use self::incoming::Incoming;
pub(super) use self::shared::SharedReceives;

use self::events::Events;
use self::found::Found;
use self::incoming::IncomingQueue;
use self::ring::Rings;
use super::control::Control;
use super::credits::Grant;
use super::data_head::is_data;
use super::frame_head::{FrameHead, HEAD};
use super::open_device::OpenDevice;
use super::options::{EagerRings, VerbsTransportError};
use super::request_id::RequestId;
use super::tx::VerbsTx;
use crate::objects::{Completion, ProtectionDomain};
use oxmpi_wire::{AsTx, Fault, Header, Kind, Peer, Rx, Sink, Take};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

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
    found: Found,
    /// Completions that were handled so far.
    taken: u64,
    /// The last poll found nothing and left nothing to do.
    quiet: bool,
    events: Events,
}

/// The rule about the length of a frame.
const OTHER_LENGTH: &str = "a frame of another length than its header says";

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
        let found = Found::new(devices.len());
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
            found,
            taken: 0,
            quiet: false,
            events: Events::new(patience),
        }
    }

    /// Adds `peer`, whose queue pairs for these queues have these numbers.
    pub(super) fn add(&mut self, peer: u32, numbers: &[(u8, u32)], mut incoming: Incoming) {
        for (queue, number) in numbers {
            if self.shared[usize::from(*queue)].is_some() {
                self.by_number.insert((*queue, *number), peer);
            }
        }
        incoming.frames_until_ring = self.ring_options.threshold;
        self.peers[peer as usize] = Some(incoming);
    }

    /// Removes `peer`, from which nothing has come.
    pub(crate) fn forget(&mut self, peer: u32) {
        self.by_number.retain(|_, of| *of != peer);
        self.peers[peer as usize] = None;
    }

    /// Completions that were handled so far.
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

    /// Handles the completion at this place of those that were found.
    #[inline(always)]
    fn handle<T: AsTx<VerbsTx>, S: Sink<T>>(
        &mut self,
        at: usize,
        tx: &mut T,
        sink: &mut S,
    ) -> Step {
        let completion = self.found.at(at);
        if let RequestId::Receive {
            peer,
            queue,
            buffer,
        } = RequestId::from_word(completion.id())
            && completion.is_success()
        {
            let len = completion.len();
            let arrival = Arrival {
                peer,
                queue,
                buffer,
                len,
            };
            return self.received::<false, _, _>(arrival, tx, sink);
        }
        let completion = *completion;
        self.handle_otherwise(completion, tx, sink)
    }

    /// Handles a completion that is not that of a message by a queue of its sender's own.
    #[inline(never)]
    fn handle_otherwise<T: AsTx<VerbsTx>, S: Sink<T>>(
        &mut self,
        completion: Completion,
        tx: &mut T,
        sink: &mut S,
    ) -> Step {
        match RequestId::from_word(completion.id()) {
            RequestId::Shared { queue, buffer } => {
                return self.received_from_any(completion, (queue, buffer), tx, sink);
            }
            RequestId::Send { peer, queue } => tx.as_tx().sent(peer, queue, completion),
            RequestId::Unsignaled { peer, queue } => {
                tx.as_tx().unsignaled_failed(peer, queue, completion);
            }
            RequestId::Opening { .. } => {}
            RequestId::Receive { peer, queue, .. } => {
                failed(completion, (peer, queue), tx.as_tx());
            }
        }
        Step::Other
    }

    /// Handles the completion of a receive of a shared queue.
    fn received_from_any<T: AsTx<VerbsTx>, S: Sink<T>>(
        &mut self,
        completion: Completion,
        (queue, buffer): (u8, u32),
        tx: &mut T,
        sink: &mut S,
    ) -> Step {
        let step = match self.by_number.get(&(queue, completion.queue_pair())) {
            Some(&peer) if completion.is_success() => {
                let len = completion.len();
                let arrival = Arrival {
                    peer,
                    queue,
                    buffer,
                    len,
                };
                self.received::<true, _, _>(arrival, tx, sink)
            }
            Some(&peer) => {
                failed(completion, (peer, queue), tx.as_tx());
                Step::Other
            }
            None => Step::Other,
        };
        let shared = self.shared[queue as usize].as_mut();
        if let Err(why) = shared.map_or(Ok(()), |shared| shared.free(buffer)) {
            tx.as_tx().device_failed(&why);
        }
        step
    }

    /// Handles a message by a queue of the peer's own or one that all peers share.
    #[inline(always)]
    fn received<const IS_SHARED: bool, T: AsTx<VerbsTx>, S: Sink<T>>(
        &mut self,
        arrival: Arrival,
        tx: &mut T,
        sink: &mut S,
    ) -> Step {
        match self.arrived::<IS_SHARED, _, _>(arrival, tx, sink) {
            Ok(step) => step,
            Err(rule) => {
                tx.as_tx().lose(arrival.peer, Fault::Protocol(rule));
                Step::Other
            }
        }
    }

    /// Handles a message, and frees its buffer if that is the peer's own.
    ///
    /// # Errors
    /// The rule that the peer broke.
    #[inline(always)]
    fn arrived<const IS_SHARED: bool, T: AsTx<VerbsTx>, S: Sink<T>>(
        &mut self,
        arrival: Arrival,
        tx: &mut T,
        sink: &mut S,
    ) -> Result<Step, &'static str> {
        let Arrival {
            peer,
            queue,
            buffer,
            len,
        } = arrival;
        if tx.as_tx().is_lost(peer) {
            return Ok(Step::Other);
        }
        let Some(incoming) = &mut self.peers[peer as usize] else {
            return Ok(Step::Other);
        };
        let of_queue = &mut incoming.queues[queue as usize];
        let buffers = match IS_SHARED {
            true => (self.shared[queue as usize].as_mut()).map(|shared| &mut shared.buffers),
            false => of_queue.own.as_mut(),
        };
        let buffers = buffers.expect("a queue has buffers of the peer's own, or shared ones");
        let mut message = buffers.message(buffer);
        let plain = FrameHead::parse_plain(&message.take_exact());
        let Some(head) = plain.filter(|head| head.grant == Grant::default()) else {
            return self.arrived_otherwise(arrival, tx, sink);
        };
        if len != HEAD + head.header.len as usize {
            return Err(OTHER_LENGTH);
        }
        if !incoming.order.takes(head.sequence) {
            return self.arrived_otherwise(arrival, tx, sink);
        }
        message.shorten(head.header.len as usize);
        sink.frame(tx, Peer(peer), &head.header, &mut message);
        if !IS_SHARED {
            buffers.free.push(buffer);
        }
        if of_queue.uncounted.add() {
            count_frames((peer, queue), of_queue, tx.as_tx())?;
        }
        let offers_ring = incoming.count_to_ring();
        if incoming.order.has_next() || offers_ring {
            self.look_after(arrival, offers_ring, tx.as_tx());
        }
        Ok(Step::Frame)
    }

    /// After a frame that was handled: lets a held one be the next, and offers its sender a ring, if it is time.
    #[cold]
    fn look_after(&mut self, arrival: Arrival, offers_ring: bool, tx: &mut VerbsTx) {
        let Arrival { peer, queue, .. } = arrival;
        let Some(incoming) = &mut self.peers[peer as usize] else {
            return;
        };
        if incoming.order.has_next() && !self.ready.contains(&peer) {
            self.ready.push_back(peer);
        }
        if offers_ring {
            self.offer_ring(peer, queue, tx);
        }
    }

    /// Hands over the next frame of a peer that is ready.
    #[inline(never)]
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

/// Counts the frames that were handled, posts their buffers if it is time, and sends what has waited for the credits that came
/// with the last one.
///
/// # Errors
/// The rule that the peer broke.
#[cold]
fn count_frames(
    (peer, queue): (u32, u8),
    of_queue: &mut IncomingQueue,
    tx: &mut VerbsTx,
) -> Result<(), &'static str> {
    let IncomingQueue { own, uncounted } = of_queue;
    let [to_post, until_due] = tx.link(peer).frames_arrived(queue, uncounted.count())?;
    uncounted.begin(until_due);
    if let Some(own) = own
        && to_post > 0
    {
        tx.post_receives(peer, queue, (own, to_post));
    }
    tx.advance(peer);
    Ok(())
}

/// Handles the completion of a receive that has failed.
#[cold]
fn failed(completion: Completion, (peer, queue): (u32, u8), tx: &mut VerbsTx) {
    if let Err(why) = completion.result()
        && !tx.is_lost(peer)
    {
        tx.broken(peer, queue, &why);
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
        while frames < budget && others < OTHERS {
            let step = match self.found.next() {
                Some(at) => {
                    self.taken += 1;
                    Some(self.handle(at, tx, sink))
                }
                None if self.ready.is_empty() => None,
                None => self.deliver_ready(tx, sink),
            };
            match step {
                Some(Step::Frame) => frames += 1,
                Some(Step::Other) => others += 1,
                None => {}
            }
            if step.is_some() {
                continue;
            }
            let [ring_frames, ring_others] = match self.rings.open.is_empty() {
                true => [0, 0],
                false => self.poll_rings(budget - frames, tx, sink),
            };
            frames += ring_frames;
            others += ring_others;
            if let Err(why) = self.found.take(&self.device.queue) {
                tx.as_tx().device_failed(&why);
                break;
            }
            if self.found.is_empty() && ring_frames + ring_others == 0 {
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
        }
        let moved = frames + others + VerbsTx::report(tx, sink);
        self.quiet = moved == 0;
        if self.quiet && self.events.count() {
            // A device that gives none has others that tell of its failures.
            let _ = self.take_events();
        }
        self.next_device();
        if !self.rings.open.is_empty() {
            self.prepare_sleep(frames > 0, tx);
        }
        moved
    }

    /// All connections have one completion queue: other peers' arrivals are handed over, too.
    fn poll_from<S: Sink<T>>(&mut self, tx: &mut T, _from: Peer, sink: &mut S) -> u32 {
        self.poll(tx, 1, sink)
    }
}
