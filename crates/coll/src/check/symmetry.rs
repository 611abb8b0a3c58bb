//! Proofs by symmetry: a few ranks represent all where every rank's plan is a rotation of one of the
//! first ranks' plans.
//!
//! A rotation by `r` adds `r` to every rank, and moves every element of a buffer that has one block per
//! rank by `r` blocks, modulo the ranks. With a period of 1, all ranks' plans are proved to be rotations
//! of rank 0's plan, act by act. All ranks then run in step, and the message from rank `r` to rank 0 is
//! the rotated message of rank 0 to rank `-r`. So only rank 0 runs, each of its messages comes back
//! rotated, and every other rank ends with the rotation of rank 0's result. The contract is invariant
//! under rotation, so all ranks fulfil it if rank 0 does.
//!
//! A plan that holds no rank can say that it is a rotation of another one ([`Plan::is_rotation`]): the one
//! piece of code that adds the rank is shared by all such plans (`symmetric`). Of many ranks whose plans
//! say so, only some are compared act by act, which verifies that code; of few ranks all are.
//!
//! With a period of `m`, the first `m` ranks run, and their plans are rotated by multiples of `m`: even
//! and odd ranks, or the ranks of one node for all nodes.

use alloc::vec::Vec;
use core::ops::Range;

use super::case::Case;
use super::contract::Task;
use super::fault::Fault;
use super::memory::{plain, resolve};

use super::rotation::Rotation;
use super::{Contract, ProofReport, plan_of, prove};
use crate::call::{Algorithm, Collective};
use crate::plan::{Act, Acts, Buf, LearnedLengths, Part, Plan, PlanInputs};

/// The number of ranks whose plans are compared together, step by step, so that the steps compared with
/// stay in the cache.
const COMPARED_AT_ONCE: usize = 16;

/// On up to this many ranks, each rank's acts are compared, whatever its plan says of itself.
const FEW: u32 = 128;

impl Rotation {
    /// The rotation that the case allows; `None` if its ranks cannot be equivalent.
    fn of(case: &Case, period: u32) -> Option<Self> {
        let size = u64::from(case.size);
        let (input, output, block) = match case.collective {
            Collective::Barrier => (false, false, 0),
            Collective::Allgather | Collective::Allgatherv => (false, true, case.count),
            Collective::Alltoall | Collective::Alltoallv => (true, true, case.count),
            // With more than one representative, bits could not be compared.
            Collective::Allreduce if period == 1 && case.count.is_multiple_of(size) => {
                (true, true, case.count / size)
            }
            Collective::ReduceScatter | Collective::ReduceScatterBlock if !case.in_place => {
                (true, false, case.count)
            }
            _ => return None,
        };
        let is_symmetric = case.commutative && case.seed == 0 && case.size.is_multiple_of(period);
        is_symmetric.then_some(Rotation {
            size: case.size,
            period,
            block,
            wrap: size * block,
            input,
            output,
        })
    }

    /// Whether the rank's acts are compared although its plan holds no rank: all on few ranks, else those at
    /// distances of a power of two from rank 0 in both directions.
    const fn is_compared(&self, rank: u32) -> bool {
        let distances = (rank, self.size - rank);
        self.size <= FEW || distances.0.is_power_of_two() || distances.1.is_power_of_two()
    }

    /// Whether `other` is the rotation of `one`. Both lie in buffers of the task; `one` is [`whole`].
    #[inline]
    fn is_part(&self, one: &Part, other: &Part, by: u32, task: &Task) -> bool {
        // Most parts are one range of a buffer and name no block.
        let is_piece = other.buf == one.buf
            && other.count == one.count
            && one.count > 0
            && one.times == 1
            && other.times == 1
            && other.limit == u64::MAX
            && self.wrap > 0;
        if !is_piece {
            return self.is_named_part(one, other, by, task);
        }
        let Some(wrap) = self.rotates(one.buf) else {
            return one.first == other.first && one.wrap == other.wrap;
        };
        let moved = one.first + u64::from(by) * self.block;
        let fits = |part: &Part| {
            let end = part.first.saturating_add(part.count);
            part.wrap == wrap || end <= wrap && (part.wrap == 0 || end <= part.wrap)
        };
        let meets = moved == other.first || moved == other.first + wrap;
        meets && fits(one) && fits(other) || self.is_any_part(one, other, by, task)
    }

