//! What a call names of a target: [`WindowRange`]; and how much memory each target has: [`Sizes`].

use oxmpi_wire::layout::{ByteRuns, Datatype, Locate, StridedRuns};

/// The places of an access, counted from a displacement.
#[derive(Clone, Copy, Debug)]
pub enum Shape<'a> {
    /// So many bytes.
    Bytes(u64),
    /// So many instances of a datatype.
    Instances(&'a Datatype, u64),
}

/// Memory of a target that a call names.
#[derive(Clone, Copy, Debug)]
pub struct WindowRange<'a> {
    /// The target; [`PROC_NULL`](crate::PROC_NULL): the call does nothing.
    pub rank: usize,
    /// Where the places count from, in the target's units.
    pub displacement: u64,
    /// The places.
    pub shape: Shape<'a>,
}

impl WindowRange<'_> {
    /// The `len` bytes from this displacement on.
    #[must_use]
    pub const fn bytes(rank: usize, displacement: u64, len: u64) -> Self {
        Self {
            rank,
            displacement,
            shape: Shape::Bytes(len),
        }
    }
}

impl Shape<'_> {
    /// Packed bytes; `None` if they exceed 63 bits.
    pub(super) fn len(&self) -> Option<u64> {
        match self {
            Self::Bytes(len) => Some(*len),
            Self::Instances(datatype, count) => datatype.size_of(*count),
        }
    }

    /// The ranges of all `len` bytes, in order.
    pub(super) const fn runs(&self, len: u64) -> ByteRuns<&Self> {
        ByteRuns::new(self, 0, len)
    }

    /// The first place of all bytes, if they are contiguous.
    pub(super) const fn contiguous_at(&self) -> Option<i64> {
        match self {
            Self::Bytes(_) => Some(0),
            Self::Instances(datatype, count) => datatype.contiguous_at(*count),
        }
    }

    /// The first place and the one after the last, counted from the displacement; `None` if they exceed 63 bits.
    pub(super) fn span(&self) -> Option<[i64; 2]> {
        match *self {
            Self::Bytes(len) => Some([0, i64::try_from(len).ok()?]),
            Self::Instances(datatype, count) if count == 0 || datatype.size() == 0 => Some([0, 0]),
            Self::Instances(datatype, count) => {
                let last = i64::try_from(count - 1).ok()?;
                let shift = datatype.extent().checked_mul(last)?;
                let first = datatype.true_lower_bound();
                let end = first.checked_add(datatype.true_extent())?;
                let low = first.checked_add(shift.min(0))?;
                Some([low, end.checked_add(shift.max(0))?])
            }
        }
    }
}

impl Locate for Shape<'_> {
    fn locate(&self, at: u64) -> StridedRuns {
        match self {
            Self::Bytes(len) => StridedRuns::one(at as i64, len - at),
            Self::Instances(datatype, _) => datatype.locate(at),
        }
    }
}

/// Bytes of a rank's memory, and of its unit.
pub(super) type RankSize = (u64, u64);

/// Memory and units of the ranks of a window.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sizes {
    /// All have as many bytes, in units of as many.
    Equal(u64, u64),
    /// By rank.
    Each(Box<[RankSize]>),
}

impl Sizes {
    pub(super) fn new(sizes: impl Iterator<Item = RankSize> + Clone) -> Self {
        let mut others = sizes.clone();
        let first = others.next().unwrap_or((0, 1));
        match others.all(|size| size == first) {
            true => Self::Equal(first.0, first.1),
            false => Self::Each(sizes.collect()),
        }
    }

    /// Bytes of a rank's memory, and of its unit.
    #[inline]
    pub(super) fn of(&self, rank: usize) -> RankSize {
        match self {
            Self::Equal(len, unit) => (*len, *unit),
            Self::Each(sizes) => sizes.get(rank).copied().unwrap_or((0, 1)),
        }
    }
}

/// An offset from where the places count from, as one from the start of the target's memory. The caller has checked that it
/// lies within.
pub(super) const fn offset(base: u64, run: i64) -> u64 {
    base.wrapping_add_signed(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sizes_need_no_table() {
        let sizes = Sizes::new([(8, 1), (8, 1)].into_iter());
        assert_eq!((&sizes, sizes.of(1)), (&Sizes::Equal(8, 1), (8, 1)));
        let sizes = Sizes::new([(8, 1), (8, 4)].into_iter());
        assert_eq!((sizes.of(1), sizes.of(2)), ((8, 4), (0, 1)));
    }
}
