//! The additional cost of subtrees that straddle two nodes.

use super::Tree;
use crate::cost::Reach;
use crate::placement::Order;
use crate::tree::levels_of;

impl Tree<'_> {
    /// The most time that children on the next node add, over subtrees in which one of the first nodes ends.
    pub(super) fn straddling(&self) -> u64 {
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
            more(Self::edge).saturating_add(more(Self::gap).saturating_mul(children - 1))
        };
        let ends = (1..nodes).map(|count| count * node);
        let all = ends.flat_map(|end| weights.clone().map(move |weight| (end, weight)));
        all.map(of_end).max().unwrap_or(0)
    }
}
