//! Matching as the MPI standard words it, with nothing but lists: what an engine is compared with.

use oxmpi_wire::{Envelope, Peer, Source, Tag};

/// A message as its receiver sees it arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The test's own number of the message.
    pub number: usize,
    /// Its sender.
    pub from: u32,
    /// Its envelope.
    pub envelope: Envelope,
    /// Its length.
    pub len: u64,
    /// What its sender calls it in a recall.
    pub id: Option<u64>,
    /// Its bytes came with it.
    pub whole: bool,
}

/// What a receive or a probe asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivePattern {
    /// From whom.
    pub source: Source,
    /// In which context.
    pub context: u32,
    /// With which tag.
    pub tag: Tag,
}

impl ReceivePattern {
    /// Whether a message of `from` with `envelope` is wanted.
    #[must_use]
    pub fn takes(&self, from: u32, envelope: Envelope) -> bool {
        self.context == envelope.context
            && (self.source == Source::Any || self.source == Source::Peer(Peer(from)))
            && (self.tag == Tag::Any || self.tag == Tag::Exact(envelope.tag))
    }
}

/// What becomes of a receive at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveResult {
    /// It gets this message.
    Matched(Arrival),
    /// It is posted.
    Posted,
    /// Nothing can come for it any more.
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
    /// A receive with the test's own number.
    pub fn recv(&mut self, receive: usize, want: ReceivePattern) -> ReceiveResult {
        if let Some(arrival) = self.matched_probe(want) {
            return ReceiveResult::Matched(arrival);
        }
        let fails = match want.source {
            Source::Any => !self.lost.is_empty(),
            Source::Peer(peer) => self.lost.contains(&peer.0),
        };
        if fails {
            return ReceiveResult::Failed;
        }
        self.posted.push((receive, want));
        ReceiveResult::Posted
    }

    /// The message that a receive would get now.
    #[must_use]
    pub fn probe(&self, want: ReceivePattern) -> Option<&Arrival> {
        self.unexpected
            .iter()
            .find(|arrival| want.takes(arrival.from, arrival.envelope))
    }

    /// As [`Matcher::probe`], and takes it out.
    pub fn matched_probe(&mut self, want: ReceivePattern) -> Option<Arrival> {
        let found = *self.probe(want)?;
        self.unexpected.retain(|arrival| *arrival != found);
        Some(found)
    }

    /// A message arrives; the receive that gets it, if one is posted.
    pub fn arrive(&mut self, arrival: Arrival) -> Option<usize> {
        let found = self
            .posted
            .iter()
            .position(|(_, want)| want.takes(arrival.from, arrival.envelope));
        match found {
            Some(at) => Some(self.posted.remove(at).0),
            None => {
                self.unexpected.push(arrival);
                None
            }
        }
    }

    /// `from` takes its message `id` back.
    pub fn cancel_send(&mut self, from: u32, id: u64) {
        self.unexpected
            .retain(|arrival| (arrival.from, arrival.id) != (from, Some(id)));
    }

    /// A receive is taken back; whether it was still posted.
    pub fn cancel(&mut self, receive: usize) -> bool {
        let before = self.posted.len();
        self.posted.retain(|(posted, _)| *posted != receive);
        self.posted.len() != before
    }

    /// `from` is lost; the receives that end with it.
    pub fn lose(&mut self, from: u32) -> Vec<usize> {
        self.lost.push(from);
        self.unexpected
            .retain(|arrival| arrival.from != from || arrival.whole);
        let ends =
            |want: &ReceivePattern| [Source::Any, Source::Peer(Peer(from))].contains(&want.source);
        let ended = self
            .posted
            .iter()
            .filter(|(_, want)| ends(want))
            .map(|(receive, _)| *receive)
            .collect();
        self.posted.retain(|(_, want)| !ends(want));
        ended
    }
}
