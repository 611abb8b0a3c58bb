//! Atomics on words of a peer, and flushes.
//!
//! This rank performs the atomic itself where the word lies in the heap, which it has mapped. Else it asks the owner by a
//! frame: cross-memory attach knows no atomics. Whoever does it uses an atomic instruction of the processor on the same
//! memory, so that both ways are atomic with each other and with the owner's own atomics.

use oxmpi_os::atomic::perform;
use oxmpi_wire::regions::{Region, RegionId};
use oxmpi_wire::{Access, Atomic, Busy, Bytes, Local, Peer, Remote, Token, Width};

use super::{LOST, OperationKind};
use crate::ring::Corrupt;
use crate::transport::control::{Control, OperationId};
use crate::transport::offer_key::MappedKey;
use crate::transport::tx::ShmTx;

impl<B: Bytes> ShmTx<B> {
    /// What a key says of `region` if peers reach it in the heap and may read and write it.
    pub(super) fn mapped_key(&self, region: RegionId) -> Option<MappedKey> {
        let both = Access::READ | Access::WRITE;
        let bytes = self.regions.check(region, both, 0, 0).ok()?;
        let first = std::ptr::with_exposed_provenance(bytes.address()? as usize);
        let areas = self.segment.rank_areas()?;
        Some(MappedKey {
            heap: areas.offset(self.me, first, bytes.len())?,
            len: bytes.len(),
        })
    }

    /// Starts `atomic` on a word of `to`.
    pub(super) fn start_atomic(
        &mut self,
        to: Peer,
        at: &Remote<'_>,
        atomic: Atomic,
        old: &Local<'_, Region>,
        token: Token,
    ) -> Result<(), Busy> {
        self.operation_room(to.0)?;
        let width = old.word_width(at);
        let started = self.is_started(to.0, token, width.map(Width::bytes), old);
        let (true, Ok(width)) = (started, width) else {
            return Ok(());
        };
        if let Some(word) = self.mapped_word(to.0, at, width) {
            // SAFETY: `mapped_word` found the word mapped and aligned, and the segment keeps it so. It belongs to a
            // rank that lets peers change it, so all access it by atomics or opaque copies.
            let before = unsafe { perform(word, width, atomic) };
            if let Some(bytes) = self.regions.bytes(old.region.id()) {
                width.fill(bytes, old.at, before);
            }
            self.finish(token, Ok(()));
            return Ok(());
        }
        if !self.out[to.0 as usize].ring.ready() {
            self.make_room(to, false)?;
        }
        let control = Control::Atomic {
            id: self.open(to.0, token, old, OperationKind::Atomic(width)),
            to: RegionId::from_key(at.key).0,
            at: at.at,
            width,
            atomic,
        };
        let sent = self.control(to.0, &control);
        debug_assert!(sent, "room was made above");
        Ok(())
    }

    /// The address of a peer's word, if it is mapped here, within its region and aligned. The owner answers for all
    /// other words.
    fn mapped_word(&self, peer: u32, at: &Remote<'_>, width: Width) -> Option<*mut u8> {
        let MappedKey { heap, len } = MappedKey::of_key(at.key)?;
        let inside = at.at.checked_add(width.bytes())? <= len;
        let areas = self.segment.rank_areas().filter(|_| inside)?;
        let word = areas.place(peer, heap.checked_add(at.at)?, width.bytes())?;
        let aligned = word.addr().is_multiple_of(width.bytes() as usize);
        aligned.then_some(word)
    }

    /// Performs an atomic of `peer` on a word of this rank.
    pub(in crate::transport) fn change(
        &mut self,
        peer: u32,
        id: OperationId,
        (to, at): (RegionId, u64),
        (width, atomic): (Width, Atomic),
    ) -> Result<(), Corrupt> {
        let both = Access::READ | Access::WRITE;
        let bytes = self.regions.check(to, both, at, width.bytes());
        let old = bytes.ok().and_then(|bytes| bytes.atomic(at, width, atomic));
        let answer = match old {
            Some(old) => Control::Changed { id, old },
            None => Control::Refused { id },
        };
        self.answer(peer, answer)
    }

    /// Ends the atomic `id`, which `peer` has performed on a word that was `old` before.
    pub(in crate::transport) fn changed(
        &mut self,
        peer: u32,
        id: OperationId,
        old: u64,
    ) -> Result<(), Corrupt> {
        let Some(open) = self.operation(id, peer) else {
            return Ok(()); // ended early, by a refusal
        };
        let OperationKind::Atomic(width) = open.kind else {
            return Err(Corrupt("a word that was not asked for"));
        };
        if let Some(bytes) = self.regions.bytes(open.region) {
            width.fill(bytes, open.at, old);
        }
        self.ended(peer, id, Ok(()));
        Ok(())
    }

    /// Starts a flush of the operations with `to`.
    pub(super) fn start_flush(&mut self, to: Peer, token: Token) -> Result<(), Busy> {
        self.operation_room(to.0)?;
        if self.is_lost(to.0) {
            self.finish(token, Err(LOST));
            return Ok(());
        }
        let all = self.operations.indices();
        let open = all.filter(|&at| {
            let operation = self.operations.get(at);
            operation.is_some_and(|operation| operation.peer == to.0)
        });
        self.flushes.begin(to.0, open.count(), token);
        self.has_slow_work = true;
        Ok(())
    }

    /// Ends the flushes whose operations have ended.
    pub(in crate::transport::tx) fn finish_flushes(&mut self) {
        while let Some(token) = self.flushes.complete() {
            self.finish(token, Ok(()));
        }
    }
}
