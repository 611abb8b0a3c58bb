//! Collectives of the ranks of one node, by flags and buffers in shared memory instead of messages.
//!
//! The ranks make a communicator's node group in its first collective: either all ranks have one or none has.
//! Messages serve calls for which the user asks for an algorithm, by a setting or by a rule for groups of
//! this size, and reductions whose results must not depend on where the ranks are.
//!
//! Where ranks are on several nodes, those of each node have a node group, or none has one on any node. It
//! serves the intra-node phases ([`IntraNodeOp`]) of plans.

mod started;

use std::task::Poll;

use oxmpi_coll::catalog::{Call, SharedMemory};
use oxmpi_coll::nodes::Nodes;
use oxmpi_coll::phased::PhasedPlan;
use oxmpi_coll::plan::{IntraNodeOp, Side};
use oxmpi_os::RawBytes;
use oxmpi_shm::node::collective::{AwaitedSteps, CollectiveDriver, NodeGroup};

use super::super::collective_members::{Members, received_notice};
use super::super::collective_state::{Area, Buffers};
use super::super::communicator::Communicator;
use super::super::endpoint::{Endpoint, GroupsOnNodes, LentNodeGroup};
use super::super::failure::{FailureCause, WaitFailure};
use super::super::node_calls::{
    CallDriver, run_call, serves_in_node, serves_on_nodes, serves_started,
};
use super::super::operation::Operation;
use super::super::threading::Threading;
use crate::error::{Error, Result};

impl<A: Threading> Communicator<A> {
    /// Runs the call, if a node group serves it; all ranks find the same. See [`Communicator::collective`].
    pub(super) fn run_in_node(
        &self,
        call: &Call,
        buffers: &Buffers,
        operation: Option<Operation<'_>>,
    ) -> Result<bool> {
        let (Area::Whole(input), Area::Whole(output)) = (&buffers.input, &buffers.output) else {
            return Ok(false);
        };
        let is_bound = self.reproducible().binds(call);
        if call.size < 2 || call.remote > 0 || !serves_in_node(call) || is_bound {
            return Ok(false);
        }
        let (node_group, polls) = match self.lend_own_group(call)? {
            LentNodeGroup::Group(node_group, polls) => (node_group, polls),
            LentNodeGroup::None | LentNodeGroup::NotMade => return Ok(false),
            LentNodeGroup::InUse | LentNodeGroup::Queued => {
                return Err(self.refused(&IN_PROGRESS));
            }
        };
        let mut collective = IntraNodeRun {
            node_group: Some(node_group),
            caller: IntraNodeCaller {
                members: self.members(),
                operation,
                polls,
            },
            done: false,
        };
        let ended = collective.run(call, input, output);
        collective.done = ended.is_ok();
        ended.map_err(|error| self.members().end_collectives_for(error))
    }

    /// Which ranks can run intra-node phases in a blocking call that goes by a plan; all ranks find the same.
    #[inline]
    pub(super) fn intra_node_support(&self, call: &Call) -> Result<SharedMemory> {
        if !self.may_have_phases(call) {
            return Ok(SharedMemory::None);
        }
        let have = || (self.access()).with(|endpoint| endpoint.groups_on_nodes(self.context()));
        let have = match have() {
            GroupsOnNodes::NotMade => self.make_node_group().map(|()| have())?,
            known => known,
        };
        match have {
            GroupsOnNodes::Made => Ok(SharedMemory::OnNodes),
            GroupsOnNodes::None | GroupsOnNodes::NotMade => Ok(SharedMemory::None),
            GroupsOnNodes::InUse => Err(self.refused(&IN_PROGRESS)),
        }
    }

    /// Which ranks can run intra-node phases in a started or persistent call; all ranks find the same. `can_have` says whether
    /// the ranks of each node can have a node group for it.
    pub(super) fn started_support(&self, call: &Call, can_have: impl Fn() -> bool) -> SharedMemory {
        let is_bound = call.size < 2 || call.remote > 0 || self.reproducible().binds(call);
        let on_one = self.group().is_on_one_node();
        let requires =
            || (self.access()).with(|endpoint| endpoint.policy().tuning.requires_messages(call));
        match on_one {
            true if is_bound || !serves_started(call) || requires() || !can_have() => {
                SharedMemory::None
            }
            true => SharedMemory::All,
            false if self.may_have_phases(call) && can_have() => SharedMemory::OnNodes,
            false => SharedMemory::None,
        }
    }

