//! Floats that the compiler does not have: 16 bits, the 80 bits of x87 (C's `long double` on x86-64), and 128 bits
//! (`REAL*16`; `long double` elsewhere). Sums and products are rounded to nearest, ties to even (IEEE 754-2019,
//! section 4.3.1), on integers of 128 bits.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A format of floats.
trait Format {
    /// Bits of the mantissa, with the highest one.
    const DIGITS: u32;
    const EXPONENT_BITS: u32;
    /// Bits of the mantissa that are stored: x87 stores the highest one.
    const STORED: u32;

    const SIGN: u128 = 1 << (Self::STORED + Self::EXPONENT_BITS);
    const MAX_EXPONENT: u32 = (1 << Self::EXPONENT_BITS) - 1;
    /// The highest bit of a mantissa.
    const TOP: u128 = 1 << (Self::DIGITS - 1);
    /// The mantissa below its highest bit.
    const FRACTION: u128 = Self::TOP - 1;
    /// The power of two that the lowest bit of a mantissa counts, where the exponent is the least.
    const LEAST: i32 = 3 - (1 << (Self::EXPONENT_BITS - 1)) - Self::DIGITS as i32;
    /// The bits of infinity.
    const INFINITY: u128 = (Self::MAX_EXPONENT as u128) << Self::STORED
        | if Self::STORED == Self::DIGITS {
            Self::TOP
        } else {
            0
        };
    /// The bit that tells quiet NaNs.
    const QUIET: u128 = 1 << (Self::DIGITS - 2);
}

/// A value that is no NaN.
#[derive(Clone, Copy)]
enum Value {
    Infinite,
    /// `mantissa` times two to the power of `exponent`.
    Finite {
        mantissa: u128,
        exponent: i32,
    },
}
use Value::{Finite, Infinite};

const fn is_negative<F: Format>(bits: u128) -> bool {
    bits & F::SIGN != 0
}

const fn exponent_of<F: Format>(bits: u128) -> u32 {
    (bits >> F::STORED) as u32 & F::MAX_EXPONENT
}

const fn is_nan<F: Format>(bits: u128) -> bool {
    exponent_of::<F>(bits) == F::MAX_EXPONENT && bits & F::FRACTION != 0
}

fn value<F: Format>(bits: u128) -> Value {
    let stored = bits & ((1 << F::STORED) - 1);
    match exponent_of::<F>(bits) {
        exponent if exponent == F::MAX_EXPONENT => Infinite,
        // Subnormal numbers have the exponent of the smallest normal ones.
        0 => Finite {
            mantissa: stored,
            exponent: F::LEAST,
        },
        exponent => Finite {
            mantissa: if F::STORED < F::DIGITS {
                stored | F::TOP
            } else {
                stored
            },
            exponent: F::LEAST + exponent as i32 - 1,
        },
    }
}

/// The float that is nearest to a number; the lowest bit of its mantissa stands for all below it, and is far below
/// the lowest bit of a float where it does.
fn rounded<F: Format>(is_negative: bool, mantissa: u128, exponent: i32) -> u128 {
    let sign = if is_negative { F::SIGN } else { 0 };
    if mantissa == 0 {
        return sign;
    }
    let above = mantissa.ilog2() as i32 + 1 - F::DIGITS as i32;
    // The power of two that the lowest bit counts.
    let mut lowest = (exponent + above).max(F::LEAST);
    let shift = lowest - exponent;
    let mut kept = match shift {
        ..=0 => mantissa << -shift,
        1..=127 => {
            let (whole, rest) = (mantissa >> shift, mantissa & ((1 << shift) - 1));
            let up = match rest.cmp(&(1 << (shift - 1))) {
                Ordering::Less => false,
                Ordering::Equal => whole & 1 == 1,
                Ordering::Greater => true,
            };
            whole + u128::from(up)
        }
        _ => 0,
    };
    if kept >> F::DIGITS != 0 {
        kept >>= 1;
        lowest += 1;
    }
    let exponent = match kept & F::TOP {
        0 => 0,
        _ => (lowest - F::LEAST + 1) as u128,
    };
    match exponent >= F::MAX_EXPONENT.into() {
        true => sign | F::INFINITY,
        false => sign | exponent << F::STORED | kept & ((1 << F::STORED) - 1),
    }
}

