//! One figure out of several runs: of each line of the tables, for each implementation.

use super::lines::{Row, Unit};
use super::programs::{FLOOR, OURS};
use super::rounds::Run;
use std::collections::BTreeSet;

/// What is measured: one line of a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cell {
    pub(crate) kernel: String,
    pub(crate) ranks: u64,
    pub(crate) bytes: u64,
}

impl Cell {
    pub(crate) fn new(kernel: &str, ranks: u64, bytes: u64) -> Cell {
        let kernel = kernel.to_owned();
        Cell {
            kernel,
            ranks,
            bytes,
        }
    }

    fn is_of(&self, row: &Row) -> bool {
        row.kernel == self.kernel && row.ranks == self.ranks && row.bytes == self.bytes
    }
}

/// Which figure stands for several runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// The median of their medians; the upper one of two in the middle.
    Median,
    /// The fastest block of all, which other work on the machine disturbs least.
    Fastest,
}

/// The runs of one placement, and of works that placement does not bear on.
pub(crate) struct Figures<'a> {
    all: &'a [Run],
    /// Those of this placement.
    runs: Vec<&'a Run>,
    pick: Pick,
}

impl<'a> Figures<'a> {
    pub(crate) fn new(runs: &'a [Run], placement: &str, pick: Pick) -> Figures<'a> {
        let fits = |run: &&Run| [Some(placement), Some("any")].contains(&run.tag);
        Figures {
            all: runs,
            runs: runs.iter().filter(fits).collect(),
            pick,
        }
    }

    /// The peers that were run, in any placement.
    pub(crate) fn peers(&self) -> BTreeSet<&'static str> {
        let names = self.all.iter().map(|run| run.implementation);
        names.filter(|name| ![OURS, FLOOR].contains(name)).collect()
    }

    /// Whether it was measured at all, in this placement or in another.
    pub(crate) fn asked(&self, cell: &Cell) -> bool {
        self.all
            .iter()
            .flat_map(|run| &run.rows)
            .any(|row| cell.is_of(row))
    }

    /// What ours reaches.
    pub(crate) fn ours(&self, cell: &Cell) -> Option<f64> {
        self.of(OURS, cell)
    }

    /// What an implementation reaches.
    pub(crate) fn of(&self, implementation: &str, cell: &Cell) -> Option<f64> {
        self.picked(self.rows(implementation, cell).collect())
    }

    /// The peer that is best, and what it reaches; none while a peer was seen in other placements
    /// only, since that one might be it.
    pub(crate) fn best_peer(&self, cell: &Cell) -> Option<(&'static str, f64)> {
        let has = |run: &&Run| run.rows.iter().any(|row| cell.is_of(row));
        let names = self.all.iter().filter(has).map(|run| run.implementation);
        let peers: BTreeSet<&str> = names.filter(|name| ![OURS, FLOOR].contains(name)).collect();
        let reached: Option<Vec<_>> = peers
            .into_iter()
            .map(|name| Some((name, self.of(name, cell)?)))
            .collect();
        reached?.into_iter().min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// What two processes reach without MPI, by each method.
    pub(crate) fn methods(&self, cell: &Cell) -> Vec<(&'a str, f64)> {
        let methods: BTreeSet<&str> = self
            .rows(FLOOR, cell)
            .map(|row| row.method.as_str())
            .collect();
        let reached = |method: &&'a str| {
            let rows = self.rows(FLOOR, cell).filter(|row| row.method == **method);
            self.picked(rows.collect())
        };
        methods
            .into_iter()
            .filter_map(|method| Some((method, reached(&method)?)))
            .collect()
    }

    /// The best of them.
    pub(crate) fn floor(&self, cell: &Cell) -> Option<(&'a str, f64)> {
        let methods = self.methods(cell);
        methods.into_iter().min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Runs of ours, or of the peer that has fewest.
    pub(crate) fn fewest_runs(&self, cell: &Cell) -> usize {
        let names: BTreeSet<&str> = self.runs.iter().map(|run| run.implementation).collect();
        let count = |name: &str| self.rows(name, cell).count();
        let counts = names.into_iter().filter(|name| *name != FLOOR).map(count);
        counts.filter(|&count| count > 0).min().unwrap_or(0)
    }

    /// The lines of a work of so many ranks, without those that only the floor has, and their unit.
    pub(crate) fn cells(&self, work: &str, ranks: usize) -> (BTreeSet<Cell>, Unit) {
        let fits =
            |run: &&&Run| run.work == work && run.ranks == ranks && run.implementation != FLOOR;
        let rows = || self.runs.iter().filter(fits).flat_map(|run| &run.rows);
        let cells = rows().map(|row| Cell::new(&row.kernel, row.ranks, row.bytes));
        let unit = rows().next().map_or(Unit::Nanoseconds, |row| row.unit);
        (cells.collect(), unit)
    }

    fn rows(&self, implementation: &str, cell: &Cell) -> impl Iterator<Item = &'a Row> {
        let runs = self
            .runs
            .iter()
            .filter(move |run| run.implementation == implementation);
        runs.flat_map(|run| &run.rows).filter(|row| cell.is_of(row))
    }

    fn picked(&self, rows: Vec<&Row>) -> Option<f64> {
        match self.pick {
            Pick::Fastest => rows.iter().map(|row| row.min).reduce(f64::min),
            Pick::Median => {
                let mut medians: Vec<f64> = rows.iter().map(|row| row.median).collect();
                medians.sort_by(f64::total_cmp);
                medians.get(medians.len() / 2).copied()
            }
        }
    }
}
