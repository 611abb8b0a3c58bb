//! Every operation on every kind of elements, aligned and not, against a slow oracle.

use std::cmp::Ordering;

use oxmpi_coll::choice::Reproducible;
use oxmpi_testkit::rng::Rng;

use super::ElementKind;
use crate::bytes::target;
use crate::operation::Op;

/// What the elements of a kind are, whatever types implement them.
#[derive(Clone, Copy)]
enum Meaning {
    /// So many bytes.
    Signed(usize),
    Unsigned(usize),
    Float(Format),
    Complex(Format),
    Logical(usize),
    Byte,
    /// A value and an index.
    Pair(Number, Number),
}

#[derive(Clone, Copy)]
enum Number {
    Int(usize),
    Real(Format),
}

#[derive(Clone, Copy)]
enum Format {
    Half,
    Single,
    Double,
    LongDouble,
    Quad,
}

fn meaning(kind: ElementKind) -> Meaning {
    use ElementKind as K;
    use Format::*;
    use Meaning::*;
    use Number::*;
    match kind {
        K::I8 => Signed(1),
        K::I16 => Signed(2),
        K::I32 => Signed(4),
        K::I64 => Signed(8),
        K::I128 => Signed(16),
        K::U8 => Unsigned(1),
        K::U16 => Unsigned(2),
        K::U32 => Unsigned(4),
        K::U64 => Unsigned(8),
        K::F16 => Float(Half),
        K::F32 => Float(Single),
        K::F64 => Float(Double),
        K::LongDouble => Float(LongDouble),
        K::F128 => Float(Quad),
        K::ComplexF16 => Complex(Half),
        K::ComplexF32 => Complex(Single),
        K::ComplexF64 => Complex(Double),
        K::ComplexLongDouble => Complex(LongDouble),
        K::ComplexF128 => Complex(Quad),
        K::Logical8 => Logical(1),
        K::Logical16 => Logical(2),
        K::Logical32 => Logical(4),
        K::Logical64 => Logical(8),
        K::Logical128 => Logical(16),
        K::Byte => Byte,
        K::FloatInt => Pair(Real(Single), Int(4)),
        K::DoubleInt => Pair(Real(Double), Int(4)),
        K::LongInt => Pair(Int(8), Int(4)),
        K::IntInt => Pair(Int(4), Int(4)),
        K::ShortInt => Pair(Int(2), Int(4)),
        K::LongDoubleInt => Pair(Real(LongDouble), Int(4)),
        K::TwoF32 => Pair(Real(Single), Real(Single)),
        K::TwoF64 => Pair(Real(Double), Real(Double)),
    }
}

impl Format {
    /// Bits of the exponent, of the stored mantissa, and bytes.
    const fn parts(self) -> (u32, u32, usize) {
        match self {
            Self::Half => (5, 10, 2),
            Self::Single => (8, 23, 4),
            Self::Double => (11, 52, 8),
            #[cfg(target_arch = "x86_64")]
            Self::LongDouble => (15, 64, 16),
            #[cfg(not(target_arch = "x86_64"))]
            Self::LongDouble => (15, 112, 16),
            Self::Quad => (15, 112, 16),
        }
    }

    /// The float of an integer that it holds exactly.
    fn of(self, integer: i64) -> Vec<u8> {
        let (exponent_bits, stored, size) = self.parts();
        let magnitude = u128::from(integer.unsigned_abs());
        let mut bits = 0;
        if magnitude > 0 {
            let top = magnitude.ilog2();
            let exponent = u128::from(top + (1 << (exponent_bits - 1)) - 1);
            // All but x87 leave the highest bit of the mantissa out.
            let digits = if stored == 64 { 63 } else { stored };
            let mantissa = magnitude << (digits - top);
            let kept = if stored == 64 {
                mantissa
            } else {
                mantissa - (1 << digits)
            };
            bits = exponent << stored | kept;
        }
        bits |= u128::from(integer < 0) << (exponent_bits + stored);
        bits.to_le_bytes()[..size].to_vec()
    }

