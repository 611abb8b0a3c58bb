//! [`RingRx`]: the receiving side of an eager ring, which is polled in memory.

use super::{Step, VerbsRx, deliver};
use crate::objects::{Access, MemoryRegion, ProtectionDomain};
use crate::transport::buffers::Stored;
use crate::transport::frame_head::{FrameHead, HEAD};
use crate::transport::order::Place;
use crate::transport::ring::{RingShape, Word};
use crate::transport::tx::VerbsTx;
use oxmpi_wire::{AsTx, Fault, Sink};

/// A ring to which one peer writes.
#[derive(Debug)]
pub(super) struct RingRx {
    pub(super) peer: u32,
    memory: MemoryRegion,
    shape: RingShape,
    /// The number of the last message that was taken.
    taken: u32,
    /// The same, as the peer knows it.
    announced: u32,
    sleeps: u32,
    /// The peer knows that this rank wants to sleep, and nothing has come since.
    is_asleep: bool,
}

/// Rings of a rank.
#[derive(Debug, Default)]
pub(super) struct Rings {
    pub(super) open: Vec<RingRx>,
    /// A sleep was refused until all peers know of it.
    pub(super) wants_sleep: bool,
    /// They know.
    pub(super) may_sleep: bool,
}

impl RingRx {
    fn new(domain: &ProtectionDomain, peer: u32, shape: RingShape) -> Option<Self> {
        let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let memory = domain.register(shape.bytes(), access);
        let memory = memory
            .inspect_err(|why| tracing::debug!(peer, %why, "no eager ring"))
            .ok()?;
        Some(Self {
            peer,
            memory,
            shape,
            taken: 0,
            announced: 0,
            sleeps: 0,
            is_asleep: false,
        })
    }

    /// The bytes before its footer of the next message, if it has come.
    ///
    /// # Errors
    /// The rule that the peer broke.
    #[inline]
    pub(super) fn next(&self) -> Result<Option<usize>, &'static str> {
        let number = self.taken.wrapping_add(1);
        let footer = self.memory.load(self.shape.footer_at(number));
        self.shape.arrived(number, u64::from_le(footer))
    }

    /// Writes the word to the peer. Returns whether there was room.
    fn tell(&mut self, tx: &mut VerbsTx) -> bool {
        let word = Word {
            taken: self.taken,
            sleeps: self.sleeps,
            is_asleep: self.is_asleep,
        };
        let at = self.shape.word_at();
        self.memory.write(at, &word.bits().to_le_bytes());
        let has_room = tx.write_word(self.peer, word, &[self.memory.segment(at..at + 8)]);
        if has_room {
            self.announced = self.taken;
        }
        has_room
    }

    /// Tells the peer which slots are free, if these are half of them.
    fn tell_if_due(&mut self, tx: &mut VerbsTx) {
        let owed = self.taken.wrapping_sub(self.announced);
        if owed * 2 >= self.shape.slots() {
            self.tell(tx);
        }
    }
}

impl VerbsRx {
    /// Offers a ring to `peer`, which has sent enough frames for one by a queue, by the same rail.
    #[cold]
    pub(super) fn offer_ring(&mut self, peer: u32, queue: u8, tx: &mut VerbsTx) {
        let options = &self.ring_options;
        if self.rings.open.len() >= options.peers as usize {
            return;
        }
        let shape = RingShape::new(options.slots, options.size);
        let rail = queue / tx.queues_of_rail();
        let domain = &self.domains[usize::from(rail)];
        let ring = shape.and_then(|shape| RingRx::new(domain, peer, shape));
        if let Some(ring) = ring {
            let start = ring.memory.remote(0);
            tx.offer_ring(peer, rail, start, ring.shape);
            self.rings.open.push(ring);
        }
    }

