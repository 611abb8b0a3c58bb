//! [`Shape`]: the topology that a program has given a communicator.

use std::sync::Arc;

use oxmpi_core::{Grid, Topology};

use crate::types::c_int;

/// The topology that a program has given a communicator.
pub(crate) enum Shape {
    Cart(Grid, Arc<Topology>),
    Graph(GraphShape, Arc<Topology>),
    DistGraph(Weights, Arc<Topology>),
}

impl Shape {
    /// The neighbours of this rank.
    pub(crate) const fn topology(&self) -> &Arc<Topology> {
        match self {
            Self::Cart(_, topology) | Self::Graph(_, topology) | Self::DistGraph(_, topology) => {
                topology
            }
        }
    }
}

/// The edges of all ranks, as the program gave them.
pub(crate) struct GraphShape {
    /// For each rank the number of edges of the ranks up to it.
    pub(crate) index: Vec<c_int>,
    /// The neighbours of one rank after another.
    pub(crate) edges: Vec<c_int>,
}

/// The weights of the edges of a rank; `None`: the graph has none.
pub(crate) struct Weights(pub(crate) Option<[Vec<c_int>; 2]>);
