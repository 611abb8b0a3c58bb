//! What the ranks of a node have together: gates for barriers, and teams for collectives.

use oxmpi_coll::catalog::Call;
use oxmpi_shm::Gates;
use oxmpi_shm::node::collective::{Awaited, Never, Team};
use oxmpi_wire::engine::Failure;
use oxmpi_wire::{Fault, Peer};

use super::Endpoint;
use crate::error::Result;

/// A communicator's team between its collectives.
pub(super) enum Place {
    /// The ranks have not met yet.
    Unmade,
    /// They have none.
    None,
    /// Those of other nodes have, and this rank is alone on its own.
    Alone,
    Here(Box<Team>),
    /// A collective has it.
    Away,
}

/// What a collective gets when it asks for its team.
pub(in crate::raw) enum LentNodeGroup {
    /// There is none for it: messages do it.
    None,
    /// The ranks have not met yet.
    Unmade,
    /// The team, and how often to look before a longer wait.
    Team(Box<Team>, u32),
    /// Another collective has it.
    Away,
}

/// Whether the ranks of each node have a team.
pub(in crate::raw) enum GroupsOnNodes {
    /// They have none.
    None,
    /// They have not met yet, and meet now, while they have none.
    Unmade,
    /// They have; this rank may be alone.
    Made,
    /// They have, and another collective is at work in this rank's.
    Away,
}

/// Why what a collective waits for does not come.
pub(in crate::raw) enum WaitFailure {
    /// A rank is lost.
    Lost(Failure),
    /// The rank at this link is in another call.
    Differs(Peer),
}

impl Endpoint {
    /// The slot for barriers of the communicator of this context, if there is one. Communicators
    /// with the same context have no rank in common.
    pub(in crate::raw) fn node_barrier_slot(&self, context: u32) -> Option<usize> {
        let slot = (context / Self::CONTEXTS) as usize;
        (self.gates.are_open() && slot < Gates::COUNT).then_some(slot)
    }

    /// Enters a barrier of the links `others`, bit by bit. False: one is under way at this slot.
    pub(in crate::raw) fn enter_node_barrier(&mut self, slot: usize, others: u64) -> bool {
        self.gates.enter(slot, others)
    }

    /// Leaves the barrier that is under way at the slot.
    pub(in crate::raw) fn leave_node_barrier(&mut self, slot: usize) {
        self.gates.give_up(slot);
    }

    /// How the barrier ended; `None` while it goes on. It fails when a rank that is missing is lost.
    pub(in crate::raw) fn poll_node_barrier(
        &mut self,
        slot: usize,
    ) -> Option<std::result::Result<(), Failure>> {
        let missing = self.gates.look(slot, &mut self.tx.node);
        if missing == 0 {
            return Some(Ok(()));
        }
        let (peer, fault) = self.fault_among(missing)?;
        // It may have come before it was lost.
        match self.gates.look(slot, &mut self.tx.node) {
            0 => Some(Ok(())),
            left if left >> peer.0 & 1 != 0 => {
                self.gates.give_up(slot);
                Some(Err(Failure::Fault { peer, fault }))
            }
            _ => None,
        }
    }

    /// Lends the team of the communicator of this context, for one call; what the user asks an
    /// algorithm for has none. Communicators with the same context have no rank in common.
    ///
    /// # Errors
    /// When the endpoint may not be used.
    #[inline]
    pub(in crate::raw) fn lend_node_group(
        &mut self,
        context: u32,
        call: &Call,
    ) -> Result<LentNodeGroup> {
        self.check()?;
        let asked = self.policy.tuning.asks_for(call);
        let polls = self.polls;
        let place = self.teams.get_mut((context / Self::CONTEXTS) as usize);
        Ok(match place {
            Some(place) if !asked => match std::mem::replace(place, Place::Away) {
                Place::Here(team) => LentNodeGroup::Team(team, polls),
                Place::Away => LentNodeGroup::Away,
                other @ (Place::None | Place::Alone) => {
                    *place = other;
                    LentNodeGroup::None
                }
                Place::Unmade => {
                    *place = Place::None;
                    match self.policy.node_collectives && self.gates.are_open() {
                        true => LentNodeGroup::Unmade,
                        false => LentNodeGroup::None,
                    }
                }
            },
            _ => LentNodeGroup::None,
        })
    }

