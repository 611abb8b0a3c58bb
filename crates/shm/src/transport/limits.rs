//! How far each path through a node's memory reaches, and what it costs.

use oxmpi_wire::Limits;
use oxmpi_wire::paths::{Cost, Costs};

use super::SHORT;
use crate::segment::Layout;

/// Costs between two processors that share a cache, of the AMD kind: medians of `oxmpi bench` as
/// rounded lines. Farther apart every figure grows alike, and the switch points stay.
const COSTS: Costs = Costs {
    // One line with its sequence.
    short: Cost::line(38, 300),
    // A line, and a buffer that is copied into and out of.
    frame: Cost::line(60, 55),
    // Two lines and the stream's own; copying in and out overlap.
    get: Cost::line(400, 45),
    // One line more than a get.
    put: Cost::line(500, 45),
};

/// The limits of every link in a segment of this layout.
#[must_use]
pub const fn limits(layout: &Layout) -> Limits {
    Limits {
        costs: COSTS,
        ..Limits::new(SHORT as u32, layout.buffer)
    }
}
