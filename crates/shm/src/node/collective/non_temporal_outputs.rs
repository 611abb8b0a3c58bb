//! Which outputs are written past the caches.
//!
//! What is written through the caches is read from memory first, line by line, unless it is there already, and takes the
//! place of something else. That is in vain where a call moves more than the caches hold: its output is no longer there
//! when its caller reads it, nor are inputs and cells when they are wanted. So an alltoall, an allgather, or a gather of
//! more than two ranks, if it goes through cells and moves three quarters of a rank's part of the last cache, writes what it
//! reads from them past the caches. Not so its own block, which the caller copies; nor bytes that go from memory to memory,
//! which the kernel copies or which are combined on the way; nor the outputs of a broadcast and a scatter, where one rank
//! has all the input and the others wait.
//!
//! Forced upon all lengths, on two Zen 4 processors with one cache of 32 MiB, it took so much of the time of the same call
//! through the caches: eight ranks, blocks of 1 MiB, 0.82 for an alltoall, 0.81 for an allgather, 0.7 for a gather whose
//! root changes; four ranks, 2 MiB, 0.76, 0.81 and 0.66; but two ranks, 2 MiB, where all fits, 1.2, 1.4 and 1.6. Other
//! numbers of ranks were not measured, nor other processors. A broadcast of what does not fit took 1.02 to 1.4 times as long.
//!
//! PlanReason it is not learned, as it is for [cells](super::non_temporal): whichever way most pieces go, the next one goes faster
//! that way, since those before it have left the caches so.

use super::group::NodeGroup;

/// Less than so many bytes always fit.
const LEAST: u64 = 1 << 20;

impl NodeGroup {
    /// Says how many bytes the last cache has that serves this rank's processor, and how many ranks of the node share it.
    ///
    /// Outputs of [`NodeGroup::alltoall`], [`NodeGroup::allgather`], and [`NodeGroup::gather`] of more than two ranks are then written past
    /// the caches where the call moves three quarters or more of the rank's part; the rest is for cells and what else
    /// there is. Until then none are. It is each rank's own affair: the ranks need not say the same.
    pub fn set_cache(&mut self, bytes: u64, sharers: u32) {
        let part = bytes / u64::from(sharers.max(1));
        self.non_temporal_from = Some((part / 4 * 3).max(LEAST));
    }

    /// How many ranks the node has.
    #[must_use]
    pub fn ranks_on_node(&self) -> u32 {
        self.segment.layout().ranks
    }

    /// Whether a call that moves so many bytes from or to this rank's memory writes its output past the caches.
    #[inline]
    pub(super) fn exceeds_caches(&self, bytes: u64) -> bool {
        self.non_temporal_from.is_some_and(|least| bytes >= least)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use oxmpi_os::memory::Memfd;

    use super::*;
    use crate::segment::{Segment, SegmentLayout};

    #[test]
    fn three_quarters_of_a_ranks_part_are_too_much() {
        let layout = SegmentLayout::new(3);
        let memory = Memfd::create("oxmpi-test", layout.file_len()).unwrap();
        let segment = Arc::new(Segment::map(&memory, layout, 0).unwrap());
        let mut group = NodeGroup::new(&segment, 0, 0..3, 0).expect("there is memory");
        assert!(!group.exceeds_caches(u64::MAX));
        let known = [(32 << 20, 8, 3 << 20), (32 << 20, 1, 24 << 20)];
        for (bytes, sharers, limit) in known.into_iter().chain([(0, 0, LEAST)]) {
            group.set_cache(bytes, sharers);
            assert!(group.exceeds_caches(limit) && !group.exceeds_caches(limit - 1));
        }
    }
}
