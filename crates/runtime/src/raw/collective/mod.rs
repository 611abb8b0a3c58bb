//! Collectives: binds the executor of `oxmpi-coll` to a communicator.
//!
//! [`Buffers`] is what a caller gives. A [`run`] is one collective under way; the [`binding`] says
//! what the acts of its plan mean here, [`places`] where their parts are in memory.

mod awaited;
mod binding;
#[allow(dead_code, reason = "the calls with blocks are made by the faces")]
mod buffers;
mod meeting;
mod numbers;
mod places;
mod run;
#[cfg(test)]
mod tests;

use oxmpi_coll::catalog::{AnyPlan, Call};
use oxmpi_coll::choice::choose;

#[allow(unused_imports, reason = "the calls with blocks are made by the faces")]
pub(crate) use self::buffers::{Area, Blocks, Buffers, Neighbors, Operation};
pub(crate) use self::meeting::Meeting;
use self::run::Run;
use super::access::Access;
use super::communicator::Communicator;
use crate::error::{Error, Result};

impl<A: Access> Communicator<A> {
    /// Runs one collective to its end. Every rank makes the same `call`, but for what is its own.
    ///
    /// The operation is called while no lane is held, so it may do what it likes.
    ///
    /// # Errors
    /// The first failure of a message; then no buffer is in use any more, and the other ranks learn
    /// of it only where they wait for this one. After a failure or a panic of the operation the
    /// ranks are out of step, and every later collective of the communicator is refused here.
    pub(crate) fn collective(
        &self,
        call: Call,
        buffers: &Buffers,
        operation: Option<Operation<'_>>,
    ) -> Result<()> {
        let tuning = self.access().with(|lane| {
            lane.check()?;
            Ok(lane.policy().tuning)
        })?;
        if self.is_broken() {
            return Err(self.refused(
                &"an earlier one failed or panicked on this rank, so the ranks of this communicator \
                  are out of step",
            ));
        }
        let plan = choose(&call, &tuning)
            .and_then(|choice| choice.plan(&call))
            .map_err(|why| self.refused(&why))?;
        self.carry_out(&call, plan, buffers, operation)
    }

    /// Carries a plan of the call out.
    #[inline]
    fn carry_out(
        &self,
        call: &Call,
        plan: AnyPlan,
        buffers: &Buffers,
        operation: Option<Operation<'_>>,
    ) -> Result<()> {
        let mut blocking = Blocking {
            communicator: self,
            run: Run::new(plan, call, self.next_collective(), true),
            done: false,
        };
        let meeting = self.meeting();
        let rooms = self.access().with(|lane| lane.lend_rooms());
        blocking.run.furnish(meeting, buffers, rooms)?;
        let mut waiter = self.access().waiter();
        while !blocking.run.advance(meeting, buffers, operation)? {
            // An awaited message is looked for first.
            if !blocking.run.is_fresh() {
                self.access().turn(&mut waiter)?;
            }
        }
        blocking.done = true;
        Ok(())
    }

    /// The ranks of its collectives.
    #[inline]
    pub(crate) fn meeting(&self) -> Meeting<'_, A> {
        Meeting {
            access: self.access(),
            group: self.group(),
            context: self.collective_context(),
        }
    }

    #[cold]
    pub(super) fn refused(&self, why: &dyn std::fmt::Display) -> Error {
        self.meeting().refused(why)
    }
}

/// A collective that its caller waits for. Dropping it takes back what is still open, so that no
/// buffer is in use afterwards, also when the operation panics.
struct Blocking<'a, A: Access> {
    communicator: &'a Communicator<A>,
    run: Run,
    done: bool,
}

impl<A: Access> Drop for Blocking<'_, A> {
    fn drop(&mut self) {
        if !self.done {
            self.communicator.set_broken();
            self.run.abandon(self.communicator.meeting());
        }
        let rooms = self.run.vacate();
        self.communicator
            .access()
            .with(|lane| lane.return_rooms(rooms));
    }
}