    /// [`Rotation::is_part`] where the other part may name blocks.
    fn is_named_part(&self, one: &Part, other: &Part, by: u32, task: &Task) -> bool {
        let place = plain(*other, &task.blocks, [task.input, task.output]);
        match place.filter(|place| other.limit == u64::MAX && place.buf != other.buf) {
            Some(place) => self.is_part(one, &place, by, task),
            None => self.is_any_part(one, other, by, task),
        }
    }

    /// [`Rotation::is_part`] for parts of any shape.
    fn is_any_part(&self, one: &Part, other: &Part, by: u32, task: &Task) -> bool {
        if one.is_empty() || other.is_empty() {
            // A message may have no elements only if both sides mark it as empty.
            let signals = (*one == Part::EMPTY, *other == Part::EMPTY);
            return one.is_empty() && other.is_empty() && signals.0 == signals.1;
        }
        let Some(other) = whole(*other, task) else {
            return false;
        };
        let shape = |part: &Part| (part.buf, part.count, part.times);
        let strides = one.times == 1 || one.stride == other.stride;
        let place = match self.rotates(one.buf) {
            Some(wrap) => {
                let fits = |part: &Part| match part.plain() {
                    _ if part.wrap == wrap => true,
                    Some(block) => block.end <= wrap,
                    None => part.wrap == 0 && part.blocks().all(|block| block.end <= wrap),
                };
                let moved = one.first + u64::from(by) * self.block;
                let apart = moved.abs_diff(other.first);
                fits(one) && fits(&other) && wrap > 0 && apart.is_multiple_of(wrap)
            }
            None => one.first == other.first && one.wrap == other.wrap,
        };
        shape(one) == shape(&other) && strides && place
    }

    /// The number of elements that parts of the buffer wrap at, if rotation moves them.
    fn rotates(&self, buf: Buf) -> Option<u64> {
        let rotates = match buf {
            Buf::In => self.input,
            Buf::Out => self.output,
            _ => false,
        };
        rotates.then_some(self.wrap)
    }

    /// Whether `other` is the rotation of `one`; the parts of `one` are [`whole`].
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

    /// Whether both acts access all elements of `In` and `Out` one to one, so that the start does not
    /// matter.
    fn is_all(&self, one: [&Part; 2], other: [&Part; 2]) -> bool {
        let is_whole = |part: &&Part| {
            self.rotates(part.buf) == Some(part.count)
                && **part == Part::new(part.buf, 0, part.count)
        };
        one == other && one.iter().all(is_whole)
    }

