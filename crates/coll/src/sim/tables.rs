//! The tables of a simulation's state: how many bytes they take, and how they grow.

use super::error::Error;
use super::events::Event;
use super::memory::{grow, slab_bytes};
use super::message::{PostedReceive, SimMessage};
use super::state::{Adapter, SimRank, SimState};

/// The least bytes of a rank's state: its record, and a message, a receive and two events under way.
pub(super) const LEAST_BYTES_OF_RANK: u64 = (size_of::<SimRank>()
    + size_of::<SimMessage>()
    + size_of::<PostedReceive>()
    + 2 * size_of::<Event>()) as u64;

impl SimState<'_> {
    /// The bytes of the ranks, the adapters and, with room to move them, the events.
    fn fixed_bytes(&self) -> u64 {
        let ranks = self.ranks.capacity() * size_of::<SimRank>();
        let adapters = self.adapters.capacity() * size_of::<Adapter>();
        let events = 2 * self.events.len() * size_of::<Event>();
        (ranks + adapters + events) as u64
    }

    /// The bytes of the state.
    pub(super) fn bytes(&self) -> u64 {
        self.fixed_bytes() + slab_bytes(&self.messages) + slab_bytes(&self.receives)
    }

    /// The error of events that have no room.
    pub(super) fn no_room(&self) -> Error {
        let more = self.events.len() * size_of::<Event>();
        self.budget.refused(self.bytes(), more as u64)
    }

    /// Adds a message's record.
    pub(super) fn insert_message(&mut self, message: SimMessage) -> Result<u32, Error> {
        let other = self.fixed_bytes() + slab_bytes(&self.receives);
        let held = |messages: &_| other + slab_bytes(messages);
        grow(&mut self.messages, &self.budget, held)?;
        Ok(self.messages.insert(message) as u32)
    }

    /// Adds a receive's record.
    pub(super) fn insert_receive(&mut self, receive: PostedReceive) -> Result<u32, Error> {
        let other = self.fixed_bytes() + slab_bytes(&self.messages);
        let held = |receives: &_| other + slab_bytes(receives);
        grow(&mut self.receives, &self.budget, held)?;
        Ok(self.receives.insert(receive) as u32)
    }

    pub(super) fn push(&mut self, event: Event) -> Result<(), Error> {
        self.events.push(event).map_err(|_| self.no_room())
    }

    /// Removes the next event.
    pub(super) fn pop(&mut self) -> Option<Result<Event, Error>> {
        let event = self.events.pop().map_err(|_| self.no_room());
        event.transpose()
    }
}
