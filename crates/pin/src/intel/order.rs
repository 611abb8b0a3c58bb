//! `I_MPI_PIN_ORDER`: which rank gets which domain.

use core::fmt;
use core::str::FromStr;

use oxmpi_text::{Error, Words};

/// How ranks are mapped to domains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// `range`: by the operating system's numbers of processors.
    Range,
    /// `scatter`: neighbours in rank share as little of the machine as can be.
    Scatter,
    /// `compact`: neighbours in rank are neighbours on the machine, from its first processor on.
    Compact,
    /// `spread`: ranks are shared out to the sockets, and sit far from each other on each.
    Spread,
    /// `bunch`: ranks are shared out to the sockets in proportion, and sit close together on each.
    /// The default.
    #[default]
    Bunch,
}

const WORDS: Words = Words(&["range", "scatter", "compact", "spread", "bunch"]);

const ORDERS: [Order; 5] = [
    Order::Range,
    Order::Scatter,
    Order::Compact,
    Order::Spread,
    Order::Bunch,
];

impl FromStr for Order {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        WORDS.find(text).map(|place| ORDERS[place])
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WORDS.0[*self as usize])
    }
}