/// The first NaN of two, made quiet; one of the operation's own, if neither is one.
fn nan<F: Format>(a: u128, b: u128) -> u128 {
    let given = [a, b].into_iter().find(|&bits| is_nan::<F>(bits));
    given.unwrap_or(F::INFINITY) | F::QUIET
}

/// `mantissa >> by`, where the lowest bit stands for those that are lost.
const fn shifted(mantissa: u128, by: u32) -> u128 {
    match by {
        0 => mantissa,
        1..=127 => mantissa >> by | (mantissa << (128 - by) != 0) as u128,
        _ => (mantissa != 0) as u128,
    }
}

fn sum<F: Format>(a: u128, b: u128) -> u128 {
    if is_nan::<F>(a) || is_nan::<F>(b) {
        return nan::<F>(a, b);
    }
    let signs = [is_negative::<F>(a), is_negative::<F>(b)];
    let (one, other) = match (value::<F>(a), value::<F>(b)) {
        (Infinite, Infinite) if signs[0] != signs[1] => return nan::<F>(a, b),
        (Infinite, _) => return a,
        (_, Infinite) => return b,
        (
            Finite {
                mantissa: one,
                exponent: p,
            },
            Finite {
                mantissa: other,
                exponent: q,
            },
        ) => ((one, p), (other, q)),
    };
    // A zero has no exponent of its own.
    let exponent = match (one.0, other.0) {
        (0, _) => other.1,
        (_, 0) => one.1,
        _ => one.1.max(other.1),
    };
    // Both with the larger exponent, and more bits below the lowest than a float has: but for one that cancels, the
    // difference of two that are aligned keeps all digits.
    let room = 126 - F::DIGITS;
    let aligned = |(mantissa, at): (u128, i32)| match mantissa {
        0 => 0,
        _ => shifted(mantissa << room, (exponent - at) as u32),
    };
    let (one, other) = (aligned(one), aligned(other));
    let (is_negative, mantissa) = match signs[0] == signs[1] {
        true => (signs[0], one + other),
        false if one == other => (false, 0),
        false if one > other => (signs[0], one - other),
        false => (signs[1], other - one),
    };
    rounded::<F>(is_negative, mantissa, exponent - room as i32)
}

fn product<F: Format>(a: u128, b: u128) -> u128 {
    if is_nan::<F>(a) || is_nan::<F>(b) {
        return nan::<F>(a, b);
    }
    let is_negative = is_negative::<F>(a ^ b);
    match (value::<F>(a), value::<F>(b)) {
        (
            Finite {
                mantissa: one,
                exponent: p,
            },
            Finite {
                mantissa: other,
                exponent: q,
            },
        ) => {
            let (mantissa, exponent) = wide_product(one, other);
            rounded::<F>(is_negative, mantissa, p + q + exponent)
        }
        (Finite { mantissa: 0, .. }, Infinite) | (Infinite, Finite { mantissa: 0, .. }) => {
            nan::<F>(a, b)
        }
        _ => F::INFINITY | if is_negative { F::SIGN } else { 0 },
    }
}

/// The product of two mantissas, as one and a power of two; the lowest bit stands for all below it.
const fn wide_product(one: u128, other: u128) -> (u128, i32) {
    if one >> 64 == 0 && other >> 64 == 0 {
        return (one * other, 0);
    }
    if one == 0 || other == 0 {
        return (0, 0);
    }
    let (p, q) = (one.leading_zeros(), other.leading_zeros());
    let (one, other) = (one << p, other << q);
    const LOW: u128 = u64::MAX as u128;
    let (a, b, c, d) = (one >> 64, one & LOW, other >> 64, other & LOW);
    let middle = a * d + ((b * d) >> 64);
    let (low, carry) = middle.overflowing_add(b * c);
    let high = a * c + (low >> 64) + ((carry as u128) << 64);
    let lost = low & LOW != 0 || (b * d) & LOW != 0;
    (high | lost as u128, 128 - p as i32 - q as i32)
}

