//! First-in-first-out chains by key: what both sides of matching are indexed with.
//!
//! A receive names a source or any, and a tag or any: four classes. The key of a class leaves out
//! what the class does not name, so that wildcards are found by hashing as well. A posted receive
//! is in the one chain of its class, and an arrival looks at most into four; an unexpected message
//! is in four chains, and a receive looks into one.

use alloc::vec;
use alloc::vec::Vec;

use super::list::{Linked, List};
use super::request::{Source, Tag};
use crate::header::Envelope;
use crate::slab::{NONE, Slab};

/// Which parts a receive leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Class(u8);

impl Class {
    /// Every class; the index is [`Class::index`].
    pub(super) const ALL: [Self; 4] = [Self::EXACT, Self(1), Self(2), Self(3)];
    /// Source and tag are named.
    pub(super) const EXACT: Self = Self(0);
    /// Bits of the classes of any source, by [`Class::index`].
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
    pub(super) const fn key(&self) -> Key {
        Key::new(self.class, self.source, self.envelope)
    }
}

/// The parts of source and envelope that a class names, and the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    envelope: u64,
    source: u64,
}

impl Key {
    /// No message's: its class does not exist.
    const NOBODYS: Self = Self {
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

    /// Both words, each mixed in by one multiplication whose halves are folded together.
    #[inline]
    const fn hash(self) -> usize {
        mix(mix(self.envelope) ^ self.source) as usize
    }
}

#[inline]
const fn mix(word: u64) -> u64 {
    /// The golden ratio's fraction: odd, and its bits are well mixed.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let product = (word ^ FACTOR) as u128 * FACTOR as u128;
    product as u64 ^ (product >> 64) as u64
}

/// Slots of a new table.
const SLOTS: usize = 64;

/// One key's entries.
#[derive(Debug)]
struct Chain {
    /// What it is found under; [`Key::NOBODYS`] while it is free for another one.
    key: Key,
    list: List,
}

/// The chains, in a table with linear probing.
///
/// An entry remembers its chain, so that it is taken out without a look-up. An emptied chain stays,
/// so that a key which comes back costs no insertion; when the table is full and many are empty,
/// they leave together and the table is written anew: single slots are never cleared.
#[derive(Debug)]
pub(super) struct Chains {
    /// Indices of chains, or [`NONE`]; a power of two of them, at most half in use.
    table: Vec<u32>,
    chains: Vec<Chain>,
    free: Vec<u32>,
    /// Slots and chains looked at, for the tests of what matching costs.
    #[cfg(test)]
    pub(super) looked: core::cell::Cell<u64>,
}

impl Chains {
    pub(super) fn new() -> Self {
        Self {
            table: vec![NONE; SLOTS],
            chains: Vec::new(),
            free: Vec::new(),
            #[cfg(test)]
            looked: core::cell::Cell::new(0),
        }
    }

    /// Counts a slot or a chain that is looked at; in tests only.
    #[inline(always)]
    fn look(&self) {
        #[cfg(test)]
        self.looked.set(self.looked.get() + 1);
    }

    /// The entries under `key`, if they are those of the chain `guess`, which may be none.
    ///
    /// # Cost
    /// One compare.
    #[inline(always)]
    pub(super) fn guessed(&mut self, guess: u32, key: Key) -> Option<&mut List> {
        let chain = self.chains.get_mut(guess as usize)?;
        (chain.key == key).then_some(&mut chain.list)
    }

    /// The chain of `key`, which is made if there is none, and its entries.
    #[inline(never)]
    pub(super) fn found(&mut self, key: Key) -> (u32, &mut List) {
        let at = match self.lookup(key) {
            NONE => self.open(key),
            at => at,
        };
        (at, &mut self.chains[at as usize].list)
    }

    /// The oldest entry under `key`, or [`NONE`].
    #[inline(always)]
    pub(super) fn front(&self, key: Key) -> u32 {
        match self.lookup(key) {
            NONE => NONE,
            at => self.chains[at as usize].list.front(),
        }
    }

    /// Puts `index` last under `key`.
    pub(super) fn push<V: Linked>(
        &mut self,
        key: Key,
        slab: &mut Slab<V>,
        pair: usize,
        index: u32,
    ) {
        let (at, list) = self.found(key);
        *slab[index].links_mut(pair) = list.behind(at);
        list.append(slab, pair, index);
    }

    /// Takes `index` out of its chain.
    #[inline(always)]
    pub(super) fn remove<V: Linked>(&mut self, slab: &mut Slab<V>, pair: usize, index: u32) {
        let at = slab[index].links(pair).list;
        self.chains[at as usize].list.remove(slab, pair, index);
    }

    /// The chain of `key`, or [`NONE`].
    #[inline(always)]
    fn lookup(&self, key: Key) -> u32 {
        let mask = self.table.len() - 1;
        let mut slot = key.hash() & mask;
        loop {
            self.look();
            let at = self.table[slot];
            if at == NONE || self.chains[at as usize].key == key {
                return at;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Makes an empty chain for `key`.
    #[cold]
    fn open(&mut self, key: Key) -> u32 {
        let in_use = self.chains.len() - self.free.len();
        if (in_use + 1) * 2 > self.table.len() {
            self.make_room(in_use);
        }
        let chain = Chain {
            key,
            list: List::EMPTY,
        };
        let at = match self.free.pop() {
            Some(at) => {
                self.chains[at as usize] = chain;
                at
            }
            None => {
                self.chains.push(chain);
                self.chains.len() as u32 - 1
            }
        };
        self.enter(at);
        at
    }

    /// Makes room for as many chains as the table holds already, or nearly half of that: frees all
    /// empty ones where they are half of the `in_use`, else doubles the table. So the cost for each
    /// new chain is constant.
    fn make_room(&mut self, in_use: usize) {
        let empty = |chain: &Chain| chain.key != Key::NOBODYS && chain.list.is_empty();
        if self.chains.iter().filter(|chain| empty(chain)).count() * 2 < in_use {
            self.table.resize(self.table.len() * 2, NONE);
        } else {
            for (at, chain) in (0..).zip(&mut self.chains) {
                if empty(chain) {
                    chain.key = Key::NOBODYS;
                    self.free.push(at);
                }
            }
        }
        self.rewrite();
    }

    /// Writes the table anew.
    fn rewrite(&mut self) {
        self.table.fill(NONE);
        for at in 0..self.chains.len() {
            self.look();
            if self.chains[at].key != Key::NOBODYS {
                self.enter(at as u32);
            }
        }
    }

    /// Puts a chain into the first free slot from its key's own on.
    fn enter(&mut self, at: u32) {
        let mask = self.table.len() - 1;
        let mut slot = self.chains[at as usize].key.hash() & mask;
        while self.table[slot] != NONE {
            self.look();
            slot = (slot + 1) & mask;
        }
        self.table[slot] = at;
    }
}
