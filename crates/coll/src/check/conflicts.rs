//! Proves that acts which can run at the same time leave each other alone.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::ops::Range;

use super::contract::Task;
use super::fault::{Fault, Kind};
use super::memory::{Place, resolve};
use crate::plan::{Act, Acts, Buf, Known, Learned, Part, Plan};

/// A part that an act reads or writes.
#[derive(Clone, Debug)]
struct Touch {
    buf: Buf,
    /// From its lowest element to its highest.
    span: Range<u64>,
    /// Where the elements are, if not all within the span.
    place: Option<Box<Place>>,
    writes: bool,
}

impl Touch {
    /// `None` where there is no element, or for a block that does not exist: the run finds that.
    fn new(part: Part, writes: bool, task: &Task) -> Option<Self> {
        if part.is_empty() {
            return None;
        }
        let place = resolve(part, &task.blocks, [task.input, task.output])?;
        let buf = place.plain.buf;
        if let Some(span) = place.simple() {
            return Some(Touch {
                buf,
                span,
                place: None,
                writes,
            });
        }
        let low = place.blocks().map(|block| block.start).min();
        let high = place.blocks().map(|block| block.end).max();
        Some(Touch {
            buf,
            span: low.unwrap_or(0)..high.unwrap_or(0),
            place: Some(Box::new(place)),
            writes,
        })
    }

    fn meets(&self, other: &Touch) -> bool {
        self.span.start < other.span.end
            && other.span.start < self.span.end
            && self.buf == other.buf
            && (self.writes || other.writes)
            && match (&self.place, &other.place) {
                (None, None) => true,
                (Some(place), None) => place.meets(&other.span),
                (None, Some(place)) => place.meets(&self.span),
                (Some(one), Some(other)) => one.overlaps(other),
            }
    }
}

/// An act under way.
#[derive(Clone, Debug)]
struct Running {
    step: u32,
    act: Act,
    touches: [Option<Touch>; 2],
}

impl Running {
    fn new(step: u32, act: Act, task: &Task) -> Self {
        let touch =
            |part: Option<Part>, writes| part.and_then(|part| Touch::new(part, writes, task));
        Running {
            step,
            act,
            touches: [touch(act.reads(), false), touch(act.writes(), true)],
        }
    }

    /// Whether one writes what the other reads or writes.
    fn conflicts(&self, other: &Running) -> bool {
        let others = || other.touches.iter().flatten();
        self.touches
            .iter()
            .flatten()
            .any(|own| others().any(|other| own.meets(other)))
    }

    /// Whether the act writes what it reads.
    fn conflicts_itself(&self) -> bool {
        matches!(&self.touches, [Some(read), Some(written)] if read.meets(written))
    }
}

/// Looks at every pair of acts that can run at the same time: those of one step, and those of two
/// steps of which the later does not need the earlier. `false`: not to the end, since a length is
/// not known.
///
/// # Errors
///
/// The first conflict, or a step that needs itself.
pub(super) fn check<P: Plan>(
    rank: u32,
    plan: &P,
    task: &Task,
    learned: &Learned,
) -> Result<bool, Fault> {
    let known = Known::new(task.arrays.given(), learned);
    let mut running: VecDeque<Running> = VecDeque::new();
    let mut acts = Acts::new();
    let mut step = 0;
    while step < plan.steps() {
        let fault = |kind| Fault { rank, step, kind };
        acts.clear();
        let Some(needs) = plan.step(step, &known, &mut acts) else {
            return Ok(false);
        };
        if needs > step {
            return Err(fault(Kind::Needs { needs }));
        }
        while running.front().is_some_and(|earlier| earlier.step < needs) {
            running.pop_front();
        }
        for &act in acts.iter() {
            let one = Running::new(step, act, task);
            let other = running.iter().find(|other| other.conflicts(&one));
            let other = other.or(one.conflicts_itself().then_some(&one));
            if let Some(other) = other {
                return Err(fault(Kind::Conflict {
                    other: other.step,
                    acts: Box::new((other.act, act)),
                }));
            }
            if one.touches.iter().any(Option::is_some) {
                running.push_back(one);
            }
        }
        step = acts.after(step);
    }
    Ok(true)
}
