//! First-in-first-out chains by [`MatchKey`]: the hash table that both sides of matching use.
//!
//! A posted receive is in the chain of its class, and an arrival looks into four chains at most. An
//! unexpected message is in four chains, and a receive looks into one.

use alloc::vec;
use alloc::vec::Vec;

use super::list::{Linked, List};
use super::pattern::MatchKey;
use crate::slab::{NONE, Slab};

/// Slots of a new hash table.
const SLOTS: usize = 64;

/// The entries of one key, oldest first.
#[derive(Debug)]
struct Chain {
    /// Its key; [`MatchKey::UNUSED`] while the chain is free.
    key: MatchKey,
    list: List,
}

/// Chains in a hash table with linear probing.
///
/// An entry records its chain, so that removing it takes no look-up. An empty chain stays, so that a key that
/// returns costs no insertion. When the table is full and many chains are empty, all of these are freed
/// together and the table is rewritten: single slots are never cleared.
#[derive(Debug)]
pub(super) struct Chains {
    /// Indices of chains, or [`NONE`]; the length is a power of two, and at most a quarter is in use: fuller, and a
    /// search now and then reads ten slots.
    table: Vec<u32>,
    chains: Vec<Chain>,
    free: Vec<u32>,
    /// Slots and chains that were read, for the tests of the cost of matching.
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

    /// Counts a slot or a chain that is read; in tests only.
    #[inline(always)]
    fn look(&self) {
        #[cfg(test)]
        self.looked.set(self.looked.get() + 1);
    }

    /// The entries of `key`, if they are in the chain `guess`, which need not exist.
    ///
    /// # Cost
    /// One compare.
    #[inline(always)]
    pub(super) fn guessed(&mut self, guess: u32, key: MatchKey) -> Option<&mut List> {
        let chain = self.chains.get_mut(guess as usize)?;
        (chain.key == key).then_some(&mut chain.list)
    }

    /// The chain of `key` and its entries; makes the chain if there is none.
    #[inline(never)]
    pub(super) fn found(&mut self, key: MatchKey) -> (u32, &mut List) {
        let at = match self.lookup(key) {
            NONE => self.open(key),
            at => at,
        };
        (at, &mut self.chains[at as usize].list)
    }

    /// The oldest entry of `key`, or [`NONE`].
    #[inline(always)]
    pub(super) fn front(&self, key: MatchKey) -> u32 {
        match self.lookup(key) {
            NONE => NONE,
            at => self.chains[at as usize].list.front(),
        }
    }

    /// Appends entry `index` to the chain of `key`.
    pub(super) fn push<V: Linked>(
        &mut self,
        key: MatchKey,
        slab: &mut Slab<V>,
        pair: usize,
        index: u32,
    ) {
        let (at, list) = self.found(key);
        *slab[index].links_mut(pair) = list.behind(at);
        list.append(slab, pair, index);
    }

    /// Removes entry `index` from its chain.
    #[inline(always)]
    pub(super) fn remove<V: Linked>(&mut self, slab: &mut Slab<V>, pair: usize, index: u32) {
        let at = slab[index].links(pair).list;
        self.chains[at as usize].list.remove(slab, pair, index);
    }

    /// The chain of `key`, or [`NONE`].
    #[inline(always)]
    fn lookup(&self, key: MatchKey) -> u32 {
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
    fn open(&mut self, key: MatchKey) -> u32 {
        let in_use = self.chains.len() - self.free.len();
        if (in_use + 1) * 4 > self.table.len() {
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

    /// Frees all empty chains if they are half of those `in_use`, else doubles the table: so the amortized
    /// cost of a new chain is constant.
    fn make_room(&mut self, in_use: usize) {
        let empty = |chain: &Chain| chain.key != MatchKey::UNUSED && chain.list.is_empty();
        if self.chains.iter().filter(|chain| empty(chain)).count() * 2 < in_use {
            self.table.resize(self.table.len() * 2, NONE);
        } else {
            for (at, chain) in (0..).zip(&mut self.chains) {
                if empty(chain) {
                    chain.key = MatchKey::UNUSED;
                    self.free.push(at);
                }
            }
        }
        self.rewrite();
    }

    /// Rewrites the table.
    fn rewrite(&mut self) {
        self.table.fill(NONE);
        for at in 0..self.chains.len() {
            self.look();
            if self.chains[at].key != MatchKey::UNUSED {
                self.enter(at as u32);
            }
        }
    }

    /// Enters a chain into the first free slot from its key's hash on.
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

#[cfg(test)]
mod tests {
    use super::super::pattern::{Pattern, Source, Tag};
    use super::super::posted::Posted;
    use super::super::request::Record;
    use super::*;
    use crate::header::Envelope;
    use crate::transport::Peer;

    /// Slots of the table after 10,000 receives with tags that are used once, of which `waiting` are posted.
    fn slots(waiting: u32) -> usize {
        let (mut posted, mut requests) = (Posted::new(), Slab::<Record<(), ()>>::new());
        for tag in 0..10_000 {
            let pattern = Pattern::new(Source::Peer(Peer(3)), 2, Tag::Exact(tag));
            posted.push(&mut requests, (), &pattern, NONE);
            let Some(tag) = tag.checked_sub(waiting) else {
                continue;
            };
            let found = posted.find(&requests, 3, Envelope { context: 2, tag });
            posted.remove(&mut requests, found);
            requests.remove(found);
        }
        posted.chains.table.len()
    }

    #[test]
    fn the_table_grows_with_what_waits_and_not_with_what_has_gone() {
        assert_eq!([1, 4, 7].map(slots), [SLOTS; 3]);
        assert_eq!([10, 15].map(slots), [2 * SLOTS; 2]);
    }
}
