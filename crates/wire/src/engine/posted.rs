//! Posted receives: found by what arrives, in the order of their posting.

use super::chains::{Chains, Class, Key};
use super::request::Record;
use super::slab::{NONE, Slab};
use crate::header::Envelope;

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

    #[inline(always)]
    pub(super) fn push<B, R>(&mut self, requests: &mut Slab<Record<B, R>>, index: u32) {
        let record = &mut requests[index];
        record.number = self.next_number;
        self.next_number += 1;
        let pattern = record.pattern;
        self.count[pattern.class.index()] += 1;
        self.present |= 1 << pattern.class.index();
        self.chains.push(pattern.key(), requests, 0, index);
    }

    /// The oldest receive that takes a message of `source` with `envelope`, or [`NONE`].
    #[inline(always)]
    pub(super) fn find<B, R>(
        &self,
        requests: &Slab<Record<B, R>>,
        source: u32,
        envelope: Envelope,
    ) -> u32 {
        let front = |class: Class| self.chains.front(Key::new(class, source, envelope));
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

    #[inline(always)]
    pub(super) fn remove<B, R>(&mut self, requests: &mut Slab<Record<B, R>>, index: u32) {
        let class = requests[index].pattern.class;
        let count = &mut self.count[class.index()];
        *count -= 1;
        self.present &= !(u32::from(*count == 0) << class.index());
        self.chains.remove(requests, 0, index);
    }
}
