//! Reduction operations: predefined ones, and functions of the program.

mod reduction;
#[cfg(test)]
mod tests;

pub use oxmpi_core::{Custom, Element, ExactSum, Fold, Op, ValueLoc};
pub(crate) use oxmpi_core::{OperandOrder, ResolvedReduction};
pub use reduction::Reduction;
pub(crate) use reduction::{Combine, NoReduction, on_bytes, owned_operation};
