//! What a rank asks of its connections before it sleeps or leaves.

use super::VerbsTx;

impl VerbsTx {
    /// Whether the next poll has something to report that no completion announces.
    #[inline]
    pub(crate) fn has_local_work(&self) -> bool {
        !(self.completions.is_empty() && self.losses.is_empty() && self.awaiting_buffers.is_empty())
    }

    /// Whether a message waits for room, or the device of a peer has not acknowledged it yet.
    pub(crate) fn has_unsent(&self) -> bool {
        let mut links = self.links.iter().flatten();
        links.any(|link| link.lost.is_none() && link.has_unsent())
    }
}
