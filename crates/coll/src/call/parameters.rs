//! The numbers that tune an algorithm, and what an algorithm needs of a call.

use super::{Algorithm, SharedMemory};
use crate::placement::Order;

/// The numbers that an algorithm can be tuned by. One that it does not take is 0.
///
/// All ranks of a group use the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Parameters {
    /// Children of a node of the tree, plus one; messages of a rank in one round, plus one.
    pub radix: u32,
    /// The same in the allgather of an algorithm whose `radix` is that of a scatter.
    pub gather_radix: u32,
    /// Pieces that the vector is cut into; or the most ranks of a node that share what comes from another one.
    pub blocks: u32,
    /// Messages under way at a time.
    pub window: u32,
    /// Bytes that a message carries at most.
    pub segment: u64,
    /// Bytes of the longest block that goes through the tree; a longer one goes straight.
    pub cutoff: u64,
    /// Ranks of a node. Where it does not divide the ranks, some algorithms take every rank for a
    /// node of its own; they say so.
    pub per_node: u32,
    /// In which order ranks are on nodes. It is looked at by those that take `per_node`.
    pub order: Order,
    /// What an algorithm does one after the other, where it can be told.
    pub stages: [Option<Stage>; 2],
}

/// A collective that an algorithm does as one of its stages: by which algorithm, and the numbers that
/// this takes; 0 stands for its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stage {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// As [`Parameters::radix`].
    pub radix: u32,
    /// As [`Parameters::gather_radix`].
    pub gather_radix: u32,
    /// As [`Parameters::blocks`].
    pub blocks: u32,
    /// As [`Parameters::window`].
    pub window: u32,
}

impl Stage {
    /// An algorithm with its own numbers.
    pub const fn of(algorithm: Algorithm) -> Self {
        Stage::with(algorithm, &Parameters::NONE)
    }

    /// An algorithm with those of the numbers that a stage has.
    pub const fn with(algorithm: Algorithm, numbers: &Parameters) -> Self {
        Stage {
            algorithm,
            radix: numbers.radix,
            gather_radix: numbers.gather_radix,
            blocks: numbers.blocks,
            window: numbers.window,
        }
    }
}

impl Parameters {
    /// None.
    pub const NONE: Parameters = Parameters {
        radix: 0,
        gather_radix: 0,
        blocks: 0,
        window: 0,
        segment: 0,
        cutoff: 0,
        per_node: 0,
        order: Order::Block,
        stages: [None; 2],
    };
}

/// What a call, and a radix, must be like for an algorithm to serve it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The operation commutes.
    pub commutative: bool,
    /// The operation is [exact](Call::exact).
    pub exact: bool,
    /// The number of ranks is a power of two.
    pub power_of_two: bool,
    /// The number of ranks is even, or 1.
    pub even: bool,
    /// No rank calls in place.
    pub apart: bool,
    /// Which ranks act together.
    pub shared_memory: SharedMemory,
    /// The largest group.
    pub max_size: u32,
    /// The largest radix, where it takes one; the smallest is 2.
    pub max_radix: u32,
}

impl Needs {
    /// Nothing.
    pub const NOTHING: Needs = Needs {
        commutative: false,
        exact: false,
        power_of_two: false,
        even: false,
        apart: false,
        shared_memory: SharedMemory::None,
        max_size: u32::MAX,
        max_radix: 256,
    };
}
