//! Exact sums against integers, single numbers, and any order of summands.

use proptest::prelude::*;

use super::{ExactSum, sum};

fn of(values: &[f64]) -> ExactSum {
    values.iter().copied().collect()
}

#[test]
fn what_rounding_loses_is_there() {
    let tiny = f64::from_bits(1);
    for (values, wanted) in [
        (&[1e308, 1e308, -1e308, -1e308, 1.0][..], 1.0),
        (&[f64::MAX, tiny, -f64::MAX], tiny),
        (&[1e16, 1.0, -1e16], 1.0),
        (&[f64::MAX, f64::MAX], f64::INFINITY),
        (&[-f64::MAX, -f64::MAX], f64::NEG_INFINITY),
        (&[f64::INFINITY, -f64::MAX], f64::INFINITY),
        (&[-1.0, tiny], -1.0),
        // Ties go to the even one; what lies above them goes up.
        (&[2f64.powi(53), 1.0], 2f64.powi(53)),
        (&[2f64.powi(53), 1.0, tiny], 2f64.powi(53) + 2.0),
        (&[2f64.powi(53), 3.0], 2f64.powi(53) + 4.0),
        (&[f64::MIN_POSITIVE, -tiny], f64::MIN_POSITIVE - tiny),
        (&[], 0.0),
        (&[-0.0, -0.0], -0.0),
        (&[-0.0, 0.0], 0.0),
        (&[1.0, -1.0], 0.0),
    ] {
        let got = of(values).value();
        assert_eq!(got.to_bits(), wanted.to_bits(), "{values:?}: {got:e}");
    }
    assert!(of(&[f64::INFINITY, f64::NEG_INFINITY]).value().is_nan());
    assert!(of(&[f64::NAN, 1.0]).value().is_nan());
}

#[test]
fn a_short_float_is_rounded_once() {
    // Through f64 it would be a tie, and go to the even one.
    let above_half = of(&[1.0, 2f64.powi(-24), 2f64.powi(-80)]);
    assert_eq!(above_half.value_f32(), 1.0 + f32::EPSILON);
    assert_eq!(of(&[1.0, 2f64.powi(-24)]).value_f32(), 1.0);
    let least = f64::from(f32::from_bits(1));
    assert_eq!(of(&[least / 2.0]).value_f32(), 0.0);
    let tiny = of(&[least / 2.0, least / 1024.0]);
    assert_eq!(tiny.value_f32(), f32::from_bits(1));
    assert_eq!(of(&[-3.0 * least]).value_f32(), -f32::from_bits(3));
    let most = f64::from(f32::MAX);
    assert_eq!(of(&[most, 2f64.powi(102)]).value_f32(), f32::MAX);
    assert_eq!(of(&[most, 2f64.powi(103)]).value_f32(), f32::INFINITY);
    assert_eq!(of(&[1e300]).value_f32(), f32::INFINITY);
}

proptest! {
    /// Against integers.
    #[test]
    fn it_is_the_sum(values in prop::collection::vec((any::<i32>(), 0_i32..80), 0..50)) {
        let floats: Vec<f64> = values.iter().map(|&(m, e)| f64::from(m) * 2f64.powi(e - 60)).collect();
        let whole: i128 = values.iter().map(|&(m, e)| i128::from(m) << e).sum();
        prop_assert_eq!(of(&floats).value(), whole as f64 * 2f64.powi(-60));
        prop_assert_eq!(of(&floats).value_f32(), whole as f32 * 2f32.powi(-60));
    }

    /// One number is itself, of whatever bits.
    #[test]
    fn one_number_is_itself(bits: u64, short: u32) {
        let (value, short) = (f64::from_bits(bits), f32::from_bits(short));
        let same = |got: f64, wanted: f64| got.to_bits() == wanted.to_bits() || got.is_nan() && wanted.is_nan();
        prop_assert!(same(ExactSum::from(value).value(), value));
        let got = ExactSum::from(f64::from(short)).value_f32();
        prop_assert!(same(got.into(), short.into()));
    }

    #[test]
    fn order_and_grouping_do_not_matter(
        bits in prop::collection::vec(any::<u64>(), 1..30),
        cut in any::<prop::sample::Index>(),
    ) {
        let values: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
        let (some, others) = values.split_at(cut.index(values.len()));
        let turned: ExactSum = values.iter().rev().copied().collect();
        prop_assert_eq!(sum(of(some), of(others)), of(&values));
        prop_assert_eq!(turned, of(&values));
    }
}
