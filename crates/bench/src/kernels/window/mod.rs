//! The kernels over windows: the parts EXT and RMA, as a table of what each of them does.
//!
//! ```text
//! transfers  whom a rank accesses in a repetition, and what it receives
//! ```
//!
//! What repeats them is in `method/windows`.

#[cfg(test)]
mod tests;
mod transfers;

pub(crate) use transfers::{Targets, Transfer};

use super::Part;
use super::info::{Active, Class, Info, Schedule};
use crate::OffCache;
use Completion::{Fence, Flush, FlushAll, FlushLocal, FlushLocalAll};
use Operation::{Accumulate, CompareAndSwap, FetchAndAdd, Get, GetAccumulate, Put};

/// How the transfers of a sample complete, in kernels that have both modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregation {
    /// Many transfers complete together.
    Aggregate,
    /// Each transfer completes before the next one begins.
    NonAggregate,
}

use Aggregation::{Aggregate, NonAggregate};

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
            Part::Mpi1 => &[],
            Part::Ext => &EXT,
            Part::Rma => &RMA,
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

const EXT_MODES: &[Option<Aggregation>] = &[Some(Aggregate), Some(NonAggregate)];
const RMA_MODES: &[Option<Aggregation>] = &[Some(NonAggregate), Some(Aggregate)];
const NO_MODES: &[Option<Aggregation>] = &[None];

/// A transfer between two ranks, in both modes.
const fn pair(
    part: Part,
    name: &'static str,
    about: &'static str,
    operation: Operation,
    (targets, completion): (Targets, Completion),
) -> WindowKernel {
    let item = match operation {
        Put | Get => 1,
        _ => size_of::<f32>(),
    };
    WindowKernel {
        part,
        info: Info {
            item,
            ..Info::window(name, about)
        },
        modes: match part {
            Part::Ext => EXT_MODES,
            _ => RMA_MODES,
        },
        access: Some(Access {
            operation,
            targets,
            completion,
        }),
    }
}

/// Of part EXT.
const fn fenced(
    name: &'static str,
    about: &'static str,
    operation: Operation,
    targets: Targets,
) -> WindowKernel {
    pair(Part::Ext, name, about, operation, (targets, Fence))
}

/// Of part RMA, with a flush of each target.
const fn flushed(
    name: &'static str,
    about: &'static str,
    operation: Operation,
    targets: Targets,
) -> WindowKernel {
    pair(Part::Rma, name, about, operation, (targets, Flush))
}

impl WindowKernel {
    const fn of_class(mut self, class: Class) -> Self {
        self.info.class = class;
        self
    }

    const fn without_modes(mut self) -> Self {
        self.modes = NO_MODES;
        self
    }

    /// One number.
    const fn of_one_number(mut self) -> Self {
        self.info.fixed = Some(size_of::<f32>());
        self
    }

    const fn completed_by(mut self, completion: Completion) -> Self {
        if let Some(access) = &mut self.access {
            access.completion = completion;
        }
        self
    }

    /// From rank 0 to all others, all completed at once.
    const fn by_one(mut self) -> Self {
        self.info.active = Active::All;
        self.info.is_to_all = true;
        self.without_modes().completed_by(FlushAll)
    }

    /// By all ranks at once, in a table without throughput.
    const fn by_all(mut self) -> Self {
        self.info.active = Active::All;
        self.info.messages = 0;
        self.of_class(Class::ParallelTransfer)
    }

    /// In a table of two times.
    const fn overlapping(mut self) -> Self {
        self.info.messages = 0;
        self.of_class(Class::Overlap).without_modes()
    }

    const fn on_request(mut self) -> Self {
        self.info.by_default = false;
        self
    }
}

const BOTH: Targets = Targets::BothPeers;
const PEER: Targets = Targets::Peer;

#[rustfmt::skip]
static EXT: [WindowKernel; 6] = [
    WindowKernel {
        access: None,
        ..fenced("Window", "make a window, put a byte to oneself between fences, free it", Put, PEER)
            .by_all().of_class(Class::Collective).without_modes()
    },
    fenced("Unidir_Get", "rank 0 gets from rank 1", Get, PEER),
    fenced("Unidir_Put", "rank 0 puts to rank 1", Put, PEER),
    fenced("Bidir_Get", "two ranks get from each other", Get, BOTH),
    fenced("Bidir_Put", "two ranks put to each other", Put, BOTH),
    fenced("Accumulate", "all ranks add their vectors to that of rank 0", Accumulate, Targets::Root)
        .by_all().of_class(Class::Collective),
];

#[rustfmt::skip]
static RMA: [WindowKernel; 19] = [
    flushed("Unidir_put", "rank 0 puts to rank 1", Put, PEER),
    flushed("Bidir_put", "two ranks put to each other", Put, BOTH),
    flushed("Unidir_get", "rank 0 gets from rank 1", Get, PEER),
    flushed("Bidir_get", "two ranks get from each other", Get, BOTH),
    flushed("Put_local", "rank 0 puts to rank 1 and flushes locally", Put, PEER)
        .completed_by(FlushLocal),
    flushed("Put_all_local", "rank 0 puts to all others and flushes locally", Put, Targets::FromFirst)
        .by_one().completed_by(FlushLocalAll),
    flushed("Get_local", "rank 0 gets from rank 1 and flushes locally", Get, PEER)
        .completed_by(FlushLocal).on_request(),
    flushed("Get_all_local", "rank 0 gets from all others and flushes locally", Get, Targets::FromFirst)
        .by_one().completed_by(FlushLocalAll).on_request(),
    flushed("One_put_all", "rank 0 puts to all others", Put, Targets::FromFirst).by_one(),
    flushed("All_put_all", "each rank puts to all others", Put, Targets::FromAll)
        .by_all().without_modes().completed_by(FlushAll),
    flushed("One_get_all", "rank 0 gets from all others", Get, Targets::FromFirst).by_one(),
    flushed("All_get_all", "each rank gets from all others", Get, Targets::FromAll)
        .by_all().without_modes().completed_by(FlushAll),
    flushed("Exchange_put", "each rank puts to both neighbours of a ring", Put, Targets::Neighbours)
        .by_all().without_modes(),
    flushed("Exchange_get", "each rank gets from both neighbours of a ring", Get, Targets::Neighbours)
        .by_all().without_modes(),
    flushed("Accumulate", "rank 0 adds its vector to that of rank 1", Accumulate, PEER),
    flushed("Get_accumulate", "the same, and gets the numbers before", GetAccumulate, PEER),
    flushed("Fetch_and_op", "rank 0 adds to a number of rank 1 and gets the one before", FetchAndAdd, PEER)
        .of_one_number(),
    flushed("Compare_and_swap", "rank 0 swaps an integer of rank 1 if it is the expected one", CompareAndSwap, PEER)
        .of_one_number(),
    flushed("Truly_passive_put", "rank 0 puts while rank 1 waits, then while it computes", Put, PEER)
        .overlapping(),
];
