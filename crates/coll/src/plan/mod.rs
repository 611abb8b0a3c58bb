//! Plans: what one rank does for one collective, as steps of acts on parts of buffers.
//!
//! # Lengths that are not known at the start
//!
//! Where only the root knows all counts, a rank in the middle of a tree learns lengths while the
//! plan runs, in one of two ways. [`Act::Size`] probes a message for its length before its receive is
//! started; that is enough for a gather, where a rank forwards a whole message. [`Act::Learn`] adds up
//! numbers in a received message; that serves a scatter, where the root puts the counts
//! ([`Buf::Counts`]) in front of the blocks, and a rank must know where each child's share begins.
//! Either sets a slot of [`LearnedLengths`], which [`Plan::step`] and [`Plan::scratch`] read through
//! [`PlanInputs`]. A step that needs a slot that is not set yet returns `None`.

mod acts;
mod any;
mod inputs;
mod intra_node;
mod part;

pub use acts::{Act, Acts, Side};
pub(crate) use any::any_plan;
pub use inputs::{CallArrays, LearnedLengths, PlanInputs, SLOTS};
pub use intra_node::{IntraNodeOp, NodeRanks};
pub use part::{Buf, Part, pairs};

/// Tags of acts are below this number, so that a runtime can pack a tag into eight bits beside the
/// collective's sequence number.
///
/// Two messages of one plan between the same ranks may have the same tag; they match in the order in
/// which they are started. A transport that keeps the order between two ranks, as MPI does, suffices.
pub const TAGS: u32 = 256;

/// The most acts in one step.
pub const ACTS: usize = 8;

/// One rank's plan for one collective: a pure function from a step's number to its acts.
///
/// Steps start in the order of their numbers, each as soon as the steps that it needs are done; several can
/// run at once. The acts of one step start together. Acts that can run at the same time never
/// conflict: none writes what another reads or writes. So a plan reduces a received message in a later
/// step than it receives it.
///
/// Plans are small, copyable values that allocate nothing and borrow nothing. The
/// [executor](crate::exec) runs them, and a persistent request runs the same plan again.
pub trait Plan {
    /// The number of steps of this rank; other ranks may have other numbers. A step may have no acts.
    fn steps(&self) -> u32;

    /// The elements of [`Buf::Scratch`] that the plan needs, as far as lengths are known; the number may grow
    /// with each length learned. The executor enlarges scratch, keeping its content, before the next step
    /// that needs all earlier steps: then no message is under way, and scratch may move. By default 0.
    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        let _ = inputs;
        0
    }

    /// Adds the acts of step `i`, below [`Plan::steps`], to the empty `acts`, and returns `n`, at most `i`:
    /// the step may start when all steps below number `n` are done.
    ///
    /// `None` means that a length is not known yet: ask again when another act is done. A plan that learns no
    /// lengths never returns it.
    ///
    /// # Cost
    ///
    /// At most logarithmic in the number of ranks, with three exceptions: where the caller gives the lengths
    /// of blocks (gatherv, scatterv, allgatherv, reduce_scatter), a step may read the lengths of all blocks
    /// up to those it sends or receives; the root of a gatherv or scatterv searches for long blocks; and a
    /// step of a neighbourhood collective reads all neighbours once for each doubling of the number of ranks.
    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32>;

    /// Whether `other`, the plan of the rank `by` above this one, is certainly this plan rotated by `by`, for
    /// blocks of one length: every peer and every block lies `by` further around the ring of ranks.
    ///
    /// The default, `false`, claims nothing. The checker trusts `true` on most ranks, so only a plan that
    /// holds no rank on which its steps depend may return it.
    fn is_rotation(&self, by: u32, other: &Self) -> bool
    where
        Self: Sized,
    {
        let _ = (by, other);
        false
    }
}

/// Step `i` of a phase's plan, with each act mapped by `rename`. `acts` is empty.
pub(crate) fn renamed<P: Plan>(
    plan: &P,
    i: u32,
    inputs: &PlanInputs<'_>,
    acts: &mut Acts,
    rename: impl Fn(Act) -> Act,
) -> Option<u32> {
    let needs = plan.step(i, inputs, acts)?;
    acts.rename(rename);
    Some(needs)
}
