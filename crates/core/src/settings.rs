//! The settings of the core: how a rank waits, when it connects, and what it reports at its start.

mod progress;

use std::str::FromStr;

use oxmpi_text::{Alias, Error, Level, Product, Setting, Words, switch, whole};

use self::progress::{ASYNC_PROGRESS, ASYNC_PROGRESS_CPUS, ASYNC_PROGRESS_POLL};
pub use self::progress::{helper_cpus, helper_poll};
use crate::policy::WaitMode;

const WAITS: Words = Words(&["auto", "active", "passive"]);

impl FromStr for WaitMode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(match WAITS.find(text)? {
            0 => Self::Auto,
            1 => Self::Active,
            _ => Self::Passive,
        })
    }
}

/// The number of empty polls before a rank yields.
///
/// # Errors
/// When it is not a whole number below 2^32.
pub fn spin(text: &str) -> Result<u32, Error> {
    let count = whole(text, 0..=u64::from(u32::MAX), "a whole number below 2^32")?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The rows of the core in the table of settings.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "wait",
        aliases: &[
            Alias {
                product: Product::IntelMpi,
                name: "I_MPI_WAIT_MODE",
                values: &[("0", "active"), ("1", "passive")],
            },
            Alias {
                product: Product::OpenMpi,
                name: "mpi_yield_when_idle",
                values: &[
                    ("0", "active"),
                    ("false", "active"),
                    ("1", "passive"),
                    ("true", "passive"),
                ],
            },
        ],
        default: "auto",
        kind: "word",
        level: Level::Tuning,
        short: "how a rank waits: auto, active or passive",
        long: "`active` polls for messages and keeps its processor: the lowest latency. `passive` polls for \
               a short while, then yields its processor, then sleeps until a message arrives. `auto` \
               depends on the processors: where every rank has one of its own, it polls for about a \
               millisecond before it yields and then sleeps; where ranks share processors, it yields \
               while another rank on its processor is awake, and sleeps after a millisecond.",
        check: |text| text.parse::<WaitMode>().map(drop),
    },
    Setting {
        name: "spin",
        aliases: &[Alias::new(Product::IntelMpi, "I_MPI_SPIN_COUNT")],
        default: "2000",
        kind: "count",
        level: Level::Expert,
        short: "how often a waiting rank polls before it yields its processor",
        long: "Counted in empty polls with one pause instruction each. It applies where ranks wait \
               passively.",
        check: |text| spin(text).map(drop),
    },
    Setting {
        name: "connect_at_start",
        aliases: &[
            Alias::new(Product::OpenMpi, "mpi_preconnect_mpi"),
            Alias {
                product: Product::IntelMpi,
                name: "I_MPI_DYNAMIC_CONNECTION",
                values: &[
                    ("1", "off"),
                    ("enable", "off"),
                    ("yes", "off"),
                    ("on", "off"),
                    ("0", "on"),
                    ("disable", "on"),
                    ("no", "on"),
                    ("off", "on"),
                ],
            },
        ],
        default: "off",
        kind: "switch",
        level: Level::Tuning,
        short: "whether ranks connect to all ranks of other nodes at the start",
        long: "When off, two ranks connect when one of them first sends to the other or waits for it. When on, \
               the start takes longer and each rank holds a connection to every rank of other nodes, but no \
               first message waits, and a network that does not join two hosts is reported at once.",
        check: |text| switch(text).map(drop),
    },
    ASYNC_PROGRESS,
    ASYNC_PROGRESS_CPUS,
    ASYNC_PROGRESS_POLL,
    Setting {
        name: "start_report",
        aliases: &[],
        default: "off",
        kind: "switch",
        level: Level::Expert,
        short: "whether each rank reports what it took to find the others",
        long: "One line on stderr once the ranks have connected: the time since the rank began to look for its process manager, \
               its calls to the manager, and what it sent to other nodes.",
        check: |text| switch(text).map(drop),
    },
    Setting {
        name: "window_direct",
        aliases: &[],
        default: "on",
        kind: "switch",
        level: Level::Expert,
        short: "whether ranks access windows of their node themselves",
        long: "When on, a rank accesses the memory of a window on its node by loads and stores where that is shared memory, and by \
               system calls where it is private and the system lets it; the owner does nothing. When off, it asks the owner by \
               messages, which the owner answers in its next calls.",
        check: |text| switch(text).map(drop),
    },
    Setting {
        name: "rma_check",
        aliases: &[],
        default: "off",
        kind: "switch",
        level: Level::Basic,
        short: "whether conflicting accesses to a window are errors",
        long: "When on, each rank looks for accesses to its memory that conflict in an epoch: a put and another put, a get or an \
               accumulate of the same bytes, or accumulates of different types. The call that ends the later access returns an error \
               that names both. All accesses are messages then, and what a program loads and stores itself is not seen, nor accesses to \
               memory of MPI_Win_allocate_shared.",
        check: |text| switch(text).map(drop),
    },
    Setting {
        name: "handle_leaks",
        aliases: &[Alias::new(Product::OpenMpi, "mpi_show_handle_leaks")],
        default: "off",
        kind: "switch",
        level: Level::Basic,
        short: "whether each rank of a C program reports what it has not freed",
        long: "One line on stderr in MPI_Finalize: how many communicators, datatypes, requests and other objects the program has made \
               and not freed, and the name or the handle of the first of each kind.",
        check: |text| switch(text).map(drop),
    },
];
