//! Intra-node phases of started and persistent collectives, which go on when the collective is advanced.

use std::hint::spin_loop;

use oxmpi_coll::plan::IntraNodeOp;
use oxmpi_os::RawBytes;
use oxmpi_shm::node::collective::NodeGroup;

use super::super::super::collective_members::Members;
use super::super::super::collective_state::{NodeGroups, PhaseStage};
use super::super::super::endpoint::LentNodeGroup;
use super::super::super::node_calls::{PhaseCall, PhaseEnd, PhaseStop, StartedPhase};
use super::super::super::operation::UsedOperation;
use super::super::super::threading::Threading;
use super::{NO_GROUP, NOT_SERVED, WaitStop};
use crate::error::{Error, Result};

impl<A: Threading> Members<'_, A> {
    /// An intra-node phase on elements of `element` bytes that goes on when it is [advanced](Members::advance_phase); this
    /// rank reads `input` and writes `output`.
    ///
    /// # Errors
    /// When the act is not one of this rank's node.
    pub(in super::super) fn phase_call(
        self,
        act: &IntraNodeOp,
        (element, commutes): (u64, bool),
        [input, output]: [RawBytes; 2],
    ) -> Result<PhaseCall> {
        if !self.is_ours(act) {
            return Err(self.refused(&NOT_SERVED));
        }
        let mut call = act.call(element);
        call.commutative = commutes;
        Ok(PhaseCall {
            call,
            input,
            output,
        })
    }

    /// Goes on with a phase as far as it can. Whether it is done.
    ///
    /// # Errors
    /// When a rank that this one waits for is lost or does something else, or there is no node group.
    pub(in super::super) fn advance_phase(
        self,
        stage: &mut PhaseStage,
        groups: &mut NodeGroups,
        operation: &mut UsedOperation<'_>,
    ) -> Result<bool> {
        loop {
            let end = match stage {
                PhaseStage::Queued(phase) => {
                    let Some(node_group) = self.next_group(groups)? else {
                        return Ok(false);
                    };
                    let mut begun = StartedPhase::new(*phase, node_group, operation.take());
                    let end = begun.resume(None);
                    *stage = PhaseStage::Running(begun);
                    end
                }
                PhaseStage::Running(running) => {
                    let Some(outcome) = self.poll_phase(running) else {
                        return Ok(false);
                    };
                    running.resume(Some(outcome))
                }
            };
            if let Some(end) = end {
                return self.end_phase(end, groups, operation);
            }
        }
    }

    /// The node group of the next phase, once it is free.
    fn next_group(self, groups: &mut NodeGroups) -> Result<Option<Box<NodeGroup>>> {
        let lent = match groups {
            NodeGroups::Waited => None,
            NodeGroups::Own { group, .. } => group.take(),
            &mut NodeGroups::Queued(number) => {
                match self.while_collectives_work(|endpoint| {
                    endpoint.lend_group_to(self.context, number)
                })? {
                    LentNodeGroup::Group(node_group, _) => Some(node_group),
                    LentNodeGroup::Queued => return Ok(None),
                    _ => None,
                }
            }
        };
        match lent {
            Some(node_group) => Ok(Some(node_group)),
            None => Err(self.refused(&NO_GROUP)),
        }
    }

    /// How the wait of a phase ended; `None` while it goes on.
    fn poll_phase(self, running: &StartedPhase) -> Option<Result<(), PhaseStop>> {
        let mut awaited = running.awaited()?;
        let come = self.access.with(|endpoint| {
            (0..=endpoint.collectives.patience).find_map(|_| {
                spin_loop();
                endpoint.poll_awaited(&mut awaited)
            })
        });
        come.map(|come| come.map_err(PhaseStop::Wait))
    }

    fn end_phase(
        self,
        end: PhaseEnd,
        groups: &mut NodeGroups,
        operation: &mut UsedOperation<'_>,
    ) -> Result<bool> {
        let PhaseEnd {
            node_group,
            operation: used,
            served,
        } = end;
        operation.give_back(used);
        self.return_group(node_group, groups);
        match served {
            Ok(true) => Ok(true),
            Ok(false) => Err(self.refused(&NOT_SERVED)),
            Err(stop) => Err(self.phase_stopped(stop)),
        }
    }

    /// Gives back the node group of a phase that has ended.
    pub(in super::super) fn return_group(
        self,
        node_group: Box<NodeGroup>,
        groups: &mut NodeGroups,
    ) {
        match groups {
            NodeGroups::Own { group, .. } => *group = Some(node_group),
            NodeGroups::Waited | NodeGroups::Queued(_) => {
                (self.access).with(|endpoint| endpoint.keep_node_group(self.context, node_group));
            }
        }
    }

    #[cold]
    fn phase_stopped(self, stop: PhaseStop) -> Error {
        match stop {
            PhaseStop::Wait(failure) => self.stopped(WaitStop::Here(failure)),
            PhaseStop::Unreadable(rank) => self.unreadable(rank),
            PhaseStop::ShortBuffer => self.short_buffer(),
            PhaseStop::GivenUp => self.refused(&"it was given up"),
        }
    }
}