    /// Takes the next message of each ring, at most `budget` frames. Returns how many frames, and how many others.
    #[inline(never)]
    pub(super) fn poll_rings<T: AsTx<VerbsTx>, S: Sink<T>>(
        &mut self,
        budget: u32,
        tx: &mut T,
        sink: &mut S,
    ) -> [u32; 2] {
        let mut counts = [0, 0];
        let mut at = 0;
        while at < self.rings.open.len() && counts[0] < budget {
            let peer = self.rings.open[at].peer;
            if tx.as_tx().is_lost(peer) {
                // Words may be written from its memory, by a queue pair that other peers share.
                match tx.as_tx().words_arrived(peer) {
                    true => drop(self.rings.open.swap_remove(at)),
                    false => at += 1,
                }
                continue;
            }
            match self.poll_ring(at, tx, sink) {
                Ok(Some(Step::Frame)) => counts[0] += 1,
                Ok(Some(Step::Other)) => counts[1] += 1,
                Ok(None) => {}
                Err(rule) => tx.as_tx().lose(peer, Fault::Protocol(rule)),
            }
            at += 1;
        }
        counts
    }

    fn poll_ring<T: AsTx<VerbsTx>, S: Sink<T>>(
        &mut self,
        at: usize,
        tx: &mut T,
        sink: &mut S,
    ) -> Result<Option<Step>, &'static str> {
        let ring = &mut self.rings.open[at];
        let Some(len) = ring.next()? else {
            ring.tell_if_due(tx.as_tx());
            return Ok(None);
        };
        let number = ring.taken.wrapping_add(1);
        let start = ring.shape.message_at(number, len);
        let mut head = [0; HEAD];
        ring.memory.read(start, &mut head);
        let head = FrameHead::parse(&head).map_err(|_| "a frame whose header is none")?;
        if len != HEAD + head.header.len as usize {
            return Err("a frame of another length than its header says");
        }
        let peer = ring.peer;
        let Some(incoming) = &mut self.peers[peer as usize] else {
            return Ok(None);
        };
        let mut body = Stored::new(&ring.memory, start + HEAD, len - HEAD);
        let step = match incoming.order.place(head.sequence)? {
            Place::Early => return Ok(None),
            Place::Before => Step::Other,
            Place::Next => deliver(peer, &head.header, &mut body, tx, sink)?,
        };
        ring.taken = number;
        ring.is_asleep = false;
        ring.tell_if_due(tx.as_tx());
        if incoming.order.has_next() && !self.ready.contains(&peer) {
            self.ready.push_back(peer);
        }
        Ok(Some(step))
    }

    /// Tells the peers that have rings that this rank wants to sleep, if it does. After frames
    /// it does not.
    pub(super) fn prepare_sleep<T: AsTx<VerbsTx>>(&mut self, has_frames: bool, tx: &mut T) {
        let rings = &mut self.rings;
        if has_frames {
            rings.wants_sleep = false;
            rings
                .open
                .iter_mut()
                .for_each(|ring| ring.is_asleep = false);
        }
        rings.may_sleep = rings.wants_sleep;
        if !rings.wants_sleep {
            return;
        }
        for ring in &mut rings.open {
            let tx = tx.as_tx();
            if tx.is_lost(ring.peer) || !tx.has_word(ring.peer) {
                // It writes nothing to the ring before it has said where the word is.
                continue;
            }
            if !ring.is_asleep {
                ring.sleeps = ring.sleeps.wrapping_add(1);
                ring.is_asleep = true;
                ring.is_asleep = ring.tell(tx);
                rings.may_sleep = false;
            }
            rings.may_sleep &= tx.words_arrived(ring.peer);
        }
    }
}

impl Rings {
    /// Whether this rank may sleep now: nothing is in a ring, and all peers that write to one know that they have to
    /// wake it. Otherwise the next polls tell them.
    pub(super) fn arm(&mut self) -> bool {
        if self.open.is_empty() {
            return true;
        }
        self.wants_sleep = true;
        let is_empty = |ring: &RingRx| matches!(ring.next(), Ok(None));
        self.may_sleep && self.open.iter().all(is_empty)
    }
}