    /// Whether each of the other plans is the plan with these steps, rotated by the number beside it.
    fn are_plans<P: Plan>(&self, steps: &PlanSteps, others: &[(P, u32)], task: &Task) -> bool {
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

/// The part as indexes into its buffer, or `None` if it has no such form.
fn whole(part: Part, task: &Task) -> Option<Part> {
    let place = resolve(part, &task.blocks, [task.input, task.output])?;
    (place.short.is_empty() && place.plain.len() == part.len()).then_some(place.plain)
}

/// A step of a representative.
struct KnownStep {
    number: u32,
    needs: u32,
    /// The next step that has acts.
    after: u32,
    /// The indexes of its acts in [`PlanSteps::acts`].
    acts: Range<usize>,
}

/// All steps of a representative.
struct PlanSteps {
    /// The number of steps, including those without acts.
    count: u32,
    /// The steps that have acts.
    each: Vec<KnownStep>,
    /// The acts of all steps, with [`whole`] parts where possible.
    acts: Vec<Act>,
    scratch: u64,
    learned: LearnedLengths,
}

impl PlanSteps {
    /// `None` if a length is not known at the start.
    fn of<P: Plan>(plan: &P, task: &Task) -> Option<Self> {
        let learned = LearnedLengths::new();
        let inputs = PlanInputs::new(task.arrays.given(), &learned);
        let (mut each, mut all, mut acts) = (Vec::new(), Vec::new(), Acts::new());
        let mut i = 0;
        while i < plan.steps() {
            acts.clear();
            let needs = plan.step(i, &inputs, &mut acts)?;
            let after = acts.after(i);
            each.push(KnownStep {
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
        Some(PlanSteps {
            count: plan.steps(),
            each,
            acts: all,
            scratch,
            learned,
        })
    }
}

impl Case {
    /// Proves an algorithm on the case by symmetry: runs a few ranks after a proof that all others are
    /// equivalent to these. `None` if they are not.
    ///
    /// # Errors
    ///
    /// The first fault found.
    ///
    /// # Cost
    ///
    /// Every rank's plan is asked for all its steps, except most of those whose plans hold no rank. Only
    /// the messages of a few ranks are delivered.
    pub fn check_by_symmetry(&self, algorithm: Algorithm) -> Option<Result<ProofReport, Fault>> {
        let arrays = self.arrays();
        self.check_plans_by_symmetry(|rank| {
            plan_of(algorithm, &self.call(rank, &arrays), &self.parameters)
        })
    }

    /// [`Case::check_by_symmetry`] for given plans; `plan` returns that of a rank. Tests pass modified plans.
    ///
    /// # Errors
    ///
    /// The first fault found.
    pub fn check_plans_by_symmetry<P: Plan + Clone>(
        &self,
        plan: impl Fn(u32) -> Result<P, Fault>,
    ) -> Option<Result<ProofReport, Fault>> {
        // One rank, even and odd ranks, or the ranks of a node.
        let periods = [1, 2, self.parameters.per_node.max(1)];
        // Where a period of 1 is impossible, all periods are.
        Rotation::of(self, 1)?;
        let arrays = self.arrays();
        let of_period = |period| {
            let rotation = Rotation::of(self, period)?;
            let calls: Vec<_> = (0..period).map(|rank| self.call(rank, &arrays)).collect();
            let contract = self.placed(Contract::of(&calls, &arrays));
            let firsts: Vec<P> = match (0..period).map(&plan).collect() {
                Ok(firsts) => firsts,
                Err(fault) => return Some(Err(fault)),
            };
            let steps = firsts.iter().zip(&contract.tasks);
            let steps: Vec<_> = steps
                .map(|(plan, task)| PlanSteps::of(plan, task))
                .collect::<Option<_>>()?;
            let are_equivalent = |(first, from): (u32, u32)| {
                let at = first as usize;
                let (own, steps, task) = (&firsts[at], &steps[at], &contract.tasks[at]);
                let ranks = (first + from..self.size)
                    .step_by(period as usize)
                    .take(COMPARED_AT_ONCE);
                let others = ranks.map(|rank| Ok((plan(rank)?, rank - first)));
                let is_open = |other: &(P, u32)| {
                    rotation.is_compared(first + other.1) || !own.is_rotation(other.1, &other.0)
                };
                let others = others.filter(|other| other.as_ref().map_or(true, is_open));
                let others: Result<Vec<_>, Fault> = others.collect();
                others.is_ok_and(|others| rotation.are_plans(steps, &others, task))
            };
            let starts = (period..self.size).step_by(period as usize * COMPARED_AT_ONCE);
            starts
                .flat_map(|from| (0..period).map(move |first| (first, from)))
                .all(are_equivalent)
                .then(|| prove(&firsts, self.size, Some(rotation), &contract))
        };
        // A period of all ranks saves nothing.
        let saves_work = |period: &u32| *period < self.size.max(2);
        periods.into_iter().filter(saves_work).find_map(of_period)
    }
}
