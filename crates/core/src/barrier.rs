//! Barriers: by flags in shared memory where the endpoint has them for the communicator, else by messages.

use oxmpi_coll::catalog::Call;
use oxmpi_wire::Failure;

use super::collective_members::received_notice;
use super::collective_state::Buffers;
use super::communicator::Communicator;
use super::endpoint::Endpoint;
use super::failure::FailureCause;
use super::threading::Threading;
use crate::error::{Error, Result};

/// Where a barrier failed: on this rank, or on another one that has notified this one.
enum BarrierFailure {
    Here(Failure),
    Elsewhere(FailureCause),
}

impl<A: Threading> Communicator<A> {
    /// Returns when every rank has called it.
    ///
    /// # Errors
    /// When a rank that has not called it is lost; from then on this rank refuses the communicator's collectives.
    pub fn barrier(&self) -> Result<()> {
        // Calls that are compared are compared before the ranks do anything else.
        if self.group().is_on_one_node() && self.group().size() > 1 && !self.checks() {
            let is_new = |endpoint: &mut Endpoint| endpoint.may_make_node_group(self.context());
            if self.access().with(is_new) {
                // For collectives that are started later, which cannot wait for all ranks.
                self.make_node_group()?;
            }
        }
        let entered = self.access().with(|endpoint| {
            endpoint.check()?;
            let tuning = &endpoint.policy().tuning;
            // Flags carry no signature of the call that could be compared.
            let asked = self.checks() || tuning.requires_messages(&self.barrier_call());
            let context = self.collective_context();
            let broken = endpoint.failures.of(context).is_some();
            let slot = endpoint.node_barrier_slot(self.context());
            let slot = slot.filter(|_| !asked && !broken && self.group().is_on_one_node());
            Ok(slot.map(|slot| (slot, endpoint.enter_node_barrier(slot, self.others()))))
        })?;
        let slot = match entered {
            Some((slot, true)) => slot,
            Some((_, false)) => {
                return Err(self.refused(&"another thread is in a barrier of this communicator"));
            }
            None => return self.barrier_by_messages(),
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
