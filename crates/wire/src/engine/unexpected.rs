//! Unexpected messages: those that arrived before their receive was posted ([`Unexpected`]).

use alloc::vec::Vec;

use super::chains::Chains;
use super::list::{Linked, Links, List};
use super::pattern::{Class, MatchKey, Pattern};
use super::request::Offer;
use crate::header::Envelope;
use crate::slab::{Handle, NONE, Slab};
use crate::transport::Take;

/// Free buffers that are kept for the next messages.
const SPARES: usize = 16;

/// The part of a message that has arrived.
#[derive(Debug)]
pub(super) enum Content {
    /// The whole message; `sync` is the sender's id if that waits for the match.
    Whole { bytes: Vec<u8>, sync: Option<u64> },
    /// Its request-to-send; the sender still has the bytes.
    Offered(Offer),
}

impl Content {
    /// The message's length in bytes.
    pub(super) const fn len(&self) -> u64 {
        match self {
            Self::Whole { bytes, .. } => bytes.len() as u64,
            Self::Offered(offer) => offer.len,
        }
    }

    /// Bytes of payload kept here.
    pub(super) const fn kept(&self) -> u64 {
        match self {
            Self::Whole { bytes, .. } => bytes.len() as u64,
            Self::Offered(_) => 0,
        }
    }

    /// The sender's id, if the sender waits for the match.
    pub(super) const fn id(&self) -> Option<u64> {
        match self {
            Self::Whole { sync, .. } => *sync,
            Self::Offered(offer) => Some(offer.id),
        }
    }
}

/// One unexpected message.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) from: u32,
    pub(super) envelope: Envelope,
    pub(super) content: Content,
    /// A matched probe has removed it from matching: only its handle finds it.
    pub(super) claimed: bool,
    links: [Links; 4],
}

impl Linked for Arrival {
    fn links(&self, pair: usize) -> &Links {
        &self.links[pair]
    }

    fn links_mut(&mut self, pair: usize) -> &mut Links {
        &mut self.links[pair]
    }
}

/// The index of the unexpected messages.
#[derive(Debug)]
pub(super) struct Unexpected {
    arrivals: Slab<Arrival>,
    pub(super) chains: Chains,
    spare: Vec<Vec<u8>>,
    /// Number of messages that are not claimed.
    waiting: u32,
}

impl Unexpected {
    pub(super) fn new() -> Self {
        Self {
            arrivals: Slab::new(),
            chains: Chains::new(),
            spare: Vec::new(),
            waiting: 0,
        }
    }

    /// Whether no message waits to be matched.
    pub(super) const fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Copies the rest of `body` into a buffer.
    pub(super) fn store(&mut self, body: &mut impl Take) -> Vec<u8> {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.resize(body.left(), 0);
        body.take(&mut bytes);
        bytes
    }

    /// Keeps a message's buffer for the next one.
    pub(super) fn recycle(&mut self, content: Content) {
        if let Content::Whole { mut bytes, .. } = content
            && self.spare.len() < SPARES
        {
            bytes.clear();
            self.spare.push(bytes);
        }
    }

    pub(super) fn push(&mut self, from: u32, envelope: Envelope, content: Content) {
        let Handle { index, .. } = self.arrivals.insert(Arrival {
            from,
            envelope,
            content,
            claimed: false,
            links: [Links::ALONE; 4],
        });
        for class in Class::ALL {
            let key = MatchKey::new(class, from, envelope);
            self.chains
                .push(key, &mut self.arrivals, class.index(), index);
        }
        self.waiting += 1;
    }

    /// The oldest message that matches `pattern`, or [`NONE`].
    pub(super) fn find(&self, pattern: &Pattern) -> u32 {
        if self.waiting == 0 {
            return NONE;
        }
        self.chains.front(pattern.key())
    }

    /// Every index that may have a message: see [`Unexpected::is_waiting`].
    pub(super) fn indices(&self) -> core::ops::Range<u32> {
        self.arrivals.indices()
    }

    /// Whether there is a message at `index` that is not claimed.
    pub(super) fn is_waiting(&self, index: u32) -> bool {
        self.arrivals.is_full(index) && !self.arrivals[index].claimed
    }

    /// The waiting message of `from` with the sender's id `id`.
    ///
    /// # Cost
    /// Linear in the waiting messages of `from` with this envelope.
    pub(super) fn find_id(&self, from: u32, envelope: Envelope, id: u64) -> Option<u32> {
        let exact = Class::ALL[0];
        let mut index = self.chains.front(MatchKey::new(exact, from, envelope));
        while index != NONE {
            if self.arrivals[index].content.id() == Some(id) {
                return Some(index);
            }
            index = List::after(&self.arrivals, exact.index(), index);
        }
        None
    }

    pub(super) fn get(&self, index: u32) -> &Arrival {
        &self.arrivals[index]
    }

    /// Index of the claimed message that `handle` names.
    pub(super) fn claimed(&self, handle: Handle) -> Option<u32> {
        let index = self.arrivals.find(handle)?;
        self.arrivals[index].claimed.then_some(index)
    }

    /// Removes a message from matching but keeps it, for a matched probe.
    pub(super) fn claim(&mut self, index: u32) -> Handle {
        self.unlink(index);
        self.arrivals[index].claimed = true;
        self.arrivals.handle(index)
    }

    /// Removes a message.
    pub(super) fn remove(&mut self, index: u32) -> Arrival {
        if !self.arrivals[index].claimed {
            self.unlink(index);
        }
        self.arrivals.remove(index)
    }

    fn unlink(&mut self, index: u32) {
        for class in Class::ALL {
            self.chains.remove(&mut self.arrivals, class.index(), index);
        }
        self.waiting -= 1;
    }

    /// Removes the waiting request-to-sends of `from`, and returns their number.
    pub(super) fn drop_offers(&mut self, from: u32) -> u32 {
        let mut dropped = 0;
        for index in self.arrivals.indices() {
            if self.is_waiting(index)
                && self.arrivals[index].from == from
                && matches!(self.arrivals[index].content, Content::Offered(_))
            {
                self.remove(index);
                dropped += 1;
            }
        }
        dropped
    }
}
