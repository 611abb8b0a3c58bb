//! The kernels of `rma`, in the order of their lines.

use super::accesses::{
    Access, accumulate, all_put_all, compare_and_swap, exchange_put, fence_put, fetch_and_op,
    flushed, get, get_accumulate, put, put_pingpong, window,
};
use super::outcome::{
    Outcome, is_counted, is_exchanged, is_got, is_last, is_put, is_put_by_all, is_summed, is_zero,
};
use oxmpi::Result;
use oxmpi::window::ByteWindow;

/// Accesses before a flush in the kernels of the name `_many`.
const MANY: u32 = 100;

/// The epoch in which a kernel runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Epoch {
    /// Of locks, in which rank 0 is alone.
    Alone,
    /// Of locks.
    Locked,
    Fenced,
    /// The kernel's own.
    Own,
}

impl Epoch {
    pub(crate) fn begin(self, window: &ByteWindow) -> Result<()> {
        match self {
            Epoch::Alone | Epoch::Locked => window.lock_all(),
            Epoch::Fenced => window.fence(true),
            Epoch::Own => Ok(()),
        }
    }

    pub(crate) fn end(self, window: &ByteWindow) -> Result<()> {
        match self {
            Epoch::Alone | Epoch::Locked => window.unlock_all(),
            Epoch::Fenced => window.fence(false),
            Epoch::Own => Ok(()),
        }
    }
}

/// A kernel.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&mut Access<'_>, u64) -> Result<()>,
    pub(crate) right: fn(&Outcome<'_>) -> bool,
    pub(crate) epoch: Epoch,
    /// Accesses in a repetition.
    pub(crate) accesses: u32,
    /// Whether it has one length only.
    pub(crate) short: bool,
    /// Whether it is about memory of a vector.
    pub(crate) private: bool,
    /// Whether a rank polls its memory.
    pub(crate) polled: bool,
    /// Whether it reads what is in the memory before.
    pub(crate) gets: bool,
    /// Of how many ranks it is.
    pub(crate) ranks: Ranks,
}

/// Of how many ranks a kernel is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ranks {
    Two,
    Any,
    /// More than two, each with a slot in the memory of the others.
    More,
}

impl Ranks {
    /// Whether a job of so many ranks runs it.
    pub(crate) fn includes(self, size: usize) -> bool {
        match self {
            Self::Two => size == 2,
            Self::Any => true,
            Self::More => size > 2,
        }
    }
}

impl Kernel {
    /// A kernel of any length, of one access of rank 0.
    const fn alone(
        name: &'static str,
        run: fn(&mut Access<'_>, u64) -> Result<()>,
        right: fn(&Outcome<'_>) -> bool,
    ) -> Self {
        Kernel {
            name,
            run,
            right,
            epoch: Epoch::Alone,
            accesses: 1,
            short: false,
            private: false,
            polled: false,
            gets: false,
            ranks: Ranks::Two,
        }
    }

    /// Of a short length, with a flush after [`MANY`] accesses.
    const fn many(self) -> Self {
        let accesses = MANY;
        Kernel { accesses, ..self }.short()
    }

    const fn short(self) -> Self {
        let short = true;
        Kernel { short, ..self }
    }

    const fn gets(self) -> Self {
        let gets = true;
        Kernel { gets, ..self }
    }

    const fn of(self, ranks: Ranks) -> Self {
        Kernel { ranks, ..self }
    }

    const fn within(self, epoch: Epoch) -> Self {
        Kernel { epoch, ..self }
    }
}

/// Every kernel.
pub(crate) const KERNELS: [Kernel; 16] = [
    Kernel::alone("put", |a, times| flushed(a, times, 1, put), is_put),
    Kernel::alone("put_many", |a, times| flushed(a, times, MANY, put), is_put).many(),
    Kernel::alone("get", |a, times| flushed(a, times, 1, get), is_got).gets(),
    Kernel::alone("get_many", |a, times| flushed(a, times, MANY, get), is_got)
        .many()
        .gets(),
    Kernel::alone(
        "accumulate",
        |a, times| flushed(a, times, 1, accumulate),
        is_summed,
    ),
    Kernel::alone(
        "get_accumulate",
        |a, times| flushed(a, times, 1, get_accumulate),
        is_summed,
    ),
    Kernel::alone(
        "fetch_and_op",
        |a, times| flushed(a, times, 1, fetch_and_op),
        is_counted,
    )
    .short(),
    Kernel::alone(
        "fetch_and_op_many",
        |a, times| flushed(a, times, MANY, fetch_and_op),
        is_counted,
    )
    .many(),
    Kernel::alone(
        "compare_and_swap",
        |a, times| flushed(a, times, 1, compare_and_swap),
        is_zero,
    )
    .short(),
    Kernel::alone(
        "compare_and_swap_many",
        |a, times| flushed(a, times, MANY, compare_and_swap),
        is_zero,
    )
    .many(),
    Kernel {
        private: true,
        ..Kernel::alone("private_put", |a, times| flushed(a, times, 1, put), is_put)
    },
    Kernel::alone("fence_put", fence_put, is_put).within(Epoch::Fenced),
    Kernel::alone("window", window, |_| true)
        .within(Epoch::Own)
        .of(Ranks::Any)
        .short(),
    Kernel {
        accesses: 2,
        polled: true,
        ..Kernel::alone("put_pingpong", put_pingpong, is_last)
            .within(Epoch::Locked)
            .short()
    },
    Kernel::alone("all_put_all", all_put_all, is_put_by_all)
        .within(Epoch::Locked)
        .of(Ranks::More)
        .short(),
    Kernel::alone("exchange_put", exchange_put, is_exchanged)
        .within(Epoch::Locked)
        .of(Ranks::More)
        .short(),
];
