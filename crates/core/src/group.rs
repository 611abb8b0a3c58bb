//! Groups: the ranks of a communicator, their links, and their placement on nodes.

use std::ops::Range;
use std::sync::Arc;

use oxmpi_coll::nodes::Nodes;

use super::placement::{on_one_node, section_of};

/// The members of a communicator, in rank order. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Group {
    size: u32,
    rank: u32,
    /// Ranks below this number equal their links: all of the world and its duplicates, else none.
    identity_below: usize,
    /// The members of other groups.
    members: Option<Arc<GroupMembers>>,
    /// The nodes of the ranks, the same on all ranks.
    nodes: Nodes,
}

#[derive(Debug)]
enum GroupMembers {
    /// Any links.
    Listed {
        /// The link of each rank.
        links: Vec<u32>,
        /// The rank of each link of the endpoint, [`NOT_A_MEMBER`] where it has none.
        ranks: Vec<u32>,
    },
    /// Ranks of another group.
    Section {
        of: Group,
        /// Rank 0, if it is not one of `rest`.
        first: Option<u32>,
        /// The ranks after it.
        rest: Range<u32>,
    },
}

const NOT_A_MEMBER: u32 = u32::MAX;

impl Group {
    /// All `size` links of an endpoint, which are on one node; this process is link `rank`.
    pub fn all(size: u32, rank: u32) -> Self {
        Self {
            size,
            rank,
            identity_below: size as usize,
            members: None,
            nodes: on_one_node(size).into(),
        }
    }

    /// The group of `links`, given in rank order, in an endpoint of `endpoint_size` links; this process is
    /// `rank` in it.
    pub fn listed(links: Vec<u32>, endpoint_size: u32, rank: u32, nodes: impl Into<Nodes>) -> Self {
        let mut ranks = vec![NOT_A_MEMBER; endpoint_size as usize];
        for (rank, &link) in links.iter().enumerate() {
            ranks[link as usize] = rank as u32;
        }
        Self {
            size: links.len() as u32,
            rank,
            identity_below: 0,
            members: Some(Arc::new(GroupMembers::Listed { links, ranks })),
            nodes: nodes.into(),
        }
    }

    /// The group of rank `first` of this group, if given, and then its ranks `rest`, which do not include `first`;
    /// this process is `rank` in it.
    ///
    /// # Cost
    /// Constant.
    pub fn section(&self, first: Option<u32>, rest: Range<u32>, rank: u32) -> Self {
        let size = u32::from(first.is_some()) + rest.len() as u32;
        let start = first.is_none().then_some(rest.start);
        Self {
            size,
            rank,
            identity_below: 0,
            nodes: section_of(self.nodes.placement(), size, start).into(),
            members: Some(Arc::new(GroupMembers::Section {
                of: self.clone(),
                first,
                rest,
            })),
        }
    }

    /// The nodes of the ranks.
    #[inline]
    pub const fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Whether all ranks share memory.
    #[inline]
    pub fn is_on_one_node(&self) -> bool {
        self.nodes.count() == 1
    }

    /// Number of ranks.
    #[inline]
    pub const fn size(&self) -> u32 {
        self.size
    }

    /// This process's rank.
    #[inline]
    pub const fn rank(&self) -> u32 {
        self.rank
    }

    /// The link to `rank`, if the group has that rank.
    ///
    /// # Cost
    /// One compare where ranks equal their links.
    #[inline(always)]
    pub fn link(&self, rank: usize) -> Option<u32> {
        if rank < self.identity_below {
            Some(rank as u32)
        } else {
            self.link_of(rank)
        }
    }

    /// As [`link`](Self::link), without a call: `None` too where ranks do not equal their links.
    #[inline(always)]
    pub fn equal_link(&self, rank: usize) -> Option<u32> {
        (rank < self.identity_below).then_some(rank as u32)
    }

