//! The claimer's side of cross-memory attach: it reads the owner's memory, all of it or every piece that it takes; or it
//! waits for the pieces of an owner whose bytes have gaps.

use oxmpi_os::cma::{CmaError, may_write};
use oxmpi_wire::{Bytes, Fault};

use super::claim::{Claim, ClaimProgress, ClaimStep};
use crate::ring::{Corrupt, OwnerProgress};
use crate::transport::cma::{CmaAccess, CmaBytes, PeerProcess};
use crate::transport::control::OperationId;
use crate::transport::tx::ShmTx;
use crate::transport::tx::bulk::grant::piece;
use crate::transport::tx::bulk::{BATCH, OpenOperation};

/// What an owner reports that breaks the protocol.
const TOO_MANY: Corrupt = Corrupt("more pieces than the message has");

impl<B: Bytes> ShmTx<B> {
    /// The process of `peer`, if this one may read its memory.
    pub(super) fn peer_process(&mut self, peer: u32) -> Option<PeerProcess> {
        let area = self.segment.area()?;
        self.claims.access[peer as usize].process(&self.segment, area, peer)
    }

    /// The process of `peer`, if this one may read and write its memory.
    pub(crate) fn process(&mut self, peer: u32) -> Option<PeerProcess> {
        let process = self.peer_process(peer)?;
        // A peer that claims the number of this process would choose which bytes of this process to overwrite.
        (!process.is_this_process() && may_write()).then_some(process)
    }

    /// The address where operation `id` puts its bytes, if they are contiguous.
    pub(super) fn target(&self, peer: u32, id: OperationId) -> Option<u64> {
        let open = self.operation(id, peer)?;
        let place = self.regions.bytes(open.region)?.address()?;
        place.checked_add(open.at)
    }

    /// The step that a read from the memory of `peer` came to.
    fn read(&mut self, peer: u32, result: Result<(), CmaError>, complete: bool) -> ClaimStep {
        match result {
            Ok(()) if complete => ClaimStep::Complete,
            Ok(()) => ClaimStep::Moved,
            // Another process has the number now, or the peer's process runs another program.
            Err(CmaError::Stranger) => ClaimStep::Broken(Fault::PeerDead),
            Err(CmaError::Forbidden | CmaError::Gone | CmaError::Partly) => {
                self.claims.access[peer as usize] = CmaAccess::Denied;
                ClaimStep::Unavailable
            }
        }
    }

    /// Reads the next piece from the owner's memory.
    pub(super) fn read_piece(&mut self, claim: &mut Claim, open: &OpenOperation) -> ClaimStep {
        let (
            ClaimProgress::Reading {
                process,
                from,
                done,
            },
            Some(bytes),
        ) = (&mut claim.progress, self.regions.bytes(open.region))
        else {
            return ClaimStep::Idle;
        };
        let len = claim.timed.len;
        let n = BATCH.min(len - *done);
        let mut source = CmaBytes::new(process, from.wrapping_add(*done), n as usize);
        bytes.fill(open.at + *done, &mut source);
        *done += n;
        let complete = *done == len;
        self.read(claim.peer, source.result(), complete)
    }

    /// Looks how far the owner has come, which writes all pieces.
    pub(super) fn await_pieces(claim: &mut Claim) -> ClaimStep {
        let pieces = claim.timed.len.div_ceil(piece(claim.timed.len));
        let ClaimProgress::Written { theirs } = &mut claim.progress else {
            return ClaimStep::Idle;
        };
        match claim.offer.shared() {
            OwnerProgress::Failed => ClaimStep::Unavailable,
            OwnerProgress::Pieces(n) if n == pieces => ClaimStep::Complete,
            OwnerProgress::Pieces(n) if n < pieces => {
                *theirs = n;
                ClaimStep::Idle
            }
            OwnerProgress::Pieces(_) => TOO_MANY.into(),
        }
    }

    /// Reads the next piece that the owner has not taken.
    pub(super) fn read_shared_piece(
        &mut self,
        claim: &mut Claim,
        open: &OpenOperation,
    ) -> ClaimStep {
        let (
            ClaimProgress::Sharing {
                process,
                from,
                mine,
                theirs,
                failed,
            },
            Some(bytes),
        ) = (&mut claim.progress, self.regions.bytes(open.region))
        else {
            return ClaimStep::Idle;
        };
        let len = claim.timed.len;
        let size = piece(len);
        let pieces = len.div_ceil(size);
        if let Some(number) = claim.offer.take(pieces) {
            *mine += 1;
            if *failed {
                return ClaimStep::Moved;
            }
            let at = number * size;
            let n = size.min(len - at);
            let mut source = CmaBytes::new(process, from.wrapping_add(at), n as usize);
            bytes.fill(open.at + at, &mut source);
            return match self.read(claim.peer, source.result(), false) {
                ClaimStep::Unavailable => {
                    *failed = true;
                    ClaimStep::Moved
                }
                step => step,
            };
        }
        match (claim.offer.shared(), *failed) {
            (OwnerProgress::Pieces(n), failed) => match mine.checked_add(n) {
                Some(done) if done == pieces && failed => ClaimStep::Unavailable,
                Some(done) if done == pieces => ClaimStep::Complete,
                Some(done) if done < pieces => {
                    *theirs = n;
                    ClaimStep::Idle
                }
                _ => TOO_MANY.into(),
            },
            (OwnerProgress::Failed, true) => ClaimStep::Unavailable,
            (OwnerProgress::Failed, false) => {
                // Which pieces are missing is unknown: this side copies all of them again.
                claim.progress = ClaimProgress::Reading {
                    process: *process,
                    from: *from,
                    done: 0,
                };
                ClaimStep::Moved
            }
        }
    }
}
