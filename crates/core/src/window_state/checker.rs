//! Looking for accesses to this rank's memory that conflict, for the setting `rma_check`: [`Checker`].

use std::collections::BTreeMap;

use oxmpi_wire::Peer;
use oxmpi_wire::window::WindowMessage;

use super::access_log::{AccessKind, AccessLog, Conflict, LoggedAccess};

/// The accesses of an epoch to this rank's memory, and the conflicts among them.
#[derive(Debug)]
pub(crate) struct Checker {
    log: AccessLog,
    /// The ranks of the window, by link.
    ranks: BTreeMap<u32, u32>,
    /// Whether the accesses of all end together, with the epoch, however often they are flushed.
    at_once: bool,
    /// Origins with a conflict of which they do not know yet; of each its first.
    found: Vec<(Peer, Conflict)>,
}

impl Checker {
    /// A checker of the accesses of these ranks of a window, by link.
    pub(crate) fn new(ranks: BTreeMap<u32, u32>) -> Self {
        Self {
            log: AccessLog::default(),
            ranks,
            at_once: false,
            found: Vec::new(),
        }
    }

    /// Notes a request with so many bytes, if it accesses the memory.
    pub(super) fn note(&mut self, from: Peer, request: &WindowMessage, bytes: u64) {
        let access = match *request {
            WindowMessage::Put { at } => (AccessKind::Put, at, bytes),
            WindowMessage::Get { at, len, .. } => (AccessKind::Get, at, len),
            WindowMessage::Accumulate {
                at, len, operation, ..
            } => (AccessKind::Accumulate((operation >> 8) as u8), at, len),
            _ => return,
        };
        if let Some(conflict) = self.conflict_of(from, access)
            && self.found.iter().all(|(origin, _)| *origin != from)
        {
            self.found.push((from, conflict));
        }
    }

    /// Notes an access of the rank at a link. Gives one that it conflicts with.
    pub(crate) fn conflict_of(
        &mut self,
        from: Peer,
        (kind, at, len): (AccessKind, u64, u64),
    ) -> Option<Conflict> {
        let origin = *self.ranks.get(&from.0)?;
        self.log.note(LoggedAccess {
            origin,
            kind,
            at,
            len,
        })
    }

    /// The accesses of the rank at a link have ended, unless those of all end together.
    pub(crate) fn end_of(&mut self, from: Peer) {
        if let (Some(&origin), false) = (self.ranks.get(&from.0), self.at_once) {
            self.log.end_of(origin);
        }
    }

    /// The accesses of all ranks have ended; whether those from now on end together.
    pub(crate) fn end_of_all(&mut self, at_once: bool) {
        self.log.clear();
        self.at_once = at_once;
    }

    /// The conflict of an origin that it does not know yet.
    pub(super) fn take(&mut self, of: Peer) -> Option<Conflict> {
        let at = self.found.iter().position(|(origin, _)| *origin == of)?;
        Some(self.found.swap_remove(at).1)
    }
}
