//! Starts collectives that are waited for later, once or repeatedly.

use oxmpi_coll::catalog::{Call, SharedMemory};
use oxmpi_coll::phased::RankPlan;

use super::super::collective_members::Members;
use super::super::collective_scratch::RunMemory;
use super::super::collective_state::{
    Area, Buffers, CallInNode, NodeGroups, PlanRun, PreparedStage, StageSequence,
    StartedCollective, StartedWork,
};
use super::super::communicator::Communicator;
use super::super::endpoint::Endpoint;
use super::super::group::Group;
use super::super::node_calls::PhaseCall;
use super::super::operation::OwnedOperation;
use super::super::request::RawRequest;
use super::super::threading::Threading;
use super::started;
use crate::error::Result;

impl<A: Threading> Communicator<A> {
    /// Starts a collective (MPI 5.0, section 6.12). Ranks start the collectives of a communicator, and call
    /// its blocking ones, in the same order.
    ///
    /// The request completes as one of a message does. Cancelling it ends the communicator's collectives.
    /// Buffers are in use until it has completed.
    ///
    /// # Errors
    /// As [`Communicator::collective`]; later failures are reported by the request.
    pub fn start(
        &self,
        call: Call,
        buffers: Buffers,
        operation: Option<OwnedOperation>,
    ) -> Result<RawRequest> {
        let has_groups =
            || (self.access()).with(|endpoint| endpoint.has_node_groups(self.context()));
        let call = call.with_shared_memory(self.started_support(&call, has_groups));
        if let Some(phase) = self.phase_in_node(&call, &buffers) {
            let groups = NodeGroups::Queued(self.queue_for_node_group()?);
            // A rank whose buffers have gaps goes by a plan, which has a number.
            let _number = self.numbers().once();
            let call = CallInNode::new(phase, groups, buffers);
            let open = self.opened(StartedWork::InNode(call), operation);
            return Ok(RawRequest::of(started::begin(self.access(), open)));
        }
        let (plan, has_phases) = self.started_plan(&call)?;
        let groups = match has_phases {
            true => NodeGroups::Queued(self.queue_for_node_group()?),
            false => NodeGroups::Waited,
        };
        self.start_plan(&call, (plan, groups), buffers, operation)
    }

    /// The call of all ranks, where they share a node, as one that needs no plan.
    fn phase_in_node(&self, call: &Call, buffers: &Buffers) -> Option<PhaseCall> {
        let is_plain = call.shared_memory == SharedMemory::All && !self.checks();
        match (&buffers.input, &buffers.output) {
            (&Area::Whole(input), &Area::Whole(output)) if is_plain && !buffers.have_gaps() => {
                Some(PhaseCall {
                    call: *call,
                    input,
                    output,
                })
            }
            _ => None,
        }
    }

    /// Puts the next collective in the queue for the communicator's node group; gives its number there.
    ///
    /// # Errors
    /// When the communicator's collectives have ended.
    pub(super) fn queue_for_node_group(&self) -> Result<u32> {
        (self.members())
            .while_collectives_work(|endpoint| endpoint.queue_for_node_group(self.context()))
    }

    /// Starts a plan of the call.
    pub(super) fn start_plan(
        &self,
        call: &Call,
        plan: (impl Into<RankPlan>, NodeGroups),
        buffers: Buffers,
        operation: Option<OwnedOperation>,
    ) -> Result<RawRequest> {
        let sequence = self.sequence_of(call, plan, self.numbers().once(), buffers)?;
        let memory = self.access().with(|endpoint| endpoint.lend_memory());
        let open = self.open(sequence, memory, operation)?;
        Ok(RawRequest::of(started::begin(self.access(), open)))
    }

    /// Prepares a collective that can be started repeatedly (MPI 5.0, section 6.13). Ranks prepare those of
    /// one communicator in the same order, and may start them in any order. It may wait for the other ranks.
    ///
    /// # Errors
    /// As [`Communicator::start`], or when there are 4,194,304 of them already.
    pub fn prepare(
        &self,
        call: Call,
        buffers: Buffers,
        operation: Option<OwnedOperation>,
    ) -> Result<PreparedCollective<A>> {
        let number = self.persistent_number()?;
        let has_groups = || (self.access()).with(|endpoint| endpoint.wants_node_groups());
        let own = match self.started_support(&call, has_groups) {
            SharedMemory::None => None,
            support => self.own_group_for(call.with_shared_memory(support))?,
        };
        let (call, plan, groups) = match own {
            Some(own) => own,
            None => {
                let call = call.with_shared_memory(SharedMemory::None);
                let (plan, _) = self.started_plan(&call)?;
                (call, plan, NodeGroups::Waited)
            }
        };
        let open = match self.phase_in_node(&call, &buffers) {
            Some(phase) => {
                let call = CallInNode::new(phase, groups, buffers);
                self.opened(StartedWork::InNode(call), operation)
            }
            None => {
                let sequence = self.sequence_of(&call, (plan, groups), number, buffers)?;
                self.open(sequence, RunMemory::default(), operation)?
            }
        };
        Ok(self.keep(open, number))
    }

