//! Scatterv down a tree for the short blocks, straight from the root for the others.
//!
//! Each block is judged by its own length, which both the root and its owner know: up to the cutoff
//! it travels through the tree. A message to a subtree carries first the lengths of its ranks'
//! blocks, but for the first, which knows its own: 8 bytes each; and then the short blocks, all in
//! the order of the ranks. So the sizes cost no round: down a binomial tree `ceil(log2 p)` rounds where all
//! blocks are short. A message to a leaf is its block and nothing else. Traeff, "Practical,
//! linear-time, fully distributed algorithms for irregular gather and scatter", 2017 (arXiv
//! 1702.05967), has the blocks travel so, along a tree that depends on their lengths; "On optimal
//! trees for irregular gather and scatter collectives", 2018 (arXiv 1711.08731).
//!
//! Longer blocks would be sent again by every rank on their way; they come from the root, a window's
//! worth at a time. The cutoff and its default are those of Cray's `MPICH_SCATTERV_SHORT_MSG`, which
//! however goes by the average, which only the root knows.

use core::ops::Range;

use crate::call::{Call, Parameters};
use crate::eager::copy;
use crate::long_blocks::{LongBlocks, TREE_TAG};
use crate::plan::{ACTS, Acts, Buf, Part, Plan, PlanInputs};
use crate::tree::{self, Subtrees, TreeEdge};

/// Bytes of one length in a message.
const NUMBER: u64 = 8;

/// The slot of the length of what the parent sends; that of child `n`'s short blocks is `n` further.
const MESSAGE: u8 = 0;
const CHILD: u8 = 1;

/// One rank's plan for an irregular scatterv down a tree.
///
/// A rank that is not a leaf has two steps for each child slot, the one with the largest subtree
/// first: one puts the message together and one sends it. Before them a rank below the root has two
/// that learn a length and receive, and those that learn each child's share. After them one copies
/// the rank's own block. Then the root has one for each rank to which it may send directly, another
/// rank with a long block one that receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScattervTree<T> {
    place: T,
    direct: LongBlocks,
    /// Elements of this rank's own block.
    own: u64,
    in_place: bool,
}

/// Down a k-nomial tree.
pub(crate) type ScattervKnomial = ScattervTree<tree::KnomialPlace>;

