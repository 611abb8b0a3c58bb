//! What a collective works on.

use std::sync::Arc;

use oxmpi_coll::plan::Given;

use super::area::Area;
use super::widened::WidenedBuffers;

/// What a collective reads and writes. What each one finds where is told in its module of
/// `oxmpi-coll`; what it does not have is [`Area::empty`].
#[derive(Debug)]
pub(crate) struct Buffers {
    /// What the caller gives. It is not read in a call in place.
    pub(crate) input: Area,
    /// What the caller gets. A call in place finds its input here.
    pub(crate) output: Area,
    /// With whom a neighbourhood collective talks.
    pub(crate) neighbors: Option<Arc<Neighbors>>,
    /// Of a reduction whose elements stand for narrower ones of the caller's.
    pub(crate) wide: Option<Box<WidenedBuffers>>,
}

/// With whom a neighbourhood collective talks, in the caller's order:
/// [`NOBODY`](oxmpi_coll::catalog::NOBODY) may be among them.
#[derive(Clone, Debug)]
pub(crate) struct Neighbors {
    /// Ranks that send to this one.
    pub(crate) sources: Vec<u32>,
    /// Ranks to which this one sends.
    pub(crate) destinations: Vec<u32>,
}

impl Buffers {
    /// None.
    pub(crate) const NONE: Self = Self::new(Area::empty(), Area::empty());

    /// Of a collective that needs no neighbours.
    pub(crate) const fn new(input: Area, output: Area) -> Self {
        Self {
            input,
            output,
            neighbors: None,
            wide: None,
        }
    }

    /// Before the collective begins.
    #[inline]
    pub(in crate::raw) fn begin(&self) {
        if let Some(wide) = &self.wide {
            wide.widen();
        }
    }

    /// After its end.
    #[inline]
    pub(in crate::raw) fn end(&self) {
        if let Some(wide) = &self.wide {
            wide.narrow();
        }
    }

    /// The arrays that plans look at.
    pub(in crate::raw) fn given(&self) -> Given<'_> {
        let neighbors = self.neighbors.as_deref();
        Given {
            sends: self.input.lengths(),
            recvs: self.output.lengths(),
            sources: neighbors.map_or(&[], |neighbors| &neighbors.sources),
            destinations: neighbors.map_or(&[], |neighbors| &neighbors.destinations),
        }
    }
}
