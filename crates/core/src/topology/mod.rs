//! The neighbours of ranks, for neighbourhood collectives.

mod grid;

use std::sync::Arc;

pub use grid::Grid;

use super::collective_state::Neighbors;

/// A rank's neighbours, and how their blocks are matched.
#[derive(Debug)]
pub struct Topology {
    /// The neighbours, in the rank's order.
    pub neighbors: Arc<Neighbors>,
    /// Whether they are those of a grid: data sent down a dimension is received from above.
    pub cartesian: bool,
}

impl Topology {
    /// The topology of these neighbours; `cartesian`: see there.
    #[must_use]
    pub fn new(sources: Vec<u32>, destinations: Vec<u32>, cartesian: bool) -> Arc<Self> {
        Arc::new(Self {
            neighbors: Arc::new(Neighbors {
                sources,
                destinations,
            }),
            cartesian,
        })
    }

    /// Number of neighbours from which a rank receives.
    #[must_use]
    pub fn sources(&self) -> usize {
        self.neighbors.sources.len()
    }

    /// Number of neighbours to which a rank sends.
    #[must_use]
    pub fn destinations(&self) -> usize {
        self.neighbors.destinations.len()
    }
}
