//! The time of a gather along a tree of few ranks on several nodes, computed parent by parent: closed
//! forms are too inexact there.

use super::Tree;
use crate::cost::{Model, Reach};
use crate::tree::levels_of;

/// The most ranks for which this is done: a choice table evaluates it hundreds of times.
const RANKS: u32 = 72;

/// The most children of a parent: a larger radix hardly has levels.
const CHILDREN: usize = 96;

/// A block length of which every message is long.
const LONG: u64 = 1 << 20;

/// A message from a child to its parent.
#[derive(Clone, Copy)]
struct ChildMessage {
    child: u64,
    reach: Reach,
    bytes: u64,
    /// The arrival of the message or its announcement: at the parent's adapter, and at its processor.
    arrival: u64,
}

/// The state of a parent.
#[derive(Clone, Copy, Default)]
struct Parent {
    /// The time until which its processor is busy.
    cpu: u64,
    /// The time until which the adapter is busy.
    adapter: u64,
    /// The arrival of the last of its long messages, and the processor's time for it.
    there: u64,
    recv: u64,
    /// The time at which the last child on its node is done.
    acknowledged: u64,
    /// Long messages that are under way while others are requested.
    in_flight: u64,
}

impl Tree<'_> {
    /// The time at which rank 0 has all blocks of a gather. `None` if there are too many ranks, or a
    /// closed form is as good.
    ///
    /// A longer block hardly ever costs less: messages are ordered by their arrival with the longest
    /// block that has as many long messages, and a parent is not done sooner with just announced messages
    /// than with just eager ones.
    ///
    /// # Cost
    /// A few operations per rank, repeated per level of long messages.
    pub(super) fn climbed(&self) -> Option<u64> {
        let (place, eager) = (self.model.place, self.model.machine.eager);
        debug_assert!(
            self.up && self.work == 0,
            "reduced messages are requested one after another"
        );
        if place.nodes() == 1 || place.size() > RANKS {
            return None;
        }
        let (size, radix) = (u64::from(place.size()), u64::from(self.radix));
        let levels = levels_of(place.size(), self.radix);
        // The longest blocks for which a level's messages, or that of its last subtree, are eager.
        let subtrees = |level| [radix.pow(level), size % radix.pow(level)];
        let at_once = || {
            let all = (0..levels).flat_map(subtrees);
            all.filter(|&ranks| ranks > 0).map(|ranks| eager / ranks)
        };
        let time = |each| {
            let tree = |each| Tree { each, ..*self };
            let longest = at_once().filter(|&longest| longest >= each).min();
            let like = tree(longest.unwrap_or(LONG));
            let [root, _] = tree(each).gathered(&like, 0, radix.pow(levels))?;
            Some(root.cpu.max(root.acknowledged))
        };
        let shorter = at_once().filter(|&each| each < self.each);
        shorter.fold(time(self.each), |longest, each| {
            Some(longest?.max(time(each)?))
        })
    }

    /// The state of `rank` when it has the blocks of its subtree of at most `weight` ranks, for this
    /// tree's blocks and for those of `like`, which defines the order of messages.
    fn gathered(&self, like: &Self, rank: u64, weight: u64) -> Option<[Parent; 2]> {
        let (model, trees) = (self.model, [self, like]);
        let (size, radix) = (u64::from(model.place.size()), u64::from(self.radix));
        let mut messages = heapless::Vec::<[ChildMessage; 2], CHILDREN>::new();
        let mut below = 1;
        while below < weight {
            let children = (1..radix).map(|child| rank + child * below);
            for child in children.take_while(|&child| child < size) {
                let [here, there] = [rank, child].map(|rank| model.place.node(rank as u32));
                let reach = match here == there {
                    true => Reach::Node,
                    false => Reach::Network,
                };
                let begun = match below {
                    1 => [Parent::default(); 2],
                    _ => self.gathered(like, child, below)?,
                };
                let of = |at: usize| {
                    let bytes = trees[at].bytes(below.min(size - child));
                    let path = model.path(reach);
                    let sent = begun[at].cpu.saturating_add(model.send(reach, bytes));
                    let arrival = sent.saturating_add(path.latency);
                    ChildMessage {
                        child,
                        reach,
                        bytes,
                        arrival,
                    }
                };
                messages.push([0, 1].map(of)).ok()?;
            }
            below *= radix;
        }
        let mut parents = trees.map(|tree| Parent {
            cpu: model.copy(tree.bytes(1)),
            ..Parent::default()
        });
        messages.sort_unstable_by_key(|[_, like]| (like.arrival, like.child));
        for pair in &mut messages {
            let each = parents.iter_mut().zip(pair);
            each.for_each(|(parent, message)| message.arrival = parent.carried(model, *message));
        }
        messages.sort_unstable_by_key(|[_, like]| (like.arrival, like.child));
        for pair in &messages {
            let each = parents.iter_mut().zip(pair);
            each.for_each(|(parent, message)| parent.take(model, *message));
        }
        parents.iter_mut().for_each(|parent| parent.end(model));
        Some(parents)
    }
}

impl Parent {
    /// The time at which an arriving message has passed the adapter.
    fn carried(&mut self, model: &Model, message: ChildMessage) -> u64 {
        let (reach, bytes, arrival) = (message.reach, message.bytes, message.arrival);
        let path = model.path(reach);
        let carried = bytes.saturating_mul(path.byte);
        match reach {
            _ if bytes > model.machine.eager => arrival,
            Reach::Node if model.serial_copies => arrival,
            Reach::Node => arrival.saturating_add(carried),
            Reach::Network => {
                let start = arrival.max(self.adapter);
                self.adapter = start.saturating_add(path.gap.max(carried));
                start.saturating_add(carried)
            }
        }
    }

    fn take(&mut self, model: &Model, message: ChildMessage) {
        let (reach, bytes, arrival) = (message.reach, message.bytes, message.arrival);
        let path = model.path(reach);
        let carried = bytes.saturating_mul(path.byte);
        let recv = model.ends(reach, bytes).recv;
        self.cpu = self.cpu.max(arrival).saturating_add(recv);
        match (reach, bytes > model.machine.eager) {
            (Reach::Node, false) if model.serial_copies => {
                self.cpu = self.cpu.saturating_add(carried);
            }
            (_, false) => {}
            (Reach::Node, true) => {
                let end = self.cpu.saturating_add(carried);
                if model.serial_copies {
                    self.cpu = end;
                }
                self.arrives(end, path.recv);
                self.acknowledged = self.acknowledged.max(end.saturating_add(path.latency));
            }
            (Reach::Network, true) => {
                self.cpu = self.cpu.saturating_add(path.send);
                let asked = self.cpu.saturating_add(2 * path.latency);
                let start = asked.max(self.adapter);
                self.adapter = start.saturating_add(path.gap.max(carried));
                self.arrives(start.saturating_add(carried), path.recv);
            }
        }
    }

    /// Adds a long message that arrives at `time`.
    fn arrives(&mut self, time: u64, recv: u64) {
        if time >= self.there {
            (self.there, self.recv) = (time, recv);
        }
        self.in_flight += 1;
    }

    /// Finishes the long messages: the processor handles each once more, most of them while others are
    /// under way.
    fn end(&mut self, model: &Model) {
        if self.in_flight > 0 {
            let others = (self.in_flight - 1) * model.machine.node.recv;
            let asked = self.cpu.saturating_add(others);
            self.cpu = asked.max(self.there).saturating_add(self.recv);
        }
    }
}