    #[inline(never)]
    fn link_of(&self, rank: usize) -> Option<u32> {
        match &**self.members.as_ref()? {
            GroupMembers::Listed { links, .. } => links.get(rank).copied(),
            GroupMembers::Section { of, first, rest } => {
                let rank = match first {
                    Some(first) if rank == 0 => *first,
                    first => rest.clone().nth(rank - usize::from(first.is_some()))?,
                };
                of.link(rank as usize)
            }
        }
    }

    /// The rank at the other end of `link`, if it is a member.
    #[inline(always)]
    pub fn rank_of(&self, link: u32) -> Option<u32> {
        if (link as usize) < self.identity_below {
            Some(link)
        } else {
            self.member(link)
        }
    }

    #[inline(never)]
    fn member(&self, link: u32) -> Option<u32> {
        match &**self.members.as_ref()? {
            GroupMembers::Listed { ranks, .. } => {
                let rank = *ranks.get(link as usize)?;
                (rank != NOT_A_MEMBER).then_some(rank)
            }
            GroupMembers::Section { of, first, rest } => {
                let rank = of.rank_of(link)?;
                if *first == Some(rank) {
                    return Some(0);
                }
                let before = u32::from(first.is_some());
                let is_there = rest.contains(&rank);
                is_there.then(|| before + rank - rest.start)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_coll::placement::{Order, Placement};

    use super::super::placement::{on_one_node, one_rank_per_node};
    use super::Group;

    #[test]
    fn links_and_ranks_are_inverse() {
        let group = Group::listed(vec![5, 0, 3], 6, 2, one_rank_per_node(3));
        assert_eq!((group.size(), group.rank()), (3, 2));
        for rank in 0..3 {
            let link = group.link(rank as usize).expect("a member");
            assert_eq!(group.rank_of(link), Some(rank));
        }
        assert_eq!(group.link(3), None);
        for stranger in [1, 2, 4, 6] {
            assert_eq!(group.rank_of(stranger), None, "link {stranger}");
        }
    }

    #[test]
    fn a_section_counts_from_its_first_rank() {
        let group = Group::listed(vec![5, 0, 3, 4], 6, 2, one_rank_per_node(4));
        for (first, links) in [(Some(3), vec![4, 0, 3]), (None, vec![0, 3])] {
            let section = group.section(first, 1..3, 0);
            assert_eq!(section.size() as usize, links.len());
            for (rank, &link) in links.iter().enumerate() {
                assert_eq!(section.link(rank), Some(link));
                assert_eq!(section.rank_of(link), Some(rank as u32));
            }
            assert_eq!(section.link(links.len()), None);
            assert_eq!(section.rank_of(5), None);
        }
    }

    /// A section that begins with a node, and has no rank before it, is placed as the whole; of another
    /// one each rank counts as a node.
    #[test]
    fn a_section_that_starts_at_a_node_is_placed_as_the_whole() {
        let on = |place: Placement| Group::listed((0..8).collect(), 8, 0, place);
        let whole = on(Placement::new(Order::Block, 8, 2));
        for (first, rest, place) in [
            (None, 2..7, Placement::new(Order::Block, 5, 2)),
            (None, 3..7, one_rank_per_node(4)),
            (Some(0), 2..6, one_rank_per_node(5)),
        ] {
            assert_eq!(*whole.section(first, rest, 0).nodes(), place.into());
        }
        let cyclic = on(Placement::new(Order::Cyclic, 8, 2));
        let section = cyclic.section(None, 0..4, 0);
        assert_eq!(*section.nodes(), one_rank_per_node(4).into());
        let near = on(on_one_node(8)).section(Some(5), 0..4, 0);
        assert!(near.is_on_one_node() && *near.nodes() == on_one_node(5).into());
    }

    #[test]
    fn world_ranks_equal_their_links() {
        let world = Group::all(4, 1);
        let links = [3, 4].map(|rank| world.link(rank));
        assert_eq!((links, world.rank_of(4)), ([Some(3), None], None));
    }
}
