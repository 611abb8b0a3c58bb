//! The end of receiving, before a rank leaves the job ([`Engine::quiesce`]).

use super::Engine;
use super::pattern::Pattern;
use super::pattern::{Source, Tag};
use super::request::{Record, Request, State};
use crate::transport::{Peer, Rma, Tx};

impl<T: Tx + Rma> Engine<T> {
    /// Cancels every posted receive, and returns whether all other operations have ended. Call it after each
    /// progress pass until it returns true; then the rank can leave.
    ///
    /// Until then it receives unexpected messages into `nothing`, an empty buffer, so that ranks that leave
    /// together with sends that no receive matches do not wait for each other. Claimed messages stay with
    /// their handles.
    ///
    /// # Cost
    /// Constant, except for the first call and after new unexpected messages.
    pub fn quiesce(&mut self, tx: &mut T, nothing: &T::Bytes) -> bool {
        if !self.posted.is_empty() {
            for index in self.requests.indices() {
                if self.requests.is_full(index)
                    && let State::Posted(_) = self.requests[index].state
                {
                    self.cancel(tx, Request(self.requests.handle(index)));
                }
            }
        }
        if self.requests.used() == self.untested {
            return true;
        }
        if self.unexpected.is_empty() {
            return false;
        }
        for index in self.unexpected.indices() {
            if !self.unexpected.is_waiting(index) {
                continue;
            }
            let arrival = self.take_arrival(index);
            let envelope = arrival.envelope;
            let source = Source::Peer(Peer(arrival.from));
            let pattern = Pattern::new(source, envelope.context, Tag::Exact(envelope.tag));
            let mut record = Record::matched(nothing.clone(), &pattern);
            record.detached = true;
            let handle = self.requests.insert(record);
            self.deliver(tx, handle.index, arrival);
        }
        false
    }
}
