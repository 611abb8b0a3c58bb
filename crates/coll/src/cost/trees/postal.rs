//! Postal trees of whole vectors.

use super::Tree;
use crate::cost::Way;
use crate::tree::{MAX_RADIX, MOST_CHILDREN, children, rooms};

impl Tree<'_> {
    /// The time of a postal tree of all ranks. Where a child is on another node depends on where its parent is on its own:
    /// on several nodes each way may go to another one, and messages of all ranks of a node at a time wait for its adapter.
    pub(super) fn postal(&self) -> u64 {
        let place = self.model.place;
        let way = self.model.way(1);
        match (place.nodes(), place.per_node()) {
            (1, _) | (_, 1) => self.postal_by(way),
            (_, ranks) => {
                let waits = u64::from(ranks.min(place.size() - ranks));
                self.postal_by(Way::Network)
                    .saturating_add(self.load(Way::Network, 1).saturating_mul(waits))
            }
        }
    }

    /// The same where all messages go one way.
    fn postal_by(&self, way: Way) -> u64 {
        let rooms = rooms(self.model.place.size(), self.radix);
        let delay = self.radix.min(MAX_RADIX) as usize - 1;
        // From when a root turns to so many children, each with all that there is room for, until all of it is done.
        let mut full = heapless::Vec::<u64, { MOST_CHILDREN + 1 }>::new();
        let (edge, gap) = (self.edge(way, 1), self.gap(way, 1));
        let with = |others: u64, below: u64| {
            let farthest = below.saturating_add(edge);
            farthest.max(others.saturating_add(gap))
        };
        let _ = full.push(0);
        for child in 0..rooms.len() {
            let below = full[(child + 1).saturating_sub(delay)];
            let _ = full.push(with(full[child], below));
        }
        // Each farthest child may be cut short.
        let mut farthest = heapless::Vec::<usize, MOST_CHILDREN>::new();
        let mut ranks = self.model.place.size();
        while let Some(child) = children(&rooms, ranks).checked_sub(1) {
            let _ = farthest.push(child);
            ranks -= rooms[child];
        }
        let innermost_first = farthest.into_iter().rev();
        innermost_first.fold(0, |below, child| with(full[child], below))
    }
}
