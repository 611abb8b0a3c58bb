//! The sending half of an end.

use oxmpi_wire::{
    Access, Busy, Bytes, Fault, Header, Key, Limits, Local, Memory, Peer, Remote, Rma, Sink, Slot,
    Token, Tx,
};

use super::{Bulk, FabricTx};
use crate::frame_builder::{FrameBuilder, PostFrame, key_of, number_in};
use crate::memory::SharedBytes;

impl FabricTx {
    /// What this end is called by all others.
    #[must_use]
    pub const fn me(&self) -> Peer {
        Peer(self.me)
    }

    fn admit(&mut self, to: Peer) -> Result<(), Busy> {
        let mut net = self.net.borrow_mut();
        let refuse = net.config.refuse;
        let full = net
            .queues
            .get(&(self.me, to.0))
            .is_some_and(|queue| queue.len() >= net.config.capacity);
        if net.dead[to.0 as usize] {
            // There is never room again: the loss is the only event to come.
            return Err(Busy);
        }
        if full || net.rng.chance(refuse) {
            self.refused[to.0 as usize] = true;
            return Err(Busy);
        }
        Ok(())
    }

    fn begin(&mut self, bulk: Bulk) {
        self.bulk.push(bulk);
        let moves = self
            .bulk
            .iter()
            .filter(|bulk| matches!(bulk, Bulk::Move { .. }));
        self.moves.most = self.moves.most.max(moves.count() as u64);
    }

    /// Nothing moves to or from `peer` any more.
    pub(super) fn forget_moves(&mut self, peer: u32) {
        self.bulk
            .retain(|bulk| !matches!(bulk, Bulk::Move { peer: with, .. } if *with == peer));
    }

    /// Ends some of the bulk operations, in any order. Those with a dead peer never end.
    pub(super) fn advance<S: Sink<Self>>(&mut self, sink: &mut S) -> u32 {
        let mut ended = 0;
        let mut at = 0;
        while at < self.bulk.len() {
            let late = {
                let mut net = self.net.borrow_mut();
                let delay = net.config.delay;
                net.rng.chance(delay)
            };
            if late {
                at += 1;
                continue;
            }
            let bulk = self.bulk.swap_remove(at);
            let ended_now = self.net.borrow_mut().run(self.me, bulk);
            if let Some((token, result)) = ended_now {
                ended += 1;
                sink.done(self, token, result);
            }
        }
        ended
    }
}

impl PostFrame for FabricTx {
    fn post(&self, to: u32, head: Header, body: Vec<u8>) {
        let mut net = self.net.borrow_mut();
        if !net.dead[to as usize] {
            net.queues
                .entry((self.me, to))
                .or_default()
                .push_back((head, body));
        }
    }
}

impl Tx for FabricTx {
    type Slot<'a> = FrameBuilder<'a, Self>;

    fn limits(&self, _to: Peer) -> &Limits {
        &self.limits
    }

    fn short<B: Bytes>(&mut self, to: Peer, head: &Header, body: &B) -> Result<(), Busy> {
        assert!(
            body.len() <= u64::from(self.limits.short),
            "longer than the short path"
        );
        let len = body.len() as usize;
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
        self.admit(to)?;
        Ok(FrameBuilder::new(self, to.0, *head))
    }

    fn flush(&mut self) {}

    fn give_up(&mut self, peer: Peer, why: Fault) {
        self.given_up.push((peer, why));
        self.forget_moves(peer.0);
    }
}

impl Memory for FabricTx {
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

impl Rma for FabricTx {
    fn get(
        &mut self,
        of: Peer,
        from: Remote<'_>,
        to: Local<'_, u64>,
        token: Token,
    ) -> Result<(), Busy> {
        assert_eq!(from.len, to.len, "both ranges have one length");
        self.admit(of)?;
        self.moves.gets += 1;
        self.begin(Bulk::Move {
            peer: of.0,
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
        self.admit(to)?;
        self.moves.puts += 1;
        self.begin(Bulk::Move {
            peer: to.0,
            from: (self.me, *from.region, from.at),
            to: (to.0, number_in(at.key), at.at),
            len: at.len,
            token,
        });
        Ok(())
    }
}
