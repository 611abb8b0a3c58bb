//! Data patterns: each value depends on its place, rank and sample, so that misplaced data is detected.

use super::Sample;

/// A part of the data that a rank sends: from place `first` on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    /// The rank that sends it.
    pub(crate) from: usize,
    /// Its place in the sender's data.
    pub(crate) first: usize,
}

impl Piece {
    /// All data that `from` sends.
    pub(crate) const fn all(from: usize) -> Self {
        Piece { from, first: 0 }
    }

    /// Its bytes.
    fn bytes(self, sample: Sample) -> impl Iterator<Item = u8> {
        (self.first..).map(move |at| byte(sample.seed, self.from, at))
    }
}

/// The byte at place `at` of the data that `rank` sends.
///
/// Multiplicative hashing by the golden ratio (Knuth, The Art of Computer Programming, volume 3,
/// section 6.4): neighbours, ranks and seeds all differ.
fn byte(seed: u32, rank: usize, at: usize) -> u8 {
    let place = (at as u32).wrapping_add((rank as u32).wrapping_mul(0x0100_0193));
    ((place ^ seed).wrapping_mul(0x9e37_79b1) >> 24) as u8
}

/// Fills the data that `sample.rank` sends.
pub(crate) fn fill(sample: Sample, out: &mut [u8]) {
    for (slot, byte) in out.iter_mut().zip(Piece::all(sample.rank).bytes(sample)) {
        *slot = byte;
    }
}

/// Fills a receive buffer with data that is wrong everywhere: the complement of the expected data.
pub(crate) fn fill_wrong(sample: Sample, piece: Piece, into: &mut [u8]) {
    for (slot, byte) in into.iter_mut().zip(piece.bytes(sample)) {
        *slot = !byte;
    }
}

/// The largest difference from the expected data.
pub(crate) fn max_error(sample: Sample, piece: Piece, into: &[u8]) -> f64 {
    let pairs = into.iter().zip(piece.bytes(sample));
    let worst = pairs.map(|(value, byte)| value.abs_diff(byte)).max();
    f64::from(worst.unwrap_or(0))
}

/// Fills a receive buffer of equal blocks with wrong data; `piece(n)` is expected in the n-th block.
pub(super) fn fill_blocks_wrong(sample: Sample, piece: impl Fn(usize) -> Piece, into: &mut [u8]) {
    let blocks = into.chunks_mut(block(sample, into.len()));
    blocks
        .enumerate()
        .for_each(|(rank, block)| fill_wrong(sample, piece(rank), block));
}

/// The largest difference from the expected data in such blocks.
pub(super) fn max_block_error(sample: Sample, piece: impl Fn(usize) -> Piece, into: &[u8]) -> f64 {
    let blocks = into.chunks(block(sample, into.len())).enumerate();
    let worst = blocks.map(|(rank, block)| max_error(sample, piece(rank), block));
    worst.fold(0.0, f64::max)
}

/// The length of each rank's block; 1 for empty blocks, so that slices can be divided by it.
fn block(sample: Sample, length: usize) -> usize {
    (length / sample.ranks).max(1)
}

/// Fills a rank's contribution to a reduction, and its buffer for the sums with NaN.
pub(crate) fn fill_numbers(sample: Sample, out: &mut [f32], into: &mut [f32]) {
    for (at, slot) in out.iter_mut().enumerate() {
        *slot = number(sample.seed, sample.rank, at);
    }
    into.fill(f32::NAN);
}

/// The largest difference from the sums of all ranks' numbers from place `first` on.
pub(super) fn max_sum_error(sample: Sample, first: usize, into: &[f32]) -> f64 {
    let sums = (first..).map(|at| sum(sample.seed, sample.ranks, at));
    let pairs = into.iter().zip(sums);
    pairs.fold(0.0, |worst, (&got, want)| farther(worst, got, want))
}

/// Whole numbers up to this one are exact in single precision, and so are their sums.
#[cfg(feature = "alloc")]
const EXACT: f32 = (1u32 << f32::MANTISSA_DIGITS) as f32;

/// The largest difference from `times` additions of `one(at)` at each place. Beyond [`EXACT`], where additions round, only
/// numbers below it are wrong.
#[cfg(feature = "alloc")]
pub(crate) fn max_multiple_error(got: &[f32], times: usize, one: impl Fn(usize) -> f32) -> f64 {
    let pairs = got.iter().enumerate();
    pairs.fold(0.0, |worst, (at, &got)| {
        let wanted = times as f64 * f64::from(one(at));
        match wanted > f64::from(EXACT) {
            true if got >= EXACT => worst,
            true => farther(worst, got, EXACT),
            false => farther(worst, got, wanted as f32),
        }
    })
}

/// The number at place `at` of `rank`'s contribution to a reduction: a whole number from 1 to 319, so that
/// a missing one is detected, and sums over up to 50,000 ranks are exact in single precision in any order.
pub(crate) fn number(seed: u32, rank: usize, at: usize) -> f32 {
    f32::from(byte(seed, 0, at)) + (1 + rank % 64) as f32
}

/// The sum of [`number`] over all ranks.
pub(crate) fn sum(seed: u32, ranks: usize, at: usize) -> f32 {
    let (rounds, rest) = (ranks / 64, ranks % 64);
    let offsets = rounds * (64 * 65 / 2) + rest * (rest + 1) / 2;
    ranks as f32 * f32::from(byte(seed, 0, at)) + offsets as f32
}

/// The larger of `worst` and the distance of two numbers; the distance of NaN is infinite.
pub(super) fn farther(worst: f64, got: f32, want: f32) -> f64 {
    let distance = f64::from(got) - f64::from(want);
    if distance.is_nan() {
        f64::INFINITY
    } else {
        worst.max(distance).max(-distance)
    }
}
