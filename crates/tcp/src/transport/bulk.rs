//! Get and put, emulated by frames: what each of them does on either side.
//!
//! ```text
//!  get:   Get{id, from, at, len} ->         put:   Put{id, to, at} + bytes, ... ->
//!                <- Data{id, at} + bytes                     <- Ended{id, ok} after the last
//! ```
//!
//! The bytes' own frames say where they belong, so that they may come in any order and, later, by
//! several connections.

use oxmpi_wire::{Access, Bytes, Fault, Local, Peer, Remote, Token};

use super::OPERATIONS;
use super::operations::Operation;
use super::outgoing::Leaving;
use super::region::REFUSED;
use super::tx::TcpTx;
use crate::frame::{Control, Id, Name};

/// Bulk that comes: where its next byte goes.
#[derive(Debug)]
pub(super) struct Arriving {
    region: Name,
    at: u64,
    id: Id,
    what: What,
}

#[derive(Debug)]
enum What {
    /// What this rank asked for: so many bytes.
    Got(u64),
    /// What a peer puts; the last chunk is answered.
    Put { last: bool },
}

impl Arriving {
    /// `count` bytes are in place.
    pub(super) fn moved(&mut self, count: u64) {
        self.at += count;
    }
}

/// The rule that a peer broke.
type Rule = &'static str;

impl<B: Bytes> TcpTx<B> {
    /// Begins a get or a put; `None` when no more can be under way.
    fn open_operation(
        &mut self,
        get: bool,
        local: &Local<'_, super::TcpRegion>,
        peer: u32,
        token: Token,
    ) -> Option<Id> {
        let id = self.operations.begin(Operation {
            peer,
            token,
            region: local.region.0,
            at: local.at,
            len: local.len,
            left: local.len,
            get,
        })?;
        self.regions.enter(local.region.0);
        self.outgoing(peer).gets += u32::from(get);
        Some(id)
    }

    /// Asks `peer` for bytes; false: not now.
    pub(super) fn begin_get(
        &mut self,
        peer: u32,
        from: Remote<'_>,
        to: &Local<'_, super::TcpRegion>,
        token: Token,
    ) -> bool {
        if !self.can_begin(peer) {
            return false;
        }
        if from.len == 0 || self.is_lost(peer) {
            self.finish(token, Ok(()));
            return true;
        }
        let Some(id) = self.open_operation(true, to, peer, token) else {
            return false;
        };
        let ask = Control::Get {
            id,
            from: Name::of_key(from.key),
            at: from.at,
            len: from.len,
        };
        self.answer(peer, ask);
        true
    }

    /// Puts bytes at `peer`; false: not now.
    pub(super) fn begin_put(
        &mut self,
        peer: u32,
        from: &Local<'_, super::TcpRegion>,
        at: Remote<'_>,
        token: Token,
    ) -> bool {
        if !self.can_begin(peer) {
            return false;
        }
        if from.len == 0 || self.is_lost(peer) {
            self.finish(token, Ok(()));
            return true;
        }
        let Some(id) = self.open_operation(false, from, peer, token) else {
            return false;
        };
        let put = Some((Name::of_key(at.key), at.at));
        self.send_bulk(peer, id, from.region.0, from.at, from.len, put);
        true
    }

    fn can_begin(&mut self, peer: u32) -> bool {
        if self.operations.are_full() {
            self.refuse(peer);
        }
        !self.operations.are_full()
    }

    /// Bytes of `region` are to leave. It is in use until they have.
    fn send_bulk(
        &mut self,
        peer: u32,
        id: Id,
        region: Name,
        at: u64,
        left: u64,
        put: Option<(Name, u64)>,
    ) {
        self.regions.enter(region);
        self.list(peer);
        self.outgoing(peer).leaving.push_back(Leaving {
            id,
            region,
            at,
            left,
            gone: 0,
            put,
        });
    }

    /// A frame of the transport's own came from `peer`. `Some`: where the bulk goes that follows it; it
    /// is dropped else.
    ///
    /// # Errors
    /// The rule that the peer broke.
    pub(super) fn control(
        &mut self,
        peer: u32,
        control: Control,
    ) -> Result<Option<Arriving>, Rule> {
        match control {
            Control::Get { id, from, at, len } => {
                self.asked(peer, id, from, at, len)?;
                Ok(None)
            }
            Control::Data { id, at, len } => self.comes(peer, id, at, len.into()),
            Control::Put {
                id,
                to,
                at,
                len,
                last,
            } => {
                if self.regions.allows(to, Access::Write, at, len.into()) {
                    self.regions.enter(to);
                    return Ok(Some(Arriving {
                        region: to,
                        at,
                        id,
                        what: What::Put { last },
                    }));
                }
                self.reply(peer, Control::Ended { id, ok: false })?;
                Ok(None)
            }
            Control::Ended { id, ok } => {
                self.ended(peer, id, ok)?;
                Ok(None)
            }
            Control::Leave => {
                self.lose(peer, Fault::Left);
                Ok(None)
            }
            Control::Ask => {
                self.reply(peer, Control::Answer)?;
                Ok(None)
            }
            // That it came is all that it says.
            Control::Answer => Ok(None),
        }
    }

