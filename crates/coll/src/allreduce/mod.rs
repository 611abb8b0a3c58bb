//! Reduction whose result every rank gets, with the same bits (MPI 5.0, section 6.9.6).
//!
//! Every rank reads its contribution from `In`, or from `Out` in place, and gets the result in
//! `Out`.

mod recursive_doubling;
mod ring;

pub use recursive_doubling::RecursiveDoubling;
pub use ring::{MAX_SIZE as RING_MAX_SIZE, Ring};
