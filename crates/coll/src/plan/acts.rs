//! Acts, of which the steps of a plan consist: messages, copies, reductions and intra-node operations.

use core::ops::Deref;

use super::{ACTS, IntraNodeOp, Part};

/// The side of the operation on which the operand `from` of a reduction stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// `into = from op into`.
    Left,
    /// `into = into op from`.
    Right,
}

/// One act of a step. Peers are ranks of the group; in a call between two groups, rank `r` of the
/// remote group is peer `size + r`, where `size` is the size of this rank's group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Act {
    /// Send a message.
    Send {
        /// The receiver.
        to: u32,
        /// The tag, below [`TAGS`](super::TAGS); the same in the receiver's plan.
        tag: u32,
        /// What is sent.
        from: Part,
    },
    /// Receive a message.
    Recv {
        /// The sender.
        from: u32,
        /// The tag, below [`TAGS`](super::TAGS); the same in the sender's plan.
        tag: u32,
        /// Where the message is stored; as long as what the sender sends.
        into: Part,
    },
    /// Copy elements of this rank. The two parts have the same length and do not overlap.
    Copy {
        /// The source.
        from: Part,
        /// The destination.
        into: Part,
    },
    /// Combine elements of this rank, one by one. The two parts have the same length and do not overlap.
    Reduce {
        /// One operand.
        from: Part,
        /// The other operand, and the result.
        into: Part,
        /// On which side of the operation `from` stands.
        side: Side,
    },
    /// Learn a message's length as soon as it is announced, without receiving it (a probe). The message must
    /// be the next one of its sender and tag that the plan receives, in a later step.
    Size {
        /// The sender.
        from: u32,
        /// The message's tag.
        tag: u32,
        /// The slot of [`LearnedLengths`](super::LearnedLengths) for its elements.
        slot: u8,
    },
    /// Learn the sum of the 8-byte little-endian numbers in a part; done at once.
    Learn {
        /// The numbers; their length is counted in bytes, a multiple of 8.
        from: Part,
        /// The slot of [`LearnedLengths`](super::LearnedLengths) for the sum.
        slot: u8,
    },
    /// An operation of the ranks of a node over shared memory. It is the last act of its step, and no act
    /// starts before it is done: the rank may wait in it for the other ranks.
    IntraNode(IntraNodeOp),
}

impl Act {
    /// The part that the act reads, if any.
    pub const fn reads(&self) -> Option<Part> {
        match *self {
            Act::Send { from, .. }
            | Act::Copy { from, .. }
            | Act::Reduce { from, .. }
            | Act::Learn { from, .. }
            | Act::IntraNode(IntraNodeOp { from, .. }) => Some(from),
            Act::Recv { .. } | Act::Size { .. } => None,
        }
    }

    /// The same act with its parts replaced.
    #[must_use]
    pub(crate) fn with_parts(mut self, mut part: impl FnMut(Part) -> Part) -> Self {
        match &mut self {
            Act::Send { from, .. } | Act::Learn { from, .. } => *from = part(*from),
            Act::Recv { into, .. } => *into = part(*into),
            Act::Copy { from, into }
            | Act::Reduce { from, into, .. }
            | Act::IntraNode(IntraNodeOp { from, into, .. }) => {
                *from = part(*from);
                *into = part(*into);
            }
            Act::Size { .. } => {}
        }
        self
    }

    /// The same act with its peers replaced.
    #[must_use]
    pub(crate) fn with_peer(mut self, renamed: impl Fn(u32) -> u32) -> Self {
        match &mut self {
            Act::Send { to: peer, .. }
            | Act::Recv { from: peer, .. }
            | Act::Size { from: peer, .. } => *peer = renamed(*peer),
            Act::IntraNode(act) => act.ranks.first = renamed(act.ranks.first),
            Act::Copy { .. } | Act::Reduce { .. } | Act::Learn { .. } => {}
        }
        self
    }

