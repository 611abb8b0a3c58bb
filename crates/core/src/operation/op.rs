//! [`Op`]: predefined operations, and operations by functions of the program.

use std::fmt;

/// A predefined operation, such as `MPI_SUM` (MPI 5.0, section 6.9.2).
///
/// All are commutative. [`Op::commutative`] and [`Op::ordered`] make operations of functions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Op(pub(super) OpCode);

/// Defines the operations: for each its documentation, its name in the MPI standard, and its code.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident = $code:ident;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub(super) enum OpCode {
            $($code,)*
        }

        impl Op {
            $($(#[$doc])* pub const $name: Self = Self(OpCode::$code);)*

            /// Every predefined operation.
            pub const ALL: [Self; 12] = [$(Self::$name),*];

            /// The name as the MPI standard spells it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self.0 {
                    $(OpCode::$code => stringify!($name),)*
                }
            }
        }
    };
}

operations! {
    /// `a + b`; integers wrap around.
    SUM = Sum;
    /// `a * b`; integers wrap around.
    PROD = Product;
    /// The smaller one; a NaN loses to a number, and -0 is below 0.
    MIN = Min;
    /// The larger one; a NaN loses to a number, and -0 is below 0.
    MAX = Max;
    /// `a & b`; integers only.
    BAND = And;
    /// `a | b`; integers only.
    BOR = Or;
    /// `a ^ b`; integers only.
    BXOR = Xor;
    /// 1 where both are not 0, else 0; integers only.
    LAND = LogicalAnd;
    /// 1 where one of them is not 0, else 0; integers only.
    LOR = LogicalOr;
    /// 1 where exactly one of them is not 0, else 0; integers only.
    LXOR = LogicalXor;
    /// The [`ValueLoc`](super::ValueLoc) with the smaller value; of equal values the one with the lower index.
    MINLOC = MinLoc;
    /// The [`ValueLoc`](super::ValueLoc) with the larger value; of equal values the one with the lower index.
    MAXLOC = MaxLoc;
}

impl Op {
    /// An operation by an associative and commutative function: operands are combined in any order
    /// (`MPI_Op_create`).
    ///
    /// A type with an alignment above 128 bytes does not compile.
    #[must_use]
    pub const fn commutative<T, F: Fn(T, T) -> T>(combine: F) -> Custom<F> {
        Custom {
            combine,
            commutative: true,
        }
    }

    /// An operation by an associative function: operands are combined in the order of the ranks
    /// (`MPI_Op_create`).
    #[must_use]
    pub const fn ordered<T, F: Fn(T, T) -> T>(combine: F) -> Custom<F> {
        Custom {
            combine,
            commutative: false,
        }
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An operation by a function of the program, made by [`Op::commutative`] and [`Op::ordered`].
#[derive(Clone, Copy, Debug)]
pub struct Custom<F> {
    combine: F,
    commutative: bool,
}

impl<F> Custom<F> {
    /// What the order of operands changes.
    pub const fn is_commutative(&self) -> bool {
        self.commutative
    }

    /// The function of two elements.
    pub fn into_combine(self) -> F {
        self.combine
    }
}
