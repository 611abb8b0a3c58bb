//! The kernels of EXT and RMA, in the order of the Intel MPI Benchmarks 2021.

use super::super::info::{Active, Class, Info};
use super::super::part::Part;
use super::Aggregation::{self, Aggregate, NonAggregate};
use super::Completion::{self, Fence, Flush, FlushAll, FlushLocal, FlushLocalAll};
use super::Operation::{self, Accumulate, CompareAndSwap, FetchAndAdd, Get, GetAccumulate, Put};
use super::{Access, Targets, WindowKernel};

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
pub(super) static EXT: [WindowKernel; 6] = [
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
pub(super) static RMA: [WindowKernel; 19] = [
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
    flushed("Get_accumulate", "rank 0 adds its vector to that of rank 1, and gets the one before", GetAccumulate, PEER),
    flushed("Fetch_and_op", "rank 0 adds to a number of rank 1, and gets the one before", FetchAndAdd, PEER)
        .of_one_number(),
    flushed("Compare_and_swap", "rank 0 swaps an integer of rank 1 if it is the expected one", CompareAndSwap, PEER)
        .of_one_number(),
    flushed("Truly_passive_put", "rank 0 puts while rank 1 waits, then while it computes", Put, PEER)
        .overlapping(),
];
