//! The sending half of an end.

use oxmpi_wire::paths::network::BUFFER_LEN;
use oxmpi_wire::{
    Access, Busy, Bytes, Fault, Header, Key, Limits, Local, Memory, Peer, Remote, Rma, Sink, Slot,
    Token, Tx,
};

use super::{Bulk, Net, NetworkTx};
use crate::frame_builder::{FrameBuilder, PostFrame, key_of, number_in};
use crate::memory::SharedBytes;

impl Net {
    /// Whether a frame with so many buffers may go from `from` to `to`. Both ends of one to itself
    /// are the same.
    fn admits(&mut self, from: u32, to: u32, buffers: u32) -> bool {
        let plan = self.plan;
        let there = &mut self.ends[to as usize];
        there.connect(&plan, from);
        there.has_room(from, buffers) && self.ends[from as usize].has_buffers(buffers)
    }

    fn send(&mut self, from: u32, to: u32, head: &Header, body: Vec<u8>) {
        let buffers = self.plan.buffers(body.len() as u32);
        let by_engine = buffers > 0 && self.plan.by_engine(body.len() as u64);
        let sender = &mut self.ends[from as usize];
        sender.count(body.len() as u64, by_engine);
        let body = match buffers {
            0 => body,
            _ => {
                let own = sender.borrow(buffers).expect("asked before");
                sender.stage(own, &body)
            }
        };
        self.ends[to as usize].deliver(from, head, &body, buffers);
    }

    fn copy(
        &mut self,
        me: u32,
        from: (u32, u64, u64),
        to: (u32, u64, u64),
        len: u64,
    ) -> Result<(), Fault> {
        let region = |(owner, number, at): (u32, u64, u64)| {
            self.regions
                .get(&(owner, number))
                .filter(|bytes| at.checked_add(len).is_some_and(|end| end <= bytes.len()))
                .cloned()
                .ok_or(Fault::Protocol("a range outside of its region"))
        };
        let (source, target) = (region(from)?, region(to)?);
        let by_engine = self.plan.by_engine(len);
        let zero_copy = self.plan.settings.zero_copy;
        let end = &mut self.ends[me as usize];
        end.count(len, by_engine);
        if zero_copy {
            target.copy_from(to.2, &source, from.2, len);
            return Ok(());
        }
        let bytes = &source.to_vec()[from.2 as usize..][..len as usize];
        let mut at = to.2;
        for part in bytes.chunks(BUFFER_LEN as usize) {
            let buffer = end.borrow(1);
            let buffer = buffer.ok_or(Fault::Refused("buffers of the network"))?;
            target.fill(at, &mut end.stage(buffer, part).as_slice());
            at += part.len() as u64;
        }
        end.counters.copied += len;
        Ok(())
    }
}

impl NetworkTx {
    /// Ends bulk operations, and tells of peers that have room again.
    pub(super) fn advance<S: Sink<Self>>(&mut self, sink: &mut S) -> u32 {
        let bulk = std::mem::take(&mut self.bulk);
        let ended = bulk.len() as u32;
        for bulk in bulk {
            let (token, result) = match bulk {
                Bulk::Release { region, token } => {
                    self.net.borrow_mut().regions.remove(&(self.me, region));
                    (token, Ok(()))
                }
                Bulk::Move {
                    from,
                    to,
                    len,
                    token,
                } => (token, self.net.borrow_mut().copy(self.me, from, to, len)),
            };
            sink.done(self, token, result);
        }
        for peer in std::mem::take(&mut self.refused) {
            if self.net.borrow_mut().admits(self.me, peer, 0) {
                sink.room(self, Peer(peer));
            } else {
                self.refused.push(peer);
            }
        }
        ended
    }
}

impl PostFrame for NetworkTx {
    fn post(&self, to: u32, head: Header, body: Vec<u8>) {
        let mut net = self.net.borrow_mut();
        net.send(self.me, to, &head, body);
    }
}

impl Tx for NetworkTx {
    type Slot<'a> = FrameBuilder<'a, Self>;

    fn limits(&self, _to: Peer) -> &Limits {
        &self.limits
    }

    fn short<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> Result<(), Busy> {
        let len = body.len() as usize;
        assert!(len <= self.limits.short as usize, "longer than a mailbox");
        let mut slot = self.frame(to, head, len)?;
        body.drain(0, len, &mut slot);
        slot.send();
        Ok(())
    }

    fn frame(
        &mut self,
        to: Peer,
        head: &Header,
        len: usize,
    ) -> Result<FrameBuilder<'_, Self>, Busy> {
        assert!(
            len <= self.limits.frame as usize && len == head.len as usize,
            "a frame of {len} B"
        );
        let mut net = self.net.borrow_mut();
        let buffers = net.plan.buffers(len as u32);
        if !net.admits(self.me, to.0, buffers) {
            net.ends[self.me as usize].counters.refused += 1;
            if !self.refused.contains(&to.0) {
                self.refused.push(to.0);
            }
            return Err(Busy);
        }
        drop(net);
        Ok(FrameBuilder::new(self, to.0, *head))
    }

    fn flush(&mut self) {}

    fn give_up(&mut self, peer: Peer, _why: Fault) {
        self.refused.retain(|refused| *refused != peer.0);
    }
}

impl Memory for NetworkTx {
    type Bytes = SharedBytes;
    type Region = u64;

    fn register(&mut self, bytes: SharedBytes, _: Access, _: Peer) -> Result<u64, Fault> {
        let mut net = self.net.borrow_mut();
        let number = net.next_region;
        net.next_region += 1;
        net.regions.insert((self.me, number), bytes);
        Ok(number)
    }

    fn key(&mut self, region: &u64, _to: Peer) -> Key {
        key_of(*region)
    }

    fn release(&mut self, region: u64, token: Token) {
        self.bulk.push(Bulk::Release { region, token });
    }
}

impl Rma for NetworkTx {
    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, u64>,
        token: Token,
    ) -> Result<(), Busy> {
        assert_eq!(from.len, to.len, "both ranges have one length");
        self.bulk.push(Bulk::Move {
            from: (of.0, number_in(from.key), from.at),
            to: (self.me, *to.region, to.at),
            len: to.len,
            token,
        });
        Ok(())
    }

    fn put(
        &mut self,
        to: Peer,
        from: Local<'_, u64>,
        at: Remote<'_>,
        token: Token,
    ) -> Result<(), Busy> {
        assert_eq!(from.len, at.len, "both ranges have one length");
        self.bulk.push(Bulk::Move {
            from: (self.me, *from.region, from.at),
            to: (to.0, number_in(at.key), at.at),
            len: at.len,
            token,
        });
        Ok(())
    }
}
