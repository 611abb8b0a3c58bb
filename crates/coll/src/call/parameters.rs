//! The numbers that tune an algorithm, and what an algorithm needs of a call.

use super::{Algorithm, SharedMemory};
use crate::placement::Order;

/// The numbers that tune an algorithm; 0 for those that it does not take.
///
/// All ranks of a group use the same numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Parameters {
    /// Children of a tree node per level, plus one; or messages of a rank per round, plus one.
    pub radix: u32,
    /// The radix of the second phase (an allgather or gather) where it differs from `radix`.
    pub gather_radix: u32,
    /// Pieces that the vector is cut into; or the most ranks of a node that share one incoming message.
    pub blocks: u32,
    /// Messages of a rank under way at a time.
    pub window: u32,
    /// The most bytes in one message.
    pub segment: u64,
    /// Bytes of the longest block that goes through the tree; the root exchanges longer ones directly.
    pub cutoff: u64,
    /// Ranks on a node. Where it does not divide the number of ranks, some algorithms take every rank for a
    /// node of its own; their documentation says so.
    pub per_node: u32,
    /// How ranks are placed on nodes; for algorithms that take `per_node`.
    pub order: Order,
    /// The stages of an algorithm that does one collective after another.
    pub stages: [Option<Stage>; 2],
}

/// A collective that serves as one stage of another: its algorithm and that algorithm's parameters; 0 stands
/// for the algorithm's default.
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
    /// A stage by an algorithm with default parameters.
    pub const fn of(algorithm: Algorithm) -> Self {
        Stage::with(algorithm, &Parameters::NONE)
    }

    /// A stage by an algorithm with those of `numbers` that a stage has.
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

/// Makes setters of fields that take and return the whole.
macro_rules! setters {
    ($of:ident: $($with:ident($field:ident: $type:ty))*) => {
        impl $of {
            $(
                #[doc = concat!("The same with [`", stringify!($field), "`](", stringify!($of), "::", stringify!($field), ").")]
                #[must_use]
                pub const fn $with(self, $field: $type) -> Self {
                    $of { $field, ..self }
                }
            )*
        }
    };
}

pub(crate) use setters;

setters! {
    Parameters:
    with_radix(radix: u32)
    with_gather_radix(gather_radix: u32)
    with_blocks(blocks: u32)
    with_window(window: u32)
    with_segment(segment: u64)
    with_cutoff(cutoff: u64)
    with_per_node(per_node: u32)
    with_order(order: Order)
}

setters! {
    Needs:
    with_power_of_two(power_of_two: bool)
    with_max_size(max_size: u32)
    with_max_radix(max_radix: u32)
    with_shared_memory(shared_memory: SharedMemory)
}

impl Parameters {
    /// No parameter.
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

/// What an algorithm requires of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The operation must commute.
    pub commutative: bool,
    /// The operation must be [exact](super::Call::exact).
    pub exact: bool,
    /// The number of ranks must be a power of two.
    pub power_of_two: bool,
    /// No rank may call in place.
    pub apart: bool,
    /// Which ranks must be able to do intra-node operations.
    pub shared_memory: SharedMemory,
    /// The most ranks.
    pub max_size: u32,
    /// The largest radix, if it takes one; the smallest is 2.
    pub max_radix: u32,
}

impl Needs {
    /// No requirement.
    pub const NOTHING: Needs = Needs {
        commutative: false,
        exact: false,
        power_of_two: false,
        apart: false,
        shared_memory: SharedMemory::None,
        max_size: u32::MAX,
        max_radix: 256,
    };

    /// The operation must commute.
    pub const COMMUTATIVE: Needs = Needs {
        commutative: true,
        ..Needs::NOTHING
    };
}
