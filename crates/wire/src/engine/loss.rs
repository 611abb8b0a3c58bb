//! Lost peers: the end of all operations with them.

use super::Engine;
use super::request::{CancelProgress, Push, State, faulted};
use crate::fault::Fault;
use crate::transport::{Peer, Rma, Tx};

impl<T: Tx + Rma> Engine<T> {
    /// Why `peer` is lost; `None` if it is not.
    #[must_use]
    pub fn fault(&self, peer: Peer) -> Option<Fault> {
        self.peers[peer.0 as usize].fault
    }

    /// Acknowledges the loss of `peer`: receives from any source do not fail by it any more (as
    /// `MPI_Comm_ack_failed` of the fault-tolerance chapter).
    pub fn acknowledge(&mut self, peer: Peer) {
        self.losses.retain(|&lost| lost != peer.0);
    }

    /// Fails every operation with `peer` by `why`, and all later ones. Whole messages that arrived from it
    /// can still be received.
    pub(super) fn lose(&mut self, tx: &mut T, peer: Peer, why: Fault) {
        let lost = peer.0;
        let state = &mut self.peers[lost as usize];
        if state.fault.is_some() {
            return;
        }
        state.fault = Some(why);
        self.update_allowed(tx, lost);
        // Never subtracted, so that the fast path stays closed.
        self.pending[lost as usize] += 1;
        if why.is_failure() {
            self.losses.push(lost);
        }
        self.pending[lost as usize] -= self.unexpected.drop_offers(lost);
        for index in self.requests.indices() {
            if self.requests.is_full(index) {
                self.lose_one(tx, index, lost, why);
            }
        }
    }

    /// Ends the operation at `index` if the loss of peer `lost` affects it.
    fn lose_one(&mut self, tx: &mut T, index: u32, lost: u32, why: Fault) {
        let record = &mut self.requests[index];
        let any = why.is_failure()
            && matches!(record.state, State::Posted(_))
            && record.class.any_source();
        if record.peer != lost && !any {
            return;
        }
        let failure = Err(faulted(lost, why));
        let state = &mut self.peers[lost as usize];
        match &record.state {
            State::Posted(_) => self.unpost(index),
            State::Queued(_) | State::Offering { .. } => self.leave_sends(tx, index),
            State::Offered { .. } if record.cancel == CancelProgress::Waiting => {
                state.answers.remove(&mut self.requests, 0, index);
            }
            State::Pulling {
                in_flight: false, ..
            }
            | State::Pushing(Push { listed: true, .. }) => {
                state.bulk.remove(&mut self.requests, 0, index);
            }
            State::Answer { .. } => {
                state.answers.remove(&mut self.requests, 0, index);
                self.requests.remove(index);
                return;
            }
            State::Releasing(_) | State::Complete(_) | State::Done { .. } => return,
            _ => {}
        }
        let region = match self.requests[index].take() {
            State::Offering { region, .. }
            | State::Offered { region, .. }
            | State::Unanswered { region, .. } => region,
            State::Pulling { region, .. } => Some(region),
            State::Pushing(push) => Some(push.region),
            _ => None,
        };
        self.release(tx, index, region, failure);
    }
}
