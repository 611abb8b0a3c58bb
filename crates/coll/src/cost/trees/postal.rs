//! The cost of postal trees of whole vectors.

use super::Tree;
use crate::cost::Reach;
use crate::tree::postal::{MOST_CHILDREN, children, delay, rooms};

/// A part of a tree: its root, some of whose children are done.
#[derive(Clone, Copy, Default)]
struct PartialTree {
    done: u64,
    /// The arrival of the latest of their messages.
    last: u64,
    /// The last two intervals in which the root waited for a message.
    waits: [(u64, u64); 2],
}

impl Tree<'_> {
    /// The time of a postal tree of all ranks whose edges are all of one kind.
    pub(super) fn postal(&self) -> u64 {
        let reach = self.model.reach(1);
        let size = self.model.place.size();
        let rooms = rooms(size, self.radix);
        let delay = delay(self.radix);
        // A root with this many full children.
        let mut full = heapless::Vec::<PartialTree, { MOST_CHILDREN + 1 }>::new();
        let _ = full.push(PartialTree::default());
        for child in 0..rooms.len() {
            let below = full[(child + 1).saturating_sub(delay)].done;
            let _ = full.push(self.with_child(reach, full[child], below));
        }
        // Each farthest child may be incomplete.
        let mut farthest = heapless::Vec::<usize, MOST_CHILDREN>::new();
        let mut ranks = size;
        while let Some(child) = children(&rooms, ranks).checked_sub(1) {
            let _ = farthest.push(child);
            ranks -= rooms[child];
        }
        let innermost_first = farthest.into_iter().rev();
        let cut = |below, child: usize| self.with_child(reach, full[child], below).done;
        innermost_first.fold(0, cut)
    }

    /// The root with one more, farther child, whose part takes `below`.
    fn with_child(&self, reach: Reach, others: PartialTree, below: u64) -> PartialTree {
        let (model, bytes) = (self.model, self.bytes(1));
        let with_it = below.saturating_add(self.edge(reach, 1));
        if !self.up || bytes > model.machine.eager {
            let done = with_it.max(others.done.saturating_add(self.gap(reach, 1)));
            return PartialTree { done, ..others };
        }
        // An earlier message is received while the root waits for another one, and copied in its turn.
        let receive = model.receive(reach, bytes);
        let arrival = with_it.saturating_sub(receive.saturating_add(self.work));
        let taken = match arrival < others.last {
            true => {
                let received = model.ends(reach, bytes).recv;
                let after = |(from, until): (u64, u64)| until.saturating_sub(from.max(arrival));
                // A flag is polled only when it is needed.
                let idle: u64 = match model.is_flag(bytes) {
                    true => 0,
                    false => others.waits.into_iter().map(after).sum(),
                };
                received
                    .saturating_sub(idle)
                    .saturating_add(model.copy(bytes))
            }
            false => receive,
        };
        let start = others.done.max(arrival);
        PartialTree {
            done: start.saturating_add(taken).saturating_add(self.work),
            last: others.last.max(arrival),
            waits: match arrival > others.done {
                true => [others.waits[1], (others.done, arrival)],
                false => others.waits,
            },
        }
    }
}
