//! [`Place`]: where an access goes in the memory of its target.

use oxmpi_core::{Result, Shape};
use oxmpi_wire::layout::Datatype;

use super::accesses::Places;
use crate::layout::{Layout, laid_out, laid_out_mut};

/// Elements of a target's memory: as many as are accessed, from an index (`usize`) on, or those of a
/// [layout](crate::layout) of its whole memory. Sealed.
pub trait Place: sealed::Find {}

impl<P: sealed::Find> Place for P {}

#[allow(
    unnameable_types,
    reason = "the trait is sealed: callers name `Place`, never what is here"
)]
pub(super) mod sealed {
    use super::{Found, Result};

    /// Finds elements of type `T` in memory of `len` elements.
    pub trait Find {
        /// Elements that are read.
        ///
        /// # Errors
        /// When a layout names one beyond the memory.
        fn find<T>(&self, len: usize) -> Result<Found>;

        /// Elements that are written, each once.
        ///
        /// # Errors
        /// As [`Find::find`]; when a layout names one twice.
        fn find_mut<T>(&self, len: usize) -> Result<Found>;
    }
}

/// Where the elements are.
#[derive(Debug)]
pub enum Found {
    /// From this index on.
    From(u64),
    /// Those of the datatype, from the start of the memory.
    Laid(Datatype),
}

impl Found {
    /// These elements of a rank.
    pub(super) fn of(&self, rank: usize) -> Places<'_> {
        match self {
            Self::From(at) => Places::from(rank, *at),
            Self::Laid(datatype) => Places {
                rank,
                displacement: 0,
                shape: Some(Shape::Instances(datatype, 1)),
            },
        }
    }
}

impl sealed::Find for usize {
    fn find<T>(&self, _: usize) -> Result<Found> {
        Ok(Found::From(*self as u64))
    }

    fn find_mut<T>(&self, _: usize) -> Result<Found> {
        Ok(Found::From(*self as u64))
    }
}

impl<L: Layout> sealed::Find for L {
    fn find<T>(&self, len: usize) -> Result<Found> {
        laid_out::<T>(self, len).map(Found::Laid)
    }

    fn find_mut<T>(&self, len: usize) -> Result<Found> {
        laid_out_mut::<T>(self, len).map(Found::Laid)
    }
}
