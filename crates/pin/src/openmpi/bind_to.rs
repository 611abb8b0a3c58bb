//! `--bind-to` of `mpirun`: the part of the machine that each rank is bound to.

use core::fmt;
use core::str::FromStr;

use oxmpi_text::{Error, Words};

use super::Level;

/// The part of the machine that each rank is bound to.
///
/// ```
/// use oxmpi_pin::openmpi::{BindTo, Level};
///
/// assert_eq!("core".parse(), Ok(BindTo::Level(Level::Core)));
/// assert_eq!("package".parse(), Ok(BindTo::Level(Level::Socket)));
/// assert_eq!("cpu-list:ordered".parse(), Ok(BindTo::OrderedCpuList));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindTo {
    /// `none`: ranks are not bound.
    None,
    /// Each rank is bound to one part of this level.
    Level(Level),
    /// `cpu-list`: each rank is bound to all processors of `--cpu-set`.
    CpuList,
    /// `cpu-list:ordered`: the first rank is bound to the first processor of `--cpu-set`, the second to the second.
    OrderedCpuList,
}

const WORDS: Words = Words(&[
    "none",
    "hwthread",
    "core",
    "l1cache",
    "l2cache",
    "l3cache",
    "socket",
    "package",
    "numa",
    CPU_LIST,
    ORDERED_CPU_LIST,
]);
const CPU_LIST: &str = "cpu-list";
const ORDERED_CPU_LIST: &str = "cpu-list:ordered";

impl FromStr for BindTo {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        WORDS.find(text)?;
        Ok(match text {
            CPU_LIST => Self::CpuList,
            ORDERED_CPU_LIST => Self::OrderedCpuList,
            text => Level::of(text).map_or(Self::None, Self::Level),
        })
    }
}

impl fmt::Display for BindTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Level(level) => level.fmt(f),
            Self::CpuList => f.write_str(CPU_LIST),
            Self::OrderedCpuList => f.write_str(ORDERED_CPU_LIST),
        }
    }
}
