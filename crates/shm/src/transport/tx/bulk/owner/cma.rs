//! The owner's side of cross-memory attach: it writes pieces into the claimer's memory, those that it takes by
//! [`CmaBoth`](BulkProtocol::CmaBoth), or all of bytes with gaps by [`Cma`](BulkProtocol::Cma).

use oxmpi_wire::Bytes;

use crate::ring::OwnerProgress;
use crate::transport::cma::{CmaAccess, CmaBytes};
use crate::transport::tx::ShmTx;
use crate::transport::tx::bulk::choice::size_class;
use crate::transport::tx::bulk::grant::piece;
use crate::transport::tx::bulk::protocol::BulkProtocol;

/// How long a check counts that a claimer's process is the peer's, in polls that find nothing: about 50 us. A check takes
/// as long as copying 8 KiB, so the first one is made while the owner waits for the claim.
const CHECK_LASTS: u32 = 512;

/// What a piece takes of that.
const POLLS_OF_PIECE: u32 = 32;

impl<B: Bytes> ShmTx<B> {
    /// Checks the process of the peer that is to claim offer `i`, if this rank will write to it. Called at each poll until
    /// the claim.
    pub(super) fn check_early(&mut self, i: usize) {
        let offered = &mut self.offers.open[i];
        let left = match offered.check_left {
            None => {
                let peer_state = &self.offers.peers[offered.to as usize];
                let last = peer_state.last_protocols[size_class(offered.len)];
                match (last, peer_state.access) {
                    (BulkProtocol::CmaBoth, CmaAccess::Granted(process))
                        if process.check().is_ok() =>
                    {
                        CHECK_LASTS
                    }
                    _ => 0,
                }
            }
            Some(left) => left.saturating_sub(1),
        };
        offered.check_left = Some(left);
    }

    /// Writes the next piece of offer `i` into the claimer's memory. Whether it did.
    pub(super) fn share_piece(&mut self, i: usize) -> bool {
        let offered = &mut self.offers.open[i];
        let offer = offered.offer;
        let (Some(done), Some([to, len])) = (offered.shared, offer.joined()) else {
            return false;
        };
        let (Some(bytes), Some(area)) = (self.regions.bytes(offered.region), self.segment.area())
        else {
            return false;
        };
        let peer = offered.to;
        let access = &mut self.offers.peers[peer as usize].access;
        let process = access.process(&self.segment, area, peer);
        // A peer that claims the number of this process would choose which bytes of this process to overwrite.
        let process = process.filter(|process| !process.is_this_process());
        let (Some(process), true) = (process, len <= offered.len) else {
            offered.shared = None; // the claimer copies all pieces, if it can
            if offered.claimed == Some(BulkProtocol::Cma) {
                offer.share(OwnerProgress::Failed);
                return true;
            }
            return false;
        };
        let size = piece(len);
        let Some(number) = offer.take(len.div_ceil(size)) else {
            // That the claimer finishes shows that it was alive after all writes.
            offered.shared = None;
            return false;
        };
        let from = number * size;
        let now = size.min(len - from) as usize;
        let place = CmaBytes::new(&process, to.wrapping_add(from), now);
        let left = offered.check_left.unwrap_or(0).checked_sub(POLLS_OF_PIECE);
        offered.check_left = Some(left.unwrap_or(CHECK_LASTS));
        let mut place = place.after_check(left.is_some());
        bytes.drain(from, now, &mut place);
        if place.result().is_ok() {
            offered.shared = Some(done + 1);
            offer.share(OwnerProgress::Pieces(done + 1));
        } else {
            *access = CmaAccess::Denied;
            offered.shared = None;
            offer.share(OwnerProgress::Failed);
        }
        true
    }
}
