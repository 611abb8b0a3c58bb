//! Collectives of the ranks of one node, by flags and buffers in shared memory instead of messages.
//!
//! The ranks make a communicator's node group in its first collective: either all ranks have one or none has.
//! Messages serve calls for which the user asks for an algorithm, by a setting or by a rule for groups of
//! this size, and reductions whose results must not depend on where the ranks are.
//!
//! Where ranks are on several nodes, those of each node have a node group, or none has one on any node. It
//! serves the intra-node phases ([`IntraNodeOp`]) of plans.

use oxmpi_coll::catalog::{Call, Collective, SharedMemory};
use oxmpi_coll::nodes::Nodes;
use oxmpi_coll::phased::PhasedPlan;
use oxmpi_coll::plan::{IntraNodeOp, Side};
use oxmpi_os::RawBytes;
use oxmpi_shm::node::collective::{AwaitedSteps, CollectiveDriver, NodeGroup, Operands};
use oxmpi_wire::Bytes;

use super::super::collective_members::{Members, received_notice};
use super::super::collective_state::{Area, Buffers};
use super::super::communicator::Communicator;
use super::super::endpoint::{Endpoint, GroupsOnNodes, LentNodeGroup, WaitFailure};
use super::super::failure::FailureCause;
use super::super::node_calls::{serves_in_node, serves_on_nodes};
use super::super::operation::Operation;
use super::super::threading::Threading;
use super::part_memory::pairs;
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
            LentNodeGroup::InUse => return Err(self.refused(&IN_PROGRESS)),
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
        let is_served = match self.group().nodes() {
            Nodes::Even(place) if place.nodes() == 1 || place.per_node() == 1 => false,
            Nodes::Even(place) => call.remote == 0 && serves_on_nodes(call, place.per_node()),
            Nodes::Listed(nodes) => {
                IntraNodeOp::is_supported(call.collective) && PhasedPlan::serves(call, nodes)
            }
        };
        if !is_served || self.reproducible().binds(call) {
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
            lent => Ok(lent),
        }
    }
}

