//! Atomics, emulated by frames, and flushes.
//!
//! ```text
//!  Atomic{id, to, at, atomic} ->
//!                            <- Changed{id, old}, or Completion{id, ok: false}
//! ```
//!
//! The owner of the word performs the atomic by an instruction of its processor, so that it is atomic with those of
//! ranks that reach the word by shared memory.

use oxmpi_wire::regions::{Region, RegionId};
use oxmpi_wire::{Access, Atomic, Busy, Bytes, Local, Remote, Token, Width};

use super::TcpTx;
use super::bulk::Rule;
use super::operations::OperationKind;
use crate::frame::{Control, OperationId};

impl<B: Bytes> TcpTx<B> {
    /// Starts `atomic` on a word of `peer`.
    pub(super) fn start_atomic(
        &mut self,
        peer: u32,
        at: &Remote<'_>,
        atomic: Atomic,
        old: &Local<'_, Region>,
        token: Token,
    ) -> Result<(), Busy> {
        let width = old.word_width(at);
        let kind = OperationKind::Atomic(width.unwrap_or(Width::Bits64));
        let id = self.begin_operation(kind, peer, width.map(Width::bytes), old, token)?;
        if let (Some(id), Ok(width)) = (id, width) {
            let control = Control::Atomic {
                id,
                to: RegionId::from_key(at.key).0,
                at: at.at,
                width,
                atomic,
            };
            self.send_control(peer, control);
        }
        Ok(())
    }

    /// Starts a flush of the operations with `peer`.
    pub(super) fn start_flush(&mut self, peer: u32, token: Token) -> Result<(), Busy> {
        self.operation_room(peer)?;
        match self.half(peer).lost {
            Some(why) => self.complete(token, Err(why)),
            None => self.operations.flush(peer, token),
        }
        self.complete_flushes();
        Ok(())
    }

    /// Performs an atomic of `peer` on a word of this rank, and answers.
    pub(super) fn change(
        &mut self,
        peer: u32,
        id: OperationId,
        (to, at): (RegionId, u64),
        (width, atomic): (Width, Atomic),
    ) -> Result<(), Rule> {
        let both = Access::READ | Access::WRITE;
        let bytes = self.regions.check(to, both, at, width.bytes());
        let old = bytes.ok().and_then(|bytes| bytes.atomic(at, width, atomic));
        let answer = match old {
            Some(old) => Control::Changed { id, old },
            None => Control::Completion { id, ok: false },
        };
        self.reply(peer, answer)
    }

    /// Ends the atomic `id`, which `peer` has performed on a word that was `old` before.
    pub(super) fn changed(&mut self, peer: u32, id: OperationId, old: u64) -> Result<(), Rule> {
        let Some(&mut operation) = self.operations.get(id, peer) else {
            return Ok(()); // it has ended early
        };
        let OperationKind::Atomic(width) = operation.kind else {
            return Err("a word that was not asked for");
        };
        if let Some(bytes) = self.regions.bytes(operation.region) {
            width.fill(bytes, operation.at, old);
        }
        self.end_operation(peer, id, Ok(()));
        Ok(())
    }
}
