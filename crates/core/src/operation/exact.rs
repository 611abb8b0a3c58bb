//! Exact sums of floats: [`ExactSum`].

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::AddAssign;

use oxmpi_os::RawBytes;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::element::{Element, Fold, missing};
use super::loops::each;
use super::op::OpCode;
use super::{Op, Widening, elements};
use crate::data::Data;
use crate::error::Result;

/// Words of a sum: the bits of all finite `f64`, from 2^-1074 to 2^1023, a sign, and carries of 2^77
/// summands.
const WORDS: usize = 34;
/// The index of the bit of value 1.
const ONE: u32 = 1074;

const NAN: u64 = 1;
const INFINITY: u64 = 2;
const NEG_INFINITY: u64 = 4;
const NEG_ZERO: u64 = 8;
/// A finite number other than -0.
const NUMBER: u64 = 16;

/// A sum of floats that is exact until its [value](ExactSum::value) is rounded once. It has the same bits in
/// any order and grouping of the summands, on any number of ranks.
///
/// A fixed-point number as wide as the range of `f64`, of 280 bytes (U. Kulisch, "Computer arithmetic and
/// validity", 2008, chapter 8; R. Neal, "Fast exact summation using small and large superaccumulators",
/// 2015).
///
/// ```
/// use oxmpi_core::{Element, ExactSum, Op};
///
/// // A million terms, spread over three ranks: the result does not depend on how many there are.
/// let of_rank = |rank| -> ExactSum {
///     let terms = (rank..1_000_000u64).step_by(3);
///     terms.map(|n| 1.0 / (1 + n * n) as f64).collect()
/// };
/// let mut all = [of_rank(0)];
/// for rank in 1..3 {
///     ExactSum::fold(Op::SUM)?(&mut all, &[of_rank(rank)]);
/// }
/// assert_eq!(all[0].value().to_bits(), 2.076673047468081_f64.to_bits());
/// # Ok::<(), oxmpi_core::Error>(())
/// ```
///
/// # Cost
/// An addition takes some ten times as long as one of floats; messages of a reduction are 35 times as long.
#[derive(Clone, Copy, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct ExactSum {
    /// In two's complement, lowest word first.
    words: FixedPoint,
    /// Which special values were added: infinities, NaNs, and -0.
    marks: u64,
}

/// The words, as an array that has a default.
#[derive(Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
struct FixedPoint([u64; WORDS]);

impl Default for FixedPoint {
    fn default() -> Self {
        Self([0; WORDS])
    }
}

impl ExactSum {
    /// The empty sum.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The sum, rounded to nearest, ties to even. A NaN if one was added, or both infinities; -0 if only -0
    /// was added.
    #[must_use]
    pub fn value(&self) -> f64 {
        match self.special() {
            Some(special) => special,
            None => {
                let (is_negative, bits) = self.rounded(f64::MANTISSA_DIGITS, 0);
                let bits = bits.min(f64::INFINITY.to_bits());
                f64::from_bits(bits | u64::from(is_negative) << 63)
            }
        }
    }

    /// As [`ExactSum::value`], rounded once to an `f32`.
    #[must_use]
    pub fn value_f32(&self) -> f32 {
        match self.special() {
            Some(special) => special as f32,
            None => {
                let lowest = ONE - 149;
                let (is_negative, bits) = self.rounded(f32::MANTISSA_DIGITS, lowest);
                let bits = bits.min(f32::INFINITY.to_bits().into()) as u32;
                f32::from_bits(bits | u32::from(is_negative) << 31)
            }
        }
    }

    /// The sum where it is infinite, a NaN, or -0.
    fn special(&self) -> Option<f64> {
        let infinities = self.marks & (INFINITY | NEG_INFINITY);
        match infinities {
            _ if self.marks & NAN != 0 => Some(f64::NAN),
            0 => (self.marks == NEG_ZERO).then_some(-0.0),
            INFINITY => Some(f64::INFINITY),
            NEG_INFINITY => Some(f64::NEG_INFINITY),
            _ => Some(f64::NAN),
        }
    }

    /// Whether the sum is negative, and the bits of its magnitude as a float with a mantissa of `digits`
    /// bits, whose lowest bit has index `lowest`; beyond the range of floats, those of some larger one.
    fn rounded(&self, digits: u32, lowest: u32) -> (bool, u64) {
        let is_negative = self.words.0[WORDS - 1] >> 63 == 1;
        let magnitude = if is_negative {
            self.negated()
        } else {
            self.words
        };
        let words = &magnitude.0;
        let Some(top) = words.iter().rposition(|&word| word != 0) else {
            return (false, 0);
        };
        let highest = top as u32 * 64 + words[top].ilog2();
        // The index of the last bit that is kept.
        let last = (highest + 1).saturating_sub(digits).max(lowest);
        let kept = magnitude.shifted(last);
        let up = last > 0 && {
            let half = magnitude.bit(last - 1);
            half && (kept & 1 == 1 || magnitude.has_bits_below(last - 1))
        };
        // The mantissa's highest bit adds one to the exponent, and so does its overflow.
        let exponent = u64::from(last - lowest) << (digits - 1);
        (is_negative, exponent + kept + u64::from(up))
    }

