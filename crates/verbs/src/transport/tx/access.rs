//! Gets and puts by RDMA, in pieces, and atomics by frames.
//!
//! ```text
//!  Atomic{id, to, at, atomic} ->
//!                            <- Changed{id, old}, or Refused{id}
//! ```

use super::VerbsTx;
use super::link::Posted;
use super::operations::{Operation, OperationKind};
use crate::error::PostError;
use crate::objects::{CompletionError, Payload, RemoteAddress, SendFlags};
use crate::transport::control::Control;
use crate::transport::region_key::RegionKey;
use crate::transport::request_id::RequestId;
use oxmpi_wire::regions::{Region, RegionId};
use oxmpi_wire::slab::Handle;
use oxmpi_wire::{Access, Atomic, Busy, Bytes, Fault, Local, Peer, Remote, Rma, Token, Width};

impl Rma for VerbsTx {
    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, Region>,
        token: Token,
    ) -> Result<(), Busy> {
        let (len, region) = (to.transfer_len(&from), to.region.id());
        let kind = |tx: &Self| {
            tx.check_writable(region)?;
            tx.reach(of.0, &from, Access::READ).map(OperationKind::Get)
        };
        let begun = self.begin_operation(of.0, &to, len, kind, token)?;
        self.start(of.0, begun);
        Ok(())
    }

    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, Region>,
        at: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy> {
        let len = from.transfer_len(&at);
        let kind = |tx: &Self| tx.reach(to.0, &at, Access::WRITE).map(OperationKind::Put);
        let begun = self.begin_operation(to.0, &from, len, kind, token)?;
        if begun.is_some() {
            self.fill_copy(from.region.id(), from.at, from.len);
        }
        self.start(to.0, begun);
        Ok(())
    }

    fn atomic(
        &mut self,
        to: Peer,
        at: Remote<'_>,
        atomic: Atomic,
        old: Local<'_, Region>,
        token: Token,
    ) -> Result<(), Busy> {
        let width = old.word_width(&at);
        let kind = |_: &Self| width.map(OperationKind::Atomic);
        let begun = self.begin_operation(to.0, &old, width.map(Width::bytes), kind, token)?;
        if let (Some(index), Ok(width)) = (begun, width) {
            let request = Control::Atomic {
                id: self.operations.open.handle(index).word(),
                to: RegionKey::from_key(at.key).id,
                at: at.at,
                width,
                atomic,
            };
            // As many as there are operations.
            self.link(to.0).waiting.push_back(request);
            self.advance(to.0);
        }
        Ok(())
    }

    fn flush_peer(&mut self, to: Peer, token: Token) -> Result<(), Busy> {
        self.start_flush(to.0, token)
    }
}

impl VerbsTx {
    /// Where `remote` is at `peer`.
    ///
    /// # Errors
    /// [`Fault::NOT_REGISTERED`], as far as the key says.
    fn reach(
        &self,
        peer: u32,
        remote: &Remote<'_>,
        access: Access,
    ) -> Result<RemoteAddress, Fault> {
        let key = RegionKey::from_key(remote.key);
        let link = self.links[peer as usize].as_ref();
        let released = link.and_then(|link| link.released.get(&index_of(key.id)));
        if released == Some(&key.id) {
            return Err(Fault::NOT_REGISTERED);
        }
        key.reach(remote, access)
    }

    fn start(&mut self, peer: u32, begun: Option<u32>) {
        if let Some(index) = begun {
            self.link(peer).pending.push_back(index);
            self.post_pieces(peer);
        }
    }

    /// Posts reads and writes of the operations with `peer`, as many as its queue takes.
    pub(super) fn post_pieces(&mut self, peer: u32) {
        while let Some(link) = &self.links[peer as usize]
            && let Some(&index) = link.pending.front()
            && link.takes_access()
        {
            let operation = self.operations.open[index];
            let len = (operation.len - operation.posted).min(self.piece.into());
            let posted = self.post_piece(&operation, len);
            let is_posted = posted.is_ok();
            self.check(peer, posted);
            if !is_posted {
                return;
            }
            let operation = &mut self.operations.open[index];
            operation.posted += len;
            operation.in_flight += 1;
            let is_last = operation.posted == operation.len;
            let link = self.link(peer);
            link.accessed(index);
            if is_last {
                link.pending.pop_front();
            }
        }
    }

