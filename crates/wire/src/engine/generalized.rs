//! Operations of the caller's own.
//!
//! The caller does the work and says when it has ended; meanwhile it is named, tested and let go as
//! any other operation (MPI 5.0, section 13.2, "Generalized Requests").

use super::Engine;
use super::request::{Mode, Outcome, Record, Request, State, Status};
use crate::header::Envelope;
use crate::transport::{Peer, Rma, Tx};

/// In place of a peer.
const NOBODY: Peer = Peer(u32::MAX);

impl<T: Tx + Rma> Engine<T> {
    /// Begins an operation of the caller's own; [`Engine::complete_generalized`] ends it.
    ///
    /// # Panics
    /// If 2^30 operations are open.
    pub fn start_generalized(&mut self) -> Request {
        let envelope = Envelope { context: 0, tag: 0 };
        let record = Record::new(State::Generalized, NOBODY, envelope, Mode::Standard);
        Request(self.requests.insert(record))
    }

    /// Ends it, well or with [`Failure::Generalized`](super::Failure::Generalized), which names why. Another
    /// operation, or a stale one, is left alone.
    pub fn complete_generalized(&mut self, request: Request, outcome: Outcome) {
        if let Some(index) = self.requests.find(request.0)
            && let State::Generalized = self.requests[index].state
        {
            self.complete(index, outcome);
        }
    }
}

impl Status {
    /// Of an operation of the caller's own: well ended, or taken back.
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
