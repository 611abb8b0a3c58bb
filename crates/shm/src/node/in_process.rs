//! All ranks of a node in one process.

use std::vec::Vec;

use super::{JoinError, Node, memory_for};
use crate::ring::MappedWords;
use crate::segment::SegmentLayout;

impl Node {
    /// All ranks of a node whose ranks are threads of this process, or parts of a test: there is
    /// nobody to meet. Each maps the segment for itself.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn in_process(layout: SegmentLayout) -> Result<Vec<Self>, JoinError> {
        let memory = memory_for(&layout)?;
        let nodes = (0..layout.ranks).map(|rank| Self::new(&memory, layout, rank));
        nodes.collect()
    }

    /// Every word of the segment, those of all ranks. What any rank could write is written here by
    /// tests that play one gone mad; nothing depends on anybody's good manners.
    #[must_use]
    pub fn words(&self) -> MappedWords<'_> {
        self.segment.all()
    }
}
