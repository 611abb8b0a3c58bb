//! The computation that a collective is to overlap with: the guide's `IMB_cpu_exploit`.

use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

/// Rows and columns of the matrix.
const SIDE: usize = 100;

/// Products in a measurement of the rate: together some ten microseconds, beside which a reading of the clock is short.
const PRODUCTS: u64 = 10;

/// How often the rate is measured; the fastest one counts, as the undisturbed one.
const TRIALS: u32 = 10;

/// The product of a matrix of 100 rows and columns with a vector, column by column: each adds a multiple to all sums, so a
/// compiler uses vector instructions without another order of additions.
#[derive(Debug)]
pub(super) struct Computation {
    columns: Vec<[f32; SIDE]>,
    vector: [f32; SIDE],
    product: [f32; SIDE],
    /// The next column.
    next: usize,
}

impl Computation {
    pub(super) fn new() -> Self {
        let mut columns = vec![[0.0; SIDE]; SIDE];
        let mut vector = [0.0; SIDE];
        for (x, (column, factor)) in columns.iter_mut().zip(&mut vector).enumerate() {
            *factor = (x % 7) as f32;
            for (y, item) in column.iter_mut().enumerate() {
                *item = ((x + 2 * y) % 11) as f32;
            }
        }
        Computation {
            columns,
            vector,
            product: [0.0; SIDE],
            next: 0,
        }
    }

    /// Goes on by this many columns; the product begins again after the last column.
    #[inline(never)]
    pub(super) fn run(&mut self, columns: u64) {
        for _ in 0..columns {
            if self.next == SIDE {
                (self.next, self.product) = (0, [0.0; SIDE]);
            }
            let factor = self.vector[self.next];
            for (sum, item) in self.product.iter_mut().zip(&self.columns[self.next]) {
                *sum += factor * item;
            }
            self.next += 1;
        }
        black_box(&self.product);
    }

    /// The least nanoseconds that this many columns take in so many trials; `now` reads a clock.
    pub(super) fn least(&mut self, columns: u64, trials: u32, now: impl Fn() -> u64) -> u64 {
        let trial = |_| {
            let start = now();
            self.run(columns);
            now() - start
        };
        (0..trials).map(trial).min().unwrap_or(0)
    }

    /// The number of columns that take this many nanoseconds.
    pub(super) fn columns_in(&mut self, nanoseconds: u64, now: impl Fn() -> u64) -> u64 {
        let columns = PRODUCTS * SIDE as u64;
        let least = self.least(columns, TRIALS, now).max(1);
        (u128::from(nanoseconds) * u128::from(columns) / u128::from(least)) as u64
    }
}

/// The rate of the computation that NBC overlaps with, undisturbed: millions of additions and multiplications in a second. `now`
/// reads a clock of nanoseconds, such as [`Comm::now`](crate::Comm::now).
///
/// # Cost
/// Some milliseconds.
pub fn compute_rate(now: impl Fn() -> u64) -> f64 {
    let columns = PRODUCTS * SIDE as u64;
    let least = Computation::new().least(columns, 10 * TRIALS, now).max(1);
    2e3 * (columns * SIDE as u64) as f64 / least as f64
}

#[cfg(test)]
mod tests {
    use super::{Computation, SIDE, compute_rate};
    use core::cell::Cell;

    #[test]
    fn the_product_is_that_of_the_matrix_and_the_vector() {
        let mut computation = Computation::new();
        // Whole numbers below 2^24, exact in single precision. In two parts, and after a whole product.
        for columns in [30, 70, 100] {
            computation.run(columns);
        }
        for y in 0..SIDE {
            let sum: usize = (0..SIDE).map(|x| (x % 7) * ((x + 2 * y) % 11)).sum();
            assert_eq!(computation.product[y], sum as f32, "row {y}");
        }
        computation.run(1);
        let first = core::array::from_fn(|y| computation.vector[0] * (2 * y % 11) as f32);
        assert_eq!(computation.product, first, "begun again");
    }

    /// A clock of which each reading is 500 nanoseconds after the one before.
    #[test]
    fn columns_are_those_of_the_time() {
        let time = Cell::new(0);
        let now = || time.replace(time.get() + 500);
        let mut computation = Computation::new();
        assert_eq!(computation.columns_in(1000, now), 2 * 1000);
        assert_eq!(computation.columns_in(0, now), 0);
        assert_eq!(computation.columns_in(u64::MAX / 4, now), u64::MAX / 2 - 1);
        assert_eq!(compute_rate(now), 2e3 * 1e5 / 500.0);
    }
}
