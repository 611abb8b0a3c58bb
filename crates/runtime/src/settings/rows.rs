//! The runtime's own settings: how a rank waits, and what it says of its start.

use std::str::FromStr;

use oxmpi_text::{Alias, Error, Level, Product, Setting, Words, switch, whole};

use crate::raw::WaitMode;

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
/// What is no whole number below 2^32.
pub fn spin(text: &str) -> Result<u32, Error> {
    let count = whole(text, 0..=u64::from(u32::MAX), "a whole number below 2^32")?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The runtime's rows in the table.
pub(super) const ROWS: &[Setting] = &[
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
        long: "`active` looks for messages again and again and keeps its processor: the lowest latency. \
               `passive` looks for a short while, then lets others run, then sleeps until a message \
               comes. `auto` goes by the processors: where every rank has one of its own, it looks \
               for about a millisecond before it lets others run and then sleeps; where ranks \
               share processors, it lets others run as long as one is awake on its own, and sleeps \
               after a millisecond.",
        check: |text| text.parse::<WaitMode>().map(drop),
    },
    Setting {
        name: "spin",
        aliases: &[Alias::new(Product::IntelMpi, "I_MPI_SPIN_COUNT")],
        default: "2000",
        kind: "count",
        level: Level::Expert,
        short: "how often a waiting rank looks before it lets others run",
        long: "Counted in empty polls with one pause of the processor each. Read where ranks wait \
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
        long: "Otherwise two ranks connect when one of them first sends to the other, or waits for it. With this \
               the start takes longer and each rank holds a connection to every rank of other nodes, but no \
               first message waits, and a network that does not join two hosts is told at once.",
        check: |text| switch(text).map(drop),
    },
    Setting {
        name: "start_report",
        aliases: &[],
        default: "off",
        kind: "switch",
        level: Level::Expert,
        short: "whether each rank says what it took to find the others",
        long: "One line on stderr once the ranks have met: the time since the rank began to look for its process manager, \
               what it asked the manager for, and what it sent to other nodes.",
        check: |text| switch(text).map(drop),
    },
];