    /// Whether a plan of the call may have intra-node phases among the ranks of each of several nodes.
    #[inline]
    fn may_have_phases(&self, call: &Call) -> bool {
        let is_served = match self.group().nodes() {
            Nodes::Even(place) if place.nodes() == 1 || place.per_node() == 1 => false,
            Nodes::Even(place) => call.remote == 0 && serves_on_nodes(call, place.per_node()),
            Nodes::Listed(nodes) => {
                IntraNodeOp::is_supported(call.collective) && PhasedPlan::serves(call, nodes)
            }
        };
        is_served && !self.reproducible().binds(call)
    }

    /// Lends the communicator's node group, which the first call makes.
    #[inline]
    fn lend_own_group(&self, call: &Call) -> Result<LentNodeGroup> {
        let lend = || {
            let (context, ours) = (self.context(), self.collective_context());
            (self.access()).with(|endpoint| match endpoint.failures.of(ours) {
                None if self.group().is_on_one_node() => endpoint.lend_node_group(context, call),
                _ => Ok(LentNodeGroup::None),
            })
        };
        match lend()? {
            LentNodeGroup::NotMade => self.make_node_group().and_then(|()| lend()),
            LentNodeGroup::Queued => self.members().wait_for_group().and_then(|()| lend()),
            lent => Ok(lent),
        }
    }
}

/// Why a communicator's node group is in use.
const IN_PROGRESS: &str = "one is in progress on this communicator, in another thread or in the one whose operation calls this one";

/// Why an intra-node phase cannot run.
const NO_GROUP: &str = "its plan has an intra-node phase, and the ranks have no node group";
const NOT_SERVED: &str = "its plan has an intra-node phase that a node group does not serve";

/// Why a wait of a collective ended early.
enum WaitStop {
    /// The wait failed on this rank.
    Here(WaitFailure),
    /// Another rank has notified this one.
    AgreedSettings(FailureCause),
}

impl<A: Threading> Members<'_, A> {
    /// Runs an intra-node phase on elements of `element` bytes; this rank reads `input` and writes `output`.
    ///
    /// # Errors
    /// When a rank that this one waits for is lost or does something else, or there is no node group.
    pub(super) fn run_intra_node(
        self,
        act: &IntraNodeOp,
        (element, commutes): (u64, bool),
        [input, output]: [RawBytes; 2],
        operation: Option<Operation<'_>>,
    ) -> Result<()> {
        let lend = || (self.access).with(|endpoint| endpoint.lend_group_on_node(self.context));
        let lent = match lend() {
            LentNodeGroup::Queued => self.wait_for_group().map(|()| lend())?,
            lent => lent,
        };
        let (node_group, polls) = match lent {
            LentNodeGroup::Group(node_group, polls) => (node_group, polls),
            LentNodeGroup::InUse | LentNodeGroup::Queued => return Err(self.refused(&IN_PROGRESS)),
            LentNodeGroup::None | LentNodeGroup::NotMade => return Err(self.refused(&NO_GROUP)),
        };
        let mut collective = IntraNodeRun {
            node_group: Some(node_group),
            caller: IntraNodeCaller {
                members: self,
                operation,
                polls,
            },
            // The caller notifies the other ranks of an error.
            done: true,
        };
        let mut call = act.call(element);
        call.commutative = commutes;
        match self.is_ours(act) && collective.run(&call, &input, &output)? {
            true => Ok(()),
            false => Err(self.refused(&NOT_SERVED)),
        }
    }

    /// Whether the act is one of this rank and the others on its node.
    fn is_ours(self, act: &IntraNodeOp) -> bool {
        let (nodes, rank) = (self.group.nodes(), self.group.rank());
        let mut ranks = nodes.ranks_on(nodes.node(rank));
        act.is_well_formed()
            && act.ranks.size as usize == ranks.len()
            && ranks.next() == Some(act.ranks.first)
            && act.number == nodes.local(rank)
    }

    /// Waits until the collectives that were started before have left the queue for the node group, or the communicator's
    /// collectives have failed.
    ///
    /// # Errors
    /// When the endpoint is left meanwhile.
    #[cold]
    fn wait_for_group(self) -> Result<()> {
        self.access.until(|endpoint| {
            let is_free = endpoint.is_group_queue_empty(self.context);
            (is_free || received_notice(endpoint, self.context, self.group).is_some()).then_some(())
        })
    }

    /// The error for the case that the memory of rank `rank` of the node can no longer be read.
    #[cold]
    fn unreadable(self, rank: u32) -> Error {
        let rank = self.group.rank_of(rank).unwrap_or_default();
        self.refused(&format_args!(
            "the system does not let this rank and rank {rank} reach each other's memory any more"
        ))
    }

    /// The error of a wait that ended early.
    #[cold]
    fn stopped(self, stop: WaitStop) -> Error {
        match stop {
            WaitStop::AgreedSettings(cause) => self.error(cause),
            WaitStop::Here(WaitFailure::Lost(failure)) => self.failed(failure),
            WaitStop::Here(WaitFailure::Differs(peer)) => {
                let rank = self.group.rank_of(peer.0).unwrap_or_default();
                self.refused(&format_args!(
                    "rank {rank} calls another collective, or with another root or count: the ranks do not \
                     agree on the call (the setting coll_check names the calls)"
                ))
            }
        }
    }
}

