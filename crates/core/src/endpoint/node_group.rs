//! What the ranks of one node share for collectives: barriers by flags, and the node groups of communicators.

use oxmpi_coll::catalog::Call;
use oxmpi_shm::NodeBarriers;
use oxmpi_shm::node::collective::{AwaitedSteps, NodeGroup, StepLost};
use oxmpi_wire::engine::Failure;
use oxmpi_wire::{Fault, Peer};

use super::Endpoint;
use crate::error::Result;

/// A communicator's node group between two collectives.
pub(super) enum NodeGroupSlot {
    /// No collective has needed it yet.
    NotMade,
    /// The ranks have agreed that there is none.
    None,
    /// This rank is alone on its node; ranks of other nodes have node groups.
    Alone,
    /// No collective uses it.
    Free(Box<NodeGroup>),
    /// A collective uses it.
    InUse,
}

/// What a collective gets when it asks for its node group.
pub(crate) enum LentNodeGroup {
    /// There is none: messages do the collective.
    None,
    /// The ranks have not made it yet.
    NotMade,
    /// The node group, and the number of polls before a longer wait.
    Group(Box<NodeGroup>, u32),
    /// Another collective uses it.
    InUse,
}

/// Whether the ranks of each node have a node group.
pub(crate) enum GroupsOnNodes {
    /// There are none.
    None,
    /// They have not been made yet, and are made now.
    NotMade,
    /// There are; this rank may be alone on its node.
    Made,
    /// There are, and another collective uses this rank's.
    InUse,
}

/// Why a wait of a collective failed.
pub(crate) enum WaitFailure {
    /// A rank was lost.
    Lost(Failure),
    /// The rank at this link called another collective.
    Differs(Peer),
}

impl Endpoint {
    /// The slot for barriers by flags of the communicator with this context, if there is one. Communicators
    /// with the same context have no rank in common.
    pub(crate) fn node_barrier_slot(&self, context: u32) -> Option<usize> {
        let slot = (context / Self::CONTEXTS) as usize;
        (self.node_barriers.are_available() && slot < NodeBarriers::COUNT).then_some(slot)
    }

    /// Enters a barrier with the links `others`, a bit mask. False: one is under way at this slot.
    pub(crate) fn enter_node_barrier(&mut self, slot: usize, others: u64) -> bool {
        self.node_barriers.enter(slot, others)
    }

    /// Gives up the barrier that is under way at the slot.
    pub(crate) fn leave_node_barrier(&mut self, slot: usize) {
        self.node_barriers.abandon(slot);
    }

    /// The outcome of the barrier; `None` while it goes on. It fails when a rank that has not entered is lost.
    pub(crate) fn poll_node_barrier(
        &mut self,
        slot: usize,
    ) -> Option<std::result::Result<(), Failure>> {
        let missing = self.node_barriers.poll(slot, &mut self.tx.node);
        if missing == 0 {
            return Some(Ok(()));
        }
        let (peer, fault) = self.fault_among(missing)?;
        // It may have entered before it was lost.
        match self.node_barriers.poll(slot, &mut self.tx.node) {
            0 => Some(Ok(())),
            left if left >> peer.0 & 1 != 0 => {
                self.node_barriers.abandon(slot);
                Some(Err(Failure::Fault { peer, fault }))
            }
            _ => None,
        }
    }

    /// Lends the node group of the communicator with this context for one call. There is none for a call for
    /// which the user asks for an algorithm. Communicators with the same context have no rank in common.
    ///
    /// # Errors
    /// When the endpoint is not usable.
    #[inline]
    pub(crate) fn lend_node_group(&mut self, context: u32, call: &Call) -> Result<LentNodeGroup> {
        self.check()?;
        let asked = self.policy.tuning.requires_messages(call);
        let polls = self.polls;
        let slot = self
            .node_groups
            .get_mut((context / Self::CONTEXTS) as usize);
        Ok(match slot {
            Some(slot) if !asked => match std::mem::replace(slot, NodeGroupSlot::InUse) {
                NodeGroupSlot::Free(node_group) => LentNodeGroup::Group(node_group, polls),
                NodeGroupSlot::InUse => LentNodeGroup::InUse,
                other @ (NodeGroupSlot::None | NodeGroupSlot::Alone) => {
                    *slot = other;
                    LentNodeGroup::None
                }
                NodeGroupSlot::NotMade => {
                    *slot = NodeGroupSlot::None;
                    match self.policy.node_collectives && self.node_barriers.are_available() {
                        true => LentNodeGroup::NotMade,
                        false => LentNodeGroup::None,
                    }
                }
            },
            _ => LentNodeGroup::None,
        })
    }

