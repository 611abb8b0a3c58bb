//! Collectives: binds the executor of `oxmpi-coll` to a communicator.
//!
//! [`Buffers`] is what a caller gives. A [`run`] is one collective under way; the [`binding`] says
//! what the acts of its plan mean here, [`places`] where their parts are in memory. Its caller waits
//! for it here, or [starts](start) it and does something else while it is [`open`]. When one fails,
//! all ranks learn of the [`trouble`]. Ranks of one [`node`] need no plan for those they wait for:
//! they are a [`team`], and read and write memory [without gaps](gapless); so may be the ranks of each of several nodes in
//! what a plan lets them do together.
//! Between two groups a collective has several [`stages`].

mod agreement;
mod awaited;
mod binding;
mod buffers;
mod gapless;
mod meeting;
mod node;
mod numbering;
mod numbers;
mod open;
mod places;
mod run;
mod stages;
mod start;
mod team;
#[cfg(test)]
mod tests;
mod trouble;
mod wide;

use oxmpi_coll::catalog::{AnyPlan, Call};
use oxmpi_coll::choice::Choice;

pub(crate) use self::buffers::{Area, Blocks, Buffers, Neighbors, Operation};
pub(crate) use self::meeting::Meeting;
pub(crate) use self::node::{serves_in_node, serves_on_nodes};
pub(crate) use self::numbering::Numbering;
pub(crate) use self::open::{Collectives, OwnOperation, drive, take_back};
use self::run::Run;
pub(crate) use self::stages::{Stage, Stages};
pub(crate) use self::start::Persistent;
pub(crate) use self::trouble::{Cause, Troubles, look};
pub(crate) use self::wide::Wide;
use super::access::Access;
use super::communicator::Communicator;
use super::group::Group;
use crate::error::{Error, Result};

impl<A: Access> Communicator<A> {
    /// Runs one collective to its end. Every rank makes the same `call`, but for what is its own.
    ///
    /// The operation is called while no lane is held, so it may do what it likes.
    ///
    /// # Errors
    /// The first failure of a message, here or on another rank; then no buffer is in use any more.
    /// After a failure or a panic of the operation the ranks are out of step: all that wait are
    /// told, and every later collective of the communicator is refused.
    pub(crate) fn collective(
        &self,
        call: &Call,
        buffers: &Buffers,
        operation: Option<Operation<'_>>,
    ) -> Result<()> {
        self.agree(call)?;
        buffers.begin();
        let gapless = match buffers.have_gaps() {
            true => self.without_gaps(call, buffers)?,
            false => None,
        };
        let used = (gapless.as_ref()).map_or(buffers, |gapless| &gapless.buffers);
        if !self.in_node(call, used, operation)? {
            let call = &call.with_teams(self.teams(call)?);
            let plan = self.plan(call, self.group())?;
            let run = Run::new(plan, call, self.numbering().once(), true);
            self.carry_out(run, self.group(), used, operation)?;
        }
        if let Some(gapless) = gapless {
            gapless.unpack(buffers);
        }
        buffers.end();
        Ok(())
    }

    /// The plan for a call of these ranks, if the communicator's collectives go on.
    #[inline]
    fn plan(&self, call: &Call, ranks: &Group) -> Result<AnyPlan> {
        self.choice(call, ranks)?
            .plan(call)
            .map_err(|why| self.refused(&why))
    }

    /// What serves a call of these ranks by messages, if the communicator's collectives go on.
    #[inline]
    pub(crate) fn choice(&self, call: &Call, ranks: &Group) -> Result<Choice> {
        let place = ranks.place();
        let choice = (self.meeting()).if_sound(|lane| lane.choices.choose(call, place))?;
        choice.map_err(|why| self.refused(&why))
    }

    /// Carries a run out, whose plan names these ranks.
    #[inline]
    fn carry_out(
        &self,
        run: Run,
        ranks: &Group,
        buffers: &Buffers,
        operation: Option<Operation<'_>>,
    ) -> Result<()> {
        let meeting = self.meeting();
        let mut blocking = Blocking {
            meeting,
            run,
            ranks,
            done: false,
        };
        let rooms = self.access().with(|lane| lane.lend_rooms());
        blocking.run.furnish(meeting, buffers, rooms)?;
        let ended = blocking.finish(buffers, operation);
        blocking.done = ended.is_ok();
        ended.map_err(|error| meeting.end_for(error))
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
    meeting: Meeting<'a, A>,
    run: Run,
    ranks: &'a Group,
    done: bool,
}

impl<A: Access> Blocking<'_, A> {
    fn finish(&mut self, buffers: &Buffers, operation: Option<Operation<'_>>) -> Result<()> {
        let Meeting { access, .. } = self.meeting;
        let mut waiter = access.waiter();
        while !(self.run).advance(self.meeting, self.ranks, buffers, operation)? {
            // An awaited message is looked for first.
            if !self.run.take_fresh() {
                self.meeting.look()?;
                access.turn(&mut waiter)?;
            }
        }
        Ok(())
    }
}

impl<A: Access> Drop for Blocking<'_, A> {
    fn drop(&mut self) {
        if !self.done {
            self.meeting.end_all(None);
            self.run.abandon(self.meeting);
        }
        let rooms = self.run.vacate();
        self.meeting.access.with(|lane| lane.return_rooms(rooms));
    }
}
