//! The runtime's own settings: how a rank waits, when it connects, and what it reports at its start.

use std::str::FromStr;
use std::time::Duration;

use oxmpi_text::{
    Alias, Error, Expected, Level, Product, Setting, Span, Words, duration, switch, whole,
};

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
/// When it is not a whole number below 2^32.
pub fn spin(text: &str) -> Result<u32, Error> {
    let count = whole(text, 0..=u64::from(u32::MAX), "a whole number below 2^32")?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// A time in seconds (`10`, `0.5`) or with its unit (`500ms`, `2min`).
///
/// # Errors
/// When it is neither.
pub fn seconds(text: &str) -> Result<Duration, Error> {
    let nanos = duration(text).or_else(|_| duration(&format!("{text}s")));
    nanos.map(Duration::from_nanos).map_err(|_| Error {
        span: Span::whole(text),
        expected: Expected::Text("seconds such as 10 or 0.5, or a time such as 500ms or 2min"),
        suggestion: None,
    })
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
    Setting {
        name: "kill_timeout",
        aliases: &[Alias::new(Product::OpenMpi, "odls_base_sigkill_timeout")],
        default: "10s",
        kind: "time",
        level: Level::Basic,
        short: "how long ranks have to end after a signal to `oxmpi run`, before they are killed",
        long: "`oxmpi run` forwards SIGTERM, SIGINT, SIGHUP and SIGQUIT to the ranks once, and sends SIGTERM when the time \
               of --timeout is over: ranks can save their work. Then they get SIGKILL. A second signal kills them at once: \
               one from the terminal (Ctrl-C), or one that another process sends a second or more after the first. After \
               the failure of a rank the others have 150 ms. A number without unit is in seconds.",
        check: |text| seconds(text).map(drop),
    },
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
];
