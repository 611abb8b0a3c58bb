//! Broadcast by scatter and allgather: the vector goes in pieces down a binomial tree, one to each
//! rank, and over the circulant graph each rank gets the others'.
//!
//! `2 ceil(log2 p)` rounds, for every number of ranks, and at most two vectors sent by any rank:
//! for large vectors where cutting into many blocks does not pay. Van de Geijn, "On global combine
//! operations", 1994; Thakur, Rabenseifner and Gropp, "Optimization of collective communication
//! operations in MPICH", 2005.

use core::ops::Range;

use crate::blocks::{Division, RotatedBlocks};
use crate::call::{Call, Parameters};
use crate::circulant::{CirculantGather, OwnBlock};
use crate::partition::piece;
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};
use crate::rank_ring::RankRing;
use crate::tree::{self, Subtrees, TreePlace};

/// One rank's plan for a broadcast by scatter and allgather. Ranks are counted from the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScatterAllgather {
    ring: RankRing,
    place: tree::KnomialPlace,
    root: u32,
    count: u64,
}

impl ScatterAllgather {
    pub(crate) fn of(call: &Call, _: &Parameters) -> Self {
        let from_root = call.from_root();
        ScatterAllgather {
            ring: RankRing::new(from_root, call.size),
            place: tree::KnomialPlace::new(from_root, call.size, 0, 2),
            root: call.root,
            count: call.count,
        }
    }

    fn gather(&self) -> CirculantGather {
        CirculantGather {
            view: RotatedBlocks {
                ring: self.ring,
                blocks: Division::Partition(self.count),
            },
            own: OwnBlock::Rooted(self.root),
        }
    }

    /// The rank of the group.
    fn peer(&self, from_root: u32) -> u32 {
        RankRing::new(from_root, self.ring.size()).above(self.root)
    }

    /// The pieces of the ranks.
    fn pieces(&self, buf: Buf, ranks: Range<u32>) -> Part {
        let start = |rank| piece(0, self.count, self.ring.size(), rank).0;
        Part::new(
            buf,
            start(ranks.start),
            start(ranks.end) - start(ranks.start),
        )
    }

    /// Step `i` of the scatter, and what it needs: receive, then send to one child a step.
    fn scatter(&self, i: u32, acts: &mut Acts) -> u32 {
        if i == 0 {
            let own = self.pieces(Buf::Out, self.place.subtree());
            if let Some(parent) = self.place.up().filter(|_| !own.is_empty()) {
                acts.recv(self.peer(parent.peer), parent.tag, own);
            }
        } else if let Some(at) = self.place.places().checked_sub(i)
            && let Some(child) = self.place.down(at)
        {
            let is_root = self.ring.rank() == 0;
            let buf = if is_root { Buf::In } else { Buf::Out };
            let pieces = self.pieces(buf, self.place.child_subtree(at));
            if !pieces.is_empty() {
                acts.send(self.peer(child.peer), child.tag, pieces);
            }
        }
        i.min(1)
    }
}

impl Plan for ScatterAllgather {
    fn steps(&self) -> u32 {
        if self.count == 0 || self.ring.size() == 1 {
            0
        } else {
            self.place.places() + 1 + self.gather().steps()
        }
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let Some(k) = i.checked_sub(self.place.places() + 1) else {
            return Some(self.scatter(i, acts));
        };
        self.gather().step(k, inputs, acts);
        Some(i)
    }
}
