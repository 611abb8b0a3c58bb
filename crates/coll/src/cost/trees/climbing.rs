//! Blocks up a tree of few ranks on several nodes, parent by parent: where nodes end inside subtrees, no form is as near.

use super::Tree;
use crate::cost::{Model, Way};
use crate::tree::levels_of;

/// Of more ranks a form stands for what each does.
const RANKS: u32 = 128;

/// The most children of a parent here: of a larger radix there are hardly levels.
const CHILDREN: usize = 96;

/// A message of a child to its parent.
#[derive(Clone, Copy)]
struct Message {
    way: Way,
    bytes: u64,
    /// When it, or what announces a long one, comes: to the parent's adapter, and then to its processor.
    comes: u64,
}

/// What keeps a parent from the next message.
#[derive(Default)]
struct Parent {
    /// Until when its processor is busy.
    cpu: u64,
    /// Until when the adapter is.
    adapter: u64,
    /// When the last of its long messages is there.
    there: u64,
    /// When the last of its children on its node has seen that.
    seen: u64,
    /// Long messages that are under way while others are asked for.
    under_way: u64,
}

impl Tree<'_> {
    /// When all blocks are with rank 0. `None`: of too many ranks, or where a form is as good.
    ///
    /// A longer block never costs less: where a message of a level is just announced, a parent may be done sooner than with
    /// one that is just sent at once, and is taken to be no sooner.
    ///
    /// # Cost
    /// A few operations for each rank, and again for each level of long messages.
    pub(super) fn climbed(&self) -> Option<u64> {
        let (place, radix) = (self.model.place, u64::from(self.radix));
        let size = u64::from(place.size());
        if !self.up || self.work > 0 || place.nodes() == 1 || place.size() > RANKS {
            return None;
        }
        let levels = levels_of(place.size(), self.radix);
        let time = |each| {
            let tree = Tree { each, ..*self };
            let root = tree.gathered(0, radix.pow(levels))?;
            Some(root.cpu.max(root.seen))
        };
        let at_once = |level| self.model.machine.eager / radix.pow(level).min(size);
        let shorter = (0..levels).map(at_once).filter(|&each| each < self.each);
        shorter.fold(time(self.each), |longest, each| {
            Some(longest?.max(time(each)?))
        })
    }

    /// When `rank` has what its subtree of `weight` ranks, or of those there are, sends up.
    fn gathered(&self, rank: u64, weight: u64) -> Option<Parent> {
        let model = self.model;
        let place = model.place;
        let (size, radix) = (u64::from(place.size()), u64::from(self.radix));
        let mut messages = heapless::Vec::<Message, CHILDREN>::new();
        let mut below = 1;
        while below < weight {
            for child in (1..radix).map(|child| rank + child * below) {
                if child >= size {
                    break;
                }
                let ranks = below.min(size - child);
                let way = match place.node(rank as u32) == place.node(child as u32) {
                    true => Way::Node,
                    false => Way::Network,
                };
                let bytes = self.bytes(ranks);
                let started = match below {
                    1 => 0,
                    _ => self.gathered(child, below)?.cpu,
                };
                let comes = started + model.send(way, bytes) + model.path(way).latency;
                messages.push(Message { way, bytes, comes }).ok()?;
            }
            below *= radix;
        }
        let mut parent = Parent {
            cpu: model.copy(self.bytes(1)),
            ..Parent::default()
        };
        messages.sort_unstable_by_key(|message| message.comes);
        for message in &mut messages {
            message.comes = parent.carried(model, *message);
        }
        messages.sort_unstable_by_key(|message| message.comes);
        for message in &messages {
            parent.take(model, *message);
        }
        parent.end(model);
        Some(parent)
    }
}

impl Parent {
    /// When what comes to the adapter is with the processor.
    fn carried(&mut self, model: &Model, message: Message) -> u64 {
        let Message { way, bytes, comes } = message;
        let path = model.path(way);
        let carried = bytes.saturating_mul(path.byte);
        match way {
            _ if bytes > model.machine.eager => comes,
            Way::Node if model.serial_copies => comes,
            Way::Node => comes + carried,
            Way::Network => {
                let start = comes.max(self.adapter);
                self.adapter = start + path.gap.max(carried);
                start + carried
            }
        }
    }

    fn take(&mut self, model: &Model, message: Message) {
        let Message { way, bytes, comes } = message;
        let path = model.path(way);
        let carried = bytes.saturating_mul(path.byte);
        self.cpu = self.cpu.max(comes) + model.ends(way, bytes).recv;
        match (way, bytes > model.machine.eager) {
            (Way::Node, false) if model.serial_copies => self.cpu += carried,
            (_, false) => {}
            (Way::Node, true) => {
                let end = self.cpu + carried;
                if model.serial_copies {
                    self.cpu = end;
                }
                self.arrives(end);
                self.seen = self.seen.max(end + path.latency);
            }
            (Way::Network, true) => {
                self.cpu += path.send;
                let start = (self.cpu + 2 * path.latency).max(self.adapter);
                self.adapter = start + path.gap.max(carried);
                self.arrives(start + carried);
            }
        }
    }

    /// A long message will be there at `time`.
    fn arrives(&mut self, time: u64) {
        self.there = self.there.max(time);
        self.under_way += 1;
    }

    /// All have been asked for: its processor turns to each once more, most of them while others are under way.
    fn end(&mut self, model: &Model) {
        if self.under_way > 0 {
            let recv = model.machine.node.recv;
            self.cpu = (self.cpu + (self.under_way - 1) * recv).max(self.there) + recv;
        }
    }
}
