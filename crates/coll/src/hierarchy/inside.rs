//! What goes on inside a node.

use crate::catalog::Parameters;
use crate::phase::Phase;
use crate::tree::{self, Place};
use crate::{bcast, gather, reduce, scatter};

/// A phase among the ranks of a node.
pub trait Inside: Phase {
    /// The most rounds among so many ranks.
    fn most_rounds(size: u32, parameters: &Parameters) -> u64;
}

impl<T: Place> Inside for bcast::Tree<T> {
    fn most_rounds(size: u32, parameters: &Parameters) -> u64 {
        T::most_rounds(size, parameters)
    }
}

impl<T: Place> Inside for reduce::Tree<T> {
    fn most_rounds(size: u32, parameters: &Parameters) -> u64 {
        T::most_rounds(size, parameters)
    }
}

impl Inside for gather::Knomial {
    fn most_rounds(size: u32, parameters: &Parameters) -> u64 {
        tree::Knomial::most_rounds(size, parameters)
    }
}

impl Inside for scatter::Knomial {
    fn most_rounds(size: u32, parameters: &Parameters) -> u64 {
        tree::Knomial::most_rounds(size, parameters)
    }
}
