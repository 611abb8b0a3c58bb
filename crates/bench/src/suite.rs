//! Runs a selection of kernels over all lengths and groups of a job.
//!
//! ```text
//! groups   forms the groups of each table
//!   map    renumbers the ranks as a grid
//! run      runs the tables one after another, on every rank
//! summary  turns the ranks' times into rows
//!   overlap  how far a collective goes on while its ranks compute
//! ```
//!
//! An [`Observer`] on rank 0 receives every table and row.

mod groups;
mod map;
mod overlap;
mod run;
mod summary;

pub use groups::{Layout, idle, tables};
pub use map::Map;
pub use overlap::{Overlap, OverlapBase};
pub use run::run;

use crate::kernels::{Aggregation, AnyKernel, Kernel};
use crate::lengths::Lengths;
use crate::method::Method;
use crate::{DataType, OffCache, Part};
use alloc::vec::Vec;

/// The benchmarks to run, and their parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The part that has the benchmarks.
    pub part: Part,
    /// The benchmarks, in order.
    pub benchmarks: Vec<Benchmark>,
    /// The only mode in which those over windows run that have both; `None`: both, one after the other.
    pub aggregation: Option<Aggregation>,
    /// The message lengths.
    pub lengths: Lengths,
    /// The type of the items of messages, reductions apart (`-data_type`).
    pub data_type: DataType,
    /// How a sample is taken.
    pub method: Method,
    /// How ranks form groups.
    pub layout: Layout,
    /// The maximum bytes of message buffers on a rank (`-mem`, MAX_MEM_USAGE); samples that need more are
    /// skipped.
    pub memory: usize,
    /// How messages are kept out of the cache; `None`: messages come from the cache.
    pub off_cache: Option<OffCache>,
    /// Whether a barrier that is not timed follows each repetition of a nonblocking collective (`-sync`).
    pub synchronises: bool,
    /// What overlap is a share of.
    pub overlap_base: OverlapBase,
}

impl Default for Plan {
    /// No benchmark; all else by the guide's defaults, with 1 GiB of memory.
    fn default() -> Self {
        Plan {
            part: Part::default(),
            benchmarks: Vec::new(),
            aggregation: None,
            lengths: Lengths::default(),
            data_type: DataType::default(),
            method: Method::default(),
            layout: Layout::default(),
            memory: 1 << 30,
            off_cache: None,
            synchronises: true,
            overlap_base: OverlapBase::default(),
        }
    }
}

impl Plan {
    /// The lengths of a kernel's table, of whole items of [`data_type`](Plan::data_type); a single one where it has no other.
    /// Reductions have a type of their own.
    pub fn lengths_of(&self, kernel: impl Into<AnyKernel>) -> impl Iterator<Item = usize> + '_ {
        let info = kernel.into().info();
        let item = match info.item {
            1 => self.data_type.size(),
            _ => 1,
        };
        let whole_items = move |bytes| bytes / item * item;
        let any = self.lengths.of(info.item.max(item)).map(whole_items);
        let any = info.fixed.is_none().then_some(any);
        info.fixed.into_iter().chain(any.into_iter().flatten())
    }
}

/// A kernel, on one group at a time or on several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Benchmark {
    /// The kernel.
    pub kernel: AnyKernel,
    /// Whether as many groups as possible run at once (`-multi`, the names `Multi-...`).
    pub multiple: Option<Multiple>,
}

impl From<AnyKernel> for Benchmark {
    /// On one group at a time.
    fn from(kernel: AnyKernel) -> Self {
        Benchmark {
            kernel,
            multiple: None,
        }
    }
}

impl From<Kernel> for Benchmark {
    /// On one group at a time.
    fn from(kernel: Kernel) -> Self {
        AnyKernel::from(kernel).into()
    }
}

/// The rows reported for groups that run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiple {
    /// One row a length: the least, largest and average over the ranks of all groups (`-multi 0`).
    Worst,
    /// A row for each group (`-multi 1`).
    Each,
}

/// One table: a kernel on groups of the job's ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleTable {
    /// The kernel.
    pub kernel: AnyKernel,
    /// How its transfers complete; `None` for kernels without such modes.
    pub aggregation: Option<Aggregation>,
    /// The requested mode; the table has one group where there are too few ranks for two.
    pub multiple: Option<Multiple>,
    /// The job's ranks in each group, in the order of their ranks there; all groups have the same size, and
    /// are sorted by their first ranks.
    pub groups: Vec<Vec<usize>>,
    /// The grid that numbers the ranks.
    pub map: Option<Map>,
    /// The number of ranks that wait in a barrier meanwhile.
    pub waiting: usize,
    /// Whether the times include the proof of every repetition's data, and so are not valid.
    pub is_checked: bool,
    /// What overlap is a share of.
    pub overlap_base: OverlapBase,
}

impl SampleTable {
    /// Ranks of each group.
    pub fn processes(&self) -> usize {
        self.groups.first().map_or(0, Vec::len)
    }
}

/// One line of a table. Times are microseconds of one message or one operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleRow {
    /// The index of the group; 0 if the row covers all groups.
    pub group: usize,
    /// Length of a message in bytes.
    pub bytes: usize,
    /// Repetitions timed.
    pub repetitions: u32,
    /// The average over repetitions of the fastest rank.
    pub t_min: f64,
    /// The average over repetitions of the slowest rank.
    pub t_max: f64,
    /// The average over repetitions and ranks.
    pub t_avg: f64,
    /// Bytes per second that the slowest rank sends and receives; `None` for collectives, whose tables have
    /// no such column.
    pub throughput: Option<f64>,
    /// The average over repetitions while the target computes, in tables of a
    /// [`Class::Overlap`](crate::kernels::Class::Overlap).
    pub overlapped: Option<f64>,
    /// Where ranks compute meanwhile, the times of the slowest rank, whose average is `t_max`, in tables of a
    /// [`Class::Nonblocking`](crate::kernels::Class::Nonblocking).
    pub overlap: Option<Overlap>,
    /// The distribution of the sample's blocks.
    pub spread: Spread,
    /// The largest difference between received and right data on any rank: 0 is right.
    pub defect: f64,
}

/// The distribution of a sample's blocks, in microseconds of one message or operation; for several
/// ranks, of each block's slowest rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Number of blocks.
    pub blocks: usize,
    /// The fastest block.
    pub min: f64,
    /// The middle block.
    pub median: f64,
    /// The 99th percentile: the slowest of fewer than 100 blocks.
    pub p99: f64,
}

/// A row that was skipped for want of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skip {
    /// Length of a message in bytes.
    pub bytes: usize,
    /// Bytes that each rank needs.
    pub needed: usize,
}

/// Receives the results, on rank 0 only.
pub trait Observer {
    /// Called when a table begins.
    fn table(&mut self, table: &SampleTable);
    /// Called when a row of the current table is complete.
    fn row(&mut self, table: &SampleTable, row: &SampleRow);
    /// Called when a row of the current table is skipped.
    fn skip(&mut self, table: &SampleTable, skip: &Skip);
    /// Called when the current table is complete.
    fn end(&mut self, table: &SampleTable);
}
