//! How much of what this rank asks of peers by messages is not known to be done: [`Asked`].

use std::collections::BTreeMap;

use oxmpi_wire::Peer;

/// By link, what the accesses count that this rank has asked for, in bytes. Threads may flush a peer at the same time, so
/// these only grow.
#[derive(Debug, Default)]
pub(crate) struct Asked(BTreeMap<u32, Count>);

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    asked: u64,
    done: u64,
}

impl Asked {
    fn of(&self, peer: Peer) -> Count {
        self.0.get(&peer.0).copied().unwrap_or_default()
    }

    /// A peer was asked for more.
    pub(crate) fn add(&mut self, peer: Peer, bytes: u64) {
        self.0.entry(peer.0).or_default().asked += bytes;
    }

    /// All that a peer was ever asked for: for [`Asked::done`] once it says that it has done what it was asked until now.
    pub(crate) fn until_now(&self, peer: Peer) -> u64 {
        self.of(peer).asked
    }

    /// What of it is not known to be done.
    pub(crate) fn left(&self, peer: Peer) -> u64 {
        let Count { asked, done } = self.of(peer);
        asked - done
    }

    /// A peer has done what it was asked until then, or never will.
    pub(crate) fn done(&mut self, peer: Peer, until: u64) {
        let count = self.0.entry(peer.0).or_default();
        count.done = count.done.max(until);
    }

    /// The peers that may have something left to do.
    pub(crate) fn peers(&self) -> impl Iterator<Item = Peer> + use<'_> {
        let left = self.0.iter().filter(|(_, count)| count.asked > count.done);
        left.map(|(&link, _)| Peer(link))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads flush what one has asked, and the slower one does not take what a third has asked meanwhile for done.
    #[test]
    fn what_is_asked_during_a_flush_is_left() {
        let (mut asked, peer) = (Asked::default(), Peer(3));
        asked.add(peer, 64);
        let [first, second] = [(); 2].map(|()| asked.until_now(peer));
        asked.done(peer, first);
        assert_eq!((asked.left(peer), asked.peers().count()), (0, 0));
        asked.add(peer, 64);
        asked.done(peer, second);
        assert_eq!((asked.left(peer), asked.peers().next()), (64, Some(peer)));
        assert_eq!(asked.left(Peer(4)), 0);
    }
}
