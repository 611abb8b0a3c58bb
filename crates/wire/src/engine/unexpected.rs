//! Messages that came before their receive, in the order of their arrival.

use alloc::vec::Vec;

use super::chains::Chains;
use super::list::{Linked, Links, List};
use super::pattern::{Class, MatchKey, Pattern};
use super::request::Offer;
use crate::header::Envelope;
use crate::slab::{Handle, NONE, Slab};
use crate::transport::Take;

/// Buffers kept for the next messages.
const SPARES: usize = 16;

/// What came of a message.
#[derive(Debug)]
pub(super) enum Content {
    /// All of it; `sync` names the sender's request if that waits for the match.
    Whole { bytes: Vec<u8>, sync: Option<u64> },
    /// Its envelope; the bytes are still with the sender.
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

    /// Bytes kept here for it.
    pub(super) const fn kept(&self) -> u64 {
        match self {
            Self::Whole { bytes, .. } => bytes.len() as u64,
            Self::Offered(_) => 0,
        }
    }

    /// What the sender's request is called, if it waits to hear of the match.
    pub(super) const fn id(&self) -> Option<u64> {
        match self {
            Self::Whole { sync, .. } => *sync,
            Self::Offered(offer) => Some(offer.id),
        }
    }
}

/// One message.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) from: u32,
    pub(super) envelope: Envelope,
    pub(super) content: Content,
    /// Taken out by a matched probe: only its handle finds it.
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
    /// Messages that are not claimed.
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

    /// Whether no message waits to be found.
    pub(super) const fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Copies what `body` has left into a buffer of ours.
    pub(super) fn store(&mut self, body: &mut impl Take) -> Vec<u8> {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.resize(body.left(), 0);
        body.take(&mut bytes);
        bytes
    }

    /// Takes a message's buffer back for the next one.
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

    /// The oldest message that `pattern` takes, or [`NONE`].
    pub(super) fn find(&self, pattern: &Pattern) -> u32 {
        if self.waiting == 0 {
            return NONE;
        }
        self.chains.front(pattern.key())
    }

    /// Where messages may be: see [`Unexpected::is_waiting`].
    pub(super) fn indices(&self) -> core::ops::Range<u32> {
        self.arrivals.indices()
    }

    /// Whether a message is here and not claimed.
    pub(super) fn is_waiting(&self, index: u32) -> bool {
        self.arrivals.is_full(index) && !self.arrivals[index].claimed
    }

    /// The waiting message of `from` that its sender calls `id`.
    ///
    /// # Cost
    /// Linear in the waiting messages with this very envelope.
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

    /// The claimed message behind a handle.
    pub(super) fn claimed(&self, handle: Handle) -> Option<u32> {
        let index = self.arrivals.find(handle)?;
        self.arrivals[index].claimed.then_some(index)
    }

    /// Takes a message out of the index but keeps it.
    pub(super) fn claim(&mut self, index: u32) -> Handle {
        self.unlink(index);
        self.arrivals[index].claimed = true;
        self.arrivals.handle(index)
    }

    /// Takes a message out for good.
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

    /// Forgets the waiting messages whose bytes `from` still has, and returns how many there were.
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
