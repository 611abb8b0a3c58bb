//! Data whose place, rank and sample can be told from its value.

use super::Sample;

/// The byte at place `at` of what `rank` sends.
///
/// Multiplicative hashing by the golden ratio (Knuth, The Art of Computer Programming, volume 3,
/// section 6.4): neighbours, ranks and seeds all differ.
fn byte(seed: u32, rank: usize, at: usize) -> u8 {
    let place = (at as u32).wrapping_add((rank as u32).wrapping_mul(0x0100_0193));
    ((place ^ seed).wrapping_mul(0x9e37_79b1) >> 24) as u8
}

/// Fills what `sample.rank` sends.
pub(super) fn fill_bytes(sample: Sample, out: &mut [u8]) {
    for (at, slot) in out.iter_mut().enumerate() {
        *slot = byte(sample.seed, sample.rank, at);
    }
}

/// Fills a receive buffer with what can nowhere be right: the complement of what `from` sends.
pub(super) fn spoil_bytes(sample: Sample, from: usize, into: &mut [u8]) {
    for (at, slot) in into.iter_mut().enumerate() {
        *slot = !byte(sample.seed, from, at);
    }
}

/// The largest difference to what `from` sent.
pub(super) fn differ_bytes(sample: Sample, from: usize, into: &[u8]) -> f64 {
    let worst = into
        .iter()
        .enumerate()
        .map(|(at, &value)| value.abs_diff(byte(sample.seed, from, at)))
        .max();
    f64::from(worst.unwrap_or(0))
}

/// The number at place `at` of what `rank` gives to a reduction: a whole number below 320, so that
/// sums over up to 50,000 ranks are exact in single precision, in any order.
pub(super) fn number(seed: u32, rank: usize, at: usize) -> f32 {
    f32::from(byte(seed, 0, at)) + (rank % 64) as f32
}

/// The sum of [`number`] over all ranks.
pub(super) fn sum(seed: u32, ranks: usize, at: usize) -> f32 {
    let (rounds, rest) = (ranks / 64, ranks % 64);
    let offsets = rounds * (63 * 64 / 2) + rest * rest.saturating_sub(1) / 2;
    ranks as f32 * f32::from(byte(seed, 0, at)) + offsets as f32
}

/// The larger of `worst` and the distance of two numbers; a value that is no number is infinitely
/// far.
pub(super) fn farther(worst: f64, got: f32, want: f32) -> f64 {
    let distance = f64::from(got) - f64::from(want);
    if distance.is_nan() {
        f64::INFINITY
    } else {
        worst.max(distance).max(-distance)
    }
}
