//! Allreduce in groups: how a rank merges the contributions of the parts of its group from left to right.

use crate::accumulate::Accumulator;
use crate::plan::{Acts, Buf, Part, Side};

/// The merging of one rank in one group. Operations need not commute: the lower parts are combined where the
/// last of them was received, the others at the place of the result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merge {
    /// The rank's part in the group.
    pub(super) own: u32,
    /// Whether the rank's contribution is still in `In`.
    pub(super) fresh: bool,
    pub(super) count: u64,
    pub(super) sum: Accumulator,
}

impl Merge {
    /// This rank's contribution.
    pub(super) fn contribution(&self) -> Part {
        self.sum.value(!self.fresh)
    }

    /// Where the contribution of another part is received. While this rank's own is still in `In`, its
    /// neighbour's is received at the place of the result.
    pub(super) fn room(&self, part: u32) -> Part {
        let own = self.own;
        if self.fresh && part == own.checked_sub(1).unwrap_or(1) {
            return self.sum.value(true);
        }
        let slot = u64::from(part - u32::from(part > own));
        Part::new(Buf::Scratch, slot * self.count, self.count)
    }

    /// Step `n` of merging, which combines parts 0 to `n` with part `n + 1`.
    pub(super) fn step(&self, n: u32, acts: &mut Acts) {
        let (part, fresh) = (self.own, self.fresh);
        let (own, sum) = (self.contribution(), self.sum.value(true));
        if n + 1 < part {
            acts.reduce(self.room(n), self.room(n + 1), Side::Left);
        } else if n + 1 == part && fresh {
            acts.reduce(own, sum, Side::Right);
        } else if n + 1 == part {
            acts.reduce(self.room(n), sum, Side::Left);
        } else if n == 0 && fresh {
            acts.reduce(own, sum, Side::Left);
        } else {
            acts.reduce(self.room(n + 1), sum, Side::Right);
        }
    }
}
