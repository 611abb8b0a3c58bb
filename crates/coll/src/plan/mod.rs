//! What a collective consists of: parts of buffers, acts on them, steps of acts, and the plan that
//! gives the steps.
//!
//! # Lengths that are not known at the start
//!
//! Where only the root knows all counts, a rank in the middle of a tree learns lengths while the
//! plan runs, in one of two ways. [`Act::Size`] waits for a message's envelope and learns how long
//! it is, before any room is given to it: enough for gathering, where what comes is passed on whole.
//! [`Act::Learn`] adds up numbers in a message that has come: for scattering, where the root copies
//! the counts ([`Buf::Counts`]) into the message before the blocks, and a rank must know where each
//! child's share begins. Either fills a numbered slot of [`LearnedLengths`], which [`Plan::step`] and
//! [`Plan::scratch`] find in [`PlanInputs`]. A step that needs a slot which is not filled yet answers
//! `None`.

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

/// Tags of acts lie below this number, so that a runtime can pack one into eight bits beside its
/// collective's number.
///
/// Two messages between the same ranks may carry the same tag in one plan; they are matched in the
/// order in which they were started. A driver over a transport that keeps order between two ranks,
/// as MPI does, needs nothing more.
pub const TAGS: u32 = 256;

/// The most acts that one step may hold.
pub const ACTS: usize = 8;

/// One rank's part in one collective: a pure function from a step's number to its acts.
///
/// Steps start in order of their numbers, each as soon as the steps it needs are done; several can
/// run at once. The acts of one step start together. Acts that can run at the same time never
/// conflict: none writes what another reads or writes. So a plan that reduces what a message brings
/// does it in a later step.
///
/// Plans are small and `Copy`-like values that allocate nothing and hold no borrow. The same plan
/// is run by the [executor](crate::exec) and used again by a persistent request.
pub trait Plan {
    /// The number of steps of this rank; other ranks may have other numbers. A step may turn out to
    /// hold no act.
    fn steps(&self) -> u32;

    /// The elements of [`Buf::Scratch`] that the plan needs, as far as is known. With each length
    /// that is learned the number may grow. The room grows, and keeps what it holds, before the next
    /// step that needs all steps before it: no message is under way then, so scratch may move.
    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64;

    /// Adds the acts of step `i`, below [`Plan::steps`], to `acts`, which is empty, and returns how
    /// many steps it needs: the step may start when all steps with numbers below that are done; the
    /// number is at most `i`.
    ///
    /// `None` says that a length is not yet known: ask again when another act is done. A plan whose
    /// lengths are all known at the start never returns it.
    ///
    /// # Cost
    ///
    /// At most a logarithm of the number of ranks, but for three: where the caller gives the lengths of
    /// blocks (gatherv, scatterv, allgatherv, reduce_scatter), a step may read those of the blocks that
    /// its messages carry and of all that lie before them, at most the number of ranks; the root's steps
    /// of gatherv and scatterv look for long blocks among as many; and in a neighbourhood a step looks at
    /// all neighbours once for each doubling of the number of ranks.
    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32>;

    /// Whether it is certain without a look at the steps that, where all blocks are equally long, the
    /// plan of the rank `by` above this one does the same as this one, turned: each of its peers and
    /// blocks lies `by` above the one of this plan, around the ring of ranks.
    ///
    /// `false`, which is the default, says nothing. The checker believes `true` on most ranks, so it is
    /// to be answered by a plan that holds no rank which its steps could depend on.
    fn is_rotation(&self, by: u32, other: &Self) -> bool
    where
        Self: Sized,
    {
        let _ = (by, other);
        false
    }
}

/// Step `i` of a phase's plan, with its peers and parts renamed. `acts` is empty.
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
