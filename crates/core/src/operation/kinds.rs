//! Types of elements as values, for a face that learns them at run time.

#[cfg(test)]
mod tests;

use oxmpi_coll::choice::Reproducible;
use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::{
    Byte, Complex, Element, Fold, Half, Logical, Op, Predefined, Quad, ResolvedReduction, ValueLoc,
};
use crate::bytes::target;
use crate::error::Result;

/// C's `long double`.
#[cfg(target_arch = "x86_64")]
type LongDouble = super::X87;
#[cfg(not(target_arch = "x86_64"))]
type LongDouble = Quad;

/// Elements that are combined at once where memory is not aligned.
const STAGED: usize = 64;

/// Defines [`ElementKind`] and [`KindReduction`]: for each kind its documentation, its name, and its type.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident: $t:ty;)*) => {
        /// A type of elements that has predefined operations.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ElementKind {
            $($(#[$doc])* $kind,)*
        }

        impl ElementKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Bytes of an element.
            #[must_use]
            pub const fn size(self) -> usize {
                match self {
                    $(Self::$kind => size_of::<$t>(),)*
                }
            }

            /// `op` on elements of this kind, with results as reproducible as `preference` asks.
            ///
            /// # Errors
            /// Those of [`Predefined::resolve`].
            pub fn resolve(
                self,
                op: Op,
                preference: Reproducible,
            ) -> Result<ResolvedReduction<KindReduction>> {
                Ok(match self {
                    $(Self::$kind => {
                        let ResolvedReduction { kind, combine, widening } =
                            Predefined::<$t>::resolve(op, preference)?;
                        ResolvedReduction {
                            kind,
                            combine: KindReduction(Code::$kind(combine)),
                            widening,
                        }
                    })*
                })
            }
        }

        #[derive(Clone, Copy, Debug)]
        enum Code {
            $($kind(Predefined<$t>),)*
        }

        impl KindReduction {
            /// Combines the elements of `from` into those of `into`, which need no alignment.
            ///
            /// # Safety
            /// As [`elements`](super::elements) asks, of the kind's type, or of [`ExactSum`](super::ExactSum) where the reduction is
            /// widened, but for the alignment.
            pub unsafe fn combine(&self, from: RawBytes, into: RawBytes) {
                match &self.0 {
                    // SAFETY: the caller's promise.
                    $(Code::$kind(predefined) => unsafe { combine(predefined, from, into) },)*
                }
            }
        }
    };
}

kinds! {
    /// Signed, 8 bits.
    I8: i8;
    /// Signed, 16 bits.
    I16: i16;
    /// Signed, 32 bits.
    I32: i32;
    /// Signed, 64 bits.
    I64: i64;
    /// Signed, 128 bits.
    I128: i128;
    /// Unsigned, 8 bits.
    U8: u8;
    /// Unsigned, 16 bits.
    U16: u16;
    /// Unsigned, 32 bits.
    U32: u32;
    /// Unsigned, 64 bits.
    U64: u64;
    /// Float, 16 bits.
    F16: Half;
    /// Float, 32 bits.
    F32: f32;
    /// Float, 64 bits.
    F64: f64;
    /// C's `long double`.
    LongDouble: LongDouble;
    /// Float, 128 bits.
    F128: Quad;
    /// Complex, of floats of 16 bits.
    ComplexF16: Complex<Half>;
    /// Complex, of floats of 32 bits.
    ComplexF32: Complex<f32>;
    /// Complex, of floats of 64 bits.
    ComplexF64: Complex<f64>;
    /// Complex, of `long double`.
    ComplexLongDouble: Complex<LongDouble>;
    /// Complex, of floats of 128 bits.
    ComplexF128: Complex<Quad>;
    /// Truth value, 8 bits.
    Logical8: Logical<u8>;
    /// Truth value, 16 bits.
    Logical16: Logical<u16>;
    /// Truth value, 32 bits.
    Logical32: Logical<u32>;
    /// Truth value, 64 bits.
    Logical64: Logical<u64>;
    /// Truth value, 128 bits.
    Logical128: Logical<u128>;
    /// Eight bits.
    Byte: Byte;
    /// `float` and `int`, packed.
    FloatInt: ValueLoc<f32, i32>;
    /// `double` and `int`, packed.
    DoubleInt: ValueLoc<f64, i32>;
    /// `long` and `int`, packed.
    LongInt: ValueLoc<i64, i32>;
    /// `int` and `int`.
    IntInt: ValueLoc<i32, i32>;
    /// `short` and `int`, packed.
    ShortInt: ValueLoc<i16, i32>;
    /// `long double` and `int`, packed.
    LongDoubleInt: ValueLoc<LongDouble, i32>;
    /// Two floats of 32 bits.
    TwoF32: ValueLoc<f32, f32>;
    /// Two floats of 64 bits.
    TwoF64: ValueLoc<f64, f64>;
}

/// A predefined operation on elements of some kind.
#[derive(Clone, Copy, Debug)]
pub struct KindReduction(Code);

/// As [`KindReduction::combine`].
unsafe fn combine<T: Element>(predefined: &Predefined<T>, from: RawBytes, into: RawBytes) {
    match predefined {
        Predefined::Elementwise(fold)
            if !(from.start().cast::<T>().is_aligned()
                && into.start().cast::<T>().is_aligned()) =>
        {
            // SAFETY: the caller's promise.
            unsafe { staged(*fold, from, into) };
        }
        // SAFETY: the caller's promise; both are aligned, as exact sums are in memory of the core's own.
        _ => unsafe { predefined.combine(from, into) },
    }
}

/// Combines elements that are not aligned, in pieces that are copied.
///
/// # Safety
/// As [`KindReduction::combine`].
#[cold]
unsafe fn staged<T: Element>(fold: Fold<T>, from: RawBytes, into: RawBytes) {
    let mut pieces = [[T::new_zeroed(); STAGED]; 2];
    let mut at = 0;
    while at < into.len() {
        let len = (into.len() - at).min(size_of_val(&pieces[0]) as u64);
        let [given, result] = &mut pieces;
        let count = len as usize / size_of::<T>();
        let (given, result) = (&mut given[..count], &mut result[..count]);
        for (range, piece) in [(from, &mut *given), (into, &mut *result)] {
            if let Some(range) = range.range(at, len) {
                target(piece).copy_from(&range);
            }
        }
        fold(result, given);
        if let Some(range) = into.range(at, len) {
            range.copy_from(&target(result));
        }
        at += len;
    }
}
