//! `I_MPI_PIN_ORDER`: which rank gets which domain.

use core::fmt;
use core::str::FromStr;

use oxmpi_text::{Error, Words};

/// How ranks are mapped to domains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// `bunch`: ranks are shared out to the sockets in proportion, and sit close together on each.
    /// The default.
    #[default]
    Bunch,
    /// `compact`: neighbours in rank are neighbours on the machine, from its first processor on.
    Compact,
}

const WORDS: Words = Words(&["bunch", "compact"]);

impl FromStr for Order {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(match WORDS.find(text)? {
            0 => Self::Bunch,
            _ => Self::Compact,
        })
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bunch => "bunch",
            Self::Compact => "compact",
        })
    }
}