    /// The integer that a float is.
    fn integer(self, bytes: &[u8]) -> i64 {
        let (exponent_bits, stored, _) = self.parts();
        let bits = unsigned(bytes);
        let exponent = (bits >> stored) & ((1 << exponent_bits) - 1);
        let digits = if stored == 64 { 63 } else { stored };
        let mantissa = bits & ((1 << digits) - 1) | if exponent > 0 { 1 << digits } else { 0 };
        let down = digits as i32 + (1 << (exponent_bits - 1)) - 1 - exponent as i32;
        let magnitude = if exponent == 0 {
            0
        } else {
            (mantissa >> down) as i64
        };
        let is_negative = bits >> (exponent_bits + stored) & 1 == 1;
        if is_negative { -magnitude } else { magnitude }
    }
}

fn unsigned(bytes: &[u8]) -> u128 {
    let mut word = [0; 16];
    word[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(word)
}

fn signed(bytes: &[u8]) -> i128 {
    let shift = 128 - 8 * bytes.len() as u32;
    (unsigned(bytes) << shift) as i128 >> shift
}

fn integers(op: Op, [a, b]: [&[u8]; 2], is_signed: bool) -> Option<Vec<u8>> {
    let [x, y] = [a, b].map(unsigned);
    let order = if is_signed {
        signed(a).cmp(&signed(b))
    } else {
        x.cmp(&y)
    };
    let result = match op {
        Op::SUM => x.wrapping_add(y),
        Op::PROD => x.wrapping_mul(y),
        Op::MIN => {
            if order == Ordering::Less {
                x
            } else {
                y
            }
        }
        Op::MAX => {
            if order == Ordering::Greater {
                x
            } else {
                y
            }
        }
        Op::BAND => x & y,
        Op::BOR => x | y,
        Op::BXOR => x ^ y,
        Op::LAND => (x != 0 && y != 0).into(),
        Op::LOR => (x != 0 || y != 0).into(),
        Op::LXOR => ((x != 0) != (y != 0)).into(),
        _ => return None,
    };
    Some(result.to_le_bytes()[..a.len()].to_vec())
}

/// The result on elements that are small integers, if they are floats; `None` if there is no such operation.
fn oracle(kind: ElementKind, op: Op, a: &[u8], b: &[u8]) -> Option<Vec<u8>> {
    let is_bitwise = [Op::BAND, Op::BOR, Op::BXOR].contains(&op);
    let is_logical = [Op::LAND, Op::LOR, Op::LXOR].contains(&op);
    let half = a.len() / 2;
    match meaning(kind) {
        Meaning::Signed(_) => integers(op, [a, b], true),
        Meaning::Unsigned(_) => integers(op, [a, b], false),
        Meaning::Byte => integers(op, [a, b], false).filter(|_| is_bitwise),
        Meaning::Logical(_) => integers(op, [a, b], false).filter(|_| is_logical),
        Meaning::Float(format) => {
            let (x, y) = (format.integer(a), format.integer(b));
            Some(format.of(match op {
                Op::SUM => x + y,
                Op::PROD => x * y,
                Op::MIN => x.min(y),
                Op::MAX => x.max(y),
                _ => return None,
            }))
        }
        Meaning::Complex(format) => {
            let [(p, q), (r, s)] =
                [a, b].map(|one| (format.integer(&one[..half]), format.integer(&one[half..])));
            let (real, imaginary) = match op {
                Op::SUM => (p + r, q + s),
                Op::PROD => (p * r - q * s, p * s + q * r),
                _ => return None,
            };
            Some([format.of(real), format.of(imaginary)].concat())
        }
        Meaning::Pair(value, index) => {
            let cut = value.size();
            let parts = |one: &[u8]| (value.integer(&one[..cut]), index.integer(&one[cut..]));
            let ((x, i), (y, j)) = (parts(a), parts(b));
            let is_first = match op {
                Op::MINLOC => x < y || x == y && i <= j,
                Op::MAXLOC => x > y || x == y && i <= j,
                _ => return None,
            };
            Some(if is_first { a } else { b }.to_vec())
        }
    }
}

impl Number {
    const fn size(self) -> usize {
        match self {
            Self::Int(size) => size,
            Self::Real(format) => format.parts().2,
        }
    }

    fn integer(self, bytes: &[u8]) -> i64 {
        match self {
            Self::Int(_) => signed(bytes) as i64,
            Self::Real(format) => format.integer(bytes),
        }
    }

    fn random(self, rng: &mut Rng) -> Vec<u8> {
        // Not 0, which has two signs.
        let small = (1 + rng.below(4) as i64) * if rng.below(2) == 0 { 1 } else { -1 };
        match self {
            Self::Int(size) => small.to_le_bytes()[..size].to_vec(),
            Self::Real(format) => format.of(small),
        }
    }
}

fn random(kind: ElementKind, rng: &mut Rng) -> Vec<u8> {
    match meaning(kind) {
        Meaning::Float(format) => Number::Real(format).random(rng),
        Meaning::Complex(format) => {
            let mut part = || Number::Real(format).random(rng);
            [part(), part()].concat()
        }
        Meaning::Pair(value, index) => [value.random(rng), index.random(rng)].concat(),
        Meaning::Logical(size) if rng.below(3) == 0 => vec![0; size],
        Meaning::Signed(size) | Meaning::Unsigned(size) | Meaning::Logical(size) => {
            let bytes = std::iter::repeat_with(|| rng.next() as u8);
            bytes.take(size).collect()
        }
        Meaning::Byte => vec![rng.next() as u8],
    }
}

#[test]
fn every_operation_on_every_kind_is_the_oracles() {
    // More than are combined at once where they are not aligned.
    const COUNT: usize = 2 * super::STAGED + 3;
    let mut rng = Rng::new(7);
    let mut combined = 0;
    for &kind in ElementKind::ALL {
        for op in Op::ALL {
            let elements =
                |rng: &mut Rng| -> Vec<Vec<u8>> { (0..COUNT).map(|_| random(kind, rng)).collect() };
            let [left, right] = [elements(&mut rng), elements(&mut rng)];
            assert_eq!(left[0].len(), kind.size(), "{kind:?}");
            let expected: Option<Vec<_>> = left
                .iter()
                .zip(&right)
                .map(|(a, b)| oracle(kind, op, a, b))
                .collect();
            let resolved = kind.resolve(op, Reproducible::Off);
            let (Some(expected), Ok(resolved)) = (&expected, &resolved) else {
                assert!(
                    expected.is_none() && resolved.is_err(),
                    "{op:?} of {kind:?}"
                );
                continue;
            };
            for shift in [0, 1] {
                let room = vec![[0u128; 2]; COUNT + 1];
                let mut memory = [room.clone(), room];
                let [from, into] = &mut memory;
                let len = (COUNT * kind.size()) as u64;
                let [from, into] = [(from, &left), (into, &right)].map(|(memory, elements)| {
                    let bytes = target(memory).range(shift, len).expect("there is room");
                    bytes.copy_from(&target(&mut elements.concat()));
                    bytes
                });
                // SAFETY: both have so many elements, in memory of their own.
                unsafe { resolved.combine.combine(from, into) };
                let mut results = vec![0; len as usize];
                target(&mut results).copy_from(&into);
                for (i, (got, expected)) in results.chunks(kind.size()).zip(expected).enumerate() {
                    let (a, b) = (&left[i], &right[i]);
                    assert_eq!(got, expected, "{op:?} of {kind:?}: {a:x?}, {b:x?}");
                }
                combined += 1;
            }
        }
    }
    assert_eq!(combined, 2 * 154, "operations that exist, aligned and not");
}
