//! Collectives: carries out the plans of `oxmpi-coll` on a communicator.
//!
//! [`Communicator::collective`] runs one to its end; [`start`] starts one that its rank waits for later, and
//! [`started`] advances it meanwhile; [`stages`] are those of an intercommunicator. A [plan driver](plan_driver)
//! maps the steps of a plan to messages, and [`part_memory`] its parts to memory. Ranks of one node need no plan
//! for a collective that all of them wait for: they run it through shared memory ([`intra_node`]), as do the
//! ranks of each node in the intra-node phases of a plan. When a collective fails on one rank, that rank
//! [notifies](super::members) the others.

mod call_check;
mod count_sum;
mod fast_receive;
mod inter_groups;
mod intra_node;
mod node_group;
mod packed_buffers;
mod part_memory;
mod plan_driver;
mod plan_run;
mod small;
mod stages;
mod start;
mod started;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use oxmpi_coll::catalog::{Call, SharedMemory, Unsuited};
use oxmpi_coll::choice::Choice;
use oxmpi_coll::nodes::{NodeMap, Nodes};
use oxmpi_coll::phased::{PhasedPlan, RankPlan, Strategy};
use oxmpi_coll::placement::Placement;

pub use self::inter_groups::InterGroups;
pub use self::start::PreparedCollective;
pub(super) use self::started::{cancel_request, drive, drive_these};
use super::collective_members::Members;
use super::collective_state::{Buffers, PlanRun};
use super::communicator::Communicator;
use super::group::Group;
use super::node_calls::choice_in_node;
use super::operation::{Operation, UsedOperation};
use super::placement::one_rank_per_node;
use super::threading::{SuspendedOffers, Threading};
use crate::error::Result;

impl<A: Threading> Communicator<A> {
    /// Runs one collective to its end. All ranks make the same `call`, except for values of their own.
    ///
    /// The operation is called while the endpoint is not held, so it may communicate itself.
    ///
    /// # Errors
    /// The first failure of a message, here or on another rank; no buffer is in use any more then. After a
    /// failure, or a panic of the operation, all waiting ranks are notified, and every later collective of
    /// the communicator is refused.
    pub fn collective(
        &self,
        call: &Call,
        buffers: &Buffers,
        operation: Option<Operation<'_>>,
    ) -> Result<()> {
        let _suspended = SuspendedOffers::new(self.access());
        self.agree(call)?;
        buffers.begin();
        let packed = match buffers.have_gaps() {
            true => self.without_gaps(call, buffers)?,
            false => None,
        };
        let used = (packed.as_ref()).map_or(buffers, |packed| &packed.buffers);
        if !self.run_in_node(call, used, operation)? {
            let call = &call.with_shared_memory(self.intra_node_support(call)?);
            let plan = self.plan(call, self.group())?;
            let run = PlanRun::new(plan, call, self.numbers().once(), true);
            self.carry_out(run, self.group(), used, operation)?;
        }
        if let Some(packed) = packed {
            packed.unpack(buffers);
        }
        buffers.end();
        Ok(())
    }

    /// The plan for a call of these ranks, if the communicator's collectives still work.
    #[inline]
    fn plan(&self, call: &Call, ranks: &Group) -> Result<RankPlan> {
        let plan = match ranks.nodes() {
            Nodes::Even(place) => self.choice(call, *place)?.plan(call).map(RankPlan::Whole),
            Nodes::Listed(nodes) => self.plan_on(call, nodes)?,
        };
        plan.map_err(|why| self.refused(&why))
    }

