//! The index of the posted receives ([`Posted`]): an arrival finds the oldest that matches.

use super::chains::Chains;
use super::pattern::{Class, MatchKey, Pattern};
use super::request::Record;
use crate::header::Envelope;
use crate::slab::{Handle, NONE, Slab};

/// The index of the posted receives. Its entries are records of requests.
#[derive(Debug)]
pub(super) struct Posted {
    pub(super) chains: Chains,
    /// Number of posted receives, by [`Class::index`].
    count: [u32; 4],
    /// One bit for each class with posted receives: only these are looked up.
    present: u32,
    /// The bits of `present` for the classes with any source, in a word that a receive on the fast path compares
    /// without a mask.
    any_sources: u32,
    next_number: u64,
}

impl Posted {
    pub(super) fn new() -> Self {
        Self {
            chains: Chains::new(),
            count: [0; 4],
            present: 0,
            any_sources: 0,
            next_number: 0,
        }
    }

    /// Not 0 while a receive from any source is posted.
    #[inline(always)]
    pub(super) const fn any_sources(&self) -> u32 {
        self.any_sources
    }

    /// Whether no receive is posted.
    pub(super) const fn is_empty(&self) -> bool {
        self.present == 0
    }

    /// Posts a receive of `pattern` into `body`. Returns its handle and its chain, which takes one compare if
    /// it is the chain `guess`.
    #[inline(always)]
    pub(super) fn push<B, R>(
        &mut self,
        requests: &mut Slab<Record<B, R>>,
        body: B,
        pattern: &Pattern,
        guess: u32,
    ) -> (Handle, u32) {
        let number = self.next_number;
        self.next_number += 1;
        self.count[pattern.class.index()] += 1;
        self.set_present(pattern.class, self.present | 1 << pattern.class.index());
        let (chain, list) = match self.chains.guessed(guess, pattern.key()) {
            Some(list) => (guess, list),
            None => self.chains.found(pattern.key()),
        };
        let links = list.behind(chain);
        let handle = requests.insert(Record::receive(body, pattern, number, links));
        list.append(requests, 0, handle.index);
        (handle, chain)
    }

    /// Removes and returns the oldest receive for a message of `source` with `envelope`, if no wildcard
    /// receive is posted and its chain is `guess`. [`NONE`]: call [`Posted::find`].
    ///
    /// # Cost
    /// One compare each of classes and key.
    #[inline(always)]
    pub(super) fn take_guessed<B, R>(
        &mut self,
        requests: &Slab<Record<B, R>>,
        guess: u32,
        source: u32,
        envelope: Envelope,
    ) -> u32 {
        let class = Class::EXACT;
        if self.present != 1 << class.index() {
            return NONE;
        }
        let key = MatchKey::new(class, source, envelope);
        let Some(list) = self.chains.guessed(guess, key) else {
            return NONE;
        };
        let index = list.front();
        if index != NONE {
            list.remove_front(requests, 0);
            self.uncount(class);
        }
        index
    }

    /// The oldest receive that matches a message of `source` with `envelope`, or [`NONE`].
    #[inline(always)]
    pub(super) fn find<B, R>(
        &self,
        requests: &Slab<Record<B, R>>,
        source: u32,
        envelope: Envelope,
    ) -> u32 {
        let front = |class: Class| self.chains.front(MatchKey::new(class, source, envelope));
        if self.present.is_power_of_two() {
            return front(Class::ALL[self.present.trailing_zeros() as usize & 3]);
        }
        let mut best = NONE;
        let mut best_number = u64::MAX;
        for class in Class::ALL {
            if self.present >> class.index() & 1 == 0 {
                continue;
            }
            let found = front(class);
            if found != NONE && requests[found].number < best_number {
                best = found;
                best_number = requests[found].number;
            }
        }
        best
    }

    /// Removes the receive at `index`.
    pub(super) fn remove<B, R>(&mut self, requests: &mut Slab<Record<B, R>>, index: u32) {
        self.uncount(requests[index].class);
        self.chains.remove(requests, 0, index);
    }

    #[inline(always)]
    fn uncount(&mut self, class: Class) {
        let count = &mut self.count[class.index()];
        *count -= 1;
        let empty = u32::from(*count == 0) << class.index();
        self.set_present(class, self.present & !empty);
    }

    /// Sets `present` after a change to receives of `class`.
    #[inline(always)]
    const fn set_present(&mut self, class: Class, present: u32) {
        self.present = present;
        if class.any_source() {
            self.any_sources = present & Class::ANY_SOURCES;
        }
    }
}
