//! Single values and small arrays as arguments of reductions, in place of slices.

use crate::data::Data;
use crate::op::{ExactSum, ValueLoc};

/// A value that a reduction takes and gives as a whole: a number, or an array of numbers that is reduced
/// element by element.
pub trait Value: Copy {
    /// The type of its elements.
    type Element: Data;
    /// Its elements.
    fn elements(&self) -> &[Self::Element];
    /// Its elements, for writing.
    fn elements_mut(&mut self) -> &mut [Self::Element];
}

macro_rules! scalars {
    ($($t:ty)*) => {$(
        impl Value for $t {
            type Element = $t;
            fn elements(&self) -> &[$t] {
                std::slice::from_ref(self)
            }
            fn elements_mut(&mut self) -> &mut [$t] {
                std::slice::from_mut(self)
            }
        }
    )*};
}

impl<T: Copy> Value for ValueLoc<T>
where
    ValueLoc<T>: Data,
{
    type Element = Self;
    fn elements(&self) -> &[Self] {
        std::slice::from_ref(self)
    }
    fn elements_mut(&mut self) -> &mut [Self] {
        std::slice::from_mut(self)
    }
}

scalars!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 ExactSum);

impl<T: Data, const N: usize> Value for [T; N] {
    type Element = T;
    fn elements(&self) -> &[T] {
        self
    }
    fn elements_mut(&mut self) -> &mut [T] {
        self
    }
}
