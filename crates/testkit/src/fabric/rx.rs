//! The receiving half of an end.

use oxmpi_wire::{Fault, Peer, Rx, Sink, Sleeper};

use super::{FabricRx, FabricTx};

impl FabricRx {
    /// Hands over the head of one peer's queue, or news about the peer.
    fn look<S: Sink<FabricTx>>(&mut self, tx: &mut FabricTx, from: u32, sink: &mut S) -> u32 {
        let (frame, dead) = {
            let mut net = self.net.borrow_mut();
            let delay = net.config.delay;
            if self.told[from as usize] || net.rng.chance(delay) {
                return 0;
            }
            // A dead peer's last frames may be lost with it.
            let dead = net.dead[from as usize];
            let cut = dead && net.rng.chance(20);
            let queue = net.queues.entry((from, self.me)).or_default();
            if cut {
                queue.clear();
            }
            (queue.pop_front(), dead)
        };
        if tx.refused[from as usize] && !dead {
            tx.refused[from as usize] = false;
            sink.room(tx, Peer(from));
        }
        if let Some((head, body)) = frame {
            // A transport may ask first, or not.
            let ask = head.is_plain() && self.net.borrow_mut().rng.chance(50);
            if !ask || !sink.expected(Peer(from), head.envelope, &mut body.as_slice()) {
                sink.frame(tx, Peer(from), &head, &mut body.as_slice());
            }
            return 1;
        }
        if dead {
            self.told[from as usize] = true;
            tx.forget_moves(from);
            sink.lost(tx, Peer(from), Fault::PeerDead);
            return 1;
        }
        0
    }
}

impl Rx<FabricTx> for FabricRx {
    fn poll<S: Sink<FabricTx>>(&mut self, tx: &mut FabricTx, budget: u32, sink: &mut S) -> u32 {
        let ends = self.told.len() as u32;
        let first = {
            let mut net = self.net.borrow_mut();
            net.rng.below(u64::from(ends)) as u32
        };
        let mut handed = tx.advance(sink);
        for step in 0..ends {
            if handed >= budget {
                break;
            }
            handed += self.look(tx, (first + step) % ends, sink);
        }
        handed
    }

    fn poll_from<S: Sink<FabricTx>>(&mut self, tx: &mut FabricTx, from: Peer, sink: &mut S) -> u32 {
        tx.advance(sink) + self.look(tx, from.0, sink)
    }
}

impl Sleeper for FabricRx {
    fn arm(&mut self) -> bool {
        let net = self.net.borrow();
        !net.queues
            .iter()
            .any(|(&(_, to), queue)| to == self.me && !queue.is_empty())
    }
}
