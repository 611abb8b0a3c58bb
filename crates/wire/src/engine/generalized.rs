//! Generalized requests: operations of the caller with a request of the engine.
//!
//! The caller does the work and completes the request; it is tested and freed as any other (MPI 5.0, section
//! 13.2, "Generalized Requests"). The runtime uses them for nonblocking collectives.

use super::Engine;
use super::request::{Mode, Outcome, Record, Request, State, Status};
use crate::header::Envelope;
use crate::transport::{Peer, Rma, Tx};

/// In place of a peer.
const NOBODY: Peer = Peer(u32::MAX);

impl<T: Tx + Rma> Engine<T> {
    /// Starts a generalized request; [`Engine::complete_generalized`] completes it.
    ///
    /// # Panics
    /// If 2^30 operations are open.
    pub fn start_generalized(&mut self) -> Request {
        let envelope = Envelope { context: 0, tag: 0 };
        let record = Record::new(State::Generalized, NOBODY, envelope, Mode::Standard);
        Request(self.requests.insert(record))
    }

    /// Completes a generalized request; a failure is [`Failure::Generalized`](super::Failure::Generalized).
    /// Another or a stale request is not affected.
    pub fn complete_generalized(&mut self, request: Request, outcome: Outcome) {
        if let Some(index) = self.requests.find(request.0)
            && let State::Generalized = self.requests[index].state
        {
            self.complete(index, outcome);
        }
    }
}

impl Status {
    /// The status of a generalized request that succeeded or was cancelled.
    #[must_use]
    pub const fn generalized(cancelled: bool) -> Self {
        Self {
            source: NOBODY,
            tag: 0,
            len: 0,
            cancelled,
        }
    }
}
