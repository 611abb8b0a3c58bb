//! Whether peers are alive and their rings sound, and what their loss ends.

use oxmpi_wire::{AsTx, Bytes, Fault, Peer, Sink};

use super::ShmRx;
use crate::transport::link::{LinkState, ReceiveLink};
use crate::transport::tx::ShmTx;

impl<B: Bytes> ShmRx<B> {
    /// Checks whether peers are alive and their rings sound.
    #[cold]
    #[inline(never)]
    pub(super) fn look<T: AsTx<ShmTx<B>>, S: Sink<T>>(&mut self, tx: &mut T, sink: &mut S) -> u32 {
        // All senders count their announcements in one word, so a broken sender can undo another's.
        self.admit();
        let mut moved = 0;
        // Where the check fails (no memory for the list), the next one comes soon.
        for peer in self.watch.ended().unwrap_or_default() {
            if !self.segment.exit_flag(peer).left() {
                moved += self.lose_after_all(peer, Fault::PeerDead, tx, sink);
            }
        }
        for peer in 0..self.links.len() as u32 {
            if self.segment.exit_flag(peer).left() {
                moved += self.lose_after_all(peer, Fault::Left, tx, sink);
            }
        }
        for &peer in &self.open {
            if let Err(corrupt) = self.links[peer as usize].ring.check() {
                tx.as_tx().breach(peer, corrupt);
            }
        }
        self.note_waits(tx.as_tx());
        moved
    }

    /// Takes in what `peer` has sent, which sends nothing more, and ends everything with it.
    pub(super) fn lose_after_all<T: AsTx<ShmTx<B>>, S: Sink<T>>(
        &mut self,
        peer: u32,
        why: Fault,
        tx: &mut T,
        sink: &mut S,
    ) -> u32 {
        if tx.as_tx().is_lost(peer) {
            return 0;
        }
        self.admit();
        let mut moved = 0;
        while Self::one(&mut self.links[peer as usize], tx, sink) {
            moved += 1;
        }
        moved + self.lose(peer, why, tx, sink)
    }

    pub(super) fn lose<T: AsTx<ShmTx<B>>, S: Sink<T>>(
        &mut self,
        peer: u32,
        why: Fault,
        tx: &mut T,
        sink: &mut S,
    ) -> u32 {
        if !tx.as_tx().lose(peer, why) {
            return 0;
        }
        // The peer's announcement stays, and the link is not taken up again.
        self.links[peer as usize] = ReceiveLink::shut(peer, LinkState::Lost);
        self.open.retain(|&open| open != peer);
        // `turn` may be an index beyond the links that are left.
        self.turn = 0;
        let moved = ShmTx::advance(tx, sink);
        sink.lost(tx, Peer(peer), why);
        moved + 1
    }
}
