//! Which calls write their outputs past the caches.
//!
//! A cached store reads its line from memory first and evicts another line. That is in vain where a call
//! moves more than the caches hold: its output is no longer cached when the caller reads it. So an alltoall,
//! an allgather, or a gather of more than two ranks through bounce buffers that moves three quarters of a
//! rank's part of the last cache writes its output non-temporally. Its own block is copied by the caller; CMA
//! copies and combined operands are not affected; nor are the outputs of a broadcast and a scatter, where one
//! rank has all the input and the others wait.
//!
//! Eight ranks on two Zen 4 processors with one cache of 32 MiB, blocks of 1 MiB: 0.82 of the time for an
//! alltoall, 0.81 allgather, 0.7 gather with changing roots; four ranks, 2 MiB: 0.76, 0.81, 0.66; two ranks,
//! 2 MiB, where all fits: 1.2, 1.4, 1.6. Other processors were not measured. A broadcast took 1.02 to 1.4
//! times the time.
//!
//! This is not learned, as it is for [bounce buffers](super::non_temporal): whichever way most pieces go, the
//! next one is faster that way, since those before have left the caches so.

use super::call_kind::CallKind;
use super::catalog::output_nt_from;
use super::group::NodeGroup;

impl NodeGroup {
    /// Sets the size of the last cache of this rank's processor, in bytes, and the number of ranks of the
    /// node that share it.
    ///
    /// Outputs of [`NodeGroup::alltoall`], [`NodeGroup::allgather`], and [`NodeGroup::gather`] of more than
    /// two ranks are then written past the caches where the call moves three quarters or more of the rank's
    /// part; the rest is for bounce buffers and other data. Ranks need not set the same.
    pub fn set_cache(&mut self, bytes: u64, sharers: u32) {
        let part = bytes / u64::from(sharers.max(1));
        self.non_temporal_from = Some(output_nt_from(part));
    }

    /// Ranks of the node.
    #[must_use]
    pub fn ranks_on_node(&self) -> u32 {
        self.segment.layout().ranks
    }

    /// Whether a call of `kind` that moves `bytes` bytes from or to this rank's memory writes its output past
    /// the caches.
    #[inline(always)]
    pub(super) fn exceeds_caches(&self, kind: CallKind, bytes: u64) -> bool {
        let fewest = kind.output_nt_ranks();
        fewest.is_some_and(|fewest| self.size() >= fewest as usize)
            && self.non_temporal_from.is_some_and(|least| bytes >= least)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use oxmpi_os::memory::Memfd;

    use super::super::catalog::OUTPUT_NT_LEAST;
    use super::*;
    use crate::segment::{Segment, SegmentLayout};

    #[test]
    fn three_quarters_of_a_ranks_part_are_too_much() {
        let layout = SegmentLayout::new(3);
        let memory = Memfd::create("oxmpi-test", layout.file_len()).unwrap();
        let segment = Arc::new(Segment::map(&memory, layout, 0).unwrap());
        let mut group = NodeGroup::new(&segment, 0, 0..3, 0).expect("there is memory");
        let exceeds = |group: &NodeGroup, bytes| group.exceeds_caches(CallKind::Gather, bytes);
        assert!(!exceeds(&group, u64::MAX));
        let known = [(32 << 20, 8, 3 << 20), (32 << 20, 1, 24 << 20)];
        for (bytes, sharers, limit) in known.into_iter().chain([(0, 0, OUTPUT_NT_LEAST)]) {
            group.set_cache(bytes, sharers);
            assert!(exceeds(&group, limit) && !exceeds(&group, limit - 1));
        }
    }
}