    /// The plan of a persistent call with intra-node phases, and a node group of its own for them: ranks start persistent
    /// collectives in any order. `None`: the plan has none, or there is no such group left.
    fn own_group_for(&self, call: Call) -> Result<Option<(Call, RankPlan, NodeGroups)>> {
        let (plan, has_phases) = self.started_plan(&call)?;
        let groups = match has_phases {
            true => self.own_group()?,
            false => None,
        };
        Ok(groups.map(|groups| (call, plan, groups)))
    }

    /// The stages of a collective of all ranks with this number.
    fn sequence_of(
        &self,
        call: &Call,
        (plan, groups): (impl Into<RankPlan>, NodeGroups),
        number: u32,
        buffers: Buffers,
    ) -> Result<StageSequence> {
        let only = PreparedStage {
            run: PlanRun::new(plan, call, number, false).by(groups),
            buffers,
            ranks: None,
        };
        Ok(StageSequence::of(only, self.agreement(call, number)?))
    }

    /// The number of the next persistent collective.
    pub(super) fn persistent_number(&self) -> Result<u32> {
        self.numbers().persistent().ok_or_else(|| {
            self.refused(&"the communicator has no number left for a persistent collective")
        })
    }

    /// Keeps a persistent collective until it is started.
    pub(super) fn keep(
        &self,
        mut open: Box<StartedCollective>,
        number: u32,
    ) -> PreparedCollective<A> {
        open.kept = Some(number);
        (self.access()).with(|endpoint| endpoint.collectives.keep(open));
        PreparedCollective {
            access: self.access().clone(),
            group: self.group().clone(),
            context: self.collective_context(),
            number,
        }
    }

    /// A collective that is not under way yet.
    pub(super) fn open(
        &self,
        mut sequence: StageSequence,
        memory: RunMemory,
        operation: Option<OwnedOperation>,
    ) -> Result<Box<StartedCollective>> {
        // The number is taken, so the other ranks wait for this one.
        sequence
            .give_memory(self.members(), memory)
            .map_err(|error| self.members().end_collectives_for(error))?;
        Ok(self.opened(StartedWork::Stages(Box::new(sequence)), operation))
    }

    fn opened(
        &self,
        work: StartedWork,
        operation: Option<OwnedOperation>,
    ) -> Box<StartedCollective> {
        Box::new(StartedCollective {
            request: None,
            work,
            by_program: (operation.as_ref()).is_some_and(OwnedOperation::is_by_program),
            operation,
            group: self.group().clone(),
            context: self.collective_context(),
            kept: None,
        })
    }
}

/// A collective that can be started repeatedly: its plan and its memory are made once.
///
/// Dropping it frees both; a run under way is cancelled first.
pub struct PreparedCollective<A: Threading> {
    access: A,
    group: Group,
    /// The context of the communicator's collectives.
    context: u32,
    number: u32,
}

impl<A: Threading> PreparedCollective<A> {
    /// Starts it once more (`MPI_Start`).
    ///
    /// # Errors
    /// When it is under way, or the communicator's collectives have ended.
    ///
    /// # Cost
    /// Allocates nothing but the state of an intra-node phase.
    pub fn start(&self) -> Result<RawRequest> {
        let members = Members {
            access: &self.access,
            group: &self.group,
            context: self.context,
        };
        members.while_collectives_work(|_| ())?;
        match self.take() {
            Some(mut open) => {
                open.work.restart();
                Ok(RawRequest::of(started::begin(&self.access, open)))
            }
            None => Err(members.refused(&"it was started before and has not ended")),
        }
    }

    fn take(&self) -> Option<Box<StartedCollective>> {
        (self.access).with(|endpoint| endpoint.collectives.take_kept(self.context, self.number))
    }
}

impl<A: Threading> Drop for PreparedCollective<A> {
    fn drop(&mut self) {
        let access = &self.access;
        if let Some(request) =
            access.with(|endpoint| endpoint.collectives.request(self.context, self.number))
        {
            started::cancel_request(access, request);
            // A collective that another thread advances is cancelled when that thread puts it back.
            let over = |endpoint: &mut Endpoint| {
                let over = (endpoint.collectives).request(self.context, self.number);
                over.is_none().then_some(())
            };
            if access.until(over).is_err() {
                return;
            }
        }
        if let Some(mut open) = self.take() {
            let own = open.work.take_own_group();
            access.with(|endpoint| match own {
                // After a failure its ranks are out of step.
                Some((index, group)) if endpoint.failures.of(self.context).is_none() => {
                    endpoint.keep_own_group(index, group);
                }
                _ => {}
            });
        }
    }
}
