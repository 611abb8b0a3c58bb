//! The claimer's side of [`Mapped`](crate::transport::BulkProtocol::Mapped): it copies memory of the heap that it has mapped.

use oxmpi_wire::Bytes;

use oxmpi_wire::layout::StridedRuns;

use super::claim::{Claim, ClaimProgress, ClaimStep};
use crate::transport::offer_key::{EqualRanges, OfferKey};
use crate::transport::shared_bytes::SharedRuns;
use crate::transport::tx::ShmTx;
use crate::transport::tx::bulk::{BATCH, OpenOperation};

impl<B: Bytes> ShmTx<B> {
    /// The address of the first of an offer's bytes in this process, and the places of all counted from there, if those
    /// from `at` on, `len` bytes, lie in the heap.
    pub(super) fn mapped(
        &self,
        peer: u32,
        offered: &OfferKey,
        at: u64,
        len: u64,
    ) -> Option<(*mut u8, StridedRuns)> {
        let (first, end) = (offered.heap?, at.checked_add(len)?);
        let runs = (offered.ranges).map_or(StridedRuns::one(0, end), EqualRanges::runs);
        let span = runs.span(at, end)?;
        let low = first.checked_add_signed(span.start)?;
        let place = (self.segment.rank_areas()?).place(peer, low, span.start.abs_diff(span.end))?;
        Some((place.wrapping_offset(-span.start as isize), runs))
    }

    /// Copies the next piece from the mapped memory.
    pub(super) fn copy_mapped(&mut self, claim: &mut Claim, open: &OpenOperation) -> ClaimStep {
        let (ClaimProgress::Copying { from, runs, done }, Some(bytes)) =
            (&mut claim.progress, self.regions.bytes(open.region))
        else {
            return ClaimStep::Idle;
        };
        let len = claim.timed.len;
        let n = BATCH.min(len - *done);
        let at = claim.from_at + *done;
        // SAFETY: within the bytes that `mapped` found to be mapped; the segment keeps them.
        let mut place = unsafe { SharedRuns::new(*from, *runs, at, n as usize) };
        bytes.fill(open.at + *done, &mut place);
        *done += n;
        if *done == len {
            return ClaimStep::Complete;
        }
        ClaimStep::Moved
    }
}
