//! Posted receives: found by what arrives, in the order of their posting.

use super::chains::{Chains, Class, Key};
use super::request::Record;
use super::slab::{NONE, Slab};
use crate::header::Envelope;

/// The index of the posted receives. Its entries are requests.
#[derive(Debug)]
pub(super) struct Posted {
    chains: Chains,
    /// Receives posted, by [`Class::index`]: classes without any are not looked up.
    count: [u32; 4],
    next_number: u64,
}

impl Posted {
    pub(super) fn new() -> Self {
        Self {
            chains: Chains::new(),
            count: [0; 4],
            next_number: 0,
        }
    }

    /// Whether a receive from any source is posted.
    pub(super) const fn has_any_source(&self) -> bool {
        self.count[1] | self.count[3] != 0
    }

    pub(super) fn push<B, R>(&mut self, requests: &mut Slab<Record<B, R>>, index: u32) {
        let record = &mut requests[index];
        record.number = self.next_number;
        self.next_number += 1;
        let pattern = record.pattern;
        self.count[pattern.class.index()] += 1;
        self.chains.push(pattern.key(), requests, 0, index);
    }

    /// The oldest receive that takes a message of `source` with `envelope`, or [`NONE`].
    pub(super) fn find<B, R>(
        &self,
        requests: &Slab<Record<B, R>>,
        source: u32,
        envelope: Envelope,
    ) -> u32 {
        let mut best = NONE;
        let mut best_number = u64::MAX;
        for class in Class::ALL {
            if self.count[class.index()] == 0 {
                continue;
            }
            let found = self.chains.front(Key::new(class, source, envelope));
            if found != NONE && requests[found].number < best_number {
                best = found;
                best_number = requests[found].number;
            }
        }
        best
    }

    pub(super) fn remove<B, R>(&mut self, requests: &mut Slab<Record<B, R>>, index: u32) {
        let pattern = requests[index].pattern;
        self.count[pattern.class.index()] -= 1;
        self.chains.remove(pattern.key(), requests, 0, index);
    }
}
