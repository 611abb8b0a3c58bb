//! Formats numbers for people, with their units.

use std::format;
use std::string::String;

/// Bytes, exact up to KiB and else to three digits.
pub(super) fn bytes(number: f64) -> String {
    scaled(number, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB"])
}

/// Bytes per second.
pub(super) fn rate(number: f64) -> String {
    bytes(number) + "/s"
}

/// A time, from microseconds.
pub(super) fn time(microseconds: f64) -> String {
    scaled(1000.0 * microseconds, 1000.0, &["ns", "us", "ms", "s"])
}

/// A ratio: two decimals, fewer where it is large, more where it is small.
pub(super) fn ratio(number: f64) -> String {
    let decimals = match number {
        10.0.. => 0,
        0.1.. => 2,
        _ => (-number.max(1e-9).log10()).ceil() as usize,
    };
    format!("{number:.decimals$}")
}

/// A number in a column: four digits, with at most three decimals.
pub(super) fn digits(number: f64) -> String {
    let whole = number.abs().max(1.0).log10() as usize;
    format!("{number:.*}", 3_usize.saturating_sub(whole))
}

/// A number with the largest unit of which there is at least one.
fn scaled(mut number: f64, step: f64, units: &[&str]) -> String {
    let mut left = units;
    while let [_, rest @ ..] = left
        && !rest.is_empty()
        && number >= step
    {
        number /= step;
        left = rest;
    }
    let unit = left.first().copied().unwrap_or_default();
    let rounded = if number < 10.0 {
        (100.0 * number).round() / 100.0
    } else if number < 100.0 {
        (10.0 * number).round() / 10.0
    } else {
        number.round()
    };
    format!("{rounded} {unit}")
}

#[cfg(test)]
mod tests {
    use super::{bytes, digits, rate, ratio, time};

    #[test]
    fn numbers_have_the_unit_that_suits() {
        assert_eq!([0.0, 1000.0, 4096.0].map(bytes), ["0 B", "1000 B", "4 KiB"]);
        assert_eq!(bytes(1.5 * 1024.0 * 1024.0), "1.5 MiB");
        assert_eq!(rate(f64::from(1 << 30)), "1 GiB/s");
        assert_eq!(
            [0.05, 2.0, 12_340.0].map(time),
            ["50 ns", "2 us", "12.3 ms"]
        );
        assert_eq!(time(1e12), "1000000 s");
    }

    #[test]
    fn ratios_keep_a_digit() {
        let shown = [0.0, 0.002, 0.5, 1.106, 1000.0].map(ratio);
        assert_eq!(shown, ["0.000000000", "0.002", "0.50", "1.11", "1000"]);
    }

    #[test]
    fn columns_have_four_digits() {
        let shown = [0.0, 0.1335, 9.5, 12.345, 1234.5, 123_456.7].map(digits);
        assert_eq!(
            shown,
            ["0.000", "0.134", "9.500", "12.35", "1234", "123457"]
        );
    }
}
