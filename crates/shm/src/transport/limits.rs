//! The limits of a node's links: the longest body of each path, and its cost.

use oxmpi_wire::Limits;
use oxmpi_wire::paths::{Cost, PathCosts};

use super::SHORT;
use crate::segment::SegmentLayout;

/// Costs between two processors that share a cache: medians of a PingPong, one way, from 8 B to 1 MiB on a Zen 4
/// (`crates/runtime/examples/peers/pingpong.rs`), as rounded lines. Farther apart all figures grow alike, so the switch
/// points stay.
const COSTS: PathCosts = PathCosts {
    // One line with its sequence; beyond 48 B a second one.
    short: Cost::line(53, 85).then(49, 15, 1050),
    // A line, and a buffer that is copied into and out of.
    frame: Cost::line(146, 36),
    // The offer is claimed, while copying in has begun; then copying in and out overlap. In a
    // ping-pong of messages, through a ping-pong window: a one-way stream costs twice as much.
    get: Cost::line(740, 30).then(65_536, 540, 33),
    // A line more than a get, then chunks through the link's own buffers.
    put: Cost::line(820, 138).then(65_536, 1850, 112),
};

/// The limits of every link in a segment of this layout.
#[must_use]
pub const fn limits(layout: &SegmentLayout) -> Limits {
    Limits {
        costs: COSTS,
        ..Limits::new(SHORT as u32, layout.buffer)
    }
}
