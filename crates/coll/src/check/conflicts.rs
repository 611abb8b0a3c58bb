//! Proves that acts which can run at the same time leave each other alone.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::cell::OnceCell;
use core::ops::Range;

use super::contract::Task;
use super::fault::{Fault, Kind};
use super::memory::{Place, buffer, resolve};
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
    /// What it reads and writes, once that is asked for: most acts run alone.
    touches: OnceCell<[Option<Touch>; 2]>,
}

impl Running {
    const fn new(step: u32, act: Act) -> Self {
        Running {
            step,
            act,
            touches: OnceCell::new(),
        }
    }

    fn touches(&self, task: &Task) -> &[Option<Touch>; 2] {
        let touch =
            |part: Option<Part>, writes| part.and_then(|part| Touch::new(part, writes, task));
        self.touches.get_or_init(|| {
            [
                touch(self.act.reads(), false),
                touch(self.act.writes(), true),
            ]
        })
    }

    /// Whether one writes what the other reads or writes.
    fn conflicts(&self, other: &Running, task: &Task) -> bool {
        let others = || other.touches(task).iter().flatten();
        self.touches(task)
            .iter()
            .flatten()
            .any(|own| others().any(|other| own.meets(other)))
    }

    /// Whether the act writes what it reads.
    fn conflicts_itself(&self, task: &Task) -> bool {
        let parts = self.act.reads().zip(self.act.writes());
        let in_one = |parts: (Part, Part)| buffer(parts.0.buf) == buffer(parts.1.buf);
        parts.is_some_and(in_one)
            && matches!(self.touches(task), [Some(read), Some(written)] if read.meets(written))
    }
}

/// Looks at every pair of acts that can run at the same time: those of one step, and those of two
/// steps of which the later does not need the earlier; steps from `end` on are left out. `false`: not
/// to the end, since a length is not known.
///
/// # Errors
///
/// The first conflict, or a step that needs itself.
pub(super) fn check<P: Plan>(
    rank: u32,
    plan: &P,
    task: &Task,
    learned: &Learned,
    end: u32,
) -> Result<bool, Fault> {
    let known = Known::new(task.arrays.given(), learned);
    let mut running: VecDeque<Running> = VecDeque::new();
    let mut acts = Acts::new();
    let mut step = 0;
    while step < end.min(plan.steps()) {
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
            let one = Running::new(step, act);
            let other = running.iter().find(|other| other.conflicts(&one, task));
            let other = other.or(one.conflicts_itself(task).then_some(&one));
            if let Some(other) = other {
                return Err(fault(Kind::Conflict {
                    other: other.step,
                    acts: Box::new((other.act, act)),
                }));
            }
            running.push_back(one);
        }
        step = acts.after(step);
    }
    Ok(true)
}
