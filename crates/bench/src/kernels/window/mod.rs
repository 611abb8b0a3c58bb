//! The kernels over windows: the parts EXT and RMA, as a table of what each of them does.
//!
//! ```text
//! table      the kernels
//! transfers  whom a rank accesses in a repetition, and what it receives
//! ```
//!
//! What repeats them is in `method/windows`.

mod table;
#[cfg(test)]
mod tests;
mod transfers;

pub(crate) use transfers::{Targets, Transfer};

use super::Part;
use super::info::{Info, Schedule};
use crate::OffCache;
use Aggregation::{Aggregate, NonAggregate};
use Completion::{FlushAll, FlushLocalAll};
use Operation::{Accumulate, CompareAndSwap, FetchAndAdd, Get, GetAccumulate, Put};

/// How the transfers of a sample complete, in kernels that have both modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregation {
    /// Many transfers complete together.
    Aggregate,
    /// Each transfer completes before the next one begins.
    NonAggregate,
}

impl Aggregation {
    /// The mode's name.
    pub const fn name(self) -> &'static str {
        match self {
            Aggregate => "aggregate",
            NonAggregate => "non-aggregate",
        }
    }
}

/// A kernel over windows.
#[derive(Debug)]
pub struct WindowKernel {
    /// The part that has it.
    pub part: Part,
    /// Describes it.
    pub info: Info,
    /// The modes in which it runs, in their order; `None`: it has no modes.
    pub modes: &'static [Option<Aggregation>],
    /// What it does in a window; `None`: it makes and frees windows.
    pub(crate) access: Option<Access>,
}

/// Kernels of a part differ in their names.
impl PartialEq for WindowKernel {
    fn eq(&self, other: &Self) -> bool {
        (self.part, self.info.name) == (other.part, other.info.name)
    }
}

impl Eq for WindowKernel {}

/// What a kernel does in a window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    pub(crate) operation: Operation,
    pub(crate) targets: Targets,
    pub(crate) completion: Completion,
}

impl Access {
    /// Whether data goes from the target to the origin, and is proven there.
    pub(crate) const fn gets(&self) -> bool {
        matches!(self.operation, Get)
    }
}

/// What a transfer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Put,
    Get,
    Accumulate,
    GetAccumulate,
    FetchAndAdd,
    CompareAndSwap,
}

/// What completes transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completion {
    Fence,
    /// A flush of each target of a repetition.
    Flush,
    FlushLocal,
    FlushAll,
    FlushLocalAll,
}

/// The bytes that a kernel needs on each rank for one repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WindowSizes {
    /// What it puts or accumulates.
    pub(crate) out: usize,
    /// Its memory in the window.
    pub(crate) exposed: usize,
    /// What it gets.
    pub(crate) landing: usize,
}

impl WindowKernel {
    /// The kernels of a part, in the order in which they run.
    pub fn of(part: Part) -> &'static [WindowKernel] {
        match part {
            Part::Mpi1 | Part::Nbc => &[],
            Part::Ext => &table::EXT,
            Part::Rma => &table::RMA,
        }
    }

    /// How the repetitions of a sample in this mode complete.
    pub(crate) fn schedule(&self, mode: Option<Aggregation>) -> Schedule {
        match (mode, self.access.map(|access| access.completion)) {
            (Some(Aggregate), _) => Schedule::Aggregated,
            (Some(NonAggregate), _) | (None, None) => Schedule::Few,
            // The original flushes once at the end, although the guide reads as each time.
            (None, Some(FlushAll | FlushLocalAll)) => Schedule::Aggregated,
            (None, Some(_)) => Schedule::Many,
        }
    }

    /// The bytes for messages of `bytes` in a group of `ranks`.
    pub(crate) fn sizes(&self, bytes: usize, ranks: usize) -> WindowSizes {
        let Some(access) = self.access else {
            return WindowSizes {
                out: bytes.min(1),
                exposed: bytes,
                landing: 0,
            };
        };
        let Access {
            operation, targets, ..
        } = access;
        let source = bytes * targets.source_blocks();
        let destination = bytes * targets.destination_blocks(access.gets(), ranks);
        let (out, exposed, landing) = match operation {
            Put | Accumulate => (source, destination, 0),
            Get => (0, source, destination),
            GetAccumulate | FetchAndAdd => (source, destination, bytes),
            CompareAndSwap => (0, destination, bytes),
        };
        WindowSizes {
            out,
            exposed,
            landing,
        }
    }

    /// The bytes that a rank needs for messages of `bytes` in a group of `ranks`.
    pub(crate) fn memory(&self, bytes: usize, ranks: usize, off_cache: Option<OffCache>) -> usize {
        let WindowSizes {
            out,
            exposed,
            landing,
        } = self.sizes(bytes, ranks);
        let spaces = [out, exposed, landing].map(|length| OffCache::space_of(off_cache, length));
        spaces.into_iter().fold(0, usize::saturating_add)
    }
}
