//! Software floats against the processor's: the same functions at the formats of `f32` and `f64`, and `long double`.

use proptest::prelude::*;

use super::{Arithmetic, Format, Half, Quad, X87, converted, key, least, product, sum};

struct Single;

impl Format for Single {
    const DIGITS: u32 = 24;
    const EXPONENT_BITS: u32 = 8;
    const STORED: u32 = 23;
}

struct Double;

impl Format for Double {
    const DIGITS: u32 = 53;
    const EXPONENT_BITS: u32 = 11;
    const STORED: u32 = 52;
}

/// Bits of floats, with many that are near each other or at the ends of the range.
fn doubles() -> impl Strategy<Value = f64> {
    let near = (0u64..2, 1020u64..1028, any::<u64>())
        .prop_map(|(sign, exponent, rest)| sign << 63 | exponent << 52 | rest >> 12);
    let strange = prop::sample::select(vec![
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::from_bits(1),
        1.0,
        -1.0 - f64::EPSILON,
    ]);
    let small = any::<u64>().prop_map(|rest| f64::from_bits(rest & 0x803f_ffff_ffff_ffff));
    let round = (-64i32..64).prop_map(f64::from);
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        near.prop_map(f64::from_bits),
        strange,
        small,
        round,
    ]
}

fn same_double(got: u128, expected: f64) -> bool {
    got == expected.to_bits().into() || expected.is_nan() && f64::from_bits(got as u64).is_nan()
}

fn same_single(got: u128, expected: f32) -> bool {
    got == expected.to_bits().into() || expected.is_nan() && f32::from_bits(got as u32).is_nan()
}

/// `long double` arithmetic of the processor.
#[cfg(target_arch = "x86_64")]
mod x87 {
    use std::arch::asm;

    macro_rules! operation {
        ($name:ident $instruction:literal) => {
            pub(super) fn $name(a: u128, b: u128) -> u128 {
                let mut result = 0u128;
                // SAFETY: the instructions read 10 bytes of `a` and `b` and write 10 of `result`, and leave the stack of
                // the x87 as it was, empty.
                unsafe {
                    asm!(
                        "fld tbyte ptr [{a}]",
                        "fld tbyte ptr [{b}]",
                        $instruction,
                        "fstp tbyte ptr [{result}]",
                        a = in(reg) &raw const a,
                        b = in(reg) &raw const b,
                        result = in(reg) &raw mut result,
                        out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                        out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                    );
                }
                result
            }
        };
    }

    operation! { add "faddp st(1), st(0)" }
    operation! { mul "fmulp st(1), st(0)" }
}

fn extended(sign: bool, exponent: u16, mantissa: u64) -> u128 {
    let exponent = exponent & 0x7fff;
    let top = u64::from(exponent > 0) << 63;
    u128::from(sign) << 79 | u128::from(exponent) << 64 | u128::from(mantissa >> 1 | top)
}

fn extendeds() -> impl Strategy<Value = u128> {
    let exponent = prop_oneof![
        any::<u16>(),
        0x3ff0u16..0x4010,
        Just(0),
        Just(0x7fff),
        0x7ff0u16..0x7fff
    ];
    let mantissa = prop_oneof![any::<u64>(), Just(0), Just(u64::MAX), Just(1 << 20)];
    (any::<bool>(), exponent, mantissa)
        .prop_map(|(sign, exponent, rest)| extended(sign, exponent, rest))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn they_are_the_processors_floats(a in doubles(), b in doubles()) {
        let [x, y] = [a, b].map(|x| u128::from(x.to_bits()));
        prop_assert!(same_double(sum::<Double>(x, y), a + b), "{a:e} + {b:e}");
        prop_assert!(same_double(product::<Double>(x, y), a * b), "{a:e} * {b:e}");
        let [f, g] = [a as f32, b as f32];
        let [u, v] = [f, g].map(|x| u128::from(x.to_bits()));
        prop_assert!(same_single(sum::<Single>(u, v), f + g), "{f:e} + {g:e}");
        prop_assert!(same_single(product::<Single>(u, v), f * g), "{f:e} * {g:e}");
        prop_assert!(same_single(converted::<Double, Single>(x), f), "{a:e} as f32");
        prop_assert!(same_double(converted::<Single, Double>(u), f.into()), "{f:e} as f64");
        if !a.is_nan() && !b.is_nan() {
            let less = if a.total_cmp(&b).is_le() { x } else { y };
            prop_assert_eq!(least::<Double>(x, y), less);
            prop_assert_eq!(key::<Double>(x).cmp(&key::<Double>(y)), a.total_cmp(&b));
        }
    }

    /// The product of two short floats is exact in a wide one, and rounds to the processor's.
    #[test]
    fn wide_floats_are_exact_where_short_ones_round(a in doubles(), b in doubles()) {
        let [f, g] = [a as f32, b as f32];
        let wide = |x: f32| Quad(converted::<Single, Quad>(x.to_bits().into()));
        let short = converted::<Quad, Single>(wide(f).mul(wide(g)).0);
        prop_assert!(same_single(short, f * g), "{f:e} * {g:e}");
        let double = converted::<Quad, Double>(wide(f).mul(wide(g)).0);
        prop_assert!(same_double(double, f64::from(f) * f64::from(g)));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn long_doubles_are_the_processors(a in extendeds(), b in extendeds()) {
        for (name, got, expected) in [
            ("+", X87(a).add(X87(b)), X87(x87::add(a, b))),
            ("*", X87(a).mul(X87(b)), X87(x87::mul(a, b))),
        ] {
            let same = got == expected || got.is_nan() && expected.is_nan();
            prop_assert!(same, "{a:#x} {name} {b:#x}: {got:?}, expected {expected:?}");
        }
        let there_and_back = X87::from(Quad::from(X87(a)));
        prop_assert!(there_and_back == X87(a) || X87(a).is_nan() && there_and_back.is_nan());
    }

    /// Products of 226 bits against those of parts.
    #[test]
    fn quads_of_integers_are_integers(a in any::<i64>(), b in any::<i64>(), c in any::<i32>()) {
        let of = |x: i128| {
            let magnitude = x.unsigned_abs();
            Quad(super::rounded::<Quad>(x < 0, magnitude, 0))
        };
        let [a, b, c] = [i128::from(a >> 8), i128::from(b >> 8), i128::from(c)];
        prop_assert_eq!(of(a).mul(of(b)), of(a * b));
        prop_assert_eq!(of(a).add(of(b)), of(a + b));
        prop_assert_eq!(of(a).mul(of(c)).sub(of(b)), of(a * c - b));
    }
}

#[test]
fn every_half_is_itself() {
    for bits in 0..=u16::MAX {
        let half = Half(bits);
        let zero = Half(0).add(half);
        let expected = if bits == 0x8000 { Half(0) } else { half };
        assert!(zero == expected || half.is_nan() && zero.is_nan());
        assert!(half.mul(Half(0x3c00)) == half || half.is_nan());
        let there = converted::<Half, Single>(bits.into());
        assert!(converted::<Single, Half>(there) == bits.into() || half.is_nan());
    }
}
