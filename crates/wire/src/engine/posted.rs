//! Posted receives: found by what arrives, in the order of their posting.

use super::chains::Chains;
use super::pattern::{Class, MatchKey, Pattern};
use super::request::Record;
use crate::header::Envelope;
use crate::slab::{Handle, NONE, Slab};

/// The index of the posted receives. Its entries are requests.
#[derive(Debug)]
pub(super) struct Posted {
    pub(super) chains: Chains,
    /// Receives posted, by [`Class::index`].
    count: [u32; 4],
    /// One bit for each class with receives: the others are not looked up.
    present: u32,
    next_number: u64,
}

impl Posted {
    pub(super) fn new() -> Self {
        Self {
            chains: Chains::new(),
            count: [0; 4],
            present: 0,
            next_number: 0,
        }
    }

    /// Whether a receive from any source is posted.
    pub(super) const fn has_any_source(&self) -> bool {
        self.present & Class::ANY_SOURCES != 0
    }

    /// Whether nothing is posted.
    pub(super) const fn is_empty(&self) -> bool {
        self.present == 0
    }

    /// Posts a receive into `body` that asks for `pattern`, behind those posted before. Returns its
    /// handle and its chain; one compare tells if that is `guess`.
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
        self.present |= 1 << pattern.class.index();
        let (chain, list) = match self.chains.guessed(guess, pattern.key()) {
            Some(list) => (guess, list),
            None => self.chains.found(pattern.key()),
        };
        let links = list.behind(chain);
        let handle = requests.insert(Record::receive(body, pattern, number, links));
        list.append(requests, 0, handle.index);
        (handle, chain)
    }

    /// Takes out the oldest receive for a message of `source` with `envelope`, if no wildcard is
    /// posted and its chain is `guess`. [`NONE`]: [`Posted::find`] tells.
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
            self.discount(class);
        }
        index
    }

    /// The oldest receive that takes a message of `source` with `envelope`, or [`NONE`].
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

    /// Takes out the receive at `index`.
    pub(super) fn remove<B, R>(&mut self, requests: &mut Slab<Record<B, R>>, index: u32) {
        self.discount(requests[index].class);
        self.chains.remove(requests, 0, index);
    }

    #[inline(always)]
    fn discount(&mut self, class: Class) {
        let count = &mut self.count[class.index()];
        *count -= 1;
        self.present &= !(u32::from(*count == 0) << class.index());
    }
}
