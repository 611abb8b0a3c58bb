//! Ranks as a grid (`-map PxQ`).

use alloc::vec::Vec;

/// A grid of `rows` by `columns` whose places are taken row by row.
///
/// The place in row p and column q is the job's rank p + q * rows, so that ranks which stand side
/// by side are `rows` apart: with as many rows as a node has ranks, they are on different nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Map {
    /// P of the guide.
    pub rows: usize,
    /// Q of the guide.
    pub columns: usize,
}

impl Map {
    /// The ranks of a job in their new order. Ranks that the grid has no place for come last, and
    /// places without a rank are left out.
    pub fn order(self, ranks: usize) -> Vec<usize> {
        let rows = self.rows.clamp(1, ranks.max(1));
        let columns = self.columns.min(ranks.div_ceil(rows));
        let grid = (0..rows).flat_map(|row| (0..columns).map(move |column| row + column * rows));
        grid.chain(rows * columns..ranks)
            .filter(|&rank| rank < ranks)
            .collect()
    }

    /// Whether a job of so many ranks fills the grid.
    pub fn fits(self, ranks: usize) -> bool {
        self.rows
            .checked_mul(self.columns)
            .is_some_and(|places| places <= ranks)
    }
}
