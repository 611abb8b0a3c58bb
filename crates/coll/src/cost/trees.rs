//! The cost of algorithms along a tree: the time until the last leaf, or the root, is done.

mod climbing;
mod postal;
mod straddling;

use super::exchanges::{regather, share};
use super::rooted::Root;
use super::{Model, Reach};
use crate::call::{Call, Collective, Parameters};
use crate::tree::levels_of;

/// The messages along the edges of a tree.
struct Tree<'a> {
    model: &'a Model,
    radix: u32,
    /// Bytes of a message between parent and child: per rank of the child's subtree, and constant.
    each: u64,
    fixed: u64,
    /// The processor's work on the data of one child.
    work: u64,
    /// Whether messages go towards the root.
    up: bool,
    /// Whether the nearest child of a level is served first; else the farthest.
    nearest_first: bool,
}

impl Tree<'_> {
    fn bytes(&self, ranks: u64) -> u64 {
        self.each.saturating_mul(ranks).saturating_add(self.fixed)
    }

    /// The time of a full subtree of `levels` levels.
    fn full(&self, levels: u32) -> u64 {
        (0..levels).fold(0, |below, level| {
            let weight = u64::from(self.radix).pow(level);
            self.level(weight, u64::from(self.radix) - 1, weight, [below; 2], 0)
        })
    }

    /// The time of a root with `children` children on a level of `weight` ranks each, `last` in the
    /// farthest; `hidden` overlaps.
    fn level(&self, weight: u64, children: u64, last: u64, below: [u64; 2], hidden: u64) -> u64 {
        let [below, cut] = below;
        // The times until which processor and adapter are busy.
        let (mut processor, mut adapter, mut time) = (0_u64, 0_u64, 0_u64);
        for nth in 0..children {
            let child = match self.nearest_first {
                true => nth + 1,
                false => children - nth,
            };
            let (ranks, rest, less) = if child == children {
                (last, cut, hidden)
            } else {
                (weight, below, 0)
            };
            let reach = self.model.reach(child * weight);
            let start = match reach {
                Reach::Node if !self.copies_one_by_one(ranks) => processor,
                _ => processor.max(adapter),
            };
            adapter = start.saturating_add(self.load(reach, ranks));
            let done = start
                .saturating_add(self.edge(reach, ranks))
                .saturating_add(rest);
            time = time.max(done);
            processor = processor.saturating_add(self.processor(reach, ranks) - less);
        }
        let free = match self.model.reach(weight - weight / u64::from(self.radix)) {
            Reach::Network => processor.max(adapter),
            Reach::Node => processor,
        };
        time.max(free.saturating_add(below))
    }

    /// The part of the farthest child's time that overlaps with waiting for others, as a smaller subtree
    /// is done earlier.
    fn hidden(&self, level: u32, children: u64, last: u64, below: [u64; 2]) -> u64 {
        let [below, cut] = below;
        let (weight, bytes) = (u64::from(self.radix).pow(level), self.bytes(last));
        let one_by_one = match self.work {
            0 => 0,
            work => work.saturating_add(self.model.copy(bytes)),
        };
        let reach = self.model.reach(children * weight);
        let gap = self.gap(reach, last);
        let waiting = match level.checked_sub(1) {
            _ if !self.up || self.work > 0 && bytes > self.model.machine.eager => return 0,
            // Spent on another child of this level, or on those of the level below.
            _ if children > 1 => {
                let reach = self.model.reach((children - 1) * weight);
                let arrival = self
                    .edge(reach, weight)
                    .saturating_sub(self.gap(reach, weight));
                [below, below.saturating_add(arrival)]
            }
            Some(lower) => {
                let weight = u64::from(self.radix).pow(lower);
                let gap = self.gap(self.model.reach(weight), weight);
                let all = gap.saturating_mul(u64::from(self.radix) - 1);
                [self.full(lower), below.saturating_sub(all)]
            }
            None => return 0,
        };
        let arrival = cut
            .saturating_add(self.edge(reach, last))
            .saturating_sub(gap);
        waiting[1]
            .saturating_sub(waiting[0].max(arrival))
            .min(self.processor(reach, last).saturating_sub(one_by_one))
    }

    /// The time of the message to or from a child with `ranks` ranks.
    fn edge(&self, reach: Reach, ranks: u64) -> u64 {
        let hop = self.model.hop(reach, self.bytes(ranks));
        hop.saturating_add(self.work)
    }

    /// The time from one child to the next on the same path.
    fn gap(&self, reach: Reach, ranks: u64) -> u64 {
        self.load(reach, ranks).max(self.processor(reach, ranks))
    }

    /// Whether the root's processor copies a child's data of its own node before it requests long
    /// messages from elsewhere.
    fn copies_one_by_one(&self, ranks: u64) -> bool {
        let is_long = self.bytes(ranks) > self.model.machine.eager;
        self.up && is_long && self.model.serial_copies
    }

    /// The time that a child's message occupies the adapter.
    fn load(&self, reach: Reach, ranks: u64) -> u64 {
        match reach {
            Reach::Network => self.model.load(self.bytes(ranks)),
            Reach::Node => 0,
        }
    }

    /// The root's processor time for one child; long messages that are reduced are requested one after
    /// another.
    fn processor(&self, reach: Reach, ranks: u64) -> u64 {
        let bytes = self.bytes(ranks);
        let message = match self.up {
            true if self.work > 0 && bytes > self.model.machine.eager => {
                self.model.hop(reach, bytes) - self.model.bare(reach, 0)
            }
            true => self.model.receive(reach, bytes),
            false => self.model.send(reach, bytes),
        };
        message.saturating_add(self.work)
    }

    /// The time of the tree of all ranks.
    fn time(&self) -> u64 {
        let size = self.model.place.size();
        self.of(size)
            .saturating_add(self.straddling())
            .saturating_add(self.acknowledged(size))
    }

    /// The time from when the root is done until the sender of the last long message is.
    fn acknowledged(&self, size: u32) -> u64 {
        let weight = u64::from(self.radix).pow(levels_of(size, self.radix).saturating_sub(1));
        let last = (u64::from(size) - weight).min(weight);
        match self.up {
            true => {
                let exchanged = self
                    .model
                    .acknowledged(self.model.reach(weight), self.bytes(last));
                exchanged.saturating_sub(self.work)
            }
            false => 0,
        }
    }

    /// The time of a tree of `size` ranks, whose farthest subtree may be incomplete.
    fn of(&self, size: u32) -> u64 {
        let Some(level) = levels_of(size, self.radix).checked_sub(1) else {
            return 0;
        };
        let weight = u64::from(self.radix).pow(level);
        let children = u64::from(size).div_ceil(weight) - 1;
        let last = u64::from(size) - children * weight;
        let below = [self.full(level), self.of(last as u32)];
        let hidden = self.hidden(level, children, last, below);
        self.level(weight, children, last, below, hidden)
    }
}

