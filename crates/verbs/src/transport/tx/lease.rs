//! [`Lease`]: pieces of this rank's memory that are registered while a peer reads or writes them. See
//! [`pipeline`](super::pipeline) for the frames.

use super::VerbsTx;
use crate::registration::Placed;
use crate::transport::OPERATIONS;
use crate::transport::control::Control;
use crate::transport::pipeline_sizes::PIECES;
use crate::transport::remote_memory::RemoteMemory;
use oxmpi_wire::Access;
use oxmpi_wire::regions::RegionId;
use std::ops::Range;

/// Memory that a peer accesses in pieces.
#[derive(Debug)]
pub(super) struct Lease {
    peer: u32,
    /// The peer's operation.
    id: u64,
    region: RegionId,
    /// Bytes of the region whose pieces were not shown.
    rest: Range<u64>,
    /// Pieces that the peer has not done with, by the first byte. `None`: it goes by frames.
    shown: Vec<(u64, Option<Placed>)>,
}

impl VerbsTx {
    /// Answers a [`Control::Pieces`] of `peer`.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(super) fn lease(
        &mut self,
        peer: u32,
        id: u64,
        region: RegionId,
        [at, len]: [u64; 2],
        around: [u32; 2],
    ) -> Result<(), &'static str> {
        let [before, after] = around.map(u64::from);
        let is_asked = |(start, access)| {
            let all = before.saturating_add(len).saturating_add(after);
            let is_read = access == Access::READ || before + after == 0;
            is_read && self.regions.check(region, access, start, all).is_ok()
        };
        let start = at.checked_sub(before).filter(|_| len > 0);
        let access = self.access_in_pieces(region);
        if !start.zip(access).is_some_and(is_asked) {
            return self.answer(peer, Control::Refused { id });
        }
        let leases = self.operations.leases.iter();
        if leases.filter(|lease| lease.peer == peer).count() >= OPERATIONS {
            return Err("more requests at once than a rank may have");
        }
        if before > 0 {
            self.send_range(peer, [id, at - before, before, 0], region)?;
        }
        if after > 0 {
            self.send_range(peer, [id, at + len, after, before + len], region)?;
        }
        self.regions.enter(region);
        self.operations.leases.push(Lease {
            peer,
            id,
            region,
            rest: at..at + len,
            shown: Vec::with_capacity(PIECES),
        });
        self.show_pieces(self.operations.leases.len() - 1);
        self.advance(peer);
        Ok(())
    }

    /// Registers pieces of a lease, and shows them to its peer.
    fn show_pieces(&mut self, lease: usize) {
        while let Lease {
            peer,
            id,
            region,
            rest: Range { start: at, end },
            ref shown,
        } = self.operations.leases[lease]
            && at < end
            && shown.len() < PIECES
        {
            let first = self
                .regions
                .bytes(region)
                .map_or(0, |bytes| bytes.start().addr());
            let sizes = &self.registrations.pipeline;
            let len = sizes.next(first as u64 + at, end - at);
            let placed = self.place_range(region, at, len);
            let start = (placed.as_ref()).map(|(regions, at)| RemoteMemory::of(regions, *at));
            // As many as there are pieces of operations.
            let piece = Control::Piece { id, at, len, start };
            self.link(peer).waiting.push_back(piece);
            let lease = &mut self.operations.leases[lease];
            lease.rest.start += len;
            lease.shown.push((at, placed));
        }
    }

    /// Deregisters a piece that `peer` has done with, unless it stays in the cache, and shows it the next one.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(super) fn take_back_piece(
        &mut self,
        peer: u32,
        id: u64,
        at: u64,
    ) -> Result<(), &'static str> {
        const NONE: &str = "the end of a piece that the peer has not got";
        let mut leases = self.operations.leases.iter_mut();
        let lease = leases.position(|lease| (lease.peer, lease.id) == (peer, id));
        let lease = lease.ok_or(NONE)?;
        let shown = &mut self.operations.leases[lease].shown;
        let piece = shown.iter().position(|(first, _)| *first == at);
        shown.swap_remove(piece.ok_or(NONE)?);
        self.show_pieces(lease);
        if self.operations.leases[lease].shown.is_empty() {
            let lease = self.operations.leases.swap_remove(lease);
            self.leave(lease.region);
        }
        self.advance(peer);
        Ok(())
    }

    /// Ends what `peer`, which is lost, does with this rank's memory.
    pub(super) fn end_leases(&mut self, peer: u32) {
        let leases = &mut self.operations.leases;
        let lost: Vec<Lease> = leases.extract_if(.., |lease| lease.peer == peer).collect();
        for lease in lost {
            self.leave(lease.region);
        }
    }
}
