//! First-in-first-out chains by key: what both sides of matching are indexed with.
//!
//! A receive names a source or any, and a tag or any: four classes. The key of a class leaves out
//! what the class does not name, so that wildcards are found by hashing as well. A posted receive
//! is in the one chain of its class, and an arrival looks at most into four; an unexpected message
//! is in four chains, and a receive looks into one.

use hashbrown::HashMap;

use super::list::{Linked, List};
use super::request::{Source, Tag};
use super::slab::{NONE, Slab};
use crate::header::Envelope;

/// Which parts a receive leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Class(u8);

impl Class {
    /// Every class; the index is [`Class::index`].
    pub(super) const ALL: [Self; 4] = [Self(0), Self(1), Self(2), Self(3)];
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

/// What a receive or a probe asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    pub(super) class: Class,
    /// The source, if the class names one.
    pub(super) source: u32,
    /// Context and, if the class names one, tag.
    pub(super) envelope: Envelope,
}

impl Pattern {
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

    pub(super) const fn key(&self) -> Key {
        Key::new(self.class, self.source, self.envelope)
    }
}

/// The parts of source and envelope that a class names, and the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    envelope: u64,
    source: u64,
}

impl Key {
    pub(super) const fn new(class: Class, source: u32, envelope: Envelope) -> Self {
        let tag = if class.any_tag() { 0 } else { envelope.tag };
        let source = if class.any_source() { NONE } else { source };
        Self {
            envelope: Envelope { tag, ..envelope }.packed(),
            source: (class.0 as u64) << 32 | source as u64,
        }
    }
}

/// The chains. A chain exists while it has entries.
#[derive(Debug)]
pub(super) struct Chains {
    lists: HashMap<Key, List>,
}

impl Chains {
    pub(super) fn new() -> Self {
        Self {
            lists: HashMap::new(),
        }
    }

    /// The oldest entry under `key`, or [`NONE`].
    pub(super) fn front(&self, key: Key) -> u32 {
        self.lists.get(&key).map_or(NONE, List::front)
    }

    pub(super) fn push<V: Linked>(
        &mut self,
        key: Key,
        slab: &mut Slab<V>,
        pair: usize,
        index: u32,
    ) {
        self.lists
            .entry(key)
            .or_insert(List::EMPTY)
            .push_back(slab, pair, index);
    }

    /// Takes `index` out of the chain under `key`, where it must be.
    pub(super) fn remove<V: Linked>(
        &mut self,
        key: Key,
        slab: &mut Slab<V>,
        pair: usize,
        index: u32,
    ) {
        if let Some(list) = self.lists.get_mut(&key) {
            list.remove(slab, pair, index);
            if list.is_empty() {
                self.lists.remove(&key);
            }
        }
    }
}
