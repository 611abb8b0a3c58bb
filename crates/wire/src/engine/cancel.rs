//! Cancellation, and the end of sends that wait for an answer of their peer: finished or cancelled.

use super::recv::received;
use super::request::{CancelProgress, Offer, Outcome, Request, State, faulted};
use super::{Accepted, Engine, take_id};
use crate::fault::Fault;
use crate::header::{Flags, Header, Kind};
use crate::slab::Handle;
use crate::transport::{Peer, Rma, Take, Tx};

impl<T: Tx + Rma> Engine<T> {
    /// Cancels an operation if it is not matched yet. It completes in either case, with
    /// [`super::Status::cancelled`] if it was cancelled: a receive at once, a send that its peer knows of
    /// when the peer has answered. A stale or complete request is not affected (MPI standard, "Probe and
    /// Cancel").
    pub fn cancel(&mut self, tx: &mut T, request: Request) {
        let Some(index) = self.requests.find(request.0) else {
            return;
        };
        let record = &mut self.requests[index];
        let cancelled = Ok(record.cancelled());
        match &mut record.state {
            State::Posted(_) => {
                self.unpost(index);
                self.complete(index, cancelled);
            }
            State::Queued(_) => {
                self.leave_sends(tx, index);
                self.complete(index, cancelled);
            }
            State::Offering { region, .. } => {
                let region = region.take();
                self.leave_sends(tx, index);
                self.release(tx, index, region, cancelled);
            }
            State::Offered { .. } if record.cancel == CancelProgress::None => {
                record.cancel = CancelProgress::Waiting;
                let peer = record.peer;
                self.wait_to_answer(index);
                self.resume_peer(tx, peer);
            }
            _ => {}
        }
    }

    /// The peer has received a message, has put all bytes, or has matched a synchronous message.
    pub(super) fn on_finished(
        &mut self,
        tx: &mut T,
        from: Peer,
        head: &Header,
        body: &mut impl Take,
    ) -> Accepted {
        if !Flags::YES.contains(head.flags) {
            return Err("a finished frame with flags of a message");
        }
        let index = self.find_own(from, only_id(body)?)?;
        let record = &mut self.requests[index];
        match record.take() {
            State::Offered { region, len } => {
                let status = record.status(len);
                self.give_up_cancel(index);
                self.end_send(tx, index, region, Ok(status));
                Ok(())
            }
            State::Pulling {
                region,
                offer: offer @ Offer { put: true, .. },
                room,
                in_flight: true,
            } => {
                let outcome = if head.flags.is_empty() {
                    let fault = Fault::Refused("the sender's puts");
                    Err(faulted(record.peer, fault))
                } else {
                    received(record, offer.len, room)
                };
                self.release(tx, index, Some(region), outcome);
                Ok(())
            }
            state => {
                record.state = state;
                Err("a finished frame for an operation that is not under way")
            }
        }
    }

    /// Drops the cancel of the send at `index` if its frame still waits: it is too late.
    pub(super) fn give_up_cancel(&mut self, index: u32) {
        let record = &mut self.requests[index];
        if record.cancel == CancelProgress::Waiting {
            record.cancel = CancelProgress::Refused;
            let peer = record.peer as usize;
            self.peers[peer]
                .answers
                .remove(&mut self.requests, 0, index);
        }
    }

    /// Ends the send at `index`; if a cancel was sent, only once that is answered.
    pub(super) fn end_send(
        &mut self,
        tx: &mut T,
        index: u32,
        region: Option<T::Region>,
        outcome: Outcome,
    ) {
        let record = &mut self.requests[index];
        if record.cancel == CancelProgress::Asked {
            record.state = State::Unanswered { region, outcome };
        } else {
            self.release(tx, index, region, outcome);
        }
    }

    /// The peer cancels a message.
    pub(super) fn on_cancel(
        &mut self,
        tx: &mut T,
        from: Peer,
        head: &Header,
        body: &mut impl Take,
    ) -> Accepted {
        if !head.flags.is_empty() {
            return Err("a cancel with flags");
        }
        let id = only_id(body)?;
        let found = self.unexpected.find_id(from.0, head.envelope, id);
        let flags = match found {
            Some(found) => {
                let arrival = self.take_arrival(found);
                self.release_unexpected(tx, from.0, arrival.content);
                Flags::YES
            }
            None => Flags::empty(),
        };
        self.answer(tx, from.0, head.envelope, Kind::CancelReply, flags, id);
        Ok(())
    }

    /// The peer answers a cancel.
    pub(super) fn on_cancel_reply(
        &mut self,
        tx: &mut T,
        from: Peer,
        head: &Header,
        body: &mut impl Take,
    ) -> Accepted {
        let yes = match head.flags {
            Flags::YES => true,
            flags if flags.is_empty() => false,
            _ => return Err("an answer to a cancel with flags of a message"),
        };
        let index = self.find_own(from, only_id(body)?)?;
        let record = &mut self.requests[index];
        if record.cancel != CancelProgress::Asked {
            return Err("an answer to a cancel that was not sent");
        }
        match record.take() {
            State::Offered { region, .. } if yes => {
                let cancelled = record.cancelled();
                self.release(tx, index, region, Ok(cancelled));
            }
            State::Unanswered { region, outcome } if !yes => {
                self.release(tx, index, region, outcome);
            }
            state => {
                let refused = !yes && matches!(state, State::Offered { .. } | State::Pushing(_));
                record.state = state;
                record.cancel = CancelProgress::Refused;
                if !refused {
                    return Err("a matched send was cancelled");
                }
            }
        }
        Ok(())
    }

    /// Index of the operation with peer `from` that `id` names.
    pub(super) fn find_own(&self, from: Peer, id: u64) -> Result<u32, &'static str> {
        self.requests
            .find(Handle::from_word(id))
            .filter(|&index| self.requests[index].peer == from.0)
            .ok_or("an answer with an unknown id")
    }
}

/// Reads a body that is one id.
fn only_id(body: &mut impl Take) -> Result<u64, &'static str> {
    let id = take_id(body)?;
    if body.left() == 0 {
        Ok(id)
    } else {
        Err("a frame is longer than its id")
    }
}
