//! Reduction to one rank (MPI 5.0, section 6.9.1).
//!
//! Every rank reads its contribution from `In`, or the root from `Out` in place. The root gets the
//! result in `Out`; the other ranks do not use theirs.

mod binomial;

pub use binomial::Binomial;
