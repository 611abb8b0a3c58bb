//! One rank that stands for all: where every rank's plan is rank 0's, turned.
//!
//! Turning by `r` adds `r` to every rank, and moves every element of a buffer that has one block for
//! each rank by `r` blocks, around the end. Where all ranks' plans are proved to be rank 0's plan so
//! turned, act by act, all ranks run in step: what rank `r` sends to rank 0 is what rank 0 sends to
//! the rank as far above it as rank 0 is above `r`, turned. So rank 0 is run alone, each of its
//! messages coming back to it turned, and every other rank ends with what rank 0 ends with, turned.
//! The promise of the collective is turned as well, so all keep it if rank 0 does.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::ops::Range;

use super::case::Case;
use super::contract::Task;
use super::fault::{Fault, Kind};
use super::memory::{Run, Sum, resolve};
use super::ranks::Ranks;
use super::{Contract, Report, conflicts, prove};
use crate::catalog::{Algorithm, Collective};
use crate::plan::{Act, Acts, Buf, Known, Learned, Part, Plan};

/// How ranks differ from rank 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// Ranks.
    pub(super) size: u32,
    /// Elements of one block.
    pub(super) block: u64,
    /// Whether `In` has one block for each rank. In place, whether the input has.
    input: bool,
    /// Whether `Out` has one block for each rank.
    output: bool,
}

impl Turn {
    /// How ranks may differ in the case; `None` when they cannot be alike.
    fn of(case: &Case) -> Option<Self> {
        let size = u64::from(case.size);
        let (input, output, block) = match case.collective {
            Collective::Barrier => (false, false, 0),
            Collective::Allgather | Collective::Allgatherv => (false, true, case.count),
            Collective::Alltoall | Collective::Alltoallv => (true, true, case.count),
            Collective::Allreduce if case.count.is_multiple_of(size) => {
                (true, true, case.count / size)
            }
            Collective::ReduceScatter | Collective::ReduceScatterBlock if !case.in_place => {
                (true, false, case.count)
            }
            _ => return None,
        };
        let alike = case.commutative && case.seed == 0;
        alike.then_some(Turn {
            size: case.size,
            block,
            input,
            output,
        })
    }

    /// The elements of one block for each rank.
    fn around(&self) -> u64 {
        u64::from(self.size) * self.block
    }

    /// The ranks, turned.
    pub(super) fn ranks(&self, ranks: &Ranks, by: u32) -> Ranks {
        ranks.turned(by, self.size)
    }

    /// What a message holds, turned.
    pub(super) fn runs(&self, runs: &[Run], by: u32) -> Vec<Run> {
        let mut turned = Vec::with_capacity(runs.len() + 1);
        for run in runs {
            let sum = Rc::new(Sum {
                ranks: self.ranks(&run.sum.ranks, by),
                ..(*run.sum).clone()
            });
            if !self.input {
                turned.push(Run { sum, ..run.clone() });
                continue;
            }
            let around = self.around();
            let source = (run.source + u64::from(by) * self.block) % around;
            let before = run.count.min(around - source);
            let pieces = [(0, before, source), (before, run.count - before, 0)];
            for (at, count, source) in pieces.into_iter().filter(|piece| piece.1 > 0) {
                let (first, sum) = (run.first + at, Rc::clone(&sum));
                turned.push(Run {
                    first,
                    count,
                    source,
                    sum,
                });
            }
        }
        turned
    }

    /// Whether `other` is `one` turned. Both lie in buffers of the task.
    fn is_part(&self, one: Part, other: Part, by: u32, task: &Task) -> bool {
        if one.is_empty() || other.is_empty() {
            return one.is_empty() && other.is_empty();
        }
        let (Some(one), Some(other)) = (whole(one, task), whole(other, task)) else {
            return false;
        };
        let shape = |part: Part| (part.buf, part.count, part.times);
        let strides = one.times == 1 || one.stride == other.stride;
        let place = match self.turns(one.buf) {
            Some(around) => {
                let fits = |part: Part| match part.plain() {
                    _ if part.wrap == around => true,
                    Some(block) => block.end <= around,
                    None => part.wrap == 0 && part.blocks().all(|block| block.end <= around),
                };
                let moved = u64::from(by) * self.block;
                fits(one) && fits(other) && (one.first + moved) % around == other.first % around
            }
            None => one.first == other.first && one.wrap == other.wrap,
        };
        shape(one) == shape(other) && strides && place
    }

    /// The elements that parts of the buffer go around, if turning moves them.
    fn turns(&self, buf: Buf) -> Option<u64> {
        let turns = match buf {
            Buf::In => self.input,
            Buf::Out => self.output,
            _ => false,
        };
        turns.then(|| self.around())
    }

