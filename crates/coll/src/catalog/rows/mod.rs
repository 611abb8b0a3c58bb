//! Rows of the catalog that are too long for the table, and the rounds that they promise.

pub(super) mod allreduce;
pub(super) mod bcast;
pub(super) mod intra_node;
pub(super) mod node_aware;
pub(super) mod reduce;
pub(super) mod rounds;
pub(super) mod several;

use crate::call::{Collective, Parameters};
use crate::stages;

/// The default parameters of a reduction followed by another collective: k-nomial trees for both.
pub(super) const fn in_stages(after: Collective) -> Parameters {
    Parameters {
        per_node: 1,
        stages: [
            Some(stages::tree(Collective::Reduce)),
            Some(stages::tree(after)),
        ],
        ..Parameters::NONE
    }
}