    /// Posts the next `len` bytes of an operation.
    fn post_piece(&self, operation: &Operation, len: u64) -> Result<(), PostError> {
        let link = self.links[operation.peer as usize].as_ref();
        let pair = link.and_then(|link| link.pair.as_ref());
        let Some((pair, (region, start))) = pair.zip(self.registered(operation.region)) else {
            return Ok(());
        };
        let at = start + (operation.at + operation.posted) as usize;
        let here = [region.segment(at..at + len as usize)];
        let peer = operation.peer;
        let id = RequestId::Send { peer }.word();
        let there = |start: RemoteAddress| RemoteAddress {
            address: start.address + operation.posted,
            ..start
        };
        match operation.kind {
            OperationKind::Get(start) => {
                pair.post_read(id, &here, there(start), SendFlags::SIGNALED)
            }
            OperationKind::Put(start) => {
                let payload = Payload::Segments(&here);
                pair.post_write(id, payload, there(start), None, SendFlags::SIGNALED)
            }
            OperationKind::Atomic(_) => Ok(()),
        }
    }

    /// Counts the end of a read or a write of an operation.
    pub(super) fn piece_ended(&mut self, index: u32) {
        let operation = &mut self.operations.open[index];
        operation.in_flight -= 1;
        if operation.in_flight > 0 || operation.posted < operation.len {
            return;
        }
        let Operation {
            kind,
            region,
            at,
            len,
            ..
        } = *operation;
        if let OperationKind::Get(_) = kind {
            self.drain_copy(region, at, len);
        }
        self.end_operation(index, Ok(()));
    }

    /// Ends the operation whose access the peer's device has refused, and which has thereby broken the connection.
    pub(super) fn end_refused(&mut self, peer: u32, why: &CompletionError) {
        if why.name() == "IBV_WC_REM_ACCESS_ERR"
            && let Some(Posted::Access { operation }) = self.link(peer).oldest()
        {
            let link = self.link(peer);
            link.pending.retain(|pending| *pending != operation);
            self.end_operation(operation, Err(Fault::NOT_REGISTERED));
        }
    }

    /// Handles a frame of the transport from `peer`.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(in crate::transport) fn control(
        &mut self,
        peer: u32,
        control: Control,
    ) -> Result<(), &'static str> {
        match control {
            Control::Atomic {
                id,
                to,
                at,
                width,
                atomic,
            } => {
                let both = Access::READ | Access::WRITE;
                let bytes = self.regions.check(to, both, at, width.bytes());
                let old = bytes.ok().and_then(|bytes| bytes.atomic(at, width, atomic));
                let answer = match old {
                    Some(old) => Control::Changed { id, old },
                    None => Control::Refused { id },
                };
                self.answer(peer, answer)
            }
            Control::Changed { id, old } => self.atomic_ended(peer, id, Ok(old)),
            Control::Refused { id } => self.atomic_ended(peer, id, Err(Fault::NOT_REGISTERED)),
            Control::Released { region } => {
                self.link(peer).released.insert(index_of(region), region);
                Ok(())
            }
        }
    }

    /// Ends the atomic `id`, as `peer` says.
    fn atomic_ended(
        &mut self,
        peer: u32,
        id: u64,
        old: Result<u64, Fault>,
    ) -> Result<(), &'static str> {
        let index = self.operations.open.find(Handle::from_word(id));
        let found = index.map(|index| (index, self.operations.open[index]));
        let Some((index, operation)) = found.filter(|(_, operation)| operation.peer == peer) else {
            return Err("an answer to nothing");
        };
        let OperationKind::Atomic(width) = operation.kind else {
            return Err("a word that was not asked for");
        };
        if let (Ok(old), Some(bytes)) = (old, self.regions.bytes(operation.region)) {
            width.fill(bytes, operation.at, old);
        }
        self.end_operation(index, old.map(drop));
        Ok(())
    }
}

/// The place of a region in its owner's table; the next region there has another id.
fn index_of(id: RegionId) -> u32 {
    (id.word() >> 32) as u32
}
