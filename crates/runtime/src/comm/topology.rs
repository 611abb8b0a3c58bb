//! The neighbours of ranks, for neighbourhood collectives.

use std::sync::Arc;

use oxmpi_core::Neighbors;

/// A rank's neighbours, and how their blocks are matched.
#[derive(Debug)]
pub(crate) struct Topology {
    pub(crate) neighbors: Arc<Neighbors>,
    /// Whether they are those of a grid: data sent down a dimension is received from above.
    pub(crate) cartesian: bool,
}

impl Topology {
    pub(crate) fn new(sources: Vec<u32>, destinations: Vec<u32>, cartesian: bool) -> Arc<Self> {
        Arc::new(Self {
            neighbors: Arc::new(Neighbors {
                sources,
                destinations,
            }),
            cartesian,
        })
    }

    /// Number of neighbours from which a rank receives.
    pub(crate) fn sources(&self) -> usize {
        self.neighbors.sources.len()
    }

    /// Number of neighbours to which a rank sends.
    pub(crate) fn destinations(&self) -> usize {
        self.neighbors.destinations.len()
    }
}
