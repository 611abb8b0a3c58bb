//! The additional cost of subtrees that straddle two nodes.

use core::ops::Range;

use super::Tree;
use crate::cost::Reach;
use crate::placement::Order;
use crate::tree::levels_of;

impl Tree<'_> {
    /// The most time that children on the next node add, over the first nodes.
    pub(super) fn straddling(&self) -> u64 {
        self.longest(|_, added| added)
    }

    /// The longest time of such a subtree, over the first nodes.
    pub(super) fn straddled(&self) -> u64 {
        self.longest(|ranks, added| {
            let size = (ranks.end - ranks.start) as u32;
            self.comes_to(ranks.start)
                .saturating_add(self.of(size))
                .saturating_add(added)
        })
    }

    /// The longest time over subtrees in which one of the first nodes ends.
    fn longest(&self, time: impl Fn(Range<u64>, u64) -> u64) -> u64 {
        let place = self.model.place;
        let (size, node, radix) = (
            u64::from(place.size()),
            u64::from(place.per_node()),
            u64::from(self.radix),
        );
        if place.order() == Order::Cyclic {
            return 0;
        }
        let nodes = u64::from(place.nodes()).min(1 + radix);
        let levels = levels_of(place.per_node(), self.radix);
        let weights = (0..levels).map(|level| radix.pow(level));
        let of_end = |(end, weight): (u64, u64)| {
            let before = end % (weight * radix);
            let first = before.div_ceil(weight);
            let child = end - before + first * weight;
            if before % node == 0 || first == radix || child >= size {
                return 0;
            }
            let children = (radix - first).min((size - child).div_ceil(weight));
            let ranks = weight.min(size - child);
            let more = |time: fn(&Self, Reach, u64) -> u64| {
                time(self, Reach::Network, ranks).saturating_sub(time(self, Reach::Node, ranks))
            };
            let added =
                more(Self::edge).saturating_add(more(Self::gap).saturating_mul(children - 1));
            let start = end - before;
            time(start..size.min(start + weight * radix), added)
        };
        let ends = (1..nodes).map(|count| count * node);
        let all = ends.flat_map(|end| weights.clone().map(move |weight| (end, weight)));
        all.map(of_end).max().unwrap_or(0)
    }

    /// The time at which a rank has its data: on the way each rank first sends to the children before the
    /// next one.
    fn comes_to(&self, rank: u64) -> u64 {
        let place = self.model.place;
        let (size, radix) = (u64::from(place.size()), u64::from(self.radix));
        let (mut time, mut at) = (0_u64, 0);
        let mut weight = radix.pow(levels_of(place.size(), self.radix));
        while at < rank {
            weight /= radix;
            let local = at % u64::from(place.per_node());
            let children = (radix - 1).min((size - at).div_ceil(weight) - 1);
            let next = (rank - at) / weight;
            let reach = |child| self.model.reach(local + child * weight);
            let ranks = |child| weight.min(size - at - child * weight);
            let before = match (next, self.nearest_first) {
                (0, _) => 1..children + 1,
                (_, true) => 1..next,
                (_, false) => next + 1..children + 1,
            };
            time = before.fold(time, |time, child| {
                time.saturating_add(self.gap(reach(child), ranks(child)))
            });
            if next > 0 {
                time = time.saturating_add(self.edge(reach(next), ranks(next)));
                at += next * weight;
            }
        }
        time
    }
}
