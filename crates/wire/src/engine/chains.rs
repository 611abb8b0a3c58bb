//! First-in-first-out chains by [`MatchKey`]: the hash table that both sides of matching use.
//!
//! A posted receive is in the chain of its class, and an arrival looks into four chains at most. An unexpected message is
//! in four chains, and a receive looks into one.

use alloc::vec;
use alloc::vec::Vec;

use super::list::{Linked, List};
use super::pattern::MatchKey;
use crate::slab::{NONE, Slab};

/// Slots of a new table.
const SLOTS: usize = 64;

/// One key's entries.
#[derive(Debug)]
struct Chain {
    /// What it is found under; [`MatchKey::UNUSED`] while it is free for another one.
    key: MatchKey,
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
    pub(super) fn guessed(&mut self, guess: u32, key: MatchKey) -> Option<&mut List> {
        let chain = self.chains.get_mut(guess as usize)?;
        (chain.key == key).then_some(&mut chain.list)
    }

    /// The chain of `key`, which is made if there is none, and its entries.
    #[inline(never)]
    pub(super) fn found(&mut self, key: MatchKey) -> (u32, &mut List) {
        let at = match self.lookup(key) {
            NONE => self.open(key),
            at => at,
        };
        (at, &mut self.chains[at as usize].list)
    }

    /// The oldest entry under `key`, or [`NONE`].
    #[inline(always)]
    pub(super) fn front(&self, key: MatchKey) -> u32 {
        match self.lookup(key) {
            NONE => NONE,
            at => self.chains[at as usize].list.front(),
        }
    }

    /// Puts `index` last under `key`.
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

    /// Takes `index` out of its chain.
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

    /// Writes the table anew.
    fn rewrite(&mut self) {
        self.table.fill(NONE);
        for at in 0..self.chains.len() {
            self.look();
            if self.chains[at].key != MatchKey::UNUSED {
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
