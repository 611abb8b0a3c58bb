//! Allreduce by a reduction of the catalog to rank 0 and then a broadcast of the catalog from there.
//!
//! Which ones they are, and what numbers they take, the parameters say. So an allreduce need not be
//! slower than a reduce and a bcast, whatever serves these: Hunold and Carpen-Amarie, "Autotuning MPI
//! collectives using performance guidelines", 2018. All ranks get the same bits, and the order of the
//! ranks is kept where the reduction keeps it.

use super::stages::{Down, Up};
use crate::catalog::{Algorithm, Call, Parameters, Stage};
use crate::hierarchy::renamed;
use crate::plan::{Acts, Buf, Known, Part, Plan};
use crate::{bcast, reduce};

/// A tree up and down again: what serves calls that other algorithms do not suit.
pub(crate) const TREES: [Stage; 2] = [
    Stage {
        radix: 4,
        ..Stage::of(Algorithm::ReduceKnomial)
    },
    Stage {
        radix: 4,
        ..Stage::of(Algorithm::BcastKnomial)
    },
];

/// One of the two: the algorithm, its call, and the parameters that it runs with.
pub(crate) type Run = (Algorithm, Call, Parameters);

/// One rank's part in a reduction and a broadcast: the steps of the one, then those of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReduceBcast {
    up: Up,
    down: Down,
    in_place: bool,
}

/// The calls of the reduction and of the broadcast.
pub(crate) fn calls(call: &Call) -> [Call; 2] {
    let &Call {
        rank, size, count, ..
    } = call;
    let reduce = Call::reduce(rank, size, 0, count, call.element_bytes);
    let reduce = reduce.with_commutative(call.commutative);
    let bcast = Call::bcast(rank, size, 0, count);
    [
        reduce.with_in_place(call.in_place && rank == 0),
        Call {
            element_bytes: call.element_bytes,
            ..bcast
        },
    ]
}

/// What is run: the stages that the parameters name, or trees in place of those that do not suit.
pub(crate) fn runs(call: &Call, parameters: &Parameters) -> [Run; 2] {
    let [up, down] = calls(call);
    [(0, up), (1, down)].map(|(at, call)| {
        let named = parameters.stages[at];
        let suiting = named.filter(|stage| stage.algorithm.suits(&call).is_ok());
        let stage = suiting.unwrap_or(TREES[at]);
        (stage.algorithm, call, stage.within(parameters))
    })
}

impl ReduceBcast {
    pub(crate) fn of(call: &Call, parameters: &Parameters) -> Self {
        let [(up, to_root, up_by), (down, from_root, down_by)] = runs(call, parameters);
        let tree = || Up::ReduceKnomial(reduce::Knomial::of(&to_root, &up_by));
        let back = || Down::BcastKnomial(bcast::Knomial::of(&from_root, &down_by));
        ReduceBcast {
            up: Up::of(up, &to_root, &up_by).unwrap_or_else(tree),
            down: Down::of(down, &from_root, &down_by).unwrap_or_else(back),
            in_place: call.in_place,
        }
    }

    /// The rounds of both.
    pub(crate) fn rounds(call: &Call, parameters: &Parameters) -> u64 {
        let runs = runs(call, parameters);
        let rounds = runs.map(|(algorithm, call, by)| algorithm.rounds(&call, &by));
        rounds.iter().sum()
    }
}

impl Plan for ReduceBcast {
    fn steps(&self) -> u32 {
        self.up.steps() + self.down.steps()
    }

    fn scratch(&self, known: &Known<'_>) -> u64 {
        self.up.scratch(known).max(self.down.scratch(known))
    }

    fn step(&self, i: u32, known: &Known<'_>, acts: &mut Acts) -> Option<u32> {
        // In place the input is in `Out`; so is what rank 0 broadcasts.
        let from_output = |part: Part| part.moved(Buf::In, Buf::Out, 0);
        let Some(after) = i.checked_sub(self.up.steps()) else {
            return renamed(&self.up, i, known, acts, |act| match self.in_place {
                true => act.with_parts(from_output),
                false => act,
            });
        };
        let needs = renamed(&self.down, after, known, acts, |act| {
            act.with_parts(from_output)
        });
        Some(i - after + needs?)
    }
}
