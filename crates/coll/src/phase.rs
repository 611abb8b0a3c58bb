//! A plan of the catalog as a phase of another one.

use core::ops::Range;

use crate::catalog::{Call, Parameters};
use crate::plan::Plan;
use crate::{allgather, allreduce, bcast, gather, hierarchy, reduce, scatter, tree};

/// A plan that is made for a call of its own, as part of another call.
pub trait Phase: Plan {
    /// One rank's plan.
    fn of(call: &Call, parameters: &Parameters) -> Self;

    /// The first of the blocks that a rank keeps in scratch on their way, in a scatter.
    fn stock(&self) -> u32 {
        0
    }

    /// The ranks whose blocks come to a rank, in a scatter.
    fn brought(&self, rank: u32) -> Range<u32> {
        rank..rank + 1
    }

    /// How many of so many ranks, the first ones, best have a block, in an allgather of a vector's blocks.
    fn owners(size: u32) -> u32 {
        size
    }

    /// How many of the first steps need nothing, in an allgather.
    fn free(&self) -> u32 {
        1
    }
}

/// A plan for a vector.
pub trait Shorten: Phase + Copy {
    /// The same for a vector of so many elements, no more.
    #[must_use]
    fn shortened(&self, count: u64) -> Self;
}

impl Phase for allgather::Linear {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        allgather::Linear::of(call, parameters)
    }

    fn free(&self) -> u32 {
        self.window()
    }
}

impl Phase for allgather::Bruck {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        allgather::Bruck::of(call, parameters)
    }

    fn free(&self) -> u32 {
        self.radix() - 1
    }
}

impl Phase for allgather::Ring {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        allgather::Ring::of(call, parameters)
    }

    fn free(&self) -> u32 {
        allgather::Ring::free(self)
    }
}

impl Phase for allgather::NeighborExchange {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        allgather::NeighborExchange::of(call, parameters)
    }

    fn owners(size: u32) -> u32 {
        allgather::NeighborExchange::members(size).max(1)
    }
}

impl Phase for scatter::Linear {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        // Else no message leaves the node, or it is not known which ones do.
        match (1..call.size).contains(&parameters.per_node) {
            true => scatter::Linear::before_more(call, parameters),
            false => scatter::Linear::of(call, parameters),
        }
    }
}

impl Phase for scatter::Knomial {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        scatter::Knomial::of(call, parameters)
    }

    fn stock(&self) -> u32 {
        self.first()
    }

    fn brought(&self, rank: u32) -> Range<u32> {
        self.subtree(rank)
    }
}

macro_rules! phases {
    ($($plan:ty,)*) => {
        $(
            impl Phase for $plan {
                fn of(call: &Call, parameters: &Parameters) -> Self {
                    <$plan>::of(call, parameters)
                }
            }
        )*
    };
}

phases! {
    allreduce::RecursiveDoubling,
    allreduce::RecursiveSplitting,
    bcast::Chain,
    bcast::Circulant,
    gather::Knomial,
    hierarchy::InTeam,
}

impl<T: tree::Place> Phase for bcast::Tree<T> {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        bcast::Tree::of(call, parameters)
    }
}

impl<T: tree::Place> Phase for reduce::Tree<T> {
    fn of(call: &Call, parameters: &Parameters) -> Self {
        reduce::Tree::of(call, parameters)
    }
}
