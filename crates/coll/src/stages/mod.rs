//! Composed collectives: a reduction to rank 0, then a broadcast or scatter from there, each by any
//! algorithm.
//!
//! The parameters name the algorithms and their parameters. So an allreduce need not be slower than a
//! reduce and a bcast, nor a reduce-scatter slower than a reduce and a
//! scatter: Hunold and Carpen-Amarie, "Autotuning MPI collectives using performance guidelines", 2018.
//! All ranks get what rank 0 has reduced; the rank order is kept where the reduction keeps it.

mod any;

pub(crate) use any::{AnyBcast, AnyReduce, AnyScatter, StagePlan};

use crate::call::{Algorithm, Call, Collective, Parameters, Stage};
use crate::plan::renamed;
use crate::plan::{Acts, Buf, Part, Plan, PlanInputs};

/// Allreduce by a reduction and a broadcast.
pub(crate) type ReduceBcast = Staged<AnyBcast>;

/// Reduce-scatter of blocks of one length by a reduction and a scatter.
pub(crate) type ReduceScatter = Staged<AnyScatter>;

/// One rank's plan for a reduction and a second collective: the steps of the one, then those of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Staged<D> {
    up: AnyReduce,
    down: D,
    in_place: bool,
    /// Elements at the start of scratch that hold the reduced vector; 0 if the output holds it.
    kept: u64,
}

/// One stage: its algorithm, its call and its parameters.
pub(crate) type StageCall = (Algorithm, Call, Parameters);

/// The default k-nomial tree of a collective, which also replaces algorithms that do not suit.
pub(crate) const fn tree(collective: Collective) -> Stage {
    let algorithm = match collective {
        Collective::Reduce => Algorithm::ReduceKnomial,
        Collective::Scatter => Algorithm::ScatterKnomial,
        _ => Algorithm::BcastKnomial,
    };
    Stage {
        radix: 4,
        ..Stage::of(algorithm)
    }
}

/// The calls of the two stages.
pub(crate) fn calls(call: &Call) -> [Call; 2] {
    let (rank, size) = (call.rank, call.size);
    let (count, element_bytes) = (call.count, call.element_bytes);
    let (vector, down, in_place) = match call.collective {
        // The root reduces in scratch, so that its contribution stays where the result is not.
        Collective::ReduceScatterBlock => (
            count.saturating_mul(size.into()),
            Call::scatter(rank, size, 0, count),
            false,
        ),
        _ => (
            count,
            Call::bcast(rank, size, 0, count),
            call.in_place && rank == 0,
        ),
    };
    let up = Call::reduce(rank, size, 0, vector, element_bytes);
    let up = up.with_commutative(call.commutative);
    let down = Call {
        element_bytes,
        ..down
    };
    [up.with_in_place(in_place), down]
}

/// The two stages: those that the parameters name, or default trees in place of those that do not suit.
pub(crate) fn stage_calls(call: &Call, parameters: &Parameters) -> [StageCall; 2] {
    let [up, down] = calls(call);
    [(0, up), (1, down)].map(|(at, call)| {
        let named = parameters.stages[at];
        let suiting = named.filter(|stage| stage.algorithm.suits(&call).is_ok());
        let stage = suiting.unwrap_or(tree(call.collective));
        (stage.algorithm, call, stage.within(parameters))
    })
}

/// The rounds of both stages.
pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
    let stage_calls = stage_calls(call, parameters);
    let rounds = stage_calls.map(|(algorithm, call, by)| algorithm.rounds(&call, &by));
    rounds.iter().sum()
}

impl<D: StagePlan> Staged<D> {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let [(up, to_root, up_by), (down, from_root, down_by)] = stage_calls(call, parameters);
        let is_wider = call.collective == Collective::ReduceScatterBlock;
        Staged {
            up: AnyReduce::of(up, &to_root, &up_by),
            down: D::of(down, &from_root, &down_by),
            in_place: call.in_place,
            kept: if is_wider && call.rank == 0 {
                to_root.count
            } else {
                0
            },
        }
    }

    /// The part of a buffer that a part of the reduction's plan stands for.
    fn reduced(&self, part: Part) -> Part {
        match part.buf {
            Buf::In if self.in_place => part.moved(Buf::In, Buf::Out, 0),
            Buf::Out if self.kept > 0 => part.moved(Buf::Out, Buf::Scratch, 0),
            _ => part.moved(Buf::Scratch, Buf::Scratch, self.kept),
        }
    }

    /// The part of a buffer that a part of the second plan stands for.
    fn handed_out(&self, part: Part) -> Part {
        match part.buf {
            Buf::In if self.kept > 0 => part.moved(Buf::In, Buf::Scratch, 0),
            Buf::In => part.moved(Buf::In, Buf::Out, 0),
            _ => part.moved(Buf::Scratch, Buf::Scratch, self.kept),
        }
    }
}

impl<D: StagePlan> Plan for Staged<D> {
    fn steps(&self) -> u32 {
        self.up.steps() + self.down.steps()
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        self.kept + self.up.scratch(inputs).max(self.down.scratch(inputs))
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let before = self.up.steps();
        let Some(i) = i.checked_sub(before) else {
            return renamed(&self.up, i, inputs, acts, |act| {
                act.with_parts(|part| self.reduced(part))
            });
        };
        let needs = renamed(&self.down, i, inputs, acts, |act| {
            act.with_parts(|part| self.handed_out(part))
        });
        Some(before + needs?)
    }
}
