//! The owner's side of cross-memory attach: it writes pieces into the claimer's memory, those that it takes by
//! [`CmaBoth`](BulkProtocol::CmaBoth), or all of bytes with gaps by [`Cma`](BulkProtocol::Cma).

use oxmpi_os::cma::CmaError;
use oxmpi_wire::{Bytes, Fault};

use crate::ring::OwnerProgress;
use crate::transport::cma::{CmaAccess, CmaBytes};
use crate::transport::tx::ShmTx;
use crate::transport::tx::bulk::grant::piece;
use crate::transport::tx::bulk::protocol::BulkProtocol;

impl<B: Bytes> ShmTx<B> {
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
            offered.shared = None;
            // The peer may have ended between the check of its process and a write behind it.
            if done > 0 && matches!(process.check(), Err(CmaError::Gone | CmaError::Stranger)) {
                self.report(peer, Fault::PeerDead);
            }
            return false;
        };
        let from = number * size;
        let now = size.min(len - from) as usize;
        let mut place = CmaBytes::new(&process, to.wrapping_add(from), now);
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
