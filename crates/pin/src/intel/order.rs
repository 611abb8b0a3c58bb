//! `I_MPI_PIN_ORDER`: the order in which ranks take domains.

use core::fmt;
use core::str::FromStr;

use oxmpi_text::{Error, Words};

/// How ranks are mapped to domains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// `range`: domains in the order of the operating system's numbers.
    Range,
    /// `scatter`: consecutive ranks share as few resources as possible.
    Scatter,
    /// `compact`: consecutive ranks are neighbours on the machine, from its first processor on.
    Compact,
    /// `spread`: ranks are divided among the sockets, and far from each other on each.
    Spread,
    /// `bunch`: ranks are divided among the sockets in proportion, and close together on each. The default.
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