/// The radix of a tree; 2 if the algorithm takes none.
fn radix(parameters: &Parameters) -> u32 {
    parameters.radix.max(2)
}

/// A tree of whole vectors, towards the leaves, or towards the root with reductions.
fn vectors<'a>(call: &Call, parameters: &Parameters, model: &'a Model, up: bool) -> Tree<'a> {
    let bytes = call.bytes();
    Tree {
        model,
        radix: radix(parameters),
        each: 0,
        fixed: bytes,
        work: if up { model.reduce(bytes) } else { 0 },
        up,
        nearest_first: false,
    }
}

/// Bcast along a k-nomial tree.
pub(crate) fn bcast(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    vectors(call, parameters, model, false).time()
}

/// Bcast along a postal tree, on one node or between nodes.
pub(super) fn postal_down(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    vectors(call, parameters, model, false).postal()
}

/// Reduce along a k-nomial tree.
pub(crate) fn reduce(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    vectors(call, parameters, model, true).time()
}

/// Reduce along a postal tree, on one node or between nodes.
pub(super) fn postal_up(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    vectors(call, parameters, model, true).postal()
}

/// Barrier along a tree, to the root and back.
pub(crate) fn barrier_knomial(_: &Call, parameters: &Parameters, model: &Model) -> u64 {
    let time = |up| {
        let tree = Tree {
            model,
            radix: radix(parameters),
            each: 0,
            fixed: 0,
            work: 0,
            up,
            nearest_first: false,
        };
        tree.time()
    };
    time(true) + time(false)
}