    /// Whether the ranks of each node have a team for the communicator of this context, whose ranks are on
    /// several.
    pub(in crate::raw) fn groups_on_nodes(&mut self, context: u32) -> GroupsOnNodes {
        match self.teams.get_mut((context / Self::CONTEXTS) as usize) {
            Some(Place::Here(_) | Place::Alone) => GroupsOnNodes::Made,
            Some(Place::Away) => GroupsOnNodes::Away,
            Some(place @ Place::Unmade) if self.policy.node_collectives => {
                *place = Place::None;
                GroupsOnNodes::Unmade
            }
            _ => GroupsOnNodes::None,
        }
    }

    /// This rank is alone on its node, and those of other nodes have teams.
    pub(in crate::raw) fn set_alone_on_node(&mut self, context: u32) {
        if let Some(place) = self.teams.get_mut((context / Self::CONTEXTS) as usize) {
            *place = Place::Alone;
        }
    }

    /// Lends the team that the ranks of this node have for the communicator of this context.
    pub(in crate::raw) fn lend_group_on_node(&mut self, context: u32) -> LentNodeGroup {
        let Some(place) = self.teams.get_mut((context / Self::CONTEXTS) as usize) else {
            return LentNodeGroup::None;
        };
        match std::mem::replace(place, Place::Away) {
            Place::Here(team) => LentNodeGroup::Team(team, self.polls),
            Place::Away => LentNodeGroup::Away,
            other => {
                *place = other;
                LentNodeGroup::None
            }
        }
    }

    /// A team of `links` for the communicator of this context, if there are gates and memory for one.
    pub(in crate::raw) fn make_node_group(
        &self,
        context: u32,
        links: impl Iterator<Item = u32>,
        me: usize,
    ) -> Option<Team> {
        let place = (context / Self::CONTEXTS) as usize;
        let team = || self.gates.team(place, links, me);
        self.gates.are_open().then(team).flatten()
    }

    /// Keeps the team until the next collective.
    #[inline]
    pub(in crate::raw) fn keep_node_group(&mut self, context: u32, team: Box<Team>) {
        if let Some(place) = self.teams.get_mut((context / Self::CONTEXTS) as usize) {
            *place = Place::Here(team);
        }
    }

    /// Whether what a collective waits for has come.
    pub(in crate::raw) fn poll_awaited(
        &mut self,
        awaited: &mut Awaited,
    ) -> Option<std::result::Result<(), WaitFailure>> {
        match self.gates.has_come(awaited, &mut self.tx.node) {
            Ok(true) => return Some(Ok(())),
            // The next poll gives it up.
            Ok(false) | Err((_, Never::Corrupt(_))) => {}
            Err((rank, Never::Differs)) => return Some(Err(WaitFailure::Differs(Peer(rank)))),
        }
        let (peer, fault) = self.fault_among(awaited.missing())?;
        // It may have come before it was lost.
        if self.gates.has_come(awaited, &mut self.tx.node) == Ok(true) {
            return Some(Ok(()));
        }
        let lost = awaited.missing() >> peer.0 & 1 != 0;
        lost.then_some(Err(WaitFailure::Lost(Failure::Fault { peer, fault })))
    }

    /// What was awaited has come, or is awaited no more.
    pub(in crate::raw) const fn end_wait(&mut self) {
        self.gates.forget();
    }

    /// The first of the links `links`, bit by bit, that is lost, and why.
    fn fault_among(&self, links: u64) -> Option<(Peer, Fault)> {
        let links = (0..self.near).filter(|link| links >> link & 1 != 0);
        let faults = links.map(|link| (Peer(link), self.engine.fault(Peer(link))));
        faults
            .filter_map(|(peer, fault)| Some((peer, fault?)))
            .next()
    }

    /// Wakes those of the links, bit by bit, whose ranks sleep.
    #[inline]
    pub(in crate::raw) fn wake(&self, links: u64) {
        self.tx.node.wake_those_asleep(links);
    }
}
