//! Counts: `int` in most functions, `MPI_Count` or `MPI_Aint` in those whose names end in `_c`.

use std::fmt::Display;

use crate::error::{Error, Result};
use crate::types::{Aint, Count, c_int};

/// A type of counts.
pub(crate) trait Counting: Copy + Display {
    /// The number; `None` if it is negative.
    fn number(self) -> Option<u64>;
    /// Bytes of as many elements of `size` bytes; `None` if the number is negative, or 63 bits do not count them.
    fn bytes(self, size: u8) -> Option<u64>;
    /// The number with its sign: a displacement.
    fn signed(self) -> i64;
    /// The count of a number, if it has one.
    fn of(number: u64) -> Option<Self>;
    /// `MPI_UNDEFINED`.
    const UNDEFINED: Self;

    /// The number.
    ///
    /// # Errors
    /// `MPI_ERR_COUNT` where it is negative.
    #[inline(always)]
    fn checked(self) -> Result<u64> {
        self.number().ok_or_else(|| Error::count(self))
    }
}

macro_rules! counting {
    ($($type:ty, |$count:ident, $size:ident| $bytes:expr;)*) => {
        $(
            impl Counting for $type {
                const UNDEFINED: Self = crate::constants::MPI_UNDEFINED as Self;

                #[inline(always)]
                fn number(self) -> Option<u64> {
                    u64::try_from(self).ok()
                }

                #[inline(always)]
                fn bytes(self, size: u8) -> Option<u64> {
                    let ($count, $size) = (self.number()?, u64::from(size));
                    $bytes
                }

                #[inline(always)]
                fn signed(self) -> i64 {
                    self as i64
                }

                fn of(number: u64) -> Option<Self> {
                    Self::try_from(number).ok()
                }
            }
        )*
    };
}

counting! {
    c_int, |count, size| Some(count * size);
    Count, |count, size| count.checked_mul(size).filter(|&bytes| bytes <= i64::MAX as u64);
    Aint, |count, size| count.checked_mul(size).filter(|&bytes| bytes <= i64::MAX as u64);
}
