//! Blocks up a tree of few ranks on several nodes, parent by parent: where nodes end inside subtrees, no form is as near.

use super::Tree;
use crate::cost::{Model, Reach};
use crate::tree::levels_of;

/// Of more ranks a form stands for what each does: a table compares hundreds of times.
const RANKS: u32 = 72;

/// The most children of a parent here: of a larger radix there are hardly levels.
const CHILDREN: usize = 96;

/// Stands for all blocks of which every message is long.
const LONG: u64 = 1 << 20;

/// A message of a child to its parent.
#[derive(Clone, Copy)]
struct Message {
    child: u64,
    reach: Reach,
    bytes: u64,
    /// When it, or what announces a long one, comes: to the parent's adapter, and then to its processor.
    comes: u64,
}

/// What keeps a parent from the next message.
#[derive(Clone, Copy, Default)]
struct Parent {
    /// Until when its processor is busy.
    cpu: u64,
    /// Until when the adapter is.
    adapter: u64,
    /// When the last of its long messages is there, and what its processor then does for it.
    there: u64,
    recv: u64,
    /// When the last of its children on its node has seen that.
    seen: u64,
    /// Long messages that are under way while others are asked for.
    under_way: u64,
}

impl Tree<'_> {
    /// When all blocks of a gather are with rank 0. `None`: of too many ranks, or where a form is as good.
    ///
    /// A longer block hardly ever costs less: messages are taken in the order in which they come with the longest block of
    /// which as many are long; and where such are just announced, a parent that would be done sooner than with those that are
    /// just sent at once is taken to be no sooner.
    ///
    /// # Cost
    /// A few operations for each rank, and again for each level of long messages.
    pub(super) fn climbed(&self) -> Option<u64> {
        let (place, eager) = (self.model.place, self.model.machine.eager);
        debug_assert!(
            self.up && self.work == 0,
            "what is reduced is asked for in turn"
        );
        if place.nodes() == 1 || place.size() > RANKS {
            return None;
        }
        let (size, radix) = (u64::from(place.size()), u64::from(self.radix));
        let levels = levels_of(place.size(), self.radix);
        // The longest blocks of which a level's messages are sent at once, or that of its last subtree.
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
            Some(root.cpu.max(root.seen))
        };
        let shorter = at_once().filter(|&each| each < self.each);
        shorter.fold(time(self.each), |longest, each| {
            Some(longest?.max(time(each)?))
        })
    }

    /// When `rank` has what its subtree of `weight` ranks, or of those there are, sends up: of this tree's blocks, and of those
    /// of one that it is like, in whose order it takes them.
    fn gathered(&self, like: &Self, rank: u64, weight: u64) -> Option<[Parent; 2]> {
        let (model, trees) = (self.model, [self, like]);
        let (size, radix) = (u64::from(model.place.size()), u64::from(self.radix));
        let mut messages = heapless::Vec::<[Message; 2], CHILDREN>::new();
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
                    let comes = sent.saturating_add(path.latency);
                    Message {
                        child,
                        reach,
                        bytes,
                        comes,
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
        messages.sort_unstable_by_key(|[_, like]| (like.comes, like.child));
        for pair in &mut messages {
            let each = parents.iter_mut().zip(pair);
            each.for_each(|(parent, message)| message.comes = parent.carried(model, *message));
        }
        messages.sort_unstable_by_key(|[_, like]| (like.comes, like.child));
        for pair in &messages {
            let each = parents.iter_mut().zip(pair);
            each.for_each(|(parent, message)| parent.take(model, *message));
        }
        parents.iter_mut().for_each(|parent| parent.end(model));
        Some(parents)
    }
}

impl Parent {
    /// When what comes to the adapter is with the processor.
    fn carried(&mut self, model: &Model, message: Message) -> u64 {
        let Message {
            reach,
            bytes,
            comes,
            ..
        } = message;
        let path = model.path(reach);
        let carried = bytes.saturating_mul(path.byte);
        match reach {
            _ if bytes > model.machine.eager => comes,
            Reach::Node if model.serial_copies => comes,
            Reach::Node => comes.saturating_add(carried),
            Reach::Network => {
                let start = comes.max(self.adapter);
                self.adapter = start.saturating_add(path.gap.max(carried));
                start.saturating_add(carried)
            }
        }
    }

    fn take(&mut self, model: &Model, message: Message) {
        let Message {
            reach,
            bytes,
            comes,
            ..
        } = message;
        let path = model.path(reach);
        let carried = bytes.saturating_mul(path.byte);
        let recv = model.ends(reach, bytes).recv;
        self.cpu = self.cpu.max(comes).saturating_add(recv);
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
                self.seen = self.seen.max(end.saturating_add(path.latency));
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

    /// A long message will be there at `time`.
    fn arrives(&mut self, time: u64, recv: u64) {
        if time >= self.there {
            (self.there, self.recv) = (time, recv);
        }
        self.under_way += 1;
    }

    /// All have been asked for: its processor turns to each once more, most of them while others are under way.
    fn end(&mut self, model: &Model) {
        if self.under_way > 0 {
            let others = (self.under_way - 1) * model.machine.node.recv;
            let asked = self.cpu.saturating_add(others);
            self.cpu = asked.max(self.there).saturating_add(self.recv);
        }
    }
}
