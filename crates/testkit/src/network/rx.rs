//! The receiving half of a network's end ([`NetworkRx`]).

use oxmpi_wire::{Peer, Rx, Sink, Sleeper};

use super::{NetworkRx, NetworkTx};

impl NetworkRx {
    /// Ends bulk operations, and reports peers that have room again.
    fn advance<S: Sink<NetworkTx>>(&self, tx: &mut NetworkTx, sink: &mut S) -> u32 {
        let ended = tx.advance(sink);
        for peer in std::mem::take(&mut tx.refused) {
            if self.net.borrow_mut().admits(self.me, peer, 0) {
                sink.room(tx, Peer(peer));
            } else {
                tx.refused.push(peer);
            }
        }
        ended
    }

    fn poll_one<S: Sink<NetworkTx>>(
        &mut self,
        tx: &mut NetworkTx,
        from: Option<u32>,
        sink: &mut S,
    ) -> bool {
        let frame = self.net.borrow_mut().ends[self.me as usize].take(from);
        let Some((from, head, body)) = frame else {
            return false;
        };
        sink.frame(tx, Peer(from), &head, &mut body.as_slice());
        true
    }
}

impl Rx<NetworkTx> for NetworkRx {
    fn poll<S: Sink<NetworkTx>>(&mut self, tx: &mut NetworkTx, budget: u32, sink: &mut S) -> u32 {
        let mut handed = self.advance(tx, sink);
        while handed < budget && self.poll_one(tx, None, sink) {
            handed += 1;
        }
        handed
    }

    fn poll_from<S: Sink<NetworkTx>>(
        &mut self,
        tx: &mut NetworkTx,
        from: Peer,
        sink: &mut S,
    ) -> u32 {
        self.advance(tx, sink) + u32::from(self.poll_one(tx, Some(from.0), sink))
    }
}

impl Sleeper for NetworkRx {
    fn arm(&mut self) -> bool {
        self.net.borrow().ends[self.me as usize].is_empty()
    }
}
