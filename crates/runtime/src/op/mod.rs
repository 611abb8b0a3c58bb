//! Reduction operations: predefined ones, and functions of the user.

mod element;
mod exact;
mod floats;
mod loops;
mod reduction;
#[cfg(test)]
mod tests;
mod value_loc;

use std::fmt;

pub use element::{Element, Fold};
pub use exact::ExactSum;
pub(crate) use reduction::{
    Combine, NoReduction, OperandOrder, ResolvedReduction, on_bytes, owned_operation,
};
pub use reduction::{Custom, Reduction};
pub use value_loc::ValueLoc;

/// A predefined operation, such as `MPI_SUM` (MPI 5.0, section 6.9.2).
///
/// All are commutative. [`Op::commutative`] and [`Op::ordered`] make operations of functions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Op(OpCode);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum OpCode {
    Sum,
    Product,
    Min,
    Max,
    And,
    Or,
    Xor,
    LogicalAnd,
    LogicalOr,
    LogicalXor,
    MinLoc,
    MaxLoc,
}

impl Op {
    /// `a + b`; integers wrap around.
    pub const SUM: Self = Self(OpCode::Sum);
    /// `a * b`; integers wrap around.
    pub const PROD: Self = Self(OpCode::Product);
    /// The smaller one; a NaN loses to a number, and -0 is below 0.
    pub const MIN: Self = Self(OpCode::Min);
    /// The larger one; a NaN loses to a number, and -0 is below 0.
    pub const MAX: Self = Self(OpCode::Max);
    /// `a & b`; integers only.
    pub const BAND: Self = Self(OpCode::And);
    /// `a | b`; integers only.
    pub const BOR: Self = Self(OpCode::Or);
    /// `a ^ b`; integers only.
    pub const BXOR: Self = Self(OpCode::Xor);
    /// 1 where both are not 0, else 0; integers only.
    pub const LAND: Self = Self(OpCode::LogicalAnd);
    /// 1 where one of them is not 0, else 0; integers only.
    pub const LOR: Self = Self(OpCode::LogicalOr);
    /// 1 where exactly one of them is not 0, else 0; integers only.
    pub const LXOR: Self = Self(OpCode::LogicalXor);
    /// The [`ValueLoc`] with the smaller value; of equal values the one with the lower index.
    pub const MINLOC: Self = Self(OpCode::MinLoc);
    /// The [`ValueLoc`] with the larger value; of equal values the one with the lower index.
    pub const MAXLOC: Self = Self(OpCode::MaxLoc);

    /// Every predefined operation.
    pub const ALL: [Self; 12] = [
        Self::SUM,
        Self::PROD,
        Self::MIN,
        Self::MAX,
        Self::BAND,
        Self::BOR,
        Self::BXOR,
        Self::LAND,
        Self::LOR,
        Self::LXOR,
        Self::MINLOC,
        Self::MAXLOC,
    ];

    /// The name as the MPI standard spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            OpCode::Sum => "SUM",
            OpCode::Product => "PROD",
            OpCode::Min => "MIN",
            OpCode::Max => "MAX",
            OpCode::And => "BAND",
            OpCode::Or => "BOR",
            OpCode::Xor => "BXOR",
            OpCode::LogicalAnd => "LAND",
            OpCode::LogicalOr => "LOR",
            OpCode::LogicalXor => "LXOR",
            OpCode::MinLoc => "MINLOC",
            OpCode::MaxLoc => "MAXLOC",
        }
    }

    /// An operation by an associative and commutative function: operands are combined in any order
    /// (`MPI_Op_create`).
    ///
    /// A type with an alignment above 128 bytes does not compile.
    #[must_use]
    pub const fn commutative<T, F: Fn(T, T) -> T>(combine: F) -> Custom<F> {
        Custom::new(combine, true)
    }

    /// An operation by an associative function: operands are combined in the order of the ranks
    /// (`MPI_Op_create`).
    ///
    /// ```
    /// # use oxmpi::{Op, World};
    /// # let world = World::init()?;
    /// // The composition of x -> a x + b on all ranks, the last one's applied first.
    /// let compose = |[a, b]: [u64; 2], [c, d]: [u64; 2]| [a * c, a * d + b];
    /// let mut all = [[0; 2]];
    /// world.comm().allreduce_into(&[[2, 1]], &mut all, Op::ordered(compose))?;
    /// # Ok::<(), oxmpi::Error>(())
    /// ```
    #[must_use]
    pub const fn ordered<T, F: Fn(T, T) -> T>(combine: F) -> Custom<F> {
        Custom::new(combine, false)
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
