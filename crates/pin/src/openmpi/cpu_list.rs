//! `--cpu-set` of `mpirun`: processors by their logical numbers, in the order of the option.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use oxmpi_text::{Error, NumberList, Span};
use oxmpi_topo::CpuSet;

/// Processors by their logical numbers (their index in the order of the machine, as `lstopo` counts them), written as
/// numbers and ranges. The order counts with `--bind-to cpu-list:ordered` only; a number that is repeated counts once.
///
/// ```
/// use oxmpi_pin::openmpi::CpuList;
///
/// let list: CpuList = "8,0-3,8".parse()?;
/// assert_eq!(list.numbers(), [8, 0, 1, 2, 3]);
/// assert_eq!(list.to_string(), "8,0-3");
/// # Ok::<(), oxmpi_text::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuList(Vec<usize>);

const EXPECTED: &str = "logical numbers of processors such as 0-3,8";

impl CpuList {
    /// The numbers in the order of the option; at least one.
    pub fn numbers(&self) -> &[usize] {
        &self.0
    }

    /// The numbers without their order.
    pub fn set(&self) -> CpuSet {
        self.0.iter().copied().collect()
    }
}

impl FromStr for CpuList {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut left = CpuSet::parse_list(text).map_err(|error| error.cause())?;
        if left.is_empty() {
            return Err(Error::new(Span::whole(text), EXPECTED));
        }
        let mut numbers = Vec::with_capacity(left.len());
        for part in text.split(',') {
            let part = CpuSet::parse_list(part).map_err(|error| error.cause())?;
            numbers.extend((&part & &left).iter());
            left = &left - &part;
        }
        Ok(Self(numbers))
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = self.0.iter().map(|number| *number as u32);
        NumberList(numbers).fmt(f)
    }
}
