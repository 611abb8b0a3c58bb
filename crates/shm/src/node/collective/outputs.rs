//! Which outputs are written past the caches.
//!
//! What is written through the caches is read from memory first, line by line, unless it is there already, and takes the
//! place of something else. That is in vain where a call moves more than the caches hold: its output is no longer there
//! when its caller reads it, nor are inputs and cells when they are wanted. Eight ranks on two Zen 4 processors, each of
//! which has 4 MiB of a cache of 32, took so much of the time past the caches: with blocks of 1 MiB 0.82 for an
//! alltoall, 0.81 for an allgather, 0.7 for a gather whose root changes; four with blocks of 2 MiB 0.76, 0.81 and 0.66.
//! What fits takes longer: two ranks 1.2, 1.4 and 1.6 times with blocks of 2 MiB.
//!
//! To time both ways for each piece, as that is done for [cells](super::streams), does not tell them apart: whatever way
//! most go, a piece goes faster that way, by the state in which the others leave the caches.

use super::team::Team;

/// Less than so many bytes always fit.
const LEAST: u64 = 1 << 20;

impl Team {
    /// Says how many bytes the last cache of a processor has, and how many such caches the node, over which ranks are spread
    /// evenly. Until then nothing is beyond them. It is each rank's own affair.
    pub fn know_caches(&mut self, bytes: u64, count: u64) {
        let all = bytes.saturating_mul(count);
        self.cached = bytes.min(all / u64::from(self.segment.layout().ranks));
    }

    /// Whether a call that moves so many bytes from or to this rank's memory writes its output past the caches: three
    /// quarters of its part or more, the rest being for cells and what else there is. So much glibc 2.36 copies through
    /// them, too (`x86_non_temporal_threshold`).
    #[inline]
    pub(super) const fn is_beyond_caches(&self, bytes: u64) -> bool {
        bytes >= LEAST && bytes / 3 >= self.cached / 4
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use oxmpi_os::memory::Memfd;

    use super::*;
    use crate::segment::{Layout, Segment};

    #[test]
    fn a_rank_has_its_part_of_the_caches() {
        let layout = Layout::new(8);
        let memory = Memfd::create("oxmpi-test", layout.file_len()).unwrap();
        let segment = Arc::new(Segment::map(&memory, layout, 0).unwrap());
        let mut team = Team::new(&segment, 0, 0..3, 0).expect("there is memory");
        assert!(!team.is_beyond_caches(1 << 60));
        // Of one cache an eighth, of two a quarter of one, of more than eight one.
        for (count, part) in [(1, 4 << 20), (2, 8 << 20), (16, 32 << 20)] {
            team.know_caches(32 << 20, count);
            let limit = part / 4 * 3;
            assert!(team.is_beyond_caches(limit) && !team.is_beyond_caches(limit - 3));
        }
        team.know_caches(0, 0);
        assert!(team.is_beyond_caches(LEAST) && !team.is_beyond_caches(LEAST - 1));
    }
}