    /// Whether the ranks of each node have a node group for the communicator with this context, whose ranks
    /// are on several nodes.
    pub(crate) fn groups_on_nodes(&mut self, context: u32) -> GroupsOnNodes {
        match self
            .node_groups
            .get_mut((context / Self::CONTEXTS) as usize)
        {
            Some(NodeGroupSlot::Free(_) | NodeGroupSlot::Alone) => GroupsOnNodes::Made,
            Some(NodeGroupSlot::InUse) => GroupsOnNodes::InUse,
            Some(slot @ NodeGroupSlot::NotMade) if self.policy.node_collectives => {
                *slot = NodeGroupSlot::None;
                GroupsOnNodes::NotMade
            }
            _ => GroupsOnNodes::None,
        }
    }

    /// Notes that this rank is alone on its node, and that ranks of other nodes have node groups.
    pub(crate) fn set_alone_on_node(&mut self, context: u32) {
        if let Some(slot) = self
            .node_groups
            .get_mut((context / Self::CONTEXTS) as usize)
        {
            *slot = NodeGroupSlot::Alone;
        }
    }

    /// Lends the node group of this node's ranks of the communicator with this context.
    pub(crate) fn lend_group_on_node(&mut self, context: u32) -> LentNodeGroup {
        let Some(slot) = self
            .node_groups
            .get_mut((context / Self::CONTEXTS) as usize)
        else {
            return LentNodeGroup::None;
        };
        match std::mem::replace(slot, NodeGroupSlot::InUse) {
            NodeGroupSlot::Free(node_group) => LentNodeGroup::Group(node_group, self.polls),
            NodeGroupSlot::InUse => LentNodeGroup::InUse,
            other => {
                *slot = other;
                LentNodeGroup::None
            }
        }
    }

    /// A node group of `links` for the communicator with this context, if there are flags and memory for one.
    pub(crate) fn make_node_group(
        &self,
        context: u32,
        links: impl Iterator<Item = u32>,
        me: usize,
    ) -> Option<NodeGroup> {
        let slot = (context / Self::CONTEXTS) as usize;
        let node_group = || self.node_barriers.group(slot, links, me);
        self.node_barriers
            .are_available()
            .then(node_group)
            .flatten()
    }

    /// Keeps the node group until the next collective.
    #[inline]
    pub(crate) fn keep_node_group(&mut self, context: u32, node_group: Box<NodeGroup>) {
        if let Some(slot) = self
            .node_groups
            .get_mut((context / Self::CONTEXTS) as usize)
        {
            *slot = NodeGroupSlot::Free(node_group);
        }
    }

    /// The outcome of a wait in a collective; `None` while it goes on.
    pub(crate) fn poll_awaited(
        &mut self,
        awaited: &mut AwaitedSteps,
    ) -> Option<std::result::Result<(), WaitFailure>> {
        match self.node_barriers.has_arrived(awaited, &mut self.tx.node) {
            Ok(true) => return Some(Ok(())),
            // The next poll of the transport gives up that link.
            Ok(false) | Err((_, StepLost::Corrupt(_))) => {}
            Err((rank, StepLost::Differs)) => return Some(Err(WaitFailure::Differs(Peer(rank)))),
        }
        let (peer, fault) = self.fault_among(awaited.missing())?;
        // Its part may have arrived before it was lost.
        if self.node_barriers.has_arrived(awaited, &mut self.tx.node) == Ok(true) {
            return Some(Ok(()));
        }
        let lost = awaited.missing() >> peer.0 & 1 != 0;
        lost.then_some(Err(WaitFailure::Lost(Failure::Fault { peer, fault })))
    }

    /// Ends a wait.
    pub(crate) const fn end_wait(&mut self) {
        self.node_barriers.forget();
    }

    /// The first of `links`, a bit mask, that is lost, and why.
    fn fault_among(&self, links: u64) -> Option<(Peer, Fault)> {
        let links = (0..self.node_links).filter(|link| links >> link & 1 != 0);
        let faults = links.map(|link| (Peer(link), self.engine.fault(Peer(link))));
        faults
            .filter_map(|(peer, fault)| Some((peer, fault?)))
            .next()
    }

    /// Wakes the sleeping ranks of `links`, a bit mask.
    #[inline]
    pub(crate) fn wake(&self, links: u64) {
        self.tx.node.wake_those_asleep(links);
    }
}
