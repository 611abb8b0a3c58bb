//! Get and put, emulated by frames: what each of them does on either side.
//!
//! ```text
//!  get:   Get{id, from, at, len} ->         put:   Put{id, to, at} + bytes, ... ->
//!                <- Data{id, at} + bytes                     <- Ended{id, ok} after the last
//! ```
//!
//! The bytes' own frames say where they belong, so that they may come in any order and, later, by
//! several connections. The first bytes that are got may come before they are asked for: see
//! [`runs`](super::runs).

use std::time::Instant;

use oxmpi_wire::regions::{Name, Region};
use oxmpi_wire::{Access, Bytes, Fault, Key, Local, Peer, Remote, Token};

use super::OPERATIONS;
use super::bulk_trials::{BulkProtocol, TransferClass};
use super::operations::Operation;
use super::outgoing::{Leaving, Why};
use super::transfer::Transfer;
use super::tx::TcpTx;
use crate::frame::{Control, Id, Run};

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
        local: &Local<'_, Region>,
        peer: u32,
        token: Token,
    ) -> Option<Id> {
        let id = self.operations.begin(Operation {
            peer,
            token,
            region: local.region.name(),
            at: local.at,
            len: local.len,
            left: local.len,
            ahead: 0,
            get,
        })?;
        self.regions.enter(local.region.name());
        self.outgoing(peer).gets += u32::from(get);
        Some(id)
    }

    /// Asks `peer` for bytes; false: not now.
    pub(super) fn begin_get(
        &mut self,
        peer: u32,
        from: Remote<'_>,
        to: &Local<'_, Region>,
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
        let ahead = self.await_run(peer, &from, id);
        if ahead < from.len {
            let ask = Control::Get {
                id,
                from: Name::of_key(from.key).0,
                at: from.at + ahead,
                len: from.len - ahead,
            };
            self.answer(peer, ask);
        }
        true
    }

    /// How many of the first bytes of `from` come to the operation `id` unasked.
    fn await_run(&mut self, peer: u32, from: &Remote<'_>, id: Id) -> u64 {
        let run = Run::of_key(from.key);
        let wanted = from.at == 0 && run.len <= from.len;
        let expected = &mut self.outgoing(peer).expected;
        if !wanted || !expected.is_to_come(run) {
            return 0;
        }
        expected.await_run(run, id);
        if let Some(operation) = self.operations.get(id, peer) {
            operation.ahead = run.len;
        }
        run.len
    }

    /// Puts bytes at `peer`; false: not now.
    pub(super) fn begin_put(
        &mut self,
        peer: u32,
        from: &Local<'_, Region>,
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
        self.outgoing(peer).runs.asked(from.region.name());
        let put = Why::Put(Name::of_key(at.key).0, at.at);
        self.send_bulk(peer, id, from.region.name(), from.at, from.len, put);
        true
    }

    fn can_begin(&mut self, peer: u32) -> bool {
        if self.operations.are_full() {
            self.refuse(peer);
        }
        !self.operations.are_full()
    }

    /// Bytes of `region` are to leave. It is in use until they have.
    fn send_bulk(&mut self, peer: u32, id: Id, region: Name, at: u64, left: u64, why: Why) {
        self.begin_transfer(peer, region, at + left);
        self.regions.enter(region);
        self.list(peer);
        self.outgoing(peer).leaving.push_back(Leaving {
            id,
            region,
            at,
            left,
            gone: 0,
            why,
        });
    }

    /// Bytes of `region`, the last of which is byte `len`, begin to leave for `peer`. If they are its first, their
    /// protocol is chosen.
    fn begin_transfer(&mut self, peer: u32, region: Name, len: u64) -> Option<&mut Transfer> {
        let takes_pages = self.passing.takes(len);
        let outgoing = self.peers[peer as usize].as_mut()?;
        let transfer = self.regions.note_mut(region)?;
        if transfer.is_none() {
            let class = TransferClass::new(len, outgoing.transfers == 0);
            outgoing.transfers += 1;
            *transfer = Some(Transfer {
                peer,
                len,
                run: None,
                protocol: match takes_pages {
                    true => outgoing.bulk_trials.choose(class),
                    false => BulkProtocol::Copy,
                },
                start: takes_pages.then(|| (class, Instant::now())),
            });
        }
        transfer.as_mut()
    }

    /// The peer has all bytes of `region`, or wants none.
    pub(super) fn end_transfer(&mut self, region: Name) {
        let transfer = self.regions.note_mut(region).and_then(Option::take);
        let Some(Transfer {
            peer,
            len,
            protocol,
            start,
            ..
        }) = transfer
        else {
            return;
        };
        let outgoing = self.outgoing(peer);
        outgoing.runs.ended(region);
        outgoing.transfers -= 1;
        if let Some((class, start)) = start.filter(|_| outgoing.lost.is_none()) {
            // Of several at once each counts from the end of the one before.
            let now = Instant::now();
            let since = outgoing.over.map_or(start, |over| over.max(start));
            outgoing.over = Some(now);
            outgoing
                .bulk_trials
                .learn(class, protocol, len, now - since);
        }
    }

    /// The key to `region`, for a request to `peer` that is written next. The region's first bytes may follow it.
    pub(super) fn key_with_run(&mut self, peer: u32, region: Name) -> Key {
        let run = self.begin_run(peer, region);
        let begun = self.regions.note(region).copied().flatten();
        let run = run.or_else(|| begun.filter(|one| one.peer == peer)?.run);
        run.unwrap_or(Run::NONE).key(region)
    }

    fn begin_run(&mut self, peer: u32, region: Name) -> Option<Run> {
        /// Room for any request of the engine's.
        const REQUEST: usize = 128;
        if self.regions.note(region)?.is_some() {
            return None;
        }
        let readable = self.regions.check(region, Some(Access::Read), 0, 0);
        let all = readable.ok()?.len();
        let outgoing = self.peers[peer as usize].as_mut()?;
        let can = all > 0 && self.ahead > 0 && outgoing.is_open_for_bulk(REQUEST);
        if !can || !outgoing.runs.may_begin() {
            return None;
        }
        let run = outgoing.runs.begin(region, all.min(self.ahead));
        self.begin_transfer(peer, region, all)?.run = Some(run);
        self.send_bulk(peer, Id(run.number), region, 0, run.len, Why::Run);
        Some(run)
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
            Control::Ahead { number, at, len } => self.runs(peer, number, at, len.into()),
            Control::Put {
                id,
                to,
                at,
                len,
                last,
            } => {
                if self.allows(to, Access::Write, at, len.into()) {
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
            Control::Answer | Control::Pad => Ok(None),
        }
    }

    /// Whether a peer may use `len` bytes of a region from `at` in this way.
    fn allows(&self, region: Name, access: Access, at: u64, len: u64) -> bool {
        self.regions.check(region, Some(access), at, len).is_ok()
    }

    /// `peer` wants bytes.
    fn asked(&mut self, peer: u32, id: Id, from: Name, at: u64, len: u64) -> Result<(), Rule> {
        let under_way = &self.outgoing(peer).leaving;
        if under_way.iter().filter(|l| l.why == Why::Asked).count() >= OPERATIONS {
            return Err("more gets at once than there can be");
        }
        if len == 0 || !self.allows(from, Access::Read, at, len) {
            return self.reply(peer, Control::Ended { id, ok: false });
        }
        if at == 0 {
            self.outgoing(peer).runs.asked(from);
        }
        self.send_bulk(peer, id, from, at, len, Why::Asked);
        Ok(())
    }

    /// Bytes come that this rank asked for.
    fn comes(&mut self, peer: u32, id: Id, at: u64, len: u64) -> Result<Option<Arriving>, Rule> {
        let Some(operation) = self.operations.get(id, peer) else {
            return Ok(None); // it has ended early
        };
        let end = at.checked_add(len);
        let inside = end.is_some_and(|end| end <= operation.len - operation.ahead);
        if !operation.get || !inside || len > operation.left || len == 0 {
            return Err("bytes that were not asked for");
        }
        Ok(Some(Arriving {
            region: operation.region,
            at: operation.at + operation.ahead + at,
            id,
            what: What::Got(len),
        }))
    }

    /// Bytes come unasked. Where nobody waits for them they are dropped.
    fn runs(
        &mut self,
        peer: u32,
        number: u64,
        at: u64,
        len: u64,
    ) -> Result<Option<Arriving>, Rule> {
        let Some(id) = self.outgoing(peer).expected.comes(number, at, len)? else {
            return Ok(None);
        };
        let operation = self.operations.get(id, peer);
        if operation
            .as_ref()
            .is_some_and(|operation| len > operation.left)
        {
            return Err("bytes that were not announced");
        }
        Ok(operation.map(|operation| Arriving {
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
            let all_left = !leaving.iter().any(|l| l.id == id && l.is_put());
            if operation.get || !all_left {
                return Err("the end of what has not ended");
            }
            self.end_operation(peer, id, Ok(()));
        } else {
            if let Some(region) = self.outgoing(peer).cut(id) {
                self.leave(region);
            }
            let refused = Fault::Protocol("a key to memory that cannot be used so");
            self.end_operation(peer, id, Err(refused));
        }
        Ok(())
    }

    fn end_operation(&mut self, peer: u32, id: Id, result: Result<(), Fault>) {
        if let Some(operation) = self.operations.end(id, peer) {
            let outgoing = self.outgoing(peer);
            outgoing.gets -= u32::from(operation.get);
            if operation.ahead > 0 {
                outgoing.expected.forget(id);
            }
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
        self.outgoing(peer).expected.clear();
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
