//! The receiving half of a fabric's end ([`FabricRx`]).

use oxmpi_wire::{Fault, Peer, Rx, Sink, Sleeper};

use super::{FabricRx, FabricTx};

impl FabricRx {
    /// Hands over the first frame of one peer, or its loss.
    fn poll_peer<S: Sink<FabricTx>>(&mut self, tx: &mut FabricTx, from: u32, sink: &mut S) -> u32 {
        let (frame, dead) = {
            let mut net = self.net.borrow_mut();
            let delay = net.config.delay;
            if self.reported[from as usize] || net.rng.chance(delay) {
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
        if let Some(at) = tx.refused.iter().position(|peer| *peer == from)
            && !dead
        {
            tx.refused.swap_remove(at);
            sink.room(tx, Peer(from));
        }
        if let Some((head, body)) = frame {
            // A transport may offer the message by `expected` first, or not.
            let offers = head.is_plain() && self.net.borrow_mut().rng.chance(50);
            if !offers || !sink.expected(Peer(from), head.envelope, &mut body.as_slice()) {
                sink.frame(tx, Peer(from), &head, &mut body.as_slice());
            }
            return 1;
        }
        if dead {
            self.reported[from as usize] = true;
            tx.lose(from, Fault::PeerDead);
            tx.report(sink);
            sink.lost(tx, Peer(from), Fault::PeerDead);
            return 1;
        }
        0
    }
}

impl Rx<FabricTx> for FabricRx {
    fn poll<S: Sink<FabricTx>>(&mut self, tx: &mut FabricTx, budget: u32, sink: &mut S) -> u32 {
        let ends = self.reported.len() as u32;
        let first = {
            let mut net = self.net.borrow_mut();
            net.rng.below(u64::from(ends)) as u32
        };
        let mut handed = tx.advance(sink);
        for step in 0..ends {
            if handed >= budget {
                break;
            }
            handed += self.poll_peer(tx, (first + step) % ends, sink);
        }
        handed
    }

    fn poll_from<S: Sink<FabricTx>>(&mut self, tx: &mut FabricTx, from: Peer, sink: &mut S) -> u32 {
        tx.advance(sink) + self.poll_peer(tx, from.0, sink)
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
