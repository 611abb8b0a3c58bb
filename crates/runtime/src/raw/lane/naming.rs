//! The links of a lane: what they are called, where they lead, and whether anybody is left there.

use oxmpi_wire::Peer;

use super::Lane;
use crate::raw::group::Group;

impl Lane {
    /// Whether this rank shares memory with all of `group`.
    ///
    /// # Cost
    /// A compare where all links are on this node, else a look at each rank.
    pub(in crate::raw) fn is_near(&self, group: &Group) -> bool {
        let near = |rank| {
            let link = group.link(rank as usize);
            link.is_some_and(|link| link < self.near)
        };
        self.names.is_none() || (0..group.size()).all(near)
    }

    /// What a link is called on all ranks of the lane.
    pub(in crate::raw) fn name(&self, link: u32) -> u32 {
        self.names.as_ref().map_or(link, |names| names.name(link))
    }

    /// The link that is called so on all ranks of the lane, if there is one.
    pub(in crate::raw) fn link(&self, name: u32) -> Option<u32> {
        let link = || self.names.as_ref().map_or(name, |names| names.link(name));
        (name < self.size()).then(link)
    }

    /// The host of the rank at the other end of a link.
    pub(in crate::raw) fn host(&self, peer: Peer) -> String {
        self.tx
            .host(peer)
            .map_or_else(oxmpi_os::host::name, str::to_owned)
    }

    /// Number of links.
    pub(in crate::raw) const fn size(&self) -> u32 {
        self.pids.len() as u32
    }

    /// The process at the other end of a link.
    pub(in crate::raw) fn pid(&self, peer: Peer) -> Option<u32> {
        self.pids.get(peer.0 as usize).copied()
    }

    /// Whether every member of `group` but this rank is lost or has left.
    pub(in crate::raw) fn is_deserted(&self, group: &Group) -> bool {
        let mut others = (0..group.size()).filter(|&rank| rank != group.rank());
        let gone = |link| self.engine.fault(Peer(link)).is_some();
        group.size() > 1 && others.all(|rank| group.link(rank as usize).is_some_and(gone))
    }
}
