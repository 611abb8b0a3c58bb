//! Proves that acts which can run at the same time do not access the same elements, unless all only read.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::ops::Range;

use super::contract::Task;
use super::fault::{Fault, FaultKind};
use super::memory::{ResolvedPart, buffer, resolve};
use crate::plan::{Act, Acts, Buf, LearnedLengths, Part, Plan, PlanInputs};

/// An act, by its step and its index there.
#[derive(Clone, Copy, Debug)]
struct ActIndex {
    step: u32,
    act: u32,
}

/// A part that an act reads or writes.
#[derive(Clone, Debug)]
struct Access {
    by: ActIndex,
    writes: bool,
    buf: Buf,
    /// The range from its lowest to its highest element.
    span: Range<u64>,
    /// The exact elements, if they are not the whole span.
    elements: Option<Box<ResolvedPart>>,
}

impl Access {
    /// `None` if the part has no elements, or names a block that does not exist, which the run reports.
    fn new(part: Part, by: ActIndex, writes: bool, task: &Task) -> Option<Self> {
        if part.is_empty() {
            return None;
        }
        let elements = resolve(part, &task.blocks, [task.input, task.output])?;
        let buf = elements.plain.buf;
        let (span, elements) = match elements.simple() {
            Some(span) => (span, None),
            None => {
                let low = elements.blocks().map(|block| block.start).min();
                let high = elements.blocks().map(|block| block.end).max();
                let span = low.unwrap_or(0)..high.unwrap_or(0);
                (span, Some(Box::new(elements)))
            }
        };
        Some(Access {
            by,
            writes,
            buf,
            span,
            elements,
        })
    }

    /// The part that an act reads, and the part that it writes.
    fn of(act: &Act, by: ActIndex, task: &Task) -> [Option<Self>; 2] {
        let access = |part: Option<Part>, writes| Access::new(part?, by, writes, task);
        [access(act.reads(), false), access(act.writes(), true)]
    }

    fn intersects(&self, other: &Access) -> bool {
        self.span.start < other.span.end
            && other.span.start < self.span.end
            && self.buf == other.buf
            && (self.writes || other.writes)
            && match (&self.elements, &other.elements) {
                (None, None) => true,
                (Some(elements), None) => elements.intersects(&other.span),
                (None, Some(elements)) => elements.intersects(&self.span),
                (Some(one), Some(other)) => one.overlaps(other),
            }
    }
}

/// The accesses of the acts under way.
#[derive(Debug, Default)]
struct ActiveAccesses {
    accesses: VecDeque<Access>,
    /// An act that is under way alone, whose accesses are not computed yet; most acts run alone.
    alone: Option<(ActIndex, Act)>,
}

impl ActiveAccesses {
    /// Removes the steps below `needs`, which are done.
    fn finish(&mut self, needs: u32) {
        while self
            .accesses
            .front()
            .is_some_and(|access| access.by.step < needs)
        {
            self.accesses.pop_front();
        }
        self.alone = self.alone.filter(|(by, _)| by.step >= needs);
    }

    /// Starts an act. Returns an act that it conflicts with, if there is one.
    fn start(&mut self, act: &Act, by: ActIndex, task: &Task) -> Option<ActIndex> {
        if let Some((by, alone)) = self.alone.take() {
            self.add(Access::of(&alone, by, task));
        }
        let own = Access::of(act, by, task);
        let intersects = |other: &&Access| own.iter().flatten().any(|own| own.intersects(other));
        let other = self.accesses.iter().find(intersects).map(|other| other.by);
        self.add(own);
        other
    }

    fn add(&mut self, accesses: [Option<Access>; 2]) {
        self.accesses.extend(accesses.into_iter().flatten());
    }
}

/// Whether the act writes elements that it reads.
fn conflicts_itself(act: &Act, by: ActIndex, task: &Task) -> bool {
    let parts = act.reads().zip(act.writes());
    let in_one = |(from, into): (Part, Part)| buffer(from.buf) == buffer(into.buf);
    parts.is_some_and(in_one)
        && matches!(Access::of(act, by, task), [Some(read), Some(written)] if read.intersects(&written))
}

/// Checks every pair of acts that can run at the same time: those of one step, and those of two steps of
/// which the later does not need the earlier. Steps from `end` on are skipped. `Ok(false)` if it stopped
/// at a length that is not known.
///
/// # Errors
///
/// The first conflict, a step that needs itself, or an intra-node phase that is not the last act of its
/// step.
pub(super) fn check<P: Plan>(
    rank: u32,
    plan: &P,
    task: &Task,
    learned: &LearnedLengths,
    end: u32,
) -> Result<bool, Fault> {
    let inputs = PlanInputs::new(task.arrays.given(), learned);
    let mut running = ActiveAccesses::default();
    let mut acts = Acts::new();
    let mut step = 0;
    while step < end.min(plan.steps()) {
        let fault = |kind| Fault { rank, step, kind };
        acts.clear();
        let Some(needs) = plan.step(step, &inputs, &mut acts) else {
            return Ok(false);
        };
        if needs > step {
            return Err(fault(FaultKind::Needs { needs }));
        }
        let before_last = acts.split_last().map_or(&[][..], |(_, before)| before);
        if before_last
            .iter()
            .any(|act| matches!(act, Act::IntraNode(_)))
        {
            return Err(fault(FaultKind::PhaseNotLast));
        }
        running.finish(needs);
        let is_alone = acts.len() == 1 && running.alone.is_none() && running.accesses.is_empty();
        for (act, by) in acts.iter().zip((0..).map(|act| ActIndex { step, act })) {
            let other = match is_alone {
                true => {
                    running.alone = Some((by, *act));
                    None
                }
                false => running.start(act, by, task),
            };
            let other = other.or_else(|| conflicts_itself(act, by, task).then_some(by));
            if let Some(other) = other {
                let mut others = Acts::new();
                plan.step(other.step, &inputs, &mut others);
                return Err(fault(FaultKind::Conflict {
                    other: other.step,
                    acts: Box::new((others[other.act as usize], *act)),
                }));
            }
        }
        step = acts.after(step);
    }
    Ok(true)
}
