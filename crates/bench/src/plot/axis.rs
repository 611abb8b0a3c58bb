//! A logarithmic axis: numbers to positions, and the numbers that are written at the axis.

use super::Quantity;
use std::vec::Vec;

/// A logarithmic axis.
pub(super) struct LogAxis {
    quantity: Quantity,
    /// Logarithms of the numbers at its ends.
    low: f64,
    high: f64,
    /// Positions of its ends.
    from: f64,
    to: f64,
    /// The position of 0, which has no logarithm: before the beginning, if 0 occurs.
    zero: Option<f64>,
}

/// Room for 0.
const ZERO: f64 = 28.0;

/// The most numbers at an axis.
const TICKS_MAX: usize = 8;

impl LogAxis {
    /// An axis for `numbers` between two positions. It begins a factor of `margin` below the least number and
    /// ends as much above the largest.
    pub(super) fn new(
        quantity: Quantity,
        numbers: impl Iterator<Item = f64> + Clone,
        (from, to): (f64, f64),
        margin: f64,
    ) -> Self {
        let positive = numbers
            .clone()
            .filter(|number| *number > 0.0 && number.is_finite());
        let low = positive.clone().reduce(f64::min).unwrap_or(1.0) / margin;
        let high = positive.reduce(f64::max).unwrap_or(1.0) * margin;
        let zero = numbers.clone().any(|number| number == 0.0);
        LogAxis {
            quantity,
            low: low.ln(),
            high: high.max(low * 1.01).ln(),
            from: if zero { from + ZERO } else { from },
            to,
            zero: zero.then_some(from),
        }
    }

    /// The position of a number, to a tenth. Numbers outside the axis are at its ends.
    pub(super) fn at(&self, number: f64) -> f64 {
        if let (Some(zero), true) = (self.zero, number <= 0.0) {
            return zero;
        }
        let logarithm = number.max(f64::MIN_POSITIVE).ln();
        let share = ((logarithm - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        (10.0 * (self.from + share * (self.to - self.from))).round() / 10.0
    }

    /// Whether the number is drawn apart from the others: 0, or below.
    pub(super) fn apart(&self, number: f64) -> bool {
        self.zero.is_some() && number <= 0.0
    }

    /// The numbers that are written at the axis, with their positions.
    pub(super) fn ticks(&self) -> Vec<(f64, f64)> {
        let numbers = match self.quantity {
            Quantity::Bytes | Quantity::Rate => self.powers(2.0, &[1, 2, 5, 10]),
            Quantity::Ranks => self.powers(2.0, &[1, 2, 3, 4]),
            Quantity::Time if self.decades() >= 2.0 => self.powers(10.0, &[1, 2, 3]),
            Quantity::Time | Quantity::Ratio => self.round(),
        };
        let zero = self.zero.map(|_| 0.0);
        zero.into_iter()
            .chain(numbers)
            .map(|number| (number, self.at(number)))
            .collect()
    }

    fn decades(&self) -> f64 {
        (self.high - self.low) / 10_f64.ln()
    }

    /// Powers of `base` whose exponents are multiples of the first of `steps` that gives few enough.
    fn powers(&self, base: f64, steps: &[i32]) -> Vec<f64> {
        let exponent = |logarithm: f64| logarithm / base.ln();
        let first = (exponent(self.low) - 1e-9).ceil() as i32;
        let last = (exponent(self.high) + 1e-9).floor() as i32;
        let multiples = |step: i32| (first..=last).filter(move |power| power % step == 0);
        let step = steps
            .iter()
            .copied()
            .find(|&step| multiples(step).count() <= TICKS_MAX)
            .or(steps.last().copied())
            .unwrap_or(1);
        multiples(step).map(|power| base.powi(power)).collect()
    }

    /// Numbers of few digits: the finest of these grids that gives few enough.
    fn round(&self) -> Vec<f64> {
        const GRIDS: [&[f64]; 4] = [
            &[
                1.0, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0,
                9.0, 9.5,
            ],
            &[1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
            &[1.0, 2.0, 5.0],
            &[1.0],
        ];
        let first = (self.low / 10_f64.ln()).floor() as i32;
        let last = (self.high / 10_f64.ln()).ceil() as i32;
        let inside = |number: &f64| (self.low..=self.high).contains(&number.ln());
        let grid = |digits: &[f64]| -> Vec<f64> {
            let decades = (first..=last)
                .flat_map(|power| digits.iter().map(move |digit| digit * 10_f64.powi(power)));
            decades.filter(inside).collect()
        };
        let grids: Vec<Vec<f64>> = GRIDS.iter().map(|digits| grid(digits)).collect();
        let fits = grids.iter().find(|grid| grid.len() <= TICKS_MAX);
        fits.or(grids.last()).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{LogAxis, Quantity};
    use std::vec::Vec;

    fn ticks(quantity: Quantity, numbers: &[f64]) -> Vec<f64> {
        let axis = LogAxis::new(quantity, numbers.iter().copied(), (0.0, 400.0), 1.0);
        axis.ticks().iter().map(|tick| tick.0).collect()
    }

    #[test]
    fn zero_stands_before_the_others() {
        let axis = LogAxis::new(
            Quantity::Bytes,
            [0.0, 1.0, 1024.0].into_iter(),
            (50.0, 450.0),
            1.0,
        );
        assert_eq!(
            [0.0, 1.0, 32.0, 1024.0].map(|n| axis.at(n)),
            [50.0, 78.0, 264.0, 450.0]
        );
        assert!(axis.apart(0.0) && !axis.apart(1.0));
        let without = LogAxis::new(Quantity::Bytes, [1.0, 4.0].into_iter(), (50.0, 450.0), 1.0);
        assert_eq!((without.at(1.0), without.at(2.0)), (50.0, 250.0));
    }

    #[test]
    fn ticks_are_few_and_round() {
        let bytes = ticks(Quantity::Bytes, &[1.0, 4_194_304.0]);
        assert_eq!(bytes, [1.0, 32.0, 1024.0, 32768.0, 1_048_576.0]);
        assert_eq!(ticks(Quantity::Time, &[0.2, 300.0]), [1.0, 10.0, 100.0]);
        assert_eq!(ticks(Quantity::Time, &[0.9, 5.0]).first(), Some(&1.0));
        assert_eq!(ticks(Quantity::Ranks, &[2.0, 8.0]), [2.0, 4.0, 8.0]);
        let narrow = ticks(Quantity::Ratio, &[0.93, 1.07]);
        assert!(narrow.contains(&1.0) && narrow.len() >= 2, "{narrow:?}");
    }

    #[test]
    fn any_numbers_have_places() {
        for numbers in [
            &[][..],
            &[0.0],
            &[7.0],
            &[f64::INFINITY, 3.0],
            &[1e-300, 1e300],
        ] {
            let axis = LogAxis::new(Quantity::Time, numbers.iter().copied(), (0.0, 400.0), 1.2);
            let places = numbers.iter().map(|&number| axis.at(number));
            assert!(
                places
                    .into_iter()
                    .all(|place| (0.0..=400.0).contains(&place)),
                "{numbers:?}"
            );
            assert!(axis.ticks().len() <= 700);
        }
    }
}
