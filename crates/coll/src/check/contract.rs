//! What a collective promises: what each rank has at the start, and what it must have at the end.

use alloc::vec::Vec;
use core::ops::Range;

use super::ranks::Ranks;
use crate::catalog::{Call, Collective};

/// The promise of one collective call to all its ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// Each rank's share, by rank.
    pub tasks: Vec<Task>,
    /// Whether operands may be exchanged; if not, contributions must be combined in the order of
    /// the ranks.
    pub commutative: bool,
    /// Whether all ranks must end with the same bits in their outputs.
    pub same_bits: bool,
    /// Whether no rank may end before all have started. Messages then need not carry elements.
    pub barrier: bool,
}

/// One rank's share of a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Elements of `In`; all are given.
    pub input: u64,
    /// Elements of `Out`.
    pub output: u64,
    /// Whether `Out` holds the input at the start.
    pub in_place: bool,
    /// What `Out` must hold at the end.
    pub expected: Vec<Expected>,
}

/// What some consecutive elements must hold at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The elements of `Out`.
    pub elements: Range<u64>,
    /// The index, in the contributors' inputs, of what belongs into the first of them.
    pub source: u64,
    /// Who contributes.
    pub ranks: Ranks,
}

impl Contract {
    /// What MPI promises to the calls of ranks 0, 1 and so on.
    pub fn of(calls: &[Call]) -> Self {
        let first = calls.first();
        let is = |collective| first.is_some_and(|call| call.collective == collective);
        Contract {
            tasks: calls.iter().map(Task::of).collect(),
            commutative: first.is_some_and(|call| call.commutative),
            same_bits: is(Collective::Allreduce),
            barrier: is(Collective::Barrier),
        }
    }
}

impl Task {
    fn of(call: &Call) -> Self {
        let &Call {
            collective,
            rank,
            size,
            root,
            count,
            in_place,
            ..
        } = call;
        let at_root = rank == root;
        let (gives, gets, ranks) = match collective {
            Collective::Barrier => (false, false, Ranks::new()),
            Collective::Bcast => (at_root, !at_root, Ranks::one(root)),
            Collective::Reduce => (true, at_root, Ranks::range(0..size)),
            Collective::Allreduce => (true, true, Ranks::range(0..size)),
        };
        let in_place = in_place && gives && gets;
        let expected = Expected {
            elements: 0..count,
            source: 0,
            ranks,
        };
        Task {
            input: if gives && !in_place { count } else { 0 },
            output: if gets { count } else { 0 },
            in_place,
            expected: if gets && count > 0 {
                Vec::from([expected])
            } else {
                Vec::new()
            },
        }
    }
}
