//! The end of a plan that is local work, done once for all ranks that do the same on the same.
//!
//! From some step on a plan may have copies and reductions only, and steps that need all before them:
//! no message is under way then, and no two steps run together. What such steps do depends on nothing
//! but the buffers that they touch. So where two ranks have the same acts, and these buffers hold the
//! same, both end with the same: the steps are run on one rank, and the others are given what came out.
//! That the acts are the same is compared one by one, and so is what the buffers hold.

use alloc::vec::Vec;

use super::contract::Task;
use super::fault::Fault;
use super::memory::{Memory, buffer};
use super::network::World;
use crate::exec::Driver;
use crate::plan::{Act, Acts, Buf, LearnedLengths, Plan, PlanInputs};

/// Acts that are worth the comparison.
const LEAST: usize = 4;

/// The local steps at the end of a plan.
#[derive(Debug)]
pub(super) struct Tail {
    /// The first of them.
    from: u32,
    /// The steps of the whole plan.
    steps: u32,
    /// The acts, each with its step.
    acts: Vec<(u32, Act)>,
    /// The buffers that they read or write.
    bufs: Vec<Buf>,
}

impl Tail {
    /// The plan's tail, if it has one worth comparing and no length is learned.
    pub(super) fn of<P: Plan>(plan: &P, task: &Task) -> Option<Self> {
        let mut tail = Tail {
            from: 0,
            steps: plan.steps(),
            acts: Vec::new(),
            bufs: Vec::new(),
        };
        let mut last = 0;
        let is_known = each(plan, task, 0, |step, needs, acts| {
            if needs != step || !acts.iter().all(is_local) {
                tail.acts.clear();
                last = step + 1;
            } else {
                tail.acts.extend(acts.iter().map(|&act| (step, act)));
            }
            true
        });
        tail.from = last;
        for buf in tail.acts.iter().flat_map(|(_, act)| buffers(act)) {
            if !tail.bufs.contains(&buf) {
                tail.bufs.push(buf);
            }
        }
        (is_known && tail.acts.len() >= LEAST).then_some(tail)
    }

    /// Whether the plan ends with the same steps.
    pub(super) fn is_of<P: Plan>(&self, plan: &P, task: &Task) -> bool {
        let mut own = self.acts.iter();
        let same = plan.steps() == self.steps
            && each(plan, task, self.from, |step, needs, acts| {
                needs == step && acts.iter().all(|&act| own.next() == Some(&(step, act)))
            });
        same && own.len() == 0
    }

    /// The steps before it.
    pub(super) const fn from(&self) -> u32 {
        self.from
    }

    /// Does the steps on all of these ranks, which have done those before.
    pub(super) fn run(
        &self,
        ranks: impl Iterator<Item = u32>,
        world: &mut World<'_>,
    ) -> Result<(), Fault> {
        let mut done: Option<(Memory, Memory)> = None;
        for rank in ranks {
            let memory = &mut world.ranks[rank as usize].memory;
            match &done {
                Some((before, after)) if memory.holds_the_same(before, &self.bufs) => {
                    memory.take(after, &self.bufs);
                }
                _ => {
                    let before = memory.clone();
                    self.run_one(rank, world)?;
                    done.get_or_insert_with(|| (before, world.ranks[rank as usize].memory.clone()));
                }
            }
        }
        Ok(())
    }

    fn run_one(&self, rank: u32, world: &mut World<'_>) -> Result<(), Fault> {
        for &(step, act) in &self.acts {
            let mut view = world.view(rank);
            view.starting(step, step);
            let done = match act {
                Act::Copy { from, into } => view.copy(from, into),
                Act::Reduce { from, into, side } => view.reduce(from, into, side),
                _ => Ok(()),
            };
            done.map_err(|kind| world.fault(rank, kind))?;
        }
        Ok(())
    }
}

/// A plan's first steps.
#[derive(Clone, Debug)]
pub(super) struct Head<P> {
    pub(super) plan: P,
    pub(super) steps: u32,
}

impl<P: Plan> Plan for Head<P> {
    fn steps(&self) -> u32 {
        self.steps
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        self.plan.scratch(inputs)
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        self.plan.step(i, inputs, acts)
    }
}

/// Shows each step from `from` on that has acts, what it needs and its acts, while the answer is
/// `true`; `false` when it was not, or a length is not known.
fn each<P: Plan>(
    plan: &P,
    task: &Task,
    from: u32,
    mut look: impl FnMut(u32, u32, &[Act]) -> bool,
) -> bool {
    let learned = LearnedLengths::new();
    let inputs = PlanInputs::new(task.arrays.given(), &learned);
    let (mut step, mut acts) = (from, Acts::new());
    while step < plan.steps() {
        acts.clear();
        let shown = match plan.step(step, &inputs, &mut acts) {
            Some(needs) => acts.is_empty() || look(step, needs, &acts),
            None => false,
        };
        if !shown {
            return false;
        }
        step = acts.after(step);
    }
    true
}

/// Whether the act is a copy or a reduction, and means the same on every rank: it names no block.
fn is_local(act: &Act) -> bool {
    let is_plain = |part: Option<_>| part.is_some_and(|buf| buffer(buf) == buf);
    matches!(act, Act::Copy { .. } | Act::Reduce { .. })
        && is_plain(act.reads().map(|part| part.buf))
        && is_plain(act.writes().map(|part| part.buf))
}

/// The buffers of an act.
fn buffers(act: &Act) -> impl Iterator<Item = Buf> {
    let parts = [act.reads(), act.writes()].into_iter().flatten();
    parts.map(|part| part.buf)
}