    /// `peer` wants bytes.
    fn asked(&mut self, peer: u32, id: Id, from: Name, at: u64, len: u64) -> Result<(), Rule> {
        let under_way = &self.outgoing(peer).leaving;
        if under_way.iter().filter(|l| l.put.is_none()).count() >= OPERATIONS {
            return Err("more gets at once than there can be");
        }
        if len == 0 || !self.regions.allows(from, Access::Read, at, len) {
            return self.reply(peer, Control::Ended { id, ok: false });
        }
        self.send_bulk(peer, id, from, at, len, None);
        Ok(())
    }

    /// Bytes come that this rank asked for.
    fn comes(&mut self, peer: u32, id: Id, at: u64, len: u64) -> Result<Option<Arriving>, Rule> {
        let Some(operation) = self.operations.get(id, peer) else {
            return Ok(None); // it has ended early
        };
        let end = at.checked_add(len);
        let inside = end.is_some_and(|end| end <= operation.len);
        if !operation.get || !inside || len > operation.left || len == 0 {
            return Err("bytes that were not asked for");
        }
        Ok(Some(Arriving {
            region: operation.region,
            at: operation.at + at,
            id,
            what: What::Got(len),
        }))
    }

    /// The bytes that `arriving` goes to, and where in them.
    pub(super) fn target(&self, arriving: &Arriving) -> Option<(&B, u64)> {
        let bytes = self.regions.bytes(arriving.region)?;
        Some((bytes, arriving.at))
    }

    /// Puts `bytes` where they belong.
    pub(super) fn place(&self, arriving: Option<&mut Arriving>, mut bytes: &[u8]) {
        let Some(arriving) = arriving else {
            return;
        };
        let len = bytes.len() as u64;
        if let Some((target, at)) = self.target(arriving) {
            target.fill(at, &mut bytes);
        }
        arriving.moved(len);
    }

    /// All bulk of a frame from `peer` is in place.
    pub(super) fn arrived(&mut self, peer: u32, arriving: Arriving) {
        let id = arriving.id;
        match arriving.what {
            What::Got(len) => {
                let Some(operation) = self.operations.get(id, peer) else {
                    return;
                };
                operation.left -= len;
                if operation.left == 0 {
                    self.end_operation(peer, id, Ok(()));
                }
            }
            What::Put { last } => {
                self.leave(arriving.region);
                if last {
                    self.answer(peer, Control::Ended { id, ok: true });
                }
            }
        }
    }

    /// The peer is lost in the middle of `arriving`.
    pub(super) fn abandon(&mut self, arriving: Arriving) {
        if let What::Put { .. } = arriving.what {
            self.leave(arriving.region);
        }
    }

    /// `peer` says that an operation has ended.
    fn ended(&mut self, peer: u32, id: Id, ok: bool) -> Result<(), Rule> {
        let Some(&mut operation) = self.operations.get(id, peer) else {
            return Ok(()); // a second refusal of one put
        };
        if ok {
            let leaving = &self.outgoing(peer).leaving;
            let all_left = !leaving.iter().any(|l| l.id == id && l.put.is_some());
            if operation.get || !all_left {
                return Err("the end of what has not ended");
            }
            self.end_operation(peer, id, Ok(()));
        } else {
            if let Some(region) = self.outgoing(peer).cut(id) {
                self.leave(region);
            }
            self.end_operation(peer, id, Err(REFUSED));
        }
        Ok(())
    }

    fn end_operation(&mut self, peer: u32, id: Id, result: Result<(), Fault>) {
        if let Some(operation) = self.operations.end(id, peer) {
            self.outgoing(peer).gets -= u32::from(operation.get);
            self.leave(operation.region);
            self.finish(operation.token, result);
        }
    }

    /// Sends `control` now or as soon as there is room: what answers a peer, of which there are as many
    /// as it may have operations.
    fn reply(&mut self, peer: u32, control: Control) -> Result<(), Rule> {
        if self.outgoing(peer).answers.len() >= 2 * OPERATIONS {
            return Err("more requests at once than there can be");
        }
        self.answer(peer, control);
        Ok(())
    }

    /// Sends `control` now or as soon as there is room.
    pub(super) fn answer(&mut self, peer: u32, control: Control) {
        self.list(peer);
        let outgoing = self.outgoing(peer);
        if !outgoing.answers.is_empty() || !outgoing.control(&control) {
            outgoing.answers.push_back(control);
        }
    }

    /// Everything with `peer` ends, without a word: its loss is told.
    pub(super) fn drop_bulk(&mut self, peer: u32) {
        while let Some(operation) = self.operations.end_any(peer) {
            self.leave(operation.region);
        }
        self.outgoing(peer).gets = 0;
        while let Some(leaving) = self.outgoing(peer).leaving.pop_front() {
            self.leave(leaving.region);
        }
    }

    /// Whether bytes come from `peer` that this rank asked for.
    pub(super) fn awaits_bulk(&self, peer: u32) -> bool {
        let outgoing = self.peers[peer as usize].as_ref();
        outgoing.is_some_and(|outgoing| outgoing.gets > 0)
    }

    /// What waits for room to begin an operation may try again.
    pub(super) fn may_begin(&self) -> bool {
        !self.operations.are_full()
    }
}

/// A peer as an index.
pub(super) const fn index(peer: Peer) -> usize {
    peer.0 as usize
}
