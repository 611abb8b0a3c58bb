//! Few ranks that stand for all: where every rank's plan is that of one of the first ranks, turned.
//!
//! Turning by `r` adds `r` to every rank, and moves every element of a buffer that has one block for
//! each rank by `r` blocks, around the end. With a period of 1 all ranks' plans are proved to be
//! rank 0's plan so turned, act by act. Then all ranks run in step: what rank `r` sends to rank 0 is
//! what rank 0 sends to the rank as far above it as rank 0 is above `r`, turned. So rank 0 is run
//! alone, each of its messages coming back to it turned, and every other rank ends with what rank 0
//! ends with, turned. The promise of the collective is turned as well, so all keep it if rank 0 does.
//!
//! A plan that holds no rank can be seen to be another one turned without a look at its steps
//! ([`Plan::is_rotation`]): what it says goes through one piece of code that puts the rank in, the same for
//! all such plans (`symmetric`). So of many ranks that say so, act by act only some are compared, which
//! hold that code to its word; of few ranks all are.
//!
//! With a period of `m` the first `m` ranks are run, and the plan of each is turned by multiples of
//! `m`: even and odd ranks, or the ranks of one node for those of all.

use alloc::vec::Vec;
use core::ops::Range;

use super::case::Case;
use super::contract::Task;
use super::fault::{Fault, FaultKind};
use super::memory::{plain, resolve};

use super::rotation::Rotation;
use super::{Contract, ProofReport, prove};
use crate::call::{Algorithm, Collective};
use crate::plan::{Act, Acts, Buf, LearnedLengths, Part, Plan, PlanInputs};

/// Ranks that are compared together, step by step: what they are compared with is then at hand.
const TOGETHER: usize = 16;

/// Up to so many ranks each one's acts are compared, whatever its plan says of itself.
const FEW: u32 = 128;

impl Rotation {
    /// How ranks may differ in the case; `None` when they cannot be alike.
    fn of(case: &Case, period: u32) -> Option<Self> {
        let size = u64::from(case.size);
        let (input, output, block) = match case.collective {
            Collective::Barrier => (false, false, 0),
            Collective::Allgather | Collective::Allgatherv => (false, true, case.count),
            Collective::Alltoall | Collective::Alltoallv => (true, true, case.count),
            // That bits are the same is seen on one rank only.
            Collective::Allreduce if period == 1 && case.count.is_multiple_of(size) => {
                (true, true, case.count / size)
            }
            Collective::ReduceScatter | Collective::ReduceScatterBlock if !case.in_place => {
                (true, false, case.count)
            }
            _ => return None,
        };
        let alike = case.commutative && case.seed == 0 && case.size.is_multiple_of(period);
        alike.then_some(Rotation {
            size: case.size,
            period,
            block,
            around: size * block,
            input,
            output,
        })
    }

    /// Whether the rank's acts are compared even where its plan holds no rank: all on few ranks, else the
    /// ones at both ends of the ring, in steps that double.
    const fn is_looked_at(&self, rank: u32) -> bool {
        let distances = (rank, self.size - rank);
        self.size <= FEW || distances.0.is_power_of_two() || distances.1.is_power_of_two()
    }

    /// Whether `other` is `one` turned. Both lie in buffers of the task; `one` is [`whole`].
    #[inline]
    fn is_part(&self, one: &Part, other: &Part, by: u32, task: &Task) -> bool {
        // Most parts are one piece of a buffer that is not named by its blocks.
        let is_piece = other.buf == one.buf
            && other.count == one.count
            && one.count > 0
            && one.times == 1
            && other.times == 1
            && other.limit == u64::MAX
            && self.around > 0;
        if !is_piece {
            return self.is_named_part(one, other, by, task);
        }
        let Some(around) = self.turns(one.buf) else {
            return one.first == other.first && one.wrap == other.wrap;
        };
        let moved = one.first + u64::from(by) * self.block;
        let fits = |part: &Part| {
            let end = part.first.saturating_add(part.count);
            part.wrap == around || end <= around && (part.wrap == 0 || end <= part.wrap)
        };
        let meets = moved == other.first || moved == other.first + around;
        meets && fits(one) && fits(other) || self.is_any_part(one, other, by, task)
    }

    /// The same where the other part may be named by its blocks.
    fn is_named_part(&self, one: &Part, other: &Part, by: u32, task: &Task) -> bool {
        let place = plain(*other, &task.blocks, [task.input, task.output]);
        match place.filter(|place| other.limit == u64::MAX && place.buf != other.buf) {
            Some(place) => self.is_part(one, &place, by, task),
            None => self.is_any_part(one, other, by, task),
        }
    }

