//! Proves that acts which can run at the same time leave each other alone.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use super::fault::{Fault, Kind};
use crate::plan::{Act, Acts, Known, Part, Plan};

/// Looks at every pair of acts that can run at the same time: those of one step, and those of two
/// steps of which the later does not need the earlier.
///
/// # Errors
///
/// The first conflict, a step that needs itself, or a length that never becomes known.
pub(super) fn check<P: Plan>(rank: u32, plan: &P) -> Result<(), Fault> {
    let known = Known::new(&[]);
    let mut running: VecDeque<(u32, Act)> = VecDeque::new();
    let mut acts = Acts::new();
    for step in 0..plan.steps() {
        let fault = |kind| Fault { rank, step, kind };
        acts.clear();
        let needs = plan
            .step(step, &known, &mut acts)
            .ok_or_else(|| fault(Kind::Stuck))?;
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
                .is_some_and(|(from, into)| from.overlaps(into));
            let other = running.iter().find(|(_, one)| conflict(one, &act)).copied();
            if let Some((other, one)) = other.or(inner.then_some((step, act))) {
                return Err(fault(Kind::Conflict {
                    other,
                    acts: Box::new((one, act)),
                }));
            }
            running.push_back((step, act));
        }
    }
    Ok(())
}

/// Whether one act writes what the other reads or writes.
fn conflict(one: &Act, other: &Act) -> bool {
    let touches = |act: &Act, part: Part| {
        act.reads()
            .into_iter()
            .chain(act.writes())
            .any(|own| own.overlaps(part))
    };
    let breaks = |a: &Act, b: &Act| a.writes().is_some_and(|into| touches(b, into));
    breaks(one, other) || breaks(other, one)
}