/// The smaller of two; a NaN loses to a number, -0 is below 0, and two NaNs give the bits of both.
fn least<F: Format>(a: u128, b: u128) -> u128 {
    match (is_nan::<F>(a), is_nan::<F>(b)) {
        (true, true) => a | b,
        (true, false) => b,
        (false, true) => a,
        (false, false) if key::<F>(a) <= key::<F>(b) => a,
        (false, false) => b,
    }
}

/// A number that is in the order of the floats that are no NaN: the magnitude of negative ones counts down.
const fn key<F: Format>(bits: u128) -> u128 {
    let magnitude = bits & (F::SIGN - 1);
    match is_negative::<F>(bits) {
        true => F::SIGN - 1 - magnitude,
        false => F::SIGN + magnitude,
    }
}

/// A float of one format in another one.
fn converted<F: Format, I: Format>(bits: u128) -> u128 {
    let is_negative = is_negative::<F>(bits);
    let sign = if is_negative { I::SIGN } else { 0 };
    if is_nan::<F>(bits) {
        return sign | I::INFINITY | I::QUIET;
    }
    match value::<F>(bits) {
        Infinite => sign | I::INFINITY,
        Finite { mantissa, exponent } => rounded::<I>(is_negative, mantissa, exponent),
    }
}

/// A number that can be added and multiplied.
pub(super) trait Arithmetic: Copy {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
}

macro_rules! floats {
    ($($(#[$doc:meta])* $name:ident($word:ident) = $digits:literal $exponent:literal $stored:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
        #[repr(transparent)]
        pub struct $name($word);

        impl Format for $name {
            const DIGITS: u32 = $digits;
            const EXPONENT_BITS: u32 = $exponent;
            const STORED: u32 = $stored;
        }

        impl $name {
            /// The float of these bits.
            #[must_use]
            pub const fn from_bits(bits: $word) -> Self {
                Self(bits)
            }

            /// Its bits.
            #[must_use]
            pub const fn to_bits(self) -> $word {
                self.0
            }

            pub(super) fn min(self, other: Self) -> Self {
                Self(least::<Self>(self.0.into(), other.0.into()) as $word)
            }

            pub(super) fn max(self, other: Self) -> Self {
                let turned = |x: Self| Self(x.0 ^ Self::SIGN as $word);
                turned(turned(self).min(turned(other)))
            }

            pub(super) fn is_nan(self) -> bool {
                is_nan::<Self>(self.0.into())
            }

            /// Whether this number is smaller, as IEEE 754 compares: zeros are equal, NaNs are not in order.
            pub(super) fn is_below(self, other: Self) -> bool {
                let bits = [self.0, other.0].map(u128::from);
                let are_zero = (bits[0] | bits[1]) & (Self::SIGN - 1) == 0;
                let are_nan = self.is_nan() | other.is_nan();
                !are_zero && !are_nan && key::<Self>(bits[0]) < key::<Self>(bits[1])
            }
        }

        impl Arithmetic for $name {
            fn add(self, other: Self) -> Self {
                Self(sum::<Self>(self.0.into(), other.0.into()) as $word)
            }

            fn sub(self, other: Self) -> Self {
                self.add(Self(other.0 ^ Self::SIGN as $word))
            }

            fn mul(self, other: Self) -> Self {
                Self(product::<Self>(self.0.into(), other.0.into()) as $word)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:#x})", stringify!($name), self.0)
            }
        }
    )*};
}

floats! {
    /// A float of 16 bits (IEEE 754 binary16).
    Half(u16) = 11 5 10;
    /// A float of 80 bits in 16 bytes, as x87 has it: C's `long double` on x86-64.
    X87(u128) = 64 15 64;
    /// A float of 128 bits (IEEE 754 binary128).
    Quad(u128) = 113 15 112;
}

impl From<X87> for Quad {
    fn from(value: X87) -> Self {
        Self(converted::<X87, Self>(value.0))
    }
}

impl From<Quad> for X87 {
    fn from(value: Quad) -> Self {
        Self(converted::<Quad, Self>(value.0))
    }
}

macro_rules! native {
    ($($t:ident)*) => {$(
        impl Arithmetic for $t {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self - other
            }

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }
        }
    )*};
}

native! { f32 f64 }
