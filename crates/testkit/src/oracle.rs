//! An oracle of MPI's matching, made of plain lists ([`Matcher`]), with which the engine is compared.

use oxmpi_wire::{Envelope, Peer, Source, Tag};

/// A message that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The test's number of the message.
    pub number: usize,
    /// Its sender.
    pub from: u32,
    /// Its envelope.
    pub envelope: Envelope,
    /// Its length.
    pub len: u64,
    /// The sender's id, by which it can cancel the message.
    pub id: Option<u64>,
    /// The bytes arrived with the message.
    pub whole: bool,
}

/// Source, context and tag that a receive or a probe asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivePattern {
    /// The source.
    pub source: Source,
    /// The context.
    pub context: u32,
    /// The tag.
    pub tag: Tag,
}

impl ReceivePattern {
    /// Whether it matches a message of `from` with `envelope`.
    #[must_use]
    pub fn takes(&self, from: u32, envelope: Envelope) -> bool {
        self.context == envelope.context
            && (self.source == Source::Any || self.source == Source::Peer(Peer(from)))
            && (self.tag == Tag::Any || self.tag == Tag::Exact(envelope.tag))
    }
}

/// The immediate result of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveResult {
    /// It matches this message.
    Matched(Arrival),
    /// It is posted.
    Posted,
    /// It fails, since its source is lost.
    Failed,
}

/// The matching of one rank.
#[derive(Debug, Default)]
pub struct Matcher {
    posted: Vec<(usize, ReceivePattern)>,
    unexpected: Vec<Arrival>,
    lost: Vec<u32>,
}

impl Matcher {
    /// A receive, with the test's number.
    pub fn recv(&mut self, receive: usize, pattern: ReceivePattern) -> ReceiveResult {
        if let Some(arrival) = self.matched_probe(pattern) {
            return ReceiveResult::Matched(arrival);
        }
        let fails = match pattern.source {
            Source::Any => !self.lost.is_empty(),
            Source::Peer(peer) => self.lost.contains(&peer.0),
        };
        if fails {
            return ReceiveResult::Failed;
        }
        self.posted.push((receive, pattern));
        ReceiveResult::Posted
    }

    /// The message that a receive would match now.
    #[must_use]
    pub fn probe(&self, pattern: ReceivePattern) -> Option<&Arrival> {
        self.unexpected
            .iter()
            .find(|arrival| pattern.takes(arrival.from, arrival.envelope))
    }

    /// As [`Matcher::probe`], and removes the message.
    pub fn matched_probe(&mut self, pattern: ReceivePattern) -> Option<Arrival> {
        let found = *self.probe(pattern)?;
        self.unexpected.retain(|arrival| *arrival != found);
        Some(found)
    }

    /// A message arrives; returns the posted receive that it matches, if there is one.
    pub fn arrive(&mut self, arrival: Arrival) -> Option<usize> {
        let found = self
            .posted
            .iter()
            .position(|(_, pattern)| pattern.takes(arrival.from, arrival.envelope));
        match found {
            Some(at) => Some(self.posted.remove(at).0),
            None => {
                self.unexpected.push(arrival);
                None
            }
        }
    }

    /// `from` cancels its message `id`.
    pub fn cancel_send(&mut self, from: u32, id: u64) {
        self.unexpected
            .retain(|arrival| (arrival.from, arrival.id) != (from, Some(id)));
    }

    /// A receive is cancelled; returns whether it was still posted.
    pub fn cancel(&mut self, receive: usize) -> bool {
        let before = self.posted.len();
        self.posted.retain(|(posted, _)| *posted != receive);
        self.posted.len() != before
    }

    /// `from` is lost; returns the receives that fail.
    pub fn lose(&mut self, from: u32) -> Vec<usize> {
        self.lost.push(from);
        self.unexpected
            .retain(|arrival| arrival.from != from || arrival.whole);
        let ends = |pattern: &ReceivePattern| {
            [Source::Any, Source::Peer(Peer(from))].contains(&pattern.source)
        };
        let ended = self
            .posted
            .iter()
            .filter(|(_, pattern)| ends(pattern))
            .map(|(receive, _)| *receive)
            .collect();
        self.posted.retain(|(_, pattern)| !ends(pattern));
        ended
    }
}
