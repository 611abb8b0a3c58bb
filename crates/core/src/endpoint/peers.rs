//! The peers of an endpoint: their links, ranks, hosts and processes, and whether they are still there.

use oxmpi_wire::Peer;

use super::Endpoint;
use crate::group::Group;
use crate::placement::on_one_node;

impl Endpoint {
    /// The group of the ranks at these links, in which this process is `rank`.
    pub(crate) fn group(&self, links: Vec<u32>, rank: u32) -> Group {
        let nodes = match &self.nodes {
            Some(nodes) => nodes.of(links.iter().map(|&link| self.endpoint_rank(link))),
            None => on_one_node(links.len() as u32).into(),
        };
        Group::listed(links, self.size(), rank, nodes)
    }

    /// The group of all ranks in the order of their endpoint ranks, in which this process is `rank`.
    pub fn all_ranks(&self, rank: u32) -> Group {
        match &self.link_ranks {
            Some(ranks) => self.group(ranks.links().to_vec(), rank),
            None => Group::all(self.size(), rank),
        }
    }

    /// The endpoint rank of the peer at a link.
    pub(crate) fn endpoint_rank(&self, link: u32) -> u32 {
        self.link_ranks
            .as_ref()
            .map_or(link, |ranks| ranks.rank(link))
    }

    /// The rank in the job of each rank of `group`, the same on every endpoint and every rank.
    pub(crate) fn processes(&self, group: &Group) -> Box<[u32]> {
        let links = (0..group.size()).filter_map(|rank| group.link(rank as usize));
        let ranks = links.map(|link| self.endpoint_rank(link));
        match &self.processes {
            Some(processes) => ranks.map(|rank| processes[rank as usize]).collect(),
            None => ranks.collect(),
        }
    }

    /// The link to an endpoint rank, if there is that rank.
    pub(crate) fn link(&self, rank: u32) -> Option<u32> {
        let link = || {
            self.link_ranks
                .as_ref()
                .map_or(rank, |ranks| ranks.link(rank))
        };
        (rank < self.size()).then(link)
    }

    /// The host of the rank at the other end of a link.
    pub(crate) fn host(&self, peer: Peer) -> String {
        self.tx
            .host(peer)
            .map_or_else(oxmpi_os::host::name, str::to_owned)
    }

    /// Number of links.
    pub(crate) const fn size(&self) -> u32 {
        self.pids.len() as u32
    }

    /// The process at the other end of a link.
    pub(crate) fn pid(&self, peer: Peer) -> Option<u32> {
        self.pids.get(peer.0 as usize).copied()
    }

    /// Whether the peer is this rank itself.
    pub(crate) const fn is_own(&self, peer: Peer) -> bool {
        peer.0 == self.own_link
    }

    /// Whether `group` has other members than this rank, and all of them are lost or have left.
    pub(crate) fn all_others_gone(&self, group: &Group) -> bool {
        let links = (0..group.size()).filter_map(|rank| group.link(rank as usize));
        let mut others = links
            .map(Peer)
            .filter(|&peer| !self.is_own(peer))
            .peekable();
        others.peek().is_some() && others.all(|peer| self.engine.fault(peer).is_some())
    }
}
