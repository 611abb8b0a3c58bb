//! Phases inside a node.

use crate::call::Parameters;
use crate::phase::Phase;
use crate::tree::{self, TreePlace};
use crate::{bcast, gather, reduce, scatter};

/// A phase among the ranks of a node.
pub(crate) trait IntraNodePhase: Phase {
    /// At most its rounds among `size` ranks.
    fn most_rounds(size: u32, parameters: &Parameters) -> u64;
}

impl<T: TreePlace> IntraNodePhase for bcast::BcastTree<T> {
    fn most_rounds(size: u32, parameters: &Parameters) -> u64 {
        T::most_rounds(size, parameters)
    }
}

impl<T: TreePlace> IntraNodePhase for reduce::ReduceTree<T> {
    fn most_rounds(size: u32, parameters: &Parameters) -> u64 {
        T::most_rounds(size, parameters)
    }
}

impl IntraNodePhase for gather::GatherKnomial {
    fn most_rounds(size: u32, parameters: &Parameters) -> u64 {
        tree::KnomialPlace::most_rounds(size, parameters)
    }
}

impl IntraNodePhase for scatter::ScatterKnomial {
    fn most_rounds(size: u32, parameters: &Parameters) -> u64 {
        tree::KnomialPlace::most_rounds(size, parameters)
    }
}