    /// The same for parts of any shape.
    fn is_any_part(&self, one: &Part, other: &Part, by: u32, task: &Task) -> bool {
        if one.is_empty() || other.is_empty() {
            // A message may carry no elements, but only so that it shows.
            let signals = (*one == Part::EMPTY, *other == Part::EMPTY);
            return one.is_empty() && other.is_empty() && signals.0 == signals.1;
        }
        let Some(other) = whole(*other, task) else {
            return false;
        };
        let shape = |part: &Part| (part.buf, part.count, part.times);
        let strides = one.times == 1 || one.stride == other.stride;
        let place = match self.turns(one.buf) {
            Some(around) => {
                let fits = |part: &Part| match part.plain() {
                    _ if part.wrap == around => true,
                    Some(block) => block.end <= around,
                    None => part.wrap == 0 && part.blocks().all(|block| block.end <= around),
                };
                let moved = one.first + u64::from(by) * self.block;
                let apart = moved.abs_diff(other.first);
                fits(one) && fits(&other) && around > 0 && apart.is_multiple_of(around)
            }
            None => one.first == other.first && one.wrap == other.wrap,
        };
        shape(one) == shape(&other) && strides && place
    }

    /// The elements that parts of the buffer go around, if turning moves them.
    fn turns(&self, buf: Buf) -> Option<u64> {
        let turns = match buf {
            Buf::In => self.input,
            Buf::Out => self.output,
            _ => false,
        };
        turns.then_some(self.around)
    }

    /// Whether `other` is `one` turned; the parts of `one` are [`whole`].
    #[inline]
    fn is_act(&self, one: &Act, other: &Act, by: u32, task: &Task) -> bool {
        let peers = |one: &u32, other: &u32| self.above(*one, by) == *other;
        let part = |one: &Part, other: &Part| self.is_part(one, other, by, task);
        let local = |one: [&Part; 2], other: [&Part; 2]| {
            part(one[0], other[0]) && part(one[1], other[1]) || self.is_all(one, other)
        };
        match (one, other) {
            (
                Act::Send { to, tag, from },
                Act::Send {
                    to: t,
                    tag: g,
                    from: f,
                },
            ) => peers(to, t) && tag == g && part(from, f),
            (
                Act::Recv { from, tag, into },
                Act::Recv {
                    from: f,
                    tag: g,
                    into: i,
                },
            ) => peers(from, f) && tag == g && part(into, i),
            (Act::Copy { from, into }, Act::Copy { from: f, into: i }) => {
                local([from, into], [f, i])
            }
            (
                Act::Reduce { from, into, side },
                Act::Reduce {
                    from: f,
                    into: i,
                    side: s,
                },
            ) => side == s && local([from, into], [f, i]),
            _ => false,
        }
    }

    /// Whether both acts work on all elements of `In` and `Out`, each with its counterpart: then
    /// where they begin means nothing.
    fn is_all(&self, one: [&Part; 2], other: [&Part; 2]) -> bool {
        let is_whole = |part: &&Part| {
            self.turns(part.buf) == Some(part.count) && **part == Part::new(part.buf, 0, part.count)
        };
        one == other && one.iter().all(is_whole)
    }

    /// Whether all of these plans are the one with these steps, each turned by as much as is beside it.
    fn are_plans<P: Plan>(&self, steps: &Steps, others: &[(P, u32)], task: &Task) -> bool {
        let inputs = PlanInputs::new(task.arrays.given(), &steps.learned);
        let mut acts = Acts::new();
        let is_as_large =
            |other: &P| other.steps() == steps.count && other.scratch(&inputs) == steps.scratch;
        others.iter().all(|(other, _)| is_as_large(other))
            && steps.each.iter().all(|step| {
                let own = &steps.acts[step.acts.clone()];
                others.iter().all(|(other, by)| {
                    acts.clear();
                    other.step(step.number, &inputs, &mut acts) == Some(step.needs)
                        && acts.after(step.number) == step.after
                        && own.len() == acts.len()
                        && own
                            .iter()
                            .zip(acts.iter())
                            .all(|(a, b)| self.is_act(a, b, *by, task))
                })
            })
    }
}

/// The part counted from the start of its buffer, if it can be.
fn whole(part: Part, task: &Task) -> Option<Part> {
    let place = resolve(part, &task.blocks, [task.input, task.output])?;
    (place.short.is_empty() && place.plain.len() == part.len()).then_some(place.plain)
}

/// A step of a rank that stands for others.
struct Step {
    number: u32,
    needs: u32,
    /// The step to go on with.
    after: u32,
    /// Where its acts are.
    acts: Range<usize>,
}

