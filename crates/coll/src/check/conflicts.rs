//! Proves that acts which can run at the same time leave each other alone.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use super::contract::Task;
use super::fault::{Fault, Kind};
use super::memory::resolve;
use crate::plan::{Act, Acts, Known, Learned, Part, Plan};

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
    let mut running: VecDeque<(u32, Act)> = VecDeque::new();
    let mut acts = Acts::new();
    for step in 0..plan.steps() {
        let fault = |kind| Fault { rank, step, kind };
        acts.clear();
        let Some(needs) = plan.step(step, &known, &mut acts) else {
            return Ok(false);
        };
        if needs > step {
            return Err(fault(Kind::Needs { needs }));
        }
        while running.front().is_some_and(|&(earlier, _)| earlier < needs) {
            running.pop_front();
        }
        for &act in acts.iter() {
            let inner = act
                .reads()
                .zip(act.writes())
                .is_some_and(|(from, into)| overlap(from, into, task));
            let other = running
                .iter()
                .find(|(_, one)| conflict(one, &act, task))
                .copied();
            if let Some((other, one)) = other.or(inner.then_some((step, act))) {
                return Err(fault(Kind::Conflict {
                    other,
                    acts: Box::new((one, act)),
                }));
            }
            running.push_back((step, act));
        }
    }
    Ok(true)
}

/// Whether some element belongs to both parts.
fn overlap(one: Part, other: Part, task: &Task) -> bool {
    let lengths = [task.input, task.output];
    let place = |part| resolve(part, &task.blocks, lengths);
    place(one)
        .zip(place(other))
        .is_some_and(|(one, other)| one.overlaps(&other))
}

/// Whether one act writes what the other reads or writes.
fn conflict(one: &Act, other: &Act, task: &Task) -> bool {
    let touches = |act: &Act, part: Part| {
        act.reads()
            .into_iter()
            .chain(act.writes())
            .any(|own| overlap(own, part, task))
    };
    let breaks = |a: &Act, b: &Act| a.writes().is_some_and(|into| touches(b, into));
    breaks(one, other) || breaks(other, one)
}
