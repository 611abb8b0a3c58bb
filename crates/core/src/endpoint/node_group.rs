//! What the ranks of one node share for collectives: barriers by flags, and the node groups of communicators.

use std::collections::VecDeque;

use oxmpi_coll::catalog::Call;
use oxmpi_shm::NodeBarriers;
use oxmpi_shm::node::collective::{AwaitedSteps, NodeGroup, StepLost};
use oxmpi_wire::engine::Failure;
use oxmpi_wire::{Fault, Peer};

use super::Endpoint;
use crate::error::Result;
use crate::failure::WaitFailure;

/// A communicator's node group.
pub(super) struct NodeGroupSlot {
    state: NodeGroupState,
    queue: GroupQueue,
}

/// A node group between two collectives.
enum NodeGroupState {
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

/// The started collectives that may use a node group, in the order of their starts, which is the same on all ranks.
#[derive(Default)]
struct GroupQueue {
    /// The number of the first.
    first: u32,
    /// Whether each has left: one that does not need the group leaves before those in front of it.
    left: VecDeque<bool>,
}

impl GroupQueue {
    fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Puts one in; gives its number.
    fn enter(&mut self) -> u32 {
        let number = self.first.wrapping_add(self.left.len() as u32);
        self.left.push_back(false);
        number
    }

    /// Takes out the one of this number.
    fn leave(&mut self, number: u32) {
        if let Some(left) = (self.left).get_mut(number.wrapping_sub(self.first) as usize) {
            *left = true;
        }
        while self.left.front() == Some(&true) {
            self.left.pop_front();
            self.first = self.first.wrapping_add(1);
        }
    }
}

impl NodeGroupSlot {
    /// No collective has needed the group yet.
    pub(super) const NOT_MADE: Self = Self {
        state: NodeGroupState::NotMade,
        queue: GroupQueue {
            first: 0,
            left: VecDeque::new(),
        },
    };

    /// Lends the group, if no other collective uses it.
    fn lend(&mut self, polls: u32) -> LentNodeGroup {
        match std::mem::replace(&mut self.state, NodeGroupState::InUse) {
            NodeGroupState::Free(node_group) => LentNodeGroup::Group(node_group, polls),
            NodeGroupState::InUse => LentNodeGroup::InUse,
            other => {
                let is_made = !matches!(other, NodeGroupState::NotMade);
                self.state = other;
                match is_made {
                    true => LentNodeGroup::None,
                    false => LentNodeGroup::NotMade,
                }
            }
        }
    }
}

/// What a collective gets when it asks for its node group.
pub(crate) enum LentNodeGroup {
    /// There is none: messages do the collective.
    None,
    /// The ranks have not made it yet.
    NotMade,
    /// The node group, and the number of polls before a longer wait.
    Group(Box<NodeGroup>, u32),
    /// Another collective uses it, of another thread or of the one whose operation asks.
    InUse,
    /// Collectives that were started before use it first.
    Queued,
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
        if self.policy.tuning.requires_messages(call) {
            return Ok(LentNodeGroup::None);
        }
        Ok(match self.lend_group_on_node(context) {
            LentNodeGroup::NotMade if self.may_make_node_group(context) => LentNodeGroup::NotMade,
            LentNodeGroup::NotMade => LentNodeGroup::None,
            lent => lent,
        })
    }

    /// Whether the ranks of a communicator have not made their node group, and may make one. They decide once.
    #[inline]
    pub(crate) fn may_make_node_group(&mut self, context: u32) -> bool {
        match self.node_group_slot(context) {
            Some(slot) if matches!(slot.state, NodeGroupState::NotMade) => {
                slot.state = NodeGroupState::None;
                self.wants_node_groups() && self.node_barriers.are_available() && self.is_usable()
            }
            _ => false,
        }
    }

    /// Whether ranks use node groups, as the settings of the job say.
    pub(crate) const fn wants_node_groups(&self) -> bool {
        self.policy.node_collectives
    }

    #[inline]
    fn node_group_slot(&mut self, context: u32) -> Option<&mut NodeGroupSlot> {
        (self.node_groups).get_mut((context / Self::CONTEXTS) as usize)
    }

    /// Whether the ranks of each node have a node group for the communicator with this context, whose ranks
    /// are on several nodes.
    pub(crate) fn groups_on_nodes(&mut self, context: u32) -> GroupsOnNodes {
        let wants = self.wants_node_groups();
        let Some(slot) = self.node_group_slot(context) else {
            return GroupsOnNodes::None;
        };
        match slot.state {
            NodeGroupState::Free(_) | NodeGroupState::Alone => GroupsOnNodes::Made,
            NodeGroupState::InUse if slot.queue.is_empty() => GroupsOnNodes::InUse,
            NodeGroupState::InUse => GroupsOnNodes::Made,
            NodeGroupState::NotMade if wants => {
                slot.state = NodeGroupState::None;
                GroupsOnNodes::NotMade
            }
            NodeGroupState::NotMade | NodeGroupState::None => GroupsOnNodes::None,
        }
    }

