//! The claimer's side of [`Mapped`](crate::transport::BulkProtocol::Mapped): it copies memory of the heap that it has mapped.

use oxmpi_wire::Bytes;

use super::claim::{Claim, ClaimProgress, ClaimStep};
use crate::transport::offer_key::OfferKey;
use crate::transport::shared_bytes::SharedBytes;
use crate::transport::tx::ShmTx;
use crate::transport::tx::bulk::{BATCH, OpenOperation};

impl<B: Bytes> ShmTx<B> {
    /// The address of offered bytes in this process, if they lie in the heap.
    pub(super) fn mapped(
        &self,
        peer: u32,
        offered: &OfferKey,
        at: u64,
        len: u64,
    ) -> Option<*mut u8> {
        let from = offered.heap?.checked_add(at)?;
        self.segment.rank_areas()?.place(peer, from, len)
    }

    /// Copies the next piece from the mapped memory.
    pub(super) fn copy_mapped(&mut self, claim: &mut Claim, open: &OpenOperation) -> ClaimStep {
        let (ClaimProgress::Copying { from, done }, Some(bytes)) =
            (&mut claim.progress, self.regions.bytes(open.region))
        else {
            return ClaimStep::Idle;
        };
        let len = claim.timed.len;
        let n = BATCH.min(len - *done);
        // SAFETY: within the bytes that `mapped` found to be mapped; the segment keeps them.
        let mut place = unsafe { SharedBytes::new(from.wrapping_add(*done as usize), n as usize) };
        bytes.fill(open.at + *done, &mut place);
        *done += n;
        if *done == len {
            return ClaimStep::Complete;
        }
        ClaimStep::Moved
    }
}