    /// The plan for a call of all ranks that this rank does not wait for, and whether it may have intra-node phases on any node;
    /// all ranks find the same.
    fn started_plan(&self, call: &Call) -> Result<(RankPlan, bool)> {
        let plan = match self.group().nodes() {
            Nodes::Even(place) => {
                let choice = match choice_in_node(call) {
                    Some(choice) => choice,
                    None => self.choice(call, *place)?,
                };
                let on_one = call.shared_memory == SharedMemory::All;
                let has_phases = on_one || !choice.algorithm.is_by_messages();
                (choice.plan(call)).map(|plan| (RankPlan::Whole(plan), has_phases))
            }
            Nodes::Listed(nodes) => {
                let with_phases = |plan| match plan {
                    RankPlan::Phased(_) => (plan, call.shared_memory != SharedMemory::None),
                    RankPlan::Whole(_) => (plan, false),
                };
                (self.plan_on(call, nodes)?).map(with_phases)
            }
        };
        plan.map_err(|why| self.refused(&why))
    }

    /// The plan for a call of ranks on nodes of different sizes. Where the user requires an algorithm, the result must
    /// not depend on places, or the collective has no phases, each rank counts as a node.
    #[cold]
    fn plan_on(&self, call: &Call, nodes: &Arc<NodeMap>) -> Result<Result<RankPlan, Unsuited>> {
        let bound = self.reproducible().binds(call);
        let by_messages = call.with_shared_memory(SharedMemory::None);
        self.members().while_collectives_work(|endpoint| {
            let choices = &mut endpoint.choices;
            if bound || !PhasedPlan::serves(call, nodes) || choices.are_required(call) {
                let choice = choices.choose(&by_messages, one_rank_per_node(nodes.size()))?;
                return choice.plan(&by_messages).map(RankPlan::Whole);
            }
            match choices.strategy(call, nodes)? {
                Strategy::InSlots(choice) => {
                    PhasedPlan::in_slots(call, nodes, choice).map(RankPlan::Phased)
                }
                Strategy::Phased => {
                    let choose = |call: &Call, place| choices.choose_phase(call, place);
                    PhasedPlan::new(call, nodes, choose).map(RankPlan::Phased)
                }
            }
        })
    }

    /// The algorithm for a call of ranks that are placed so, if the communicator's collectives still work.
    #[inline]
    pub fn choice(&self, call: &Call, place: Placement) -> Result<Choice> {
        let choice = (self.members())
            .while_collectives_work(|endpoint| endpoint.choices.choose(call, place))?;
        choice.map_err(|why| self.refused(&why))
    }

    /// Carries out a run to its end; its plan numbers the ranks of `ranks`.
    #[inline]
    fn carry_out(
        &self,
        run: PlanRun,
        ranks: &Group,
        buffers: &Buffers,
        operation: Option<Operation<'_>>,
    ) -> Result<()> {
        let members = self.members();
        let mut blocking = BlockingCollective {
            members,
            run,
            ranks,
            done: false,
        };
        let memory = self.access().with(|endpoint| endpoint.lend_memory());
        blocking.run.give_memory(members, buffers, memory)?;
        let ended = blocking.finish(buffers, operation);
        blocking.done = ended.is_ok();
        ended.map_err(|error| members.end_collectives_for(error))
    }
}

/// A blocking collective. Dropping it takes back the messages that are under way, so that no buffer is in use
/// afterwards, also when the operation panics.
struct BlockingCollective<'a, A: Threading> {
    members: Members<'a, A>,
    run: PlanRun,
    ranks: &'a Group,
    done: bool,
}

impl<A: Threading> BlockingCollective<'_, A> {
    fn finish(&mut self, buffers: &Buffers, operation: Option<Operation<'_>>) -> Result<()> {
        let Members { access, .. } = self.members;
        let mut waiter = access.waiter();
        while !(self.run).advance(
            self.members,
            self.ranks,
            buffers,
            UsedOperation::Lent(operation),
        )? {
            // A new receive is polled on the fast path first.
            if !self.run.take_unpolled() {
                self.members.check_notices()?;
                access.wait_step(&mut waiter)?;
            }
        }
        Ok(())
    }
}

impl<A: Threading> Drop for BlockingCollective<'_, A> {
    fn drop(&mut self) {
        if !self.done {
            self.members.end_collectives(None);
            self.run.abandon(self.members);
        }
        let memory = self.run.take_memory_back();
        self.members
            .access
            .with(|endpoint| endpoint.return_memory(memory));
    }
}
