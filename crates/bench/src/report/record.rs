//! The record of a run, collected row by row for JSON and CSV.

use super::{Environment, Rank};
use crate::Part;
use crate::kernels::{Aggregation, Class};
use crate::suite::{Multiple, Observer, Overlap, OverlapBase, Plan, SampleRow, SampleTable, Skip};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// The version of the JSON format; a change that readers must know increases it.
pub(crate) const VERSION: u32 = 2;

/// The record of a run.
#[derive(Debug, Clone, Serialize)]
pub struct RunRecord {
    pub(super) format: &'static str,
    pub(super) version: u32,
    pub(super) environment: Environment,
    pub(super) method: MethodRecord,
    pub(super) ranks: Vec<Rank>,
    pub(super) tables: Vec<TableRecord>,
}

/// The parameters of the run.
#[derive(Debug, Clone, Serialize)]
pub(super) struct MethodRecord {
    pub(super) samples: u32,
    pub(super) samples_single: u32,
    pub(super) volume_bytes: u64,
    pub(super) policy: &'static str,
    /// `None` means no limit.
    pub(super) seconds: Option<f64>,
    pub(super) barriers: u32,
    pub(super) warm_up: u32,
    pub(super) check: bool,
    pub(super) memory_bytes: usize,
    /// `None` when messages come from the cache.
    pub(super) off_cache: Option<CacheRecord>,
    /// The grid, such as `3x2`.
    pub(super) map: Option<String>,
    /// Whether a barrier follows each repetition of a nonblocking collective.
    pub(super) sync: bool,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct CacheRecord {
    pub(super) cache_bytes: usize,
    pub(super) line_bytes: usize,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct TableRecord {
    pub(super) part: &'static str,
    pub(super) benchmark: &'static str,
    pub(super) class: &'static str,
    pub(super) mode: &'static str,
    /// `None` for kernels without such modes.
    pub(super) aggregation: Option<&'static str>,
    pub(super) processes: usize,
    pub(super) groups: Vec<Vec<usize>>,
    pub(super) waiting: usize,
    pub(super) rows: Vec<RowRecord>,
    pub(super) skipped: Vec<SkipRecord>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct RowRecord {
    /// `None` when the row covers all groups.
    pub(super) group: Option<usize>,
    pub(super) bytes: usize,
    pub(super) repetitions: u32,
    pub(super) t_min_us: f64,
    pub(super) t_max_us: f64,
    pub(super) t_avg_us: f64,
    /// `None` where nothing is computed meanwhile.
    pub(super) t_ovrl_us: Option<f64>,
    /// `None` unless a collective is in the background of a computation.
    pub(super) overlap: Option<OverlapRecord>,
    pub(super) mib_per_s: Option<f64>,
    pub(super) blocks: usize,
    pub(super) block_min_us: f64,
    pub(super) block_median_us: f64,
    pub(super) block_p99_us: f64,
    /// `None` means infinity, which JSON cannot express.
    pub(super) defect: Option<f64>,
}

/// The times of the slowest rank, and how much of the collective and the computation takes place at once.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct OverlapRecord {
    pub(super) t_pure_us: f64,
    pub(super) t_cpu_us: f64,
    pub(super) t_cpu_alone_us: f64,
    pub(super) percent_of_min: f64,
    pub(super) percent_of_max: f64,
    pub(super) availability: f64,
}

impl From<Overlap> for OverlapRecord {
    fn from(overlap: Overlap) -> Self {
        OverlapRecord {
            t_pure_us: overlap.pure,
            t_cpu_us: overlap.compute,
            t_cpu_alone_us: overlap.compute_alone,
            percent_of_min: overlap.percent_of(OverlapBase::Shorter),
            percent_of_max: overlap.percent_of(OverlapBase::Longer),
            availability: overlap.availability(),
        }
    }
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct SkipRecord {
    pub(super) bytes: usize,
    pub(super) needed_bytes: usize,
}

impl RunRecord {
    /// A record of this plan without tables.
    pub fn new(environment: Environment, ranks: Vec<Rank>, plan: &Plan) -> Self {
        let method = &plan.method;
        RunRecord {
            format: "oxmpi-bench",
            version: VERSION,
            environment,
            method: MethodRecord {
                samples: method.samples,
                samples_single: method.samples_single,
                volume_bytes: method.volume,
                policy: method.policy.name(),
                seconds: method.seconds.is_finite().then_some(method.seconds),
                barriers: method.barriers,
                warm_up: method.warm_up,
                check: method.check,
                memory_bytes: plan.memory,
                off_cache: plan.off_cache.map(|off| CacheRecord {
                    cache_bytes: off.cache,
                    line_bytes: off.line,
                }),
                map: plan
                    .layout
                    .map
                    .map(|map| format!("{}x{}", map.rows, map.columns)),
                sync: plan.part == Part::Nbc && plan.synchronises,
            },
            ranks,
            tables: Vec::new(),
        }
    }
}

impl Observer for RunRecord {
    fn table(&mut self, table: &SampleTable) {
        let info = table.kernel.info();
        self.tables.push(TableRecord {
            part: table.kernel.part().word(),
            benchmark: info.name,
            class: match info.class {
                Class::SingleTransfer => "single-transfer",
                Class::ParallelTransfer => "parallel-transfer",
                Class::Collective => "collective",
                Class::Synchronisation => "synchronisation",
                Class::Overlap => "overlap",
                Class::Nonblocking => "nonblocking",
            },
            mode: match table.multiple {
                None => "standard",
                Some(Multiple::Worst) => "multiple",
                Some(Multiple::Each) => "multiple-each",
            },
            aggregation: table.aggregation.map(Aggregation::name),
            processes: table.processes(),
            groups: table.groups.clone(),
            waiting: table.waiting,
            rows: Vec::new(),
            skipped: Vec::new(),
        });
    }

    fn row(&mut self, table: &SampleTable, row: &SampleRow) {
        let Some(record) = self.tables.last_mut() else {
            return;
        };
        record.rows.push(RowRecord {
            group: (table.multiple == Some(Multiple::Each)).then_some(row.group),
            bytes: row.bytes,
            repetitions: row.repetitions,
            t_min_us: row.t_min,
            t_max_us: row.t_max,
            t_avg_us: row.t_avg,
            t_ovrl_us: row.overlapped,
            overlap: row.overlap.map(OverlapRecord::from),
            mib_per_s: row.throughput.map(|bytes| bytes / f64::from(1 << 20)),
            blocks: row.spread.blocks,
            block_min_us: row.spread.min,
            block_median_us: row.spread.median,
            block_p99_us: row.spread.p99,
            defect: row.defect.is_finite().then_some(row.defect),
        });
    }

    fn skip(&mut self, _: &SampleTable, skip: &Skip) {
        let Some(record) = self.tables.last_mut() else {
            return;
        };
        record.skipped.push(SkipRecord {
            bytes: skip.bytes,
            needed_bytes: skip.needed,
        });
    }

    fn end(&mut self, _: &SampleTable) {}
}