    /// Whether the ranks of each node of the communicator with this context have made a node group.
    pub(crate) fn has_node_groups(&mut self, context: u32) -> bool {
        self.node_group_slot(context).is_some_and(|slot| {
            let state = &slot.state;
            !matches!(state, NodeGroupState::NotMade | NodeGroupState::None)
        })
    }

    /// Notes that this rank is alone on its node, and that ranks of other nodes have node groups.
    pub(crate) fn set_alone_on_node(&mut self, context: u32) {
        if let Some(slot) = self.node_group_slot(context) {
            slot.state = NodeGroupState::Alone;
        }
    }

    /// Lends the node group of this node's ranks of the communicator with this context to a collective that its rank waits
    /// for.
    #[inline]
    pub(crate) fn lend_group_on_node(&mut self, context: u32) -> LentNodeGroup {
        let polls = self.polls;
        match self.node_group_slot(context) {
            None => LentNodeGroup::None,
            Some(slot) if slot.queue.is_empty() => slot.lend(polls),
            Some(_) => self.queued(context),
        }
    }

    /// What a collective gets that comes behind started ones.
    #[cold]
    fn queued(&self, context: u32) -> LentNodeGroup {
        // The context of the communicator's collectives is the second of its two.
        match self.collectives.are_advanced_here(context | 1) {
            true => LentNodeGroup::InUse,
            false => LentNodeGroup::Queued,
        }
    }

    /// Puts a started collective in the queue for the node group of the communicator with this context; gives its number
    /// there.
    pub(crate) fn queue_for_node_group(&mut self, context: u32) -> u32 {
        self.node_group_slot(context)
            .map_or(0, |slot| slot.queue.enter())
    }

    /// Lends the node group to the started collective of this number, once those before it have left the queue.
    pub(crate) fn lend_group_to(&mut self, context: u32, number: u32) -> LentNodeGroup {
        match self.node_group_slot(context) {
            None => LentNodeGroup::None,
            Some(slot) if slot.queue.first == number => slot.lend(0),
            Some(_) => LentNodeGroup::Queued,
        }
    }

    /// Takes the started collective of this number out of the queue.
    pub(crate) fn leave_group_queue(&mut self, context: u32, number: u32) {
        if let Some(slot) = self.node_group_slot(context) {
            slot.queue.leave(number);
        }
    }

    /// Whether no started collective is in the queue for the node group of the communicator with this context.
    pub(crate) fn is_group_queue_empty(&mut self, context: u32) -> bool {
        self.node_group_slot(context)
            .is_none_or(|slot| slot.queue.is_empty())
    }

    /// A node group of `links` for the communicator with this context, if there are flags and memory for one.
    pub(crate) fn make_node_group(
        &self,
        context: u32,
        links: &[u32],
        me: usize,
    ) -> Option<NodeGroup> {
        self.new_group((context / Self::CONTEXTS) as usize, links, me)
    }

    /// A new node group of `links`, with the memory of this index.
    pub(super) fn new_group(&self, index: usize, links: &[u32], me: usize) -> Option<NodeGroup> {
        let group = || self.node_barriers.group(index, links.iter().copied(), me);
        self.node_barriers.are_available().then(group).flatten()
    }

    /// Keeps the node group until the next collective.
    #[inline]
    pub(crate) fn keep_node_group(&mut self, context: u32, node_group: Box<NodeGroup>) {
        if let Some(slot) = self.node_group_slot(context) {
            slot.state = NodeGroupState::Free(node_group);
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
    pub(crate) fn end_wait(&mut self, awaited: &AwaitedSteps) {
        self.node_barriers.forget(awaited);
    }

    /// The first of `links`, a bit mask, that is lost, and why.
    fn fault_among(&self, links: u64) -> Option<(Peer, Fault)> {
        let links = (0..self.node_links).filter(|link| links >> link & 1 != 0);
        let faults = links.map(|link| (Peer(link), self.engine.fault(Peer(link))));
        faults
            .filter_map(|(peer, fault)| Some((peer, fault?)))
            .next()
    }
}

#[cfg(test)]
mod tests {
    use super::GroupQueue;

    #[test]
    fn the_first_of_a_queue_is_the_first_that_has_not_left() {
        let mut queue = GroupQueue {
            first: u32::MAX - 1,
            ..GroupQueue::default()
        };
        let numbers = [(); 4].map(|()| queue.enter());
        for (leaves, first) in [(1, 0), (2, 0), (0, 3)] {
            queue.leave(numbers[leaves]);
            assert_eq!(queue.first, numbers[first], "after {leaves} left");
        }
        queue.leave(numbers[3]);
        assert!(queue.is_empty());
    }
}
