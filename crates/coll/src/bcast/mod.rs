//! Broadcast: every rank gets the root's elements (MPI 5.0, section 6.4). Elements are packed
//! bytes.
//!
//! The root reads them from `In`, every other rank gets them in `Out`.

mod binomial;

pub use binomial::Binomial;
