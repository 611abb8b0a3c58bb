//! [`Indexed`]: a list of ranges.

use std::ops::Range;

use oxmpi_wire::layout::{Block, Datatype};

use super::sealed::Describe;
use super::{disjoint, why};

/// Ranges of elements in the order of the list (`MPI_Type_indexed`).
///
/// ```
/// use oxmpi::layout::{Indexed, View};
///
/// let values: Vec<u32> = (0..20).collect();
/// let blocks = [15..17, 2..5];
/// assert_eq!(View::new(&values, Indexed(&blocks))?.to_vec(), [15, 16, 2, 3, 4]);
/// # Ok::<(), oxmpi::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indexed<'a>(
    /// The ranges of indexes; an empty one may be anywhere.
    pub &'a [Range<usize>],
);

impl Describe for Indexed<'_> {
    fn datatype(&self, element: &Datatype, _: usize) -> Result<Datatype, String> {
        let filled = self.0.iter().filter(|range| !range.is_empty());
        let blocks = filled.map(|range| {
            let displacement = i64::try_from(range.start);
            let displacement =
                displacement.map_err(|_| format!("index {} exceeds 63 bits", range.start))?;
            let len = range.len() as u64;
            Ok(Block { len, displacement })
        });
        let blocks: Vec<Block> = blocks.collect::<Result<_, String>>()?;
        element.indexed(&blocks).map_err(why)
    }

    fn check_distinct(&self) -> Result<(), String> {
        disjoint(self.0)
    }
}
