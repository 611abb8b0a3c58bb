//! Renumbers ranks by a grid (`-map PxQ`).

use alloc::vec::Vec;

/// A grid of `rows` by `columns` whose places are numbered row by row.
///
/// The place in row p and column q holds the job's rank p + q * rows, so neighbours in a row are `rows`
/// ranks apart: with as many rows as a node has ranks, they are on different nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Map {
    /// P in the guide.
    pub rows: usize,
    /// Q in the guide.
    pub columns: usize,
}

impl Map {
    /// The ranks of a job in their new order. Ranks without a place in the grid come last, and places
    /// without a rank are left out.
    pub fn order(self, ranks: usize) -> Vec<usize> {
        let rows = self.rows.clamp(1, ranks.max(1));
        let columns = self.columns.min(ranks.div_ceil(rows));
        let grid = (0..rows).flat_map(|row| (0..columns).map(move |column| row + column * rows));
        grid.chain(rows * columns..ranks)
            .filter(|&rank| rank < ranks)
            .collect()
    }

    /// Whether a job of `ranks` ranks fills the grid.
    pub fn fits(self, ranks: usize) -> bool {
        self.rows
            .checked_mul(self.columns)
            .is_some_and(|places| places <= ranks)
    }
}