/// Scatter along a tree, each message with the blocks of a subtree. In scatterv a block beyond the cutoff
/// goes straight.
pub(crate) fn scatter(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    match is_short(call, parameters) {
        true => blocks(call, parameters, model, false).time(),
        false => super::scatter_linear(call, parameters, model),
    }
}

/// Gather along a tree, each message with the blocks of a subtree. In gatherv a block beyond the cutoff
/// goes straight.
pub(crate) fn gather(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    match is_short(call, parameters) {
        true => {
            let tree = blocks(call, parameters, model, true);
            if let Some(time) = tree.climbed() {
                return time;
            }
            let up = tree.time();
            // The root copies its own block before the first message arrives.
            let reach = model.reach(1);
            let arrival = model.bare(reach, 0) - model.path(reach).recv;
            up.saturating_add(model.copy(call.bytes()).saturating_sub(arrival))
        }
        false => super::gather_linear(call, parameters, model),
    }
}

/// [`gather`] where the root's own block is in place.
pub(super) fn gather_in_place(call: &Call, parameters: &Parameters, model: &Model) -> u64 {
    blocks(call, parameters, model, true).time()
}

/// Whether blocks go through the tree.
pub(super) fn is_short(call: &Call, parameters: &Parameters) -> bool {
    parameters.cutoff == 0 || call.bytes() <= parameters.cutoff
}

/// A tree of blocks of all ranks of a subtree.
fn blocks<'a>(call: &Call, parameters: &Parameters, model: &'a Model, up: bool) -> Tree<'a> {
    Tree {
        model,
        radix: radix(parameters),
        each: with_length(call),
        fixed: 0,
        work: 0,
        up,
        nearest_first: !up,
    }
}

/// The bytes of a block, and of its length where a scatterv sends it along.
pub(super) fn with_length(call: &Call) -> u64 {
    match call.collective {
        Collective::Scatterv => call.bytes().saturating_add(8),
        _ => call.bytes(),
    }
}

/// The root of [`scatter`], which reports the first rank below each of its children as late.
pub(super) fn scattering(
    call: &Call,
    parameters: &Parameters,
    model: &Model,
    late: &mut dyn FnMut(u32, u64),
) -> Root {
    let (radix, size, block) = (radix(parameters), call.size, with_length(call));
    let (send, hop) = (
        model.send(model.reach(1), block),
        model.hop(model.reach(1), block),
    );
    let mut root = Root::default();
    for level in (0..levels_of(size, radix)).rev() {
        let weight = radix.pow(level);
        // The first rank below a child gets the first message after those of higher levels.
        let before = u64::from(level.saturating_sub(1) * (radix - 1));
        for child in (weight..size.min(weight.saturating_mul(radix))).step_by(weight as usize) {
            let ranks = weight.min(size - child);
            let arrival = root.send(
                model,
                model.reach(child.into()),
                block.saturating_mul(ranks.into()),
            );
            match ranks {
                1 => late(child, arrival),
                _ => late(child + 1, arrival.saturating_add(before * send + hop)),
            }
            root.last_child = root.last_child.max(child);
        }
    }
    root
}

/// The last rank below the root's last full child, which gets its block last but for ranks in incomplete
/// subtrees.
pub(super) fn last_served(size: u32, parameters: &Parameters) -> Option<u32> {
    let radix = radix(parameters);
    let weight = radix.pow(levels_of(size, radix).saturating_sub(1));
    let whole = size - size % weight;
    (whole > weight).then(|| whole - 1)
}

/// Bcast by a binomial scatter and an allgather of the pieces.
pub(crate) fn scatter_allgather(call: &Call, _: &Parameters, model: &Model) -> u64 {
    let tree = Tree {
        model,
        radix: 2,
        each: share(call, call.size),
        fixed: 0,
        work: 0,
        up: false,
        nearest_first: false,
    };
    tree.time().saturating_add(regather(call, model))
}
