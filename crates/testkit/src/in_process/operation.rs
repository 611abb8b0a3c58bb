//! What an end of an in-process transport does with a peer's registered memory ([`Operation`]).

use oxmpi_wire::{Access, Atomic, Bytes, Fault, Token, Width};

use crate::memory::Buffer;
use crate::region_store::{RegionOffset, RegionStore};

/// An operation in flight.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) peer: u32,
    /// Counts the operations of this end.
    pub(super) number: u64,
    pub(super) token: Token,
    pub(super) kind: OperationKind,
}

#[derive(Debug)]
pub(super) enum OperationKind {
    Move(Move),
    Atomic(WordChange),
}

/// A get or a put.
#[derive(Debug)]
pub struct Move {
    /// The ranges at this end and at the peer.
    pub(super) own: RegionOffset,
    pub(super) there: RegionOffset,
    pub(crate) len: u64,
    /// What it does at the peer: reads, if it is a get.
    pub(super) access: Access,
}

/// An atomic on the word `there`; the word before goes to `old`.
#[derive(Debug)]
pub(super) struct WordChange {
    pub(super) there: RegionOffset,
    pub(super) old: RegionOffset,
    pub(super) width: Width,
    pub(super) atomic: Atomic,
}

impl Operation {
    pub(super) const fn is_atomic(&self) -> bool {
        matches!(self.kind, OperationKind::Atomic(_))
    }
}

impl Move {
    /// The source and the target, each with the offset of the first byte, if the registrations allow the move.
    pub(crate) fn ends<'a>(
        &self,
        regions: &'a RegionStore,
    ) -> Result<[(&'a Buffer, u64); 2], Fault> {
        let own = (regions.check_own(self.own, self.len)?, self.own.2);
        let there = regions.check(self.there, self.access, self.len)?;
        let there = (there, self.there.2);
        Ok(if self.access == Access::READ {
            [there, own]
        } else {
            [own, there]
        })
    }

    /// Copies the bytes.
    pub(crate) fn copy(&self, regions: &RegionStore) -> Result<(), Fault> {
        let [(source, from), (target, to)] = self.ends(regions)?;
        target.copy_from(to, source, from, self.len);
        Ok(())
    }
}

impl WordChange {
    /// Performs the atomic, if the registrations allow it.
    pub(super) fn perform(&self, regions: &RegionStore) -> Result<(), Fault> {
        let (both, len) = (Access::READ | Access::WRITE, self.width.bytes());
        let own = regions.check_own(self.old, len)?;
        let word = regions.check(self.there, both, len)?;
        let old = word.atomic(self.there.2, self.width, self.atomic);
        self.width
            .fill(own, self.old.2, old.ok_or(Fault::NOT_REGISTERED)?);
        Ok(())
    }
}
