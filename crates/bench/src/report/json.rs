//! A run as JSON, version 1; `docs/formats.md` describes each field.

use super::{Environment, Rank};
use crate::kernels::Class;
use crate::suite::{Observer, Row, Table};
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// The version of the format; a change that a reader must know of raises it.
pub const VERSION: u32 = 1;

/// A run, collected row by row.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    format: &'static str,
    version: u32,
    environment: Environment,
    ranks: Vec<Rank>,
    tables: Vec<TableRecord>,
}

#[derive(Debug, Clone, Serialize)]
struct TableRecord {
    benchmark: &'static str,
    class: &'static str,
    processes: usize,
    waiting: usize,
    rows: Vec<RowRecord>,
}

#[derive(Debug, Clone, Serialize)]
struct RowRecord {
    bytes: usize,
    repetitions: u32,
    t_min_us: f64,
    t_max_us: f64,
    t_avg_us: f64,
    mib_per_s: Option<f64>,
    blocks: usize,
    block_min_us: f64,
    block_median_us: f64,
    block_p99_us: f64,
    /// `None` stands for infinity, which JSON cannot say.
    defect: Option<f64>,
}

impl Run {
    /// A run without tables.
    pub fn new(environment: Environment, ranks: Vec<Rank>) -> Self {
        Run {
            format: "oxmpi-bench",
            version: VERSION,
            environment,
            ranks,
            tables: Vec::new(),
        }
    }

    /// The run as text, indented.
    ///
    /// # Errors
    /// None that a run's own fields could cause.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }
}

impl Observer for Run {
    fn table(&mut self, table: &Table) {
        self.tables.push(TableRecord {
            benchmark: table.kernel.info().name,
            class: match table.kernel.info().class {
                Class::SingleTransfer => "single-transfer",
                Class::ParallelTransfer => "parallel-transfer",
                Class::Collective => "collective",
                Class::Synchronisation => "synchronisation",
            },
            processes: table.processes,
            waiting: table.waiting,
            rows: Vec::new(),
        });
    }

    fn row(&mut self, _: &Table, row: &Row) {
        let Some(table) = self.tables.last_mut() else {
            return;
        };
        table.rows.push(RowRecord {
            bytes: row.bytes,
            repetitions: row.repetitions,
            t_min_us: row.t_min,
            t_max_us: row.t_max,
            t_avg_us: row.t_avg,
            mib_per_s: row.throughput,
            blocks: row.spread.blocks,
            block_min_us: row.spread.min,
            block_median_us: row.spread.median,
            block_p99_us: row.spread.p99,
            defect: row.defect.is_finite().then_some(row.defect),
        });
    }

    fn end(&mut self, _: &Table) {}
}

#[cfg(test)]
mod tests {
    use super::Run;
    use crate::kernels::Kernel;
    use crate::report::{Environment, Rank};
    use crate::suite::{Observer, Row, Spread, Table};

    #[test]
    fn a_run_reads_back() {
        let ranks = [Rank {
            rank: 0,
            host: "a".into(),
            pid: 7,
            cpus: "0-1".into(),
        }];
        let mut run = Run::new(Environment::default(), ranks.into());
        let table = Table {
            kernel: Kernel::Allreduce,
            processes: 2,
            waiting: 1,
        };
        run.table(&table);
        let row = Row {
            bytes: 4,
            repetitions: 9,
            t_min: 0.75,
            t_max: 1.25,
            t_avg: 1.0,
            throughput: None,
            spread: Spread {
                blocks: 2,
                min: 0.5,
                median: 1.0,
                p99: 2.0,
            },
            defect: f64::INFINITY,
        };
        run.row(&table, &row);
        run.end(&table);

        let read: serde_json::Value = serde_json::from_str(&run.to_json().unwrap()).unwrap();
        assert_eq!(
            (&read["format"], &read["version"]),
            (&"oxmpi-bench".into(), &1.into())
        );
        assert_eq!(read["ranks"][0]["cpus"], "0-1");
        let table = &read["tables"][0];
        assert_eq!(
            (&table["benchmark"], &table["waiting"]),
            (&"Allreduce".into(), &1.into())
        );
        let row = &table["rows"][0];
        assert_eq!(
            (&row["t_max_us"], &row["block_p99_us"]),
            (&1.25.into(), &2.0.into())
        );
        assert!(row["defect"].is_null() && row["mib_per_s"].is_null());
    }
}
