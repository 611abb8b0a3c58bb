//! What a call names of a target: [`Target`].

use std::sync::Arc;

use oxmpi_core::{ElementKind, Shape, WindowRange};

use crate::constants::{MPI_ERR_COUNT, MPI_ERR_DISP, MPI_ERR_TYPE};
use crate::counts::Counting;
use crate::datatype::{self, Description};
use crate::error_handling::{Error, Result};
use crate::message_envelope::destination;
use crate::types::{Aint, Datatype, c_int};

/// Elements of a target that a call names.
pub(super) struct Target {
    rank: usize,
    displacement: u64,
    elements: Elements,
}

/// Elements of a target without gaps; `None` too where arguments are wrong, which [`Target::new`] tells.
#[inline(always)]
pub(super) fn plain_range<N: Counting>(
    rank: c_int,
    displacement: Aint,
    count: N,
    datatype: Datatype,
) -> Option<WindowRange<'static>> {
    let len = count.bytes(datatype::basic_size(datatype)? as u8)?;
    let displacement = u64::try_from(displacement).ok()?;
    Some(WindowRange::bytes(destination(rank), displacement, len))
}

enum Elements {
    /// So many bytes without gaps.
    Bytes(u64),
    Instances(Arc<Description>, u64),
}

impl Target {
    /// `count` elements of `datatype` from a displacement on.
    #[inline]
    pub(super) fn new<N: Counting>(
        rank: c_int,
        displacement: Aint,
        count: N,
        datatype: Datatype,
    ) -> Result<Self> {
        let elements = match datatype::basic_size(datatype) {
            Some(size) => {
                count.checked()?;
                let bytes = count.bytes(size as u8);
                Elements::Bytes(bytes.ok_or_else(|| too_many(count))?)
            }
            None => Elements::Instances(datatype::committed(datatype)?, count.checked()?),
        };
        let wrong = || {
            let why = format!("the displacement is {displacement}, and at least 0 is expected");
            Error::new(MPI_ERR_DISP, why)
        };
        Ok(Self {
            rank: destination(rank),
            displacement: u64::try_from(displacement).map_err(|_| wrong())?,
            elements,
        })
    }

    pub(super) fn range(&self) -> WindowRange<'_> {
        let shape = match &self.elements {
            Elements::Bytes(len) => Shape::Bytes(*len),
            Elements::Instances(description, count) => {
                Shape::Instances(&description.layout, *count)
            }
        };
        WindowRange {
            rank: self.rank,
            displacement: self.displacement,
            shape,
        }
    }
}

#[cold]
fn too_many<N: Counting>(count: N) -> Error {
    let why = format!("{count} elements of the datatype exceed 63 bits");
    Error::new(MPI_ERR_COUNT, why)
}

/// The elements of a datatype, which are all of one kind, as accumulates need it.
pub(super) fn element_kind(datatype: Datatype) -> Result<ElementKind> {
    if let Some(kind) = datatype::predefined_kind(datatype) {
        return Ok(kind);
    }
    datatype::description(datatype)?.element_kind().ok_or_else(|| {
        let why = "the datatype has elements of several kinds, or of one that operations do not know; those of an \
                   accumulate are of one predefined datatype";
        Error::new(MPI_ERR_TYPE, why)
    })
}
