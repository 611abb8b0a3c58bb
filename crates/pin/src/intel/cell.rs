//! `I_MPI_PIN_CELL`: whether ranks are pinned to hardware threads or to cores.

use core::fmt;
use core::str::FromStr;

use oxmpi_text::{Error, Words};

/// The unit that counts as one processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cell {
    /// `unit`: each hardware thread. The default.
    #[default]
    Unit,
    /// `core`: only the first hardware thread of each core; the others are not used.
    Core,
}

const WORDS: Words = Words(&["unit", "core"]);

impl FromStr for Cell {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(match WORDS.find(text)? {
            0 => Self::Unit,
            _ => Self::Core,
        })
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WORDS.0[*self as usize])
    }
}