    /// Whether `other` is `one` turned.
    fn is_act(&self, one: &Act, other: &Act, by: u32, task: &Task) -> bool {
        let moved = |peer: u32| ((u64::from(peer) + u64::from(by)) % u64::from(self.size)) as u32;
        let part = |a, b| self.is_part(a, b, by, task);
        match (*one, *other) {
            (
                Act::Send { to, tag, from },
                Act::Send {
                    to: to_other,
                    tag: tag_other,
                    from: from_other,
                },
            ) => moved(to) == to_other && tag == tag_other && part(from, from_other),
            (
                Act::Recv { from, tag, into },
                Act::Recv {
                    from: from_other,
                    tag: tag_other,
                    into: into_other,
                },
            ) => moved(from) == from_other && tag == tag_other && part(into, into_other),
            (
                Act::Copy { from, into },
                Act::Copy {
                    from: from_other,
                    into: into_other,
                },
            ) => {
                part(from, from_other) && part(into, into_other)
                    || self.is_all([from, into], [from_other, into_other])
            }
            (
                Act::Reduce { from, into, side },
                Act::Reduce {
                    from: from_other,
                    into: into_other,
                    side: side_other,
                },
            ) => {
                side == side_other
                    && (part(from, from_other) && part(into, into_other)
                        || self.is_all([from, into], [from_other, into_other]))
            }
            _ => false,
        }
    }

    /// Whether both acts work on all elements of `In` and `Out`, each with its counterpart: then
    /// where they begin means nothing.
    fn is_all(&self, one: [Part; 2], other: [Part; 2]) -> bool {
        let is_whole = |part: &Part| {
            self.turns(part.buf) == Some(part.count) && *part == Part::new(part.buf, 0, part.count)
        };
        one == other && one.iter().all(is_whole)
    }

    /// Whether rank `by`'s plan is rank 0's turned.
    fn is_plan<P: Plan>(&self, steps: &Steps, other: &P, by: u32, task: &Task) -> bool {
        let known = Known::new(task.arrays.given(), &steps.learned);
        let mut acts = Acts::new();
        let mut next = 0;
        other.steps() == steps.count
            && other.scratch(&known) == steps.scratch
            && steps.needs.iter().all(|(i, needs, place)| {
                acts.clear();
                let own = &steps.acts[place.clone()];
                let same = *i == next
                    && other.step(*i, &known, &mut acts) == Some(*needs)
                    && own.len() == acts.len()
                    && own
                        .iter()
                        .zip(acts.iter())
                        .all(|(a, b)| self.is_act(a, b, by, task));
                next = acts.after(*i);
                same
            })
    }
}

/// The part counted from the start of its buffer, if it can be.
fn whole(part: Part, task: &Task) -> Option<Part> {
    let place = resolve(part, &task.blocks, [task.input, task.output])?;
    (place.short.is_empty() && place.plain.len() == part.len()).then_some(place.plain)
}

/// All steps of rank 0.
struct Steps {
    /// How many there are, also without acts.
    count: u32,
    /// Each one's number, what it needs, and where its acts are.
    needs: Vec<(u32, u32, Range<usize>)>,
    acts: Vec<Act>,
    scratch: u64,
    learned: Learned,
}

impl Steps {
    /// `None` when a length is not known at the start.
    fn of<P: Plan>(plan: &P, task: &Task) -> Option<Self> {
        let learned = Learned::new();
        let known = Known::new(task.arrays.given(), &learned);
        let (mut needs, mut all, mut acts) = (Vec::new(), Vec::new(), Acts::new());
        let mut i = 0;
        while i < plan.steps() {
            acts.clear();
            let need = plan.step(i, &known, &mut acts)?;
            needs.push((i, need, all.len()..all.len() + acts.len()));
            all.extend_from_slice(&acts);
            i = acts.after(i);
        }
        let scratch = plan.scratch(&known);
        Some(Steps {
            count: plan.steps(),
            needs,
            acts: all,
            scratch,
            learned,
        })
    }
}

impl Case {
    /// Proves an algorithm on the case by running one rank, after a proof that all are alike; `None`
    /// when they are not.
    ///
    /// # Errors
    ///
    /// The first fault found.
    ///
    /// # Cost
    ///
    /// Every rank's plan is asked for all its steps; one rank's messages are carried.
    pub fn check_alike(&self, algorithm: Algorithm) -> Option<Result<Report, Fault>> {
        let turn = Turn::of(self)?;
        let arrays = self.arrays();
        let call = |rank| self.call(rank, &arrays);
        let plan = |rank| algorithm.plan(&call(rank), &self.parameters);
        let first = match plan(0) {
            Ok(plan) => plan,
            Err(why) => {
                let kind = Kind::Unsuited(why);
                let (rank, step) = (0, 0);
                return Some(Err(Fault { rank, step, kind }));
            }
        };
        let contract = Contract::of(&[call(0)], &arrays);
        let steps = Steps::of(&first, &contract.tasks[0])?;
        let alike = |rank| {
            let task = &contract.tasks[0];
            plan(rank).is_ok_and(|plan| turn.is_plan(&steps, &plan, rank, task))
        };
        if !(1..self.size).all(alike) {
            return None;
        }
        let checked = conflicts::check(0, &first, &contract.tasks[0], &Learned::new());
        Some(checked.and_then(|_| prove(&[first], self.size, Some(turn), &contract)))
    }
}
