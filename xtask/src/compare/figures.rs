//! Reduces several runs to one figure for each line of the tables and each implementation.

use super::lines::{MeasuredRow, Unit};
use super::programs::{FLOOR, NO_PEERS, OURS};
use super::rounds::MeasuredRun;
use std::collections::BTreeSet;

/// One line of a table: kernel, ranks and bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FigureKey {
    pub(crate) kernel: String,
    pub(crate) ranks: u64,
    pub(crate) bytes: u64,
}

impl FigureKey {
    pub(crate) fn new(kernel: &str, ranks: u64, bytes: u64) -> FigureKey {
        let kernel = kernel.to_owned();
        FigureKey {
            kernel,
            ranks,
            bytes,
        }
    }

    fn is_of(&self, row: &MeasuredRow) -> bool {
        row.kernel == self.kernel && row.ranks == self.ranks && row.bytes == self.bytes
    }
}

/// How several runs become one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// The median of the runs' medians; the upper one of two middle ones.
    Median,
    /// The fastest block of all runs, which other work on the machine disturbs least.
    Fastest,
}

/// The runs of one placement, and the runs for which the placement does not matter.
pub(crate) struct Figures<'a> {
    all: &'a [MeasuredRun],
    /// Selects the runs of `placement`.
    runs: Vec<&'a MeasuredRun>,
    pick: Pick,
}

impl<'a> Figures<'a> {
    pub(crate) fn new(runs: &'a [MeasuredRun], placement: &str, pick: Pick) -> Figures<'a> {
        let fits = |run: &&MeasuredRun| [Some(placement), Some("any")].contains(&run.tag);
        Figures {
            all: runs,
            runs: runs.iter().filter(fits).collect(),
            pick,
        }
    }

    /// The peers with runs, in any placement.
    pub(crate) fn peers(&self) -> BTreeSet<&'static str> {
        let names = self.all.iter().map(|run| run.implementation);
        names.filter(|name| !NO_PEERS.contains(name)).collect()
    }

    /// Whether any run measured this line, in this placement or another.
    pub(crate) fn asked(&self, cell: &FigureKey) -> bool {
        self.all
            .iter()
            .flat_map(|run| &run.rows)
            .any(|row| cell.is_of(row))
    }

    /// Our figure.
    pub(crate) fn ours(&self, cell: &FigureKey) -> Option<f64> {
        self.of(OURS, cell)
    }

    /// The figure of an implementation.
    pub(crate) fn of(&self, implementation: &str, cell: &FigureKey) -> Option<f64> {
        self.picked(self.rows(implementation, cell).collect())
    }

    /// The best peer and its figure. None while a peer has runs in other placements only, since that one
    /// might be the best.
    pub(crate) fn best_peer(&self, cell: &FigureKey) -> Option<(&'static str, f64)> {
        let has = |run: &&MeasuredRun| run.rows.iter().any(|row| cell.is_of(row));
        let names = self.all.iter().filter(has).map(|run| run.implementation);
        let peers: BTreeSet<&str> = names.filter(|name| !NO_PEERS.contains(name)).collect();
        let reached: Option<Vec<_>> = peers
            .into_iter()
            .map(|name| Some((name, self.of(name, cell)?)))
            .collect();
        reached?.into_iter().min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The figures of the floor (two processes without MPI), one for each method.
    pub(crate) fn methods(&self, cell: &FigureKey) -> Vec<(&'a str, f64)> {
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

    /// The best figure of the floor.
    pub(crate) fn floor(&self, cell: &FigureKey) -> Option<(&'a str, f64)> {
        let methods = self.methods(cell);
        methods.into_iter().min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The smallest number of runs, of ours and of each peer.
    pub(crate) fn fewest_runs(&self, cell: &FigureKey) -> usize {
        let names: BTreeSet<&str> = self.runs.iter().map(|run| run.implementation).collect();
        let count = |name: &str| self.rows(name, cell).count();
        let counts = names.into_iter().filter(|name| *name != FLOOR).map(count);
        counts.filter(|&count| count > 0).min().unwrap_or(0)
    }

    /// The lines of a benchmark program with `ranks` ranks, without those of the floor alone, and their
    /// unit.
    pub(crate) fn cells(&self, work: &str, ranks: usize) -> (BTreeSet<FigureKey>, Unit) {
        let fits = |run: &&&MeasuredRun| {
            run.work == work && run.ranks == ranks && run.implementation != FLOOR
        };
        let rows = || self.runs.iter().filter(fits).flat_map(|run| &run.rows);
        let cells = rows().map(|row| FigureKey::new(&row.kernel, row.ranks, row.bytes));
        let unit = rows().next().map_or(Unit::Nanoseconds, |row| row.unit);
        (cells.collect(), unit)
    }

    fn rows(
        &self,
        implementation: &str,
        cell: &FigureKey,
    ) -> impl Iterator<Item = &'a MeasuredRow> {
        let runs = self
            .runs
            .iter()
            .filter(move |run| run.implementation == implementation);
        runs.flat_map(|run| &run.rows).filter(|row| cell.is_of(row))
    }

    fn picked(&self, rows: Vec<&MeasuredRow>) -> Option<f64> {
        match self.pick {
            Pick::Fastest => rows.iter().map(|row| row.min).reduce(f64::min),
            Pick::Median => {
                let medians = rows.iter().map(|row| row.median);
                median_of(medians.collect())
            }
        }
    }
}

/// The upper one of two middle values; `None` of none.
pub(crate) fn median_of(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
