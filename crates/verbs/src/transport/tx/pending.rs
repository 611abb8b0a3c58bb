//! What a rank asks of its connections before it sleeps or leaves.

use super::{Pair, VerbsTx};

impl VerbsTx {
    /// Whether the next poll has something to report that no completion announces.
    #[inline]
    pub(crate) fn has_local_work(&self) -> bool {
        !(self.completions.is_empty() && self.losses.is_empty() && self.awaiting_buffers.is_empty())
            || self.awaits_end.get()
    }

    /// Whether a message waits for room, or the device of a peer has not acknowledged it yet. Then the next poll asks for those
    /// acknowledgements that no completion would tell of.
    pub(crate) fn has_unsent(&self) -> bool {
        let mut links = self.links.iter().flatten();
        let has_unsent = links.any(|link| link.lost.is_none() && link.has_unsent());
        self.awaits_end.set(has_unsent);
        has_unsent
    }

    /// Lets the frames be confirmed that no completion tells the end of.
    #[cold]
    pub(super) fn confirm_all(&mut self) {
        for peer in 0..self.links.len() as u32 {
            self.confirm(peer);
        }
    }

    /// The same for `peer`, if frames to it wait for the end of those before them.
    pub(super) fn confirm_if_late(&mut self, peer: u32) {
        if self.live_link(peer).is_some_and(|link| !link.has_window()) {
            self.confirm(peer);
        }
    }

    fn confirm(&mut self, peer: u32) {
        if let Some(link) = self.live_link(peer) {
            let posted = link.pairs.iter_mut().try_for_each(Pair::confirm);
            self.check(peer, posted);
        }
    }
}
