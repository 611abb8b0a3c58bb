//! Detects dead peers, peers that left and corrupt rings, and ends the links to them.

use oxmpi_wire::{AsTx, Bytes, Fault, Peer, Sink};

use super::ShmRx;
use crate::transport::link::{LinkState, ReceiveLink};
use crate::transport::tx::ShmTx;

impl<B: Bytes> ShmRx<B> {
    /// Checks every peer: ends the link to one that died or left, and reports a corrupt ring. Returns how many
    /// frames and events went to `sink`.
    #[cold]
    #[inline(never)]
    pub(super) fn check_peers<T: AsTx<ShmTx<B>>, S: Sink<T>>(
        &mut self,
        tx: &mut T,
        sink: &mut S,
    ) -> u32 {
        // All senders count their announcements in one word, so a corrupt sender can
        // undo another's: poll announced links here too.
        self.admit();
        let mut moved = 0;
        // If the check itself fails (no memory for the list), the next one finds the dead peers.
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

    /// Receives the frames that `peer` sent before it ended, then ends the link to it.
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
        while Self::poll_link(&mut self.links[peer as usize], tx, sink) {
            moved += 1;
        }
        moved + self.lose(peer, why, tx, sink)
    }

    /// Ends the link to `peer` and reports its loss to `sink`, once. Frames still in its ring are dropped.
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
        // The peer's announcement stays, but `admit` does not open the link again.
        self.links[peer as usize] = ReceiveLink::shut(peer, LinkState::Lost);
        self.open.retain(|&open| open != peer);
        // `next_link`, the index into `open` from which polls go on, may be beyond its new end.
        self.next_link = 0;
        let moved = ShmTx::advance(tx, sink);
        sink.lost(tx, Peer(peer), why);
        moved + 1
    }
}
