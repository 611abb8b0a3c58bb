//! Barriers: by flags in shared memory where the endpoint has them for the communicator, else by messages.

use oxmpi_coll::catalog::Call;
use oxmpi_wire::Failure;

use super::collective_members::received_notice;
use super::collective_state::Buffers;
use super::communicator::Communicator;
use super::failure::FailureCause;
use super::threading::Threading;
use crate::error::{Error, Result};

/// Where a barrier failed: on this rank, or on another one that has notified this one.
enum BarrierFailure {
    Here(Failure),
    Elsewhere(FailureCause),
}

/// How a rank enters a barrier.
enum BarrierEntry {
    /// It has entered that of this slot.
    Flags(usize),
    /// Another thread has.
    InUse,
    /// By messages.
    Messages,
    /// The ranks make their node group first, for collectives that are started later: those cannot wait for all ranks.
    NoGroup,
}

impl<A: Threading> Communicator<A> {
    /// Returns when every rank has called it.
    ///
    /// # Errors
    /// When a rank that has not called it is lost; from then on this rank refuses the communicator's collectives.
    pub fn barrier(&self) -> Result<()> {
        let entry = match self.enter_barrier()? {
            BarrierEntry::NoGroup => self.make_node_group().and_then(|()| self.enter_barrier())?,
            entry => entry,
        };
        let slot = match entry {
            BarrierEntry::Flags(slot) => slot,
            BarrierEntry::InUse => {
                return Err(self.refused(&"another thread is in a barrier of this communicator"));
            }
            BarrierEntry::Messages | BarrierEntry::NoGroup => return self.barrier_by_messages(),
        };
        let stopped = (self.access()).until(|endpoint| match endpoint.poll_node_barrier(slot) {
            Some(Ok(())) => Some(None),
            Some(Err(failure)) => Some(Some(BarrierFailure::Here(failure))),
            None => {
                let cause = received_notice(endpoint, self.collective_context(), self.group())?;
                endpoint.leave_node_barrier(slot);
                Some(Some(BarrierFailure::Elsewhere(cause)))
            }
        })?;
        match stopped {
            None => Ok(()),
            Some(stopped) => Err(self.barrier_failed(stopped)),
        }
    }

    fn enter_barrier(&self) -> Result<BarrierEntry> {
        let on_one = self.group().is_on_one_node();
        self.access().with(|endpoint| {
            endpoint.check()?;
            // Calls that are compared are compared before the ranks do anything else.
            let may_make = on_one && self.group().size() > 1 && !self.checks();
            if may_make && endpoint.may_make_node_group(self.context()) {
                return Ok(BarrierEntry::NoGroup);
            }
            let tuning = &endpoint.policy().tuning;
            // Flags carry no signature of the call that could be compared.
            let asked = self.checks() || tuning.requires_messages(&self.barrier_call());
            let broken = endpoint.failures.of(self.collective_context()).is_some();
            let slot = endpoint.node_barrier_slot(self.context());
            Ok(match slot.filter(|_| !asked && !broken && on_one) {
                None => BarrierEntry::Messages,
                Some(slot) if endpoint.enter_node_barrier(slot, self.others()) => {
                    BarrierEntry::Flags(slot)
                }
                Some(_) => BarrierEntry::InUse,
            })
        })
    }

    #[cold]
    fn barrier_failed(&self, stopped: BarrierFailure) -> Error {
        let members = self.members();
        members.end_collectives_for(match stopped {
            BarrierFailure::Here(failure) => members.failed(failure),
            BarrierFailure::Elsewhere(cause) => members.error(cause),
        })
    }

    fn barrier_by_messages(&self) -> Result<()> {
        self.collective(&self.barrier_call(), &Buffers::NONE, None)
    }

    fn barrier_call(&self) -> Call {
        Call::barrier(self.group().rank(), self.group().size())
    }

    /// The links of all other members as a bit mask. An endpoint with flags has no more than 64 links.
    fn others(&self) -> u64 {
        let group = self.group();
        (0..group.size())
            .filter(|&rank| rank != group.rank())
            .filter_map(|rank| group.link(rank as usize))
            .fold(0, |all, link| all | 1 << link)
    }
}
