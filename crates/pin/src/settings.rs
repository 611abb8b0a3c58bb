//! The settings of pinning, and their rows in the table of settings.

use oxmpi_text::{Alias, Level, Product, Setting, switch};

use crate::intel::{Domain, Order};

/// What a user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether ranks are pinned at all.
    pub pin: bool,
    /// What one rank gets.
    pub domain: Domain,
    /// Which rank gets which domain.
    pub order: Order,
}

impl Default for Settings {
    /// Pinned, domains of size `auto`, order `bunch`: what Intel's reference names as defaults.
    fn default() -> Self {
        Self {
            pin: true,
            domain: Domain::default(),
            order: Order::default(),
        }
    }
}

/// The rows of pinning in the table of settings.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "pin",
        aliases: &[Alias::new(Product::IntelMpi, "I_MPI_PIN")],
        default: "on",
        kind: "switch",
        level: Level::Basic,
        short: "whether each rank is kept on processors of its own",
        long: "With `off`, ranks run wherever the system puts them, inside the mask that the job \
               inherited. Messages between ranks that wander cost more, and more unevenly.",
        check: |text| switch(text).map(drop),
    },
    Setting {
        name: "pin_domain",
        aliases: &[Alias::new(Product::IntelMpi, "I_MPI_PIN_DOMAIN")],
        default: "auto",
        kind: "domain",
        level: Level::Basic,
        short: "the processors that one rank gets",
        long: "`core`, `socket` (`sock`), `numa`, `node`: one such part of the machine for each rank. \
               `auto`: processors divided by ranks. A number: that many processors, close together. \
               A size may be followed by `:compact`. `auto` with one rank and `node` pin nothing.",
        check: |text| text.parse::<Domain>().map(drop),
    },
    Setting {
        name: "pin_order",
        aliases: &[Alias::new(Product::IntelMpi, "I_MPI_PIN_ORDER")],
        default: "bunch",
        kind: "order",
        level: Level::Tuning,
        short: "which rank gets which domain",
        long: "`bunch`: ranks are shared out to the sockets in proportion and sit close together on \
               each. `compact`: domains in the order of the machine, from its first processor on.",
        check: |text| text.parse::<Order>().map(drop),
    },
];