/// All steps of a rank that stands for others.
struct Steps {
    /// How many there are, also without acts.
    count: u32,
    /// Those that must be asked for.
    each: Vec<Step>,
    /// Their acts, whose parts are [`whole`] where they can be.
    acts: Vec<Act>,
    scratch: u64,
    learned: LearnedLengths,
}

impl Steps {
    /// `None` when a length is not known at the start.
    fn of<P: Plan>(plan: &P, task: &Task) -> Option<Self> {
        let learned = LearnedLengths::new();
        let inputs = PlanInputs::new(task.arrays.given(), &learned);
        let (mut each, mut all, mut acts) = (Vec::new(), Vec::new(), Acts::new());
        let mut i = 0;
        while i < plan.steps() {
            acts.clear();
            let needs = plan.step(i, &inputs, &mut acts)?;
            let after = acts.after(i);
            each.push(Step {
                number: i,
                needs,
                after,
                acts: all.len()..all.len() + acts.len(),
            });
            let whole = |act: &Act| act.with_parts(|part| whole(part, task).unwrap_or(part));
            all.extend(acts.iter().map(whole));
            i = after;
        }
        let scratch = plan.scratch(&inputs);
        Some(Steps {
            count: plan.steps(),
            each,
            acts: all,
            scratch,
            learned,
        })
    }
}

impl Case {
    /// Proves an algorithm on the case by running few ranks, after a proof that all others are like
    /// these; `None` when they are not.
    ///
    /// # Errors
    ///
    /// The first fault found.
    ///
    /// # Cost
    ///
    /// Every rank's plan is asked for all its steps, but for most of those that hold no rank; only the
    /// messages of few ranks are carried.
    pub fn check_alike(&self, algorithm: Algorithm) -> Option<Result<ProofReport, Fault>> {
        let arrays = self.arrays();
        self.check_plans_alike(|rank| {
            let plan = algorithm.plan(&self.call(rank, &arrays), &self.parameters);
            plan.map_err(|why| Fault {
                rank,
                step: 0,
                kind: FaultKind::Unsuited(why),
            })
        })
    }

    /// Proves plans that are an algorithm's, or nearly, in the same way; `plan` gives that of a rank.
    ///
    /// # Errors
    ///
    /// The first fault found.
    pub fn check_plans_alike<P: Plan + Clone>(
        &self,
        plan: impl Fn(u32) -> Result<P, Fault>,
    ) -> Option<Result<ProofReport, Fault>> {
        // Even and odd ranks, or the ranks of a node.
        let periods = [1, 2, self.parameters.per_node.max(1)];
        // Where no period will do, the least does not.
        Rotation::of(self, 1)?;
        let arrays = self.arrays();
        let of_period = |period| {
            let turn = Rotation::of(self, period)?;
            let calls: Vec<_> = (0..period).map(|rank| self.call(rank, &arrays)).collect();
            let contract = self.placed(Contract::of(&calls, &arrays));
            let firsts: Vec<P> = match (0..period).map(&plan).collect() {
                Ok(firsts) => firsts,
                Err(fault) => return Some(Err(fault)),
            };
            let steps = firsts.iter().zip(&contract.tasks);
            let steps: Vec<_> = steps
                .map(|(plan, task)| Steps::of(plan, task))
                .collect::<Option<_>>()?;
            let alike = |(first, from): (u32, u32)| {
                let at = first as usize;
                let (own, steps, task) = (&firsts[at], &steps[at], &contract.tasks[at]);
                let ranks = (first + from..self.size)
                    .step_by(period as usize)
                    .take(TOGETHER);
                let others = ranks.map(|rank| Ok((plan(rank)?, rank - first)));
                let is_open = |other: &(P, u32)| {
                    turn.is_looked_at(first + other.1) || !own.is_rotation(other.1, &other.0)
                };
                let others = others.filter(|other| other.as_ref().map_or(true, is_open));
                let others: Result<Vec<_>, Fault> = others.collect();
                others.is_ok_and(|others| turn.are_plans(steps, &others, task))
            };
            let turns = (period..self.size).step_by(period as usize * TOGETHER);
            turns
                .flat_map(|from| (0..period).map(move |first| (first, from)))
                .all(alike)
                .then(|| prove(&firsts, self.size, Some(turn), &contract))
        };
        // All ranks stand for no more than themselves.
        let stands_for_more = |period: &u32| *period < self.size.max(2);
        periods
            .into_iter()
            .filter(stands_for_more)
            .find_map(of_period)
    }
}
