//! Blocks of a slice, one for each rank or neighbour.

use std::ops::Range;

use oxmpi_core::{Error, Result};
use oxmpi_os::RawBytes;

use super::CallSite;
use crate::buffer::Buffer;
use crate::data::Data;
use crate::layout::disjoint;
use crate::values::{LentValues, ValuesRef};

/// A slice and blocks of it, one for each rank or neighbour in their order: the number of elements of each,
/// and the index of its first. Elements between blocks are not accessed.
///
/// ```
/// # use oxmpi::{World, collective::Blocks};
/// # let world = World::init()?;
/// # let comm = world.comm();
/// // Rank r has r + 1 values; every rank gets all of them, rank by rank.
/// let mine = vec![comm.rank(); comm.rank() + 1];
/// let counts: Vec<usize> = (1..=comm.size()).collect();
/// let mut all = vec![0; counts.iter().sum()];
/// comm.allgatherv(&mine, Blocks::packed(&mut all, &counts))?;
/// # Ok::<(), oxmpi::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a, S> {
    values: S,
    pub(super) counts: &'a [usize],
    /// `None`: each block starts where the one before it ends.
    starts: Option<&'a [usize]>,
}

impl<'a, S> Blocks<'a, S> {
    /// Blocks that follow one another in the slice.
    pub const fn packed(values: S, counts: &'a [usize]) -> Self {
        Self {
            values,
            counts,
            starts: None,
        }
    }

    /// Blocks that start at these indexes.
    pub const fn at(values: S, counts: &'a [usize], starts: &'a [usize]) -> Self {
        Self {
            values,
            counts,
            starts: Some(starts),
        }
    }
}

/// The access to blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::comm) enum BlockUse {
    /// They are read, and may overlap.
    Read,
    /// They are written, and may not overlap.
    Written,
}

/// The memory of blocks, and their buffer.
pub(in crate::comm) struct CutBlocks<B: Buffer> {
    pub(in crate::comm) places: Vec<RawBytes>,
    pub(in crate::comm) held: B::Held,
}

impl<S> Blocks<'_, S> {
    /// The memory of the `number` blocks of the buffer that errors call `what`.
    ///
    /// # Errors
    /// When there are more or fewer blocks, one exceeds the slice, or two written ones overlap.
    pub(in crate::comm) fn cut<T: Data>(
        self,
        site: &CallSite,
        what: &'static str,
        number: usize,
        use_: BlockUse,
    ) -> Result<CutBlocks<S::Buffer>>
    where
        S: ValuesRef<T>,
    {
        let LentValues { bytes, count, held } = self.values.lend_for();
        let wrong = |why: String| Error::Blocks {
            rank: site.rank as usize,
            what,
            why,
        };
        let ranges = ranges(self.counts, self.starts, number, count).map_err(wrong)?;
        if use_ == BlockUse::Written {
            disjoint(&ranges).map_err(wrong)?;
        }
        let places = ranges
            .iter()
            .map(|range| part(&bytes, range, size_of::<T>()));
        Ok(CutBlocks {
            places: places.collect(),
            held,
        })
    }
}

/// The bytes of a range of elements; empty for an empty range, wherever it starts.
fn part(bytes: &RawBytes, range: &Range<usize>, element: usize) -> RawBytes {
    if range.is_empty() {
        return RawBytes::empty();
    }
    let (start, len) = (range.start * element, range.len() * element);
    let part = bytes.part(start as u64, len as u64, 0, 1);
    part.unwrap_or(RawBytes::empty())
}

/// The range of each block, or what is wrong with one.
fn ranges(
    counts: &[usize],
    starts: Option<&[usize]>,
    number: usize,
    len: usize,
) -> Result<Vec<Range<usize>>, String> {
    if counts.len() != number {
        let counts = counts.len();
        return Err(format!("there are {counts} counts for {number} blocks"));
    }
    if let Some(starts) = starts.filter(|starts| starts.len() != number) {
        let starts = starts.len();
        return Err(format!("there are {starts} starts for {number} blocks"));
    }
    let mut next = 0;
    let ranges = counts.iter().enumerate().map(|(n, &count)| {
        let start = starts.map_or(next, |starts| starts[n]);
        match start
            .checked_add(count)
            .filter(|&end| end <= len || count == 0)
        {
            Some(end) => {
                next = end;
                Ok(start..end)
            }
            None => Err(format!(
                "block {n} has {count} elements from index {start} on, and the buffer has {len}"
            )),
        }
    });
    ranges.collect()
}

#[cfg(test)]
mod tests {
    use super::{part, ranges};
    use crate::layout::disjoint;
    use oxmpi_os::RawBytes;
    use oxmpi_wire::Bytes;
    use proptest::prelude::*;

    #[test]
    fn an_empty_block_may_start_anywhere() {
        let (counts, starts) = ([0, 2, 0], [usize::MAX, 1, 1 << 62]);
        let ranges = ranges(&counts, Some(&starts), 3, 4).expect("within bounds");
        let mut values = [0_u64; 4];
        // SAFETY: initialised, and not accessed through this.
        let bytes = unsafe { RawBytes::new(values.as_mut_ptr().cast(), 32) };
        let lens = ranges.iter().map(|range| part(&bytes, range, 8).len());
        assert_eq!(lens.collect::<Vec<_>>(), [0, 16, 0]);
    }

    #[test]
    fn wrong_blocks_are_named() {
        let why = |counts: &[usize], starts| ranges(counts, starts, 3, 8).expect_err("wrong");
        assert_eq!(why(&[1, 2], None), "there are 2 counts for 3 blocks");
        let short = why(&[1, 2, 3], Some(&[0]));
        assert_eq!(short, "there are 1 starts for 3 blocks");
        let beyond = "block 2 has 4 elements from index 5 on, and the buffer has 8";
        assert_eq!(why(&[3, 2, 4], None), beyond);
        assert_eq!(why(&[0, 0, 4], Some(&[0, 0, 5])), beyond);
        let most = [usize::MAX, 1, usize::MAX];
        assert!(why(&most, Some(&[1, 1, 1])).contains("block 0 has"));
        let shared = ranges(&[2, 3, 1], Some(&[6, 4, 0]), 3, 8).expect("within bounds");
        let expected = "blocks 0 and 1 both have the element at index 6";
        assert_eq!(disjoint(&shared), Err(expected.to_owned()));
    }

    proptest! {
        /// Against each element's count.
        #[test]
        fn overlaps_are_found(
            blocks in prop::collection::vec((0usize..5, 0usize..20), 0..6),
        ) {
            let (counts, starts): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
            let ranges = ranges(&counts, Some(&starts), counts.len(), 24).expect("within bounds");
            let holders = |i| ranges.iter().filter(|range| range.contains(&i)).count();
            let overlap = (0..24).any(|i| holders(i) > 1);
            prop_assert_eq!(disjoint(&ranges).is_err(), overlap);
        }
    }
}
