//! The end of sends that wait for their peer: finished, or taken back.

use super::request::{Recall, Request, State};
use super::slab::Handle;
use super::{Accepted, Engine, take_id};
use crate::header::{Flags, Header, Kind};
use crate::transport::{Peer, Rma, Take, Tx};

impl<T: Tx + Rma> Engine<T> {
    /// Takes an operation back if it is not matched yet; it completes either way, with
    /// [`super::Status::cancelled`] if it was taken back. A receive answers at once; a send that
    /// its peer knows of completes when the peer has answered. A stale or complete request is left
    /// alone (MPI standard, "Probe and Cancel").
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
                self.leave_sends(index);
                self.complete(index, cancelled);
            }
            State::Offering { region, .. } => {
                let region = region.take();
                self.leave_sends(index);
                self.release(tx, index, region, cancelled);
            }
            State::Offered { .. } if record.recall == Recall::None => {
                record.recall = Recall::Waiting;
                let peer = record.peer;
                self.wait_to_answer(index);
                self.resume_peer(tx, peer);
            }
            _ => {}
        }
    }

    /// The peer has received, or has matched a synchronous message.
    pub(super) fn on_finished(
        &mut self,
        tx: &mut T,
        from: Peer,
        head: &Header,
        body: &mut impl Take,
    ) -> Accepted {
        if !Flags::YES.contains(head.flags) {
            return Err("an end of a send with flags of a message");
        }
        let index = self.own_send(from, body)?;
        let record = &mut self.requests[index];
        if !matches!(record.state, State::Offered { .. }) {
            return Err("an end of a send that is not offered");
        }
        let State::Offered { region, len } = record.take() else {
            unreachable!("checked above");
        };
        let status = record.status(len);
        match record.recall {
            Recall::Asked => record.state = State::Unanswered { region, len },
            Recall::Waiting => {
                self.peers[from.0 as usize]
                    .answers
                    .remove(&mut self.requests, 0, index);
                self.release(tx, index, region, Ok(status));
            }
            Recall::None | Recall::Refused => self.release(tx, index, region, Ok(status)),
        }
        Ok(())
    }

    /// The peer takes a message back.
    pub(super) fn on_recall(
        &mut self,
        tx: &mut T,
        from: Peer,
        head: &Header,
        body: &mut impl Take,
    ) -> Accepted {
        if !head.flags.is_empty() {
            return Err("a recall with flags");
        }
        let id = only_id(body)?;
        let found = self.unexpected.find_id(from.0, head.envelope, id);
        let flags = match found {
            Some(found) => {
                let arrival = self.take_arrival(found);
                self.discharge(tx, from.0, arrival.content);
                Flags::YES
            }
            None => Flags::empty(),
        };
        self.answer(tx, from.0, head.envelope, Kind::Recalled, flags, id);
        Ok(())
    }

    /// The peer answers a recall.
    pub(super) fn on_recalled(
        &mut self,
        tx: &mut T,
        from: Peer,
        head: &Header,
        body: &mut impl Take,
    ) -> Accepted {
        let yes = match head.flags {
            Flags::YES => true,
            flags if flags.is_empty() => false,
            _ => return Err("an answer to a recall with flags of a message"),
        };
        let index = self.own_send(from, body)?;
        let record = &mut self.requests[index];
        if record.recall != Recall::Asked {
            return Err("an answer to a recall that was not asked");
        }
        match record.take() {
            State::Offered { region, .. } if yes => {
                let cancelled = record.cancelled();
                self.release(tx, index, region, Ok(cancelled));
            }
            State::Unanswered { region, len } if !yes => {
                let status = record.status(len);
                self.release(tx, index, region, Ok(status));
            }
            state => {
                let offered = matches!(state, State::Offered { .. });
                record.state = state;
                record.recall = Recall::Refused;
                if !offered {
                    return Err("a finished send was taken back");
                }
            }
        }
        Ok(())
    }

    /// The send to `from` that a frame's id names.
    fn own_send(&self, from: Peer, body: &mut impl Take) -> Result<u32, &'static str> {
        let id = only_id(body)?;
        self.requests
            .find(Handle::from_word(id))
            .filter(|&index| self.requests[index].peer == from.0)
            .ok_or("an answer to no send")
    }
}

/// The id that is all of a body.
fn only_id(body: &mut impl Take) -> Result<u64, &'static str> {
    let id = take_id(body)?;
    if body.left() == 0 {
        Ok(id)
    } else {
        Err("a frame has more than its id")
    }
}
