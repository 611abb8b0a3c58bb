//! The buffers that a collective reads and writes.

use std::sync::Arc;

use oxmpi_coll::plan::CallArrays;

use super::area::Area;
use super::widened::WidenedBuffers;

/// What a collective reads and writes. Its module in `oxmpi-coll` says what is where; unused areas are
/// [`Area::empty`].
#[derive(Debug)]
pub struct Buffers {
    /// The caller's input; not read in a call in place.
    pub input: Area,
    /// The caller's output; in a call in place it holds the input first.
    pub output: Area,
    /// The neighbours of a neighbourhood collective.
    pub neighbors: Option<Arc<Neighbors>>,
    /// The wide elements of a reduction that is done on other elements than the caller's.
    pub wide: Option<Box<WidenedBuffers>>,
}

/// The neighbours of a neighbourhood collective, in the caller's order;
/// [`PROC_NULL`](oxmpi_coll::catalog::PROC_NULL) may be among them.
#[derive(Clone, Debug)]
pub struct Neighbors {
    /// Ranks that send to this one.
    pub sources: Vec<u32>,
    /// Ranks to which this one sends.
    pub destinations: Vec<u32>,
}

impl Buffers {
    /// No bytes at all.
    pub const NONE: Self = Self::new(Area::empty(), Area::empty());

    /// The buffers of a collective without neighbours.
    pub const fn new(input: Area, output: Area) -> Self {
        Self {
            input,
            output,
            neighbors: None,
            wide: None,
        }
    }

    /// Converts the input to wide elements, before the collective starts.
    #[inline]
    pub(crate) fn begin(&self) {
        if let Some(wide) = &self.wide {
            wide.widen();
        }
    }

    /// Converts the result back, after the collective has completed.
    #[inline]
    pub(crate) fn end(&self) {
        if let Some(wide) = &self.wide {
            wide.narrow();
        }
    }

    /// The arrays of lengths and neighbours that plans read.
    pub(crate) fn given(&self) -> CallArrays<'_> {
        let neighbors = self.neighbors.as_deref();
        CallArrays {
            sends: self.input.lengths(),
            recvs: self.output.lengths(),
            sources: neighbors.map_or(&[], |neighbors| &neighbors.sources),
            destinations: neighbors.map_or(&[], |neighbors| &neighbors.destinations),
        }
    }
}
