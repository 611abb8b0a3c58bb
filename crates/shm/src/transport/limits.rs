//! How far each path through a node's memory reaches, and what it costs.

use oxmpi_wire::Limits;
use oxmpi_wire::paths::{Cost, Costs};

use super::SHORT;
use crate::segment::Layout;

/// Costs between two processors that share a cache: not measured but set, in the proportions that
/// the lines and copies of each path have, with the first one near what a message of 8 B took on a
/// Zen 4. They say which path is the shorter one; `oxmpi bench` says what a path takes.
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
