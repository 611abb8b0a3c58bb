//! Leaving: nothing more is received here.

use super::Engine;
use super::pattern::Pattern;
use super::pattern::{Source, Tag};
use super::request::{Record, Request, State};
use crate::transport::{Peer, Rma, Tx};

impl<T: Tx + Rma> Engine<T> {
    /// Receives nothing more, for who wants to leave: takes back every posted receive, and says
    /// whether all else that was begun here is over. Call it after each progress until it is.
    ///
    /// While something is not over, messages that wait here are received into `nothing`, which has
    /// no room. So ranks that leave at once, each with a message to the next one that nobody
    /// receives, do not wait for each other. Claimed messages stay with their handles.
    ///
    /// # Cost
    /// Constant, but for the first call and after messages that came meanwhile.
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
