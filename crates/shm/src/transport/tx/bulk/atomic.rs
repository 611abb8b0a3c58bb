//! Atomics on words of a peer, and flushes.
//!
//! Where the word lies in the heap, it is mapped here, and this rank performs the atomic. Else it asks the owner by a frame:
//! cross-memory attach knows no atomics. Which of both is a property of the region, told by its key. Either rank uses the
//! processor's atomic instructions, so that both are atomic with each other and with those of the owner itself.

use oxmpi_os::atomic::perform;
use oxmpi_wire::regions::{Region, RegionId};
use oxmpi_wire::{Access, Atomic, Busy, Bytes, Fault, Local, Peer, Remote, Token, Width};

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
        if let Some(mapped) = MappedKey::of_key(at.key) {
            let result = self.change_mapped((to.0, mapped, at.at), (width, atomic), old);
            self.finish(token, result);
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

    /// Performs an atomic on byte `at` of a peer's mapped region; the word before goes to `old`.
    fn change_mapped(
        &self,
        (peer, region, at): (u32, MappedKey, u64),
        (width, atomic): (Width, Atomic),
        old: &Local<'_, Region>,
    ) -> Result<(), Fault> {
        let own = self.regions.check_own(old.region.id(), old.at, old.len)?;
        let len = width.bytes();
        let inside = at.checked_add(len).is_some_and(|end| end <= region.len);
        let offset = region.heap.checked_add(at).filter(|_| inside);
        let areas = self.segment.rank_areas().zip(offset);
        let word = areas.and_then(|(areas, offset)| areas.place(peer, offset, len));
        let word = word.filter(|word| word.addr().is_multiple_of(len as usize));
        let word = word.ok_or(Fault::NOT_REGISTERED)?;
        // SAFETY: `place` found the word to be mapped, and the segment keeps it so; it is aligned by the check above.
        // It belongs to a rank that lets peers change it, so all access it by atomics or opaque copies.
        let before = unsafe { perform(word, width, atomic) };
        width.fill(own, old.at, before);
        Ok(())
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