/// One collective in shared memory. Dropping it gives the node group back; if the collective has not
/// completed, all ranks are notified.
struct IntraNodeRun<'a, A: Threading> {
    /// `None` after the drop.
    node_group: Option<Box<NodeGroup>>,
    caller: IntraNodeCaller<'a, A>,
    done: bool,
}

impl<A: Threading> IntraNodeRun<'_, A> {
    /// Runs the call. False: node groups do not serve it. Inlined, as all around it: a function call on this
    /// path takes as long as the work of a short collective.
    #[inline(always)]
    fn run(&mut self, call: &Call, input: &RawBytes, output: &RawBytes) -> Result<bool> {
        let Self {
            node_group, caller, ..
        } = self;
        let Some(node_group) = node_group.as_deref_mut() else {
            return Ok(false);
        };
        run_call(node_group, caller, call, (input, output))
    }
}

impl<A: Threading> Drop for IntraNodeRun<'_, A> {
    #[inline]
    fn drop(&mut self) {
        let Some(node_group) = self.node_group.take() else {
            return;
        };
        let members = self.caller.members;
        if !self.done {
            members.end_collectives(None);
        }
        (members.access).with(|endpoint| endpoint.keep_node_group(members.context, node_group));
    }
}

/// What a node group's collective needs from the communicator.
struct IntraNodeCaller<'a, A: Threading> {
    members: Members<'a, A>,
    operation: Option<Operation<'a>>,
    polls: u32,
}

impl<A: Threading> CallDriver for IntraNodeCaller<'_, A> {
    fn short_buffer(&self) -> Error {
        self.members.short_buffer()
    }

    fn has_operation(&self) -> bool {
        self.operation.is_some()
    }
}

impl<A: Threading> CollectiveDriver for IntraNodeCaller<'_, A> {
    type Error = Error;

    #[inline]
    fn polls(&self) -> u32 {
        self.polls
    }

    #[cold]
    #[inline(never)]
    fn wait(&mut self, awaited: &mut AwaitedSteps) -> Poll<Result<()>> {
        let Members {
            access,
            group,
            context,
        } = self.members;
        let come = access.until(|endpoint| match endpoint.poll_awaited(awaited) {
            Some(come) => Some(come.map_err(WaitStop::Here)),
            None => received_notice(endpoint, context, group)
                .map(|cause| Err(WaitStop::AgreedSettings(cause))),
        });
        let come = match come {
            Ok(come) => come,
            Err(left) => return Poll::Ready(Err(left)),
        };
        self.polls = access.with(|endpoint| {
            endpoint.end_wait(awaited);
            endpoint.polls
        });
        Poll::Ready(come.map_err(|stop| self.members.stopped(stop)))
    }

    fn yield_to_co_located(&mut self) {
        // A yield that holds the endpoint's lock would keep other threads from it.
        if self.members.access.is_single() {
            self.members.access.with(Endpoint::yield_processor);
        }
    }

    #[cold]
    fn unreadable(&mut self, rank: u32) -> Error {
        self.members.unreadable(rank)
    }

    #[inline]
    fn fold(&mut self, from: RawBytes, into: RawBytes) {
        if let Some(operation) = self.operation {
            operation(from, into, Side::Right);
        }
    }

    #[inline]
    fn fold_left(&mut self, from: RawBytes, into: RawBytes) {
        if let Some(operation) = self.operation {
            operation(from, into, Side::Left);
        }
    }
}
