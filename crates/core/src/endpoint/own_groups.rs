//! Node groups that a single persistent collective uses, as ranks start such collectives in any order.
//!
//! A rank has a few, each with memory of its own. All ranks of a collective agree on the index of a free one. When a rank
//! frees the collective, it keeps the group, which has counted its steps, for the next collective of the same ranks.

use oxmpi_shm::node::collective::NodeGroup;

use super::{COMMUNICATOR_GROUPS, Endpoint, OWN_GROUPS};

/// The state of one of the groups.
pub(super) enum OwnGroup {
    /// It was never used.
    New,
    /// A collective has it, of ranks at these links.
    InUse(Box<[u32]>),
    /// No collective has it any more; it is for the same ranks.
    Free(Box<[u32]>, Box<NodeGroup>),
}

impl Endpoint {
    /// The groups that a collective of the ranks at `links` can have, as bits.
    pub(crate) fn free_own_groups(&self, links: &[u32]) -> u32 {
        let is_free = |group: &OwnGroup| match group {
            OwnGroup::New => true,
            OwnGroup::InUse(_) => false,
            OwnGroup::Free(of, _) => **of == *links,
        };
        let all = (0..OWN_GROUPS).filter(|&index| is_free(&self.own_groups[index]));
        let can_have = self.node_barriers.are_available();
        all.filter(|_| can_have)
            .fold(0, |all, index| all | 1 << index)
    }

    /// Takes the group of this index, which is free, for the ranks at `links`. `None`: there is no memory for it.
    pub(crate) fn take_own_group(
        &mut self,
        index: usize,
        links: &[u32],
        me: usize,
    ) -> Option<NodeGroup> {
        let taken = OwnGroup::InUse(links.into());
        match std::mem::replace(&mut self.own_groups[index], taken) {
            OwnGroup::Free(_, group) => Some(*group),
            OwnGroup::New | OwnGroup::InUse(_) => {
                self.new_group(COMMUNICATOR_GROUPS + index, links, me)
            }
        }
    }

    /// Keeps the group of this index for the next collective of the same ranks.
    pub(crate) fn keep_own_group(&mut self, index: usize, group: Box<NodeGroup>) {
        if let OwnGroup::InUse(links) =
            std::mem::replace(&mut self.own_groups[index], OwnGroup::New)
        {
            self.own_groups[index] = OwnGroup::Free(links, group);
        }
    }
}
