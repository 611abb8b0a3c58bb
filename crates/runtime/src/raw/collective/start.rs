//! Collectives that are started and waited for later, once or again and again.

use oxmpi_coll::catalog::{AnyPlan, Call, Teams};

use super::super::access::Access;
use super::super::communicator::{Communicator, RawRequest};
use super::super::lane::Lane;
use super::super::scratch::Rooms;
use super::buffers::Buffers;
use super::open::{self, Open, OwnOperation};
use super::run::Run;
use super::stages::{Prepared, Way};
use crate::error::Result;

impl<A: Access> Communicator<A> {
    /// Starts a collective (MPI 5.0, section 6.12). Ranks start those of one communicator, and call
    /// those that block, in the same order.
    ///
    /// The request ends as one of a message does; taken back, it ends the communicator's
    /// collectives. Buffers are in use until then.
    ///
    /// # Errors
    /// As [`Communicator::collective`]; what fails later comes from the request.
    pub(crate) fn start(
        &self,
        call: Call,
        buffers: Buffers,
        operation: Option<OwnOperation>,
    ) -> Result<RawRequest> {
        let call = alone(call);
        let plan = self.plan(&call, self.group())?;
        self.start_plan(&call, plan, buffers, operation)
    }

    /// Starts a plan of the call.
    pub(super) fn start_plan(
        &self,
        call: &Call,
        plan: AnyPlan,
        buffers: Buffers,
        operation: Option<OwnOperation>,
    ) -> Result<RawRequest> {
        let way = self.way_of(call, plan, self.numbering().once(), buffers)?;
        let rooms = self.access().with(|lane| lane.lend_rooms());
        let open = self.open(way, rooms, operation)?;
        Ok(RawRequest::of(open::begin(self.access(), open)))
    }

    /// Prepares a collective that can be started again and again (MPI 5.0, section 6.13). Ranks
    /// prepare those of one communicator in the same order, and start them in any.
    ///
    /// # Errors
    /// As [`Communicator::start`], or when there are 8,388,607 of them already.
    pub(crate) fn prepare(
        &self,
        call: Call,
        buffers: Buffers,
        operation: Option<OwnOperation>,
    ) -> Result<Persistent<'_, A>> {
        let call = alone(call);
        let plan = self.plan(&call, self.group())?;
        let number = self.persistent_number()?;
        let way = self.way_of(&call, plan, number, buffers)?;
        self.keep(way, number, operation)
    }

    /// A collective with this number, of all ranks.
    fn way_of(&self, call: &Call, plan: AnyPlan, number: u32, buffers: Buffers) -> Result<Way> {
        let only = Prepared {
            run: Run::new(plan, call, number, false),
            buffers,
            ranks: None,
        };
        Ok(Way::of(only, self.agreement(call, number)?))
    }

    /// The number of the next persistent collective.
    pub(super) fn persistent_number(&self) -> Result<u32> {
        self.numbering().persistent().ok_or_else(|| {
            self.refused(&"the communicator has no number left for a persistent collective")
        })
    }

    /// Keeps a persistent collective until it is started.
    pub(super) fn keep(
        &self,
        way: Way,
        number: u32,
        operation: Option<OwnOperation>,
    ) -> Result<Persistent<'_, A>> {
        let mut open = self.open(way, Rooms::default(), operation)?;
        open.kept = Some(number);
        self.access().with(|lane| lane.collectives.keep(open));
        Ok(Persistent {
            communicator: self,
            number,
        })
    }

    /// One that is not under way yet.
    pub(super) fn open(
        &self,
        mut way: Way,
        rooms: Rooms,
        operation: Option<OwnOperation>,
    ) -> Result<Box<Open>> {
        // It has its number, so the other ranks go on to wait for this one.
        way.furnish(self.meeting(), rooms)
            .map_err(|error| self.meeting().end_for(error))?;
        Ok(Box::new(Open {
            request: None,
            way,
            operation,
            group: self.group().clone(),
            context: self.collective_context(),
            kept: None,
        }))
    }
}

/// The call where no rank waits for it, so that none can act together with others.
const fn alone(call: Call) -> Call {
    call.with_teams(Teams::None)
}

/// A collective that can be started again and again: its plan and its memory are made once.
///
/// Dropping it frees both; under way, it is taken back first.
pub(crate) struct Persistent<'a, A: Access> {
    communicator: &'a Communicator<A>,
    number: u32,
}

impl<A: Access> Persistent<'_, A> {
    /// Starts it once more (`MPI_Start`).
    ///
    /// # Errors
    /// When it is under way, or the communicator's collectives have ended.
    ///
    /// # Cost
    /// Allocates nothing.
    pub(crate) fn start(&self) -> Result<RawRequest> {
        let communicator = self.communicator;
        communicator.meeting().if_sound(|_| ())?;
        match self.take() {
            Some(mut open) => {
                open.way.restart();
                Ok(RawRequest::of(open::begin(communicator.access(), open)))
            }
            None => Err(communicator.refused(&"it was started before and has not ended")),
        }
    }

    fn take(&self) -> Option<Box<Open>> {
        let context = self.communicator.collective_context();
        let access = self.communicator.access();
        access.with(|lane| lane.collectives.take_kept(context, self.number))
    }
}

impl<A: Access> Drop for Persistent<'_, A> {
    fn drop(&mut self) {
        let access = self.communicator.access();
        let context = self.communicator.collective_context();
        if let Some(request) = access.with(|lane| lane.collectives.request(context, self.number)) {
            open::take_back(access, request);
            // One that another thread advances is given up when that comes back.
            let over = |lane: &mut Lane| {
                let over = lane.collectives.request(context, self.number).is_none();
                over.then_some(())
            };
            if access.until(over).is_err() {
                return;
            }
        }
        drop(self.take());
    }
}
