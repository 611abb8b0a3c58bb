//! A rail: the ranks with the same local number on all nodes, as a group.

use crate::placement::{Order, Placement};
use crate::plan::renamed;
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};

/// A rail of full nodes in a collective with one block per rank. It runs a plan for one rank per node, and
/// as many blocks, among the ranks of the rail on their blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rail {
    place: Placement,
    /// The local number of the rail's ranks.
    local: u32,
    /// Elements of a block.
    count: u64,
}

impl Rail {
    /// The rail of `rank`.
    pub(crate) const fn of(place: Placement, rank: u32, count: u64) -> Self {
        Rail {
            place,
            local: place.local(rank),
            count,
        }
    }

    /// All blocks of the rail at their places in `Out`, in node order.
    pub(crate) fn column(&self) -> Part {
        self.blocks(0, self.place.nodes())
    }

    /// The blocks of `n` nodes from node `first` on, around the ring.
    fn blocks(&self, first: u32, n: u32) -> Part {
        let at = u64::from(self.place.rank(first, self.local)) * self.count;
        let part = Part::new(Buf::Out, at, self.count);
        if n == 1 {
            return part;
        }
        let all = u64::from(self.place.size()) * self.count;
        match self.place.order() {
            Order::Block if self.place.per_node() > 1 => {
                let step = u64::from(self.place.per_node()) * self.count;
                part.repeated(n, step as i64).around(all)
            }
            Order::Block => Part::new(Buf::Out, at, u64::from(n) * self.count).around(all),
            Order::Cyclic => Part::new(Buf::Out, at, u64::from(n) * self.count),
        }
    }

    /// Where a part of the plan's `Out` lies in `Out`: consecutive blocks of the rail, or a range within one.
    fn part(&self, part: Part) -> Part {
        if part.buf != Buf::Out {
            return part;
        }
        let node = (part.first / self.count) as u32;
        match (part.count / self.count) as u32 {
            0 => {
                let block = self.blocks(node, 1);
                Part::new(Buf::Out, block.first + part.first % self.count, part.count)
            }
            n => self.blocks(node, n),
        }
    }

    /// Step `i` of the plan among the rail's ranks.
    pub(crate) fn step<P: Plan>(
        &self,
        plan: &P,
        i: u32,
        inputs: &PlanInputs<'_>,
        acts: &mut Acts,
    ) -> Option<u32> {
        let rank = |node| self.place.rank(node, self.local);
        renamed(plan, i, inputs, acts, |act| {
            act.with_peer(rank).with_parts(|part| self.part(part))
        })
    }
}