    /// The part that the act writes, if any.
    pub const fn writes(&self) -> Option<Part> {
        match *self {
            Act::Recv { into, .. }
            | Act::Copy { into, .. }
            | Act::Reduce { into, .. }
            | Act::IntraNode(IntraNodeOp { into, .. }) => Some(into),
            Act::Send { .. } | Act::Size { .. } | Act::Learn { .. } => None,
        }
    }
}

/// The acts of one step, in starting order: receives first and local work last, so that messages travel
/// while the processor works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acts {
    acts: heapless::Vec<Act, ACTS>,
    skip: u32,
}

impl Acts {
    /// No acts.
    #[inline]
    pub const fn new() -> Self {
        Acts {
            acts: heapless::Vec::new(),
            skip: 0,
        }
    }

    /// Adds an act.
    ///
    /// # Panics
    ///
    /// When the step already has [`ACTS`] acts: the plan is broken for every caller, and the checker
    /// finds it.
    #[inline]
    pub fn push(&mut self, act: Act) {
        assert!(
            self.acts.push(act).is_ok(),
            "a step holds at most {ACTS} acts"
        );
    }

    /// Adds [`Act::Send`].
    ///
    /// # Panics
    ///
    /// As [`Acts::push`].
    #[inline]
    pub fn send(&mut self, to: u32, tag: u32, from: Part) {
        self.push(Act::Send { to, tag, from });
    }

    /// Adds [`Act::Recv`].
    ///
    /// # Panics
    ///
    /// As [`Acts::push`].
    #[inline]
    pub fn recv(&mut self, from: u32, tag: u32, into: Part) {
        self.push(Act::Recv { from, tag, into });
    }

    /// Adds [`Act::Copy`].
    ///
    /// # Panics
    ///
    /// As [`Acts::push`].
    #[inline]
    pub fn copy(&mut self, from: Part, into: Part) {
        self.push(Act::Copy { from, into });
    }

    /// Adds [`Act::Reduce`].
    ///
    /// # Panics
    ///
    /// As [`Acts::push`].
    #[inline]
    pub fn reduce(&mut self, from: Part, into: Part, side: Side) {
        self.push(Act::Reduce { from, into, side });
    }

    /// Adds [`Act::Size`].
    ///
    /// # Panics
    ///
    /// As [`Acts::push`].
    #[inline]
    pub fn size(&mut self, from: u32, tag: u32, slot: u8) {
        self.push(Act::Size { from, tag, slot });
    }

    /// Adds [`Act::Learn`].
    ///
    /// # Panics
    ///
    /// As [`Acts::push`].
    #[inline]
    pub fn learn(&mut self, from: Part, slot: u8) {
        self.push(Act::Learn { from, slot });
    }

    /// Adds [`Act::IntraNode`].
    ///
    /// # Panics
    ///
    /// As [`Acts::push`].
    #[inline]
    pub fn intra_node(&mut self, act: IntraNodeOp) {
        self.push(Act::IntraNode(act));
    }

    /// Notes that the steps after this one and below `step` have no acts; the executor may skip them.
    #[inline]
    pub const fn skip_to(&mut self, step: u32) {
        self.skip = step;
    }

    /// The next step to run after step `i`, to which these acts belong.
    #[inline]
    pub fn after(&self, i: u32) -> u32 {
        self.skip.max(i + 1)
    }

    /// Replaces each act, and forgets which steps may be skipped.
    #[inline]
    pub(crate) fn rename(&mut self, rename: impl Fn(Act) -> Act) {
        self.acts.iter_mut().for_each(|act| *act = rename(*act));
        self.skip = 0;
    }

    /// Removes all acts.
    #[inline]
    pub fn clear(&mut self) {
        self.acts.clear();
        self.skip = 0;
    }
}

impl Deref for Acts {
    type Target = [Act];

    #[inline]
    fn deref(&self) -> &[Act] {
        &self.acts
    }
}