    fn negated(&self) -> FixedPoint {
        let mut carry = true;
        FixedPoint(self.words.0.map(|word| {
            let (word, over) = (!word).overflowing_add(carry.into());
            carry = over;
            word
        }))
    }
}

impl FixedPoint {
    fn bit(&self, at: u32) -> bool {
        self.0[at as usize / 64] >> (at % 64) & 1 == 1
    }

    fn has_bits_below(&self, at: u32) -> bool {
        let (word, bit) = (at as usize / 64, at % 64);
        self.0[..word].iter().any(|&word| word != 0) || self.0[word] & ((1 << bit) - 1) != 0
    }

    /// The 64 bits from index `at` on.
    fn shifted(&self, at: u32) -> u64 {
        let (word, bit) = (at as usize / 64, at % 64);
        let next = self.0.get(word + 1).copied().unwrap_or(0);
        ((u128::from(next) << 64 | u128::from(self.0[word])) >> bit) as u64
    }
}

impl AddAssign<f64> for ExactSum {
    fn add_assign(&mut self, value: f64) {
        let bits = value.to_bits();
        let (exponent, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
        self.marks |= match value {
            _ if value.is_nan() => NAN,
            f64::INFINITY => INFINITY,
            f64::NEG_INFINITY => NEG_INFINITY,
            _ if bits == (-0.0_f64).to_bits() => NEG_ZERO,
            _ => NUMBER,
        };
        if exponent == 0x7ff {
            return;
        }
        // Subnormal numbers have the exponent of the smallest normal ones.
        let (mantissa, place) = match exponent {
            0 => (fraction, 0),
            _ => (fraction | 1 << 52, exponent - 1),
        };
        let (first, bit) = (place as usize / 64, place % 64);
        let wide = u128::from(mantissa) << bit;
        let parts = [wide as u64, (wide >> 64) as u64];
        let mut over = false;
        for (at, word) in self.words.0[first..].iter_mut().enumerate() {
            let part = parts.get(at).copied().unwrap_or(0);
            if at >= parts.len() && !over {
                break;
            }
            (*word, over) = match value.is_sign_negative() {
                true => word.borrowing(part, over),
                false => word.carrying(part, over),
            };
        }
    }
}

/// Addition and subtraction of words with carry.
trait Carry: Sized {
    fn carrying(self, other: Self, over: bool) -> (Self, bool);
    fn borrowing(self, other: Self, over: bool) -> (Self, bool);
}

impl Carry for u64 {
    #[inline(always)]
    fn carrying(self, other: Self, over: bool) -> (Self, bool) {
        let (sum, first) = self.overflowing_add(other);
        let (sum, second) = sum.overflowing_add(over.into());
        (sum, first | second)
    }

    #[inline(always)]
    fn borrowing(self, other: Self, over: bool) -> (Self, bool) {
        let (rest, first) = self.overflowing_sub(other);
        let (rest, second) = rest.overflowing_sub(over.into());
        (rest, first | second)
    }
}

impl From<f64> for ExactSum {
    fn from(value: f64) -> Self {
        let mut sum = Self::new();
        sum += value;
        sum
    }
}

impl Extend<f64> for ExactSum {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        values.into_iter().for_each(|value| *self += value);
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sum = Self::new();
        sum.extend(values);
        sum
    }
}

/// The sum of two sums.
#[inline(always)]
pub(super) fn sum(one: ExactSum, other: ExactSum) -> ExactSum {
    let mut over = false;
    let mut sum = one;
    for (word, other) in sum.words.0.iter_mut().zip(other.words.0) {
        (*word, over) = word.carrying(other, over);
    }
    sum.marks |= other.marks;
    sum
}

/// Floats that can be summed exactly.
pub(super) trait Summand: Data {
    /// The sum of this float alone.
    fn exact(self) -> ExactSum;

    /// The float that is nearest to a sum.
    fn rounded(sum: ExactSum) -> Self;
}

impl Summand for f64 {
    fn exact(self) -> ExactSum {
        self.into()
    }

    fn rounded(sum: ExactSum) -> Self {
        sum.value()
    }
}

impl Summand for f32 {
    fn exact(self) -> ExactSum {
        f64::from(self).into()
    }

    fn rounded(sum: ExactSum) -> Self {
        sum.value_f32()
    }
}

impl Element for ExactSum {
    fn fold(op: Op) -> Result<Fold<Self>> {
        match op.0 {
            OpCode::Sum => Ok(each!(ExactSum, sum)),
            _ => missing(op, "ExactSum"),
        }
    }

    fn is_exact(_: Op) -> bool {
        true
    }
}

impl fmt::Debug for ExactSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ExactSum").field(&self.value()).finish()
    }
}

/// Sums floats as [`ExactSum`]s.
pub(super) fn widening<T: Summand>() -> Widening {
    Widening {
        element: size_of::<ExactSum>() as u64,
        widen: |from, into| convert(from, into, T::exact),
        narrow: |from, into| convert(from, into, T::rounded),
    }
}

/// Converts the elements of one range into those of another.
fn convert<F: Data, I: Data>(from: RawBytes, into: RawBytes, each: fn(F) -> I) {
    // SAFETY: the core converts between the call's own buffers and memory that it has made for as many
    // wide elements.
    let (from, into) = unsafe { elements::<F, I>(from, into) };
    for (into, &from) in into.iter_mut().zip(from) {
        *into = each(from);
    }
}