impl<T: Subtrees> ScattervTree<T> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        ScattervTree {
            place: T::of(call, parameters),
            direct: LongBlocks::of(call, parameters),
            own: call.count,
            in_place: call.in_place,
        }
    }

    /// Possible child `n` and the ranks of its subtree.
    fn child(&self, n: u32) -> Option<(u32, Range<u32>)> {
        let child = self.place.down(n)?;
        Some((child.peer, self.place.child_subtree(n)))
    }

    /// This rank's own block where it belongs.
    const fn output(&self) -> Part {
        Part::new(Buf::Out, 0, self.own)
    }

    /// Steps before those that serve the children: two, and one for each few lengths to learn.
    fn before(&self) -> u32 {
        2 + self.place.places().div_ceil(ACTS as u32)
    }

    /// The elements of child `n`'s short blocks; `None` while it is not known.
    fn share(&self, inputs: &PlanInputs<'_>, n: u32) -> Option<u64> {
        match self.child(n) {
            None => Some(0),
            Some((_, ranks)) if self.place.up().is_none() => {
                Some(self.direct.total(inputs.arrays.sends, ranks))
            }
            Some(_) => inputs.learned.get(CHILD + n as u8),
        }
    }

    /// Where in scratch the message for child `n` is put together. The root has nothing else there;
    /// another rank has first what its parent sent.
    fn room(&self, inputs: &PlanInputs<'_>, n: u32) -> Option<u64> {
        let mut first = match self.place.up() {
            None => 0,
            Some(_) => inputs.learned.get(MESSAGE)?,
        };
        for n in 0..n {
            if let Some((_, ranks)) = self.child(n) {
                first += header(&ranks) + self.share(inputs, n)?;
            }
        }
        Some(first)
    }

    /// Where a subtree's lengths lie, without the first, and where its short blocks lie.
    fn stock(&self, inputs: &PlanInputs<'_>, n: u32, ranks: Range<u32>) -> Option<[Part; 2]> {
        let count = header(&ranks);
        if self.place.up().is_none() {
            let lengths = Part::new(Buf::Counts, NUMBER * u64::from(ranks.start + 1), count);
            let blocks = self
                .direct
                .short(Buf::InBlock(ranks.start), inputs.arrays.sends, ranks);
            return Some([lengths, blocks]);
        }
        let own = self.place.subtree();
        let mut first = header(&own) + self.own_share();
        for n in 0..n {
            first += self.share(inputs, n)?;
        }
        let skipped = u64::from(ranks.start - own.start);
        Some([
            Part::new(Buf::Scratch, NUMBER * skipped, count),
            Part::new(Buf::Scratch, first, self.share(inputs, n)?),
        ])
    }

    /// What this rank's own block takes up in what its parent sends.
    const fn own_share(&self) -> u64 {
        if self.direct.is_short(self.own) {
            self.own
        } else {
            0
        }
    }

    /// The step that puts together or sends the message for child slot `n`. Tells whether it
    /// needs the step before it.
    fn serve(&self, n: u32, send: bool, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<bool> {
        let Some((child, ranks)) = self.child(n) else {
            return Some(false);
        };
        let count = header(&ranks);
        let [lengths, blocks] = self.stock(inputs, n, ranks)?;
        if count == 0 {
            // A leaf knows the length of its block: it is sent from where it lies.
            if send && !blocks.is_empty() {
                acts.send(child, TREE_TAG, blocks);
            }
            return Some(false);
        }
        let first = self.room(inputs, n)?;
        if send {
            let whole = Part::new(Buf::Scratch, first, count + blocks.len());
            acts.send(child, TREE_TAG, whole);
        } else {
            acts.copy(lengths, Part::new(Buf::Scratch, first, count));
            let packed = Part::new(Buf::Scratch, first + count, blocks.len());
            copy(acts, blocks, packed);
        }
        Some(send)
    }

    /// Step `first + i`, which serves the children and then this rank itself.
    fn send_to_children(
        &self,
        i: u32,
        first: u32,
        inputs: &PlanInputs<'_>,
        acts: &mut Acts,
    ) -> Option<u32> {
        if i < 2 * self.place.places() {
            let n = self.place.places() - 1 - i / 2;
            let after = self.serve(n, !i.is_multiple_of(2), inputs, acts)?;
            return Some(first + if after { i } else { 0 });
        }
        let own = match self.place.up() {
            None => Part::new(Buf::InBlock(self.direct.root()), 0, self.own),
            Some(_) => Part::new(
                Buf::Scratch,
                header(&self.place.subtree()),
                self.own_share(),
            ),
        };
        let is_wanted = own.len() == self.own && !self.in_place;
        if is_wanted {
            copy(acts, own, self.output());
        }
        Some(first)
    }

    /// Learns the elements of the short blocks of some children, from `first` on.
    fn learn(&self, first: u32, acts: &mut Acts) {
        let own = self.place.subtree().start;
        for n in first..self.place.places().min(first + ACTS as u32) {
            if let Some((_, ranks)) = self.child(n) {
                let lengths = Part::new(
                    Buf::Scratch,
                    NUMBER * u64::from(ranks.start - own - 1),
                    NUMBER * ranks.len() as u64,
                );
                acts.learn(self.direct.only_short(lengths), CHILD + n as u8);
            }
        }
    }

    /// The step of a rank below the root that is not a leaf.
    fn relay(&self, i: u32, parent: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        match i {
            0 => acts.size(parent, TREE_TAG, MESSAGE),
            1 => {
                let count = inputs.learned.get(MESSAGE)?;
                acts.recv(parent, TREE_TAG, Part::new(Buf::Scratch, 0, count));
            }
            _ if i < self.before() => self.learn((i - 2) * ACTS as u32, acts),
            _ => match i - self.before() {
                i if i <= 2 * self.place.places() => {
                    return self.send_to_children(i, self.before(), inputs, acts);
                }
                _ => self.direct.take(self.output(), acts),
            },
        }
        Some(i)
    }
}

/// Bytes of the lengths in a message to a subtree.
fn header(ranks: &Range<u32>) -> u64 {
    NUMBER * (ranks.len() as u64 - 1)
}

impl<T: Subtrees> Plan for ScattervTree<T> {
    fn steps(&self) -> u32 {
        let long = u32::from(!self.direct.is_short(self.own));
        match self.place.up() {
            None => 2 * self.place.places() + 1 + self.direct.steps(),
            Some(_) if self.place.is_leaf() => 1,
            Some(_) => self.before() + 2 * self.place.places() + 1 + long,
        }
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        match self.place.up() {
            Some(_) if self.place.is_leaf() => 0,
            // The messages to the children are no longer together than what came.
            Some(_) => 2 * inputs.learned.get(MESSAGE).unwrap_or(0),
            None => self.room(inputs, self.place.places()).unwrap_or(0),
        }
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        match self.place.up() {
            None if i <= 2 * self.place.places() => self.send_to_children(i, 0, inputs, acts),
            None => {
                let first = 2 * self.place.places() + 1;
                self.direct.hand_out(i, first, inputs, acts)
            }
            Some(_) if self.place.is_leaf() && !self.direct.is_short(self.own) => {
                self.direct.take(self.output(), acts);
                Some(0)
            }
            Some(TreeEdge { peer: parent, .. }) if self.place.is_leaf() => {
                if self.own > 0 {
                    acts.recv(parent, TREE_TAG, self.output());
                }
                Some(0)
            }
            Some(TreeEdge { peer: parent, .. }) => self.relay(i, parent, inputs, acts),
        }
    }
}
