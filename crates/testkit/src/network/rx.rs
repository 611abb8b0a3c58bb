//! The receiving half of an end.

use oxmpi_wire::{Peer, Rx, Sink, Sleeper};

use super::{NetworkRx, NetworkTx};

impl NetworkRx {
    fn look<S: Sink<NetworkTx>>(
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
        let mut handed = tx.advance(sink);
        while handed < budget && self.look(tx, None, sink) {
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
        tx.advance(sink) + u32::from(self.look(tx, Some(from.0), sink))
    }
}

impl Sleeper for NetworkRx {
    fn arm(&mut self) -> bool {
        self.net.borrow().ends[self.me as usize].is_empty()
    }
}
