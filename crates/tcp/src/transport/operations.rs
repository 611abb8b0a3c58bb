//! Gets and puts of this rank that are under way: a bounded number.

use oxmpi_wire::Token;
use oxmpi_wire::regions::Name;

use super::OPERATIONS;
use crate::frame::Id;

/// A get or a put of this rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) peer: u32,
    pub(super) token: Token,
    /// This rank's memory.
    pub(super) region: Name,
    /// Where in it the operation begins.
    pub(super) at: u64,
    /// Bytes of the whole operation.
    pub(super) len: u64,
    /// Bytes that have not come (get) or not gone (put) yet.
    pub(super) left: u64,
    /// Bytes that come unasked, before the others.
    pub(super) ahead: u64,
    /// A get, else a put.
    pub(super) get: bool,
}

/// All of them. An [`Id`] says place and tenant, so that an answer that comes twice, or was made up,
/// ends nobody else's operation.
#[derive(Debug)]
pub(super) struct Operations {
    places: Vec<(u32, Option<Operation>)>,
    free: Vec<u32>,
}

impl Operations {
    pub(super) fn new() -> Self {
        Self {
            places: vec![(0, None); OPERATIONS],
            free: (0..OPERATIONS as u32).rev().collect(),
        }
    }

    pub(super) const fn are_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Begins one, if there is a place.
    pub(super) fn begin(&mut self, operation: Operation) -> Option<Id> {
        let place = self.free.pop()?;
        let (tenant, entry) = &mut self.places[place as usize];
        *tenant = tenant.wrapping_add(1);
        *entry = Some(operation);
        Some(Id(u64::from(place) << 32 | u64::from(*tenant)))
    }

    /// The operation `id` with `peer`, if it is under way.
    pub(super) fn get(&mut self, id: Id, peer: u32) -> Option<&mut Operation> {
        let (tenant, entry) = self.places.get_mut((id.0 >> 32) as usize)?;
        let named = *tenant == id.0 as u32;
        entry
            .as_mut()
            .filter(|operation| named && operation.peer == peer)
    }

    /// Ends it.
    pub(super) fn end(&mut self, id: Id, peer: u32) -> Option<Operation> {
        let operation = *self.get(id, peer)?;
        let place = (id.0 >> 32) as u32;
        self.places[place as usize].1 = None;
        self.free.push(place);
        Some(operation)
    }

    /// Ends one with `peer`, whichever.
    pub(super) fn end_any(&mut self, peer: u32) -> Option<Operation> {
        let of_peer = |entry: &(u32, Option<Operation>)| {
            let operation = entry.1.as_ref();
            operation.is_some_and(|operation| operation.peer == peer)
        };
        let place = self.places.iter().position(of_peer)?;
        let id = Id((place as u64) << 32 | u64::from(self.places[place].0));
        self.end(id, peer)
    }
}