/// Why a communicator's node group is in use.
const IN_PROGRESS: &str = "one is in progress on this communicator, in another thread or in the one whose operation calls this one";

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
        (element, [input, output]): (u64, [RawBytes; 2]),
        operation: Option<Operation<'_>>,
    ) -> Result<()> {
        let (node_group, polls) =
            match (self.access).with(|endpoint| endpoint.lend_group_on_node(self.context)) {
                LentNodeGroup::Group(node_group, polls) => (node_group, polls),
                LentNodeGroup::InUse => return Err(self.refused(&IN_PROGRESS)),
                LentNodeGroup::None | LentNodeGroup::NotMade => {
                    return Err(self.refused(
                        &"its plan has an intra-node phase, and the ranks have no node group",
                    ));
                }
            };
        let (nodes, rank) = (self.group.nodes(), self.group.rank());
        let mut ranks = nodes.ranks_on(nodes.node(rank));
        let is_ours = act.is_well_formed()
            && act.ranks.size as usize == ranks.len()
            && ranks.next() == Some(act.ranks.first)
            && act.number == nodes.local(rank);
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
        let done = is_ours && collective.run(&act.call(element), &input, &output)?;
        match done {
            true => Ok(()),
            false => {
                Err(self
                    .refused(&"its plan has an intra-node phase that a node group does not serve"))
            }
        }
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
        let (root, bytes) = (call.root as usize, call.bytes());
        let (is_root, mine) = (call.rank == call.root, u64::from(call.rank) * bytes);
        let given = if call.in_place { output } else { input };
        match call.collective {
            Collective::Bcast => {
                let given = if is_root { input } else { output };
                node_group.bcast(caller, root, (given, bytes))?;
            }
            Collective::Scatter => {
                node_group.scatter(caller, root, (input, bytes), output, |caller| {
                    caller.copy(call.in_place, (input, mine), (output, 0), bytes)
                })?;
            }
            Collective::Gather => {
                node_group.gather(caller, root, (input, bytes), output, |caller| {
                    caller.copy(call.in_place, (input, 0), (output, mine), bytes)
                })?;
            }
            Collective::Allgather => {
                let (from, at) = if call.in_place {
                    (output, mine)
                } else {
                    (input, 0)
                };
                node_group.allgather(caller, (from, at, bytes), output, |caller| {
                    caller.copy(call.in_place, (input, 0), (output, mine), bytes)
                })?;
            }
            Collective::Alltoall => {
                node_group.alltoall(caller, (given, bytes, call.in_place), output, |caller| {
                    caller.copy(call.in_place, (input, mine), (output, mine), bytes)
                })?;
            }
            Collective::Reduce | Collective::Allreduce | Collective::ReduceScatterBlock => {
                if !node_group.can_reduce(call.element_bytes) || caller.operation.is_none() {
                    return Ok(false);
                }
                let given = match call.collective {
                    Collective::Reduce if !is_root => input,
                    _ => given,
                };
                let operands = Operands {
                    input: given,
                    output,
                    len: bytes,
                    element: call.element_bytes as usize,
                    commutes: call.commutative,
                };
                match call.collective {
                    Collective::Reduce => node_group.reduce(caller, root, operands)?,
                    Collective::Allreduce => node_group.allreduce(caller, operands)?,
                    _ => node_group.reduce_scatter(caller, operands)?,
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
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

impl<A: Threading> IntraNodeCaller<'_, A> {
    /// Copies this rank's own block, unless the call is in place.
    fn copy(
        &self,
        in_place: bool,
        (from, at): (&RawBytes, u64),
        (into, place): (&RawBytes, u64),
        bytes: u64,
    ) -> Result<()> {
        if in_place {
            return Ok(());
        }
        match (from.range(at, bytes), into.range(place, bytes)) {
            (Some(from), Some(into)) => {
                into.copy_from(&from);
                Ok(())
            }
            _ => self.copy_runs((from, at), (into, place), bytes),
        }
    }

    /// As [`Self::copy`], where either buffer has gaps.
    #[cold]
    fn copy_runs(
        &self,
        (from, at): (&RawBytes, u64),
        (into, place): (&RawBytes, u64),
        bytes: u64,
    ) -> Result<()> {
        let ends_within = |whole: &RawBytes, end: u64| end <= whole.len();
        let holds = |whole, at: u64| {
            at.checked_add(bytes)
                .is_some_and(|end| ends_within(whole, end))
        };
        if !holds(from, at) || !holds(into, place) {
            return Err(self.members.short_buffer());
        }
        let runs = |whole: &RawBytes, at| whole.pieces(at, bytes).map(Ok);
        for [from, into] in pairs(runs(from, at), runs(into, place)).flatten() {
            into.copy_from(&from);
        }
        Ok(())
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
    fn wait(&mut self, mut awaited: AwaitedSteps) -> Result<()> {
        let Members {
            access,
            group,
            context,
        } = self.members;
        let come = access.until(|endpoint| match endpoint.poll_awaited(&mut awaited) {
            Some(come) => Some(come.map_err(WaitStop::Here)),
            None => received_notice(endpoint, context, group)
                .map(|cause| Err(WaitStop::AgreedSettings(cause))),
        })?;
        self.polls = access.with(|endpoint| {
            endpoint.end_wait();
            endpoint.polls
        });
        come.map_err(|stop| self.members.stopped(stop))
    }

    fn yield_to_co_located(&mut self) {
        // A yield that holds the endpoint's lock would keep other threads from it.
        if self.members.access.is_single() {
            self.members.access.with(Endpoint::yield_processor);
        }
    }

    #[cold]
    fn unreadable(&mut self, rank: u32) -> Error {
        let rank = self.members.group.rank_of(rank).unwrap_or_default();
        self.members.refused(&format_args!(
            "the system does not let this rank and rank {rank} reach each other's memory any more"
        ))
    }

    #[inline]
    fn wake(&mut self, ranks: u64) {
        self.members.access.with(|endpoint| endpoint.wake(ranks));
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
