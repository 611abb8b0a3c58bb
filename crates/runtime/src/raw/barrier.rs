//! Barriers: through gates where the lane has one for the communicator, else by messages.

use oxmpi_coll::catalog::Call;
use oxmpi_wire::Failure;

use super::access::Access;
use super::collective::{self, Area, Buffers, Cause};
use super::communicator::Communicator;
use crate::error::{Error, Result};

/// Where a barrier failed.
enum Stopped {
    Here(Failure),
    Elsewhere(Cause),
}

impl<A: Access> Communicator<A> {
    /// Returns when every rank has come here.
    ///
    /// # Errors
    /// When a rank that has not come is lost; from then on the communicator's collectives are
    /// refused here.
    pub(crate) fn barrier(&self) -> Result<()> {
        let entered = self.access().with(|lane| {
            lane.check()?;
            let tuning = &lane.policy().tuning;
            // Gates are passed without a word, which could be compared.
            let asked = self.checks() || tuning.asks_for(&self.barrier_call());
            let context = self.collective_context();
            let broken = lane.troubles.of(context).is_some();
            let gate = lane.gate(self.context());
            let gate = gate.filter(|_| !asked && !broken && self.group().is_on_one_node());
            Ok(gate.map(|gate| (gate, lane.enter(gate, self.others()))))
        })?;
        let gate = match entered {
            Some((gate, true)) => gate,
            Some((_, false)) => {
                return Err(self.refused(&"another thread is in a barrier of this communicator"));
            }
            None => return self.barrier_by_messages(),
        };
        let stopped = self.access().until(|lane| match lane.passed(gate) {
            Some(Ok(())) => Some(None),
            Some(Err(failure)) => Some(Some(Stopped::Here(failure))),
            None => {
                let cause = collective::look(lane, self.collective_context(), self.group())?;
                lane.give_up(gate);
                Some(Some(Stopped::Elsewhere(cause)))
            }
        })?;
        match stopped {
            None => Ok(()),
            Some(stopped) => Err(self.unpassed(stopped)),
        }
    }

    #[cold]
    fn unpassed(&self, stopped: Stopped) -> Error {
        let meeting = self.meeting();
        meeting.end_for(match stopped {
            Stopped::Here(failure) => meeting.failed(failure),
            Stopped::Elsewhere(cause) => meeting.error(cause),
        })
    }

    fn barrier_by_messages(&self) -> Result<()> {
        let buffers = Buffers::new(Area::empty(), Area::empty());
        self.collective(&self.barrier_call(), &buffers, None)
    }

    fn barrier_call(&self) -> Call {
        Call::barrier(self.group().rank(), self.group().size())
    }

    /// The links of all other members, bit by bit. A lane with gates has no link beyond.
    fn others(&self) -> u64 {
        let group = self.group();
        (0..group.size())
            .filter(|&rank| rank != group.rank())
            .filter_map(|rank| group.link(rank as usize))
            .fold(0, |all, link| all | 1 << link)
    }
}
