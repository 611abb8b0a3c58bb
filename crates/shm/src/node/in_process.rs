//! Nodes whose ranks are all in this process: [`Node::in_process`].

use std::vec::Vec;

use super::{JoinError, Node, memory_for};
use crate::ring::MappedWords;
use crate::segment::SegmentLayout;

impl Node {
    /// Makes all ranks of a node whose ranks are threads of this process, or parts of a test. Each maps the
    /// segment for itself.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn in_process(layout: SegmentLayout) -> Result<Vec<Self>, JoinError> {
        let memory = memory_for(&layout)?;
        let nodes = (0..layout.ranks).map(|rank| Self::new(&memory, layout, rank));
        nodes.collect()
    }

    /// All words of the segment, of all ranks: for tests that play a corrupt rank, which could write any of
    /// them.
    #[must_use]
    pub fn words(&self) -> MappedWords<'_> {
        self.segment.all()
    }
}
