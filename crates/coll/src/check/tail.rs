//! The local steps at the end of a plan, run once for all ranks that have the same steps and data.
//!
//! A plan may end with steps that only copy and reduce and that need all steps before them. No message is
//! under way then and no two steps run at the same time, so the result depends only on the buffers that
//! they access. Where two ranks have the same acts and equal buffers, the checker runs the acts on one
//! rank and copies the result to the other. It compares acts and buffers one by one.

use alloc::vec::Vec;

use super::contract::Task;
use super::fault::Fault;
use super::memory::{RankMemory, buffer};
use super::network::Network;
use crate::exec::Driver;
use crate::plan::{Act, Acts, Buf, LearnedLengths, Plan, PlanInputs};

/// The fewest acts for which the comparison pays.
const LEAST: usize = 4;

/// The local steps at the end of a plan.
#[derive(Debug)]
pub(super) struct LocalTail {
    /// The number of steps before the tail.
    from: u32,
    /// The number of steps of the whole plan.
    steps: u32,
    /// The acts, each with its step.
    acts: Vec<(u32, Act)>,
    /// The buffers that the acts read or write.
    bufs: Vec<Buf>,
}

impl LocalTail {
    /// The plan's tail. `None` if it is too short or the plan learns a length.
    pub(super) fn of<P: Plan>(plan: &P, task: &Task) -> Option<Self> {
        let mut tail = LocalTail {
            from: 0,
            steps: plan.steps(),
            acts: Vec::new(),
            bufs: Vec::new(),
        };
        let mut last = 0;
        let is_known = each_step(plan, task, 0, |step, needs, acts| {
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

    /// Whether another plan ends with the same tail.
    pub(super) fn matches<P: Plan>(&self, plan: &P, task: &Task) -> bool {
        let mut own = self.acts.iter();
        let same = plan.steps() == self.steps
            && each_step(plan, task, self.from, |step, needs, acts| {
                needs == step && acts.iter().all(|&act| own.next() == Some(&(step, act)))
            });
        same && own.len() == 0
    }

    /// The number of steps before the tail.
    pub(super) const fn from(&self) -> u32 {
        self.from
    }

    /// Runs the tail on these ranks, which have done all steps before it.
    pub(super) fn run(
        &self,
        ranks: impl Iterator<Item = u32>,
        network: &mut Network<'_>,
    ) -> Result<(), Fault> {
        let mut done: Option<(RankMemory, RankMemory)> = None;
        for rank in ranks {
            let memory = &mut network.ranks[rank as usize].memory;
            match &done {
                Some((before, after)) if memory.has_equal_contents(before, &self.bufs) => {
                    memory.copy_from(after, &self.bufs);
                }
                _ => {
                    let before = memory.clone();
                    self.run_one(rank, network)?;
                    done.get_or_insert_with(|| {
                        (before, network.ranks[rank as usize].memory.clone())
                    });
                }
            }
        }
        Ok(())
    }

    fn run_one(&self, rank: u32, network: &mut Network<'_>) -> Result<(), Fault> {
        for &(step, act) in &self.acts {
            let mut driver = network.driver(rank);
            driver.starting(step, step);
            let done = match act {
                Act::Copy { from, into } => driver.copy(from, into),
                Act::Reduce { from, into, side } => driver.reduce(from, into, side),
                _ => Ok(()),
            };
            done.map_err(|kind| network.fault(rank, kind))?;
        }
        Ok(())
    }
}

/// The steps of a plan before its tail.
#[derive(Clone, Debug)]
pub(super) struct PlanHead<P> {
    pub(super) plan: P,
    pub(super) steps: u32,
}

impl<P: Plan> Plan for PlanHead<P> {
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

/// Calls `look` with the number, needs and acts of each step from `from` on that has acts, until it
/// returns `false`. Returns whether all steps were visited, which needs all lengths to be known.
fn each_step<P: Plan>(
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

/// Whether the act is a copy or a reduction between parts that mean the same on every rank: no named
/// blocks.
fn is_local(act: &Act) -> bool {
    let is_plain = |part: Option<_>| part.is_some_and(|buf| buffer(buf) == buf);
    matches!(act, Act::Copy { .. } | Act::Reduce { .. })
        && is_plain(act.reads().map(|part| part.buf))
        && is_plain(act.writes().map(|part| part.buf))
}

/// The buffers that an act reads and writes.
fn buffers(act: &Act) -> impl Iterator<Item = Buf> {
    let parts = [act.reads(), act.writes()].into_iter().flatten();
    parts.map(|part| part.buf)
}
