//! What a receive asks for: [`Source`] and [`Tag`], which may be wildcards, as a [`Pattern`]; and the
//! [`MatchKey`]s by which messages and receives are hashed.
//!
//! A receive names a source or any, and a tag or any: four [`Class`]es. The key of a class leaves out what
//! the class leaves open, so that hashing finds wildcards as well.

use crate::header::Envelope;
use crate::slab::NONE;
use crate::transport::Peer;

/// The source that a receive or a probe asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Messages of one peer.
    Peer(Peer),
    /// Messages of any peer.
    Any,
}

/// The tag that a receive or a probe asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tag {
    /// Messages with this tag.
    Exact(u32),
    /// Messages with any tag of the context.
    Any,
}

/// The wildcards of a receive: none, any source, any tag, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Class(u8);

impl Class {
    /// Every class, by [`Class::index`].
    pub(super) const ALL: [Self; 4] = [Self::EXACT, Self(1), Self(2), Self(3)];
    /// Without wildcards.
    pub(super) const EXACT: Self = Self(0);
    /// The classes with any source, as one bit for each [`Class::index`].
    pub(super) const ANY_SOURCES: u32 = 0b1010;
    const ANY_SOURCE: u8 = 1;
    const ANY_TAG: u8 = 2;

    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) const fn any_source(self) -> bool {
        self.0 & Self::ANY_SOURCE != 0
    }

    const fn any_tag(self) -> bool {
        self.0 & Self::ANY_TAG != 0
    }
}

/// Source, context and tag that a receive or a probe asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    pub(super) class: Class,
    /// The source, or [`NONE`] for any.
    pub(super) source: u32,
    /// Context and tag; the tag is 0 for any.
    pub(super) envelope: Envelope,
}

impl Pattern {
    #[inline(always)]
    pub(super) const fn new(source: Source, context: u32, tag: Tag) -> Self {
        let (source, any_source) = match source {
            Source::Peer(peer) => (peer.0, 0),
            Source::Any => (NONE, Class::ANY_SOURCE),
        };
        let (tag, any_tag) = match tag {
            Tag::Exact(tag) => (tag, 0),
            Tag::Any => (0, Class::ANY_TAG),
        };
        Self {
            class: Class(any_source | any_tag),
            source,
            envelope: Envelope { context, tag },
        }
    }

    #[inline(always)]
    pub(super) const fn key(&self) -> MatchKey {
        MatchKey::new(self.class, self.source, self.envelope)
    }
}

/// Hash key of matching: a class, and source and envelope without the parts that the class leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MatchKey {
    envelope: u64,
    source: u64,
}

impl MatchKey {
    /// The key of no message: its class does not exist.
    pub(super) const UNUSED: Self = Self {
        envelope: 0,
        source: u64::MAX,
    };

    #[inline(always)]
    pub(super) const fn new(class: Class, source: u32, envelope: Envelope) -> Self {
        let tag = if class.any_tag() { 0 } else { envelope.tag };
        let source = if class.any_source() { NONE } else { source };
        Self {
            envelope: Envelope { tag, ..envelope }.packed(),
            source: (class.0 as u64) << 32 | source as u64,
        }
    }

    /// Hash of both words: a multiplication for each, with its halves folded together, and one more: without it
    /// sources and tags at some equal distances fall into neighbouring slots.
    #[inline]
    pub(super) const fn hash(self) -> usize {
        mix(mix(mix(self.envelope) ^ self.source)) as usize
    }
}

#[inline]
const fn mix(word: u64) -> u64 {
    /// Fraction of the golden ratio: odd, with well mixed bits.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let product = (word ^ FACTOR) as u128 * FACTOR as u128;
    product as u64 ^ (product >> 64) as u64
}
