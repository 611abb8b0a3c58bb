//! The driver of one simulated rank: acts take time instead of moving bytes.

use super::error::Error;
use super::state::SimState;
use crate::exec::{Driver, IntraNodeStart, MessageSize};
use crate::plan::{IntraNodeOp, Part, Side};

/// An act under way.
#[derive(Clone, Copy, Debug)]
pub(super) enum Request {
    /// A receive, by index.
    Receive(u32),
    /// The send of a long message, by index.
    Send(u32),
    /// An intra-node phase, by its number among the rank's phases.
    IntraNodeOp(u32),
}

/// The driver of one rank.
pub(super) struct RankDriver<'w, 'a> {
    pub(super) state: &'w mut SimState<'a>,
    /// The simulated rank.
    pub(super) rank: u32,
}

impl RankDriver<'_, '_> {
    fn check_peer(&self, peer: u32) -> Result<(), Error> {
        let rank = self.rank;
        if peer == rank || peer >= self.state.setup.placement.size() {
            return Err(Error::Peer { rank, peer });
        }
        Ok(())
    }

    fn bytes(&self, part: Part) -> u64 {
        part.len() * self.state.element
    }

    /// Adds processor time for the part's bytes at `byte` picoseconds each.
    fn work(&mut self, part: Part, byte: u64) {
        let time = self.bytes(part) * byte;
        self.state.rank(self.rank).cpu += time;
    }
}

impl Driver for RankDriver<'_, '_> {
    type Request = Request;
    type Error = Error;

    fn send(&mut self, to: u32, tag: u32, from: Part) -> Result<Option<Request>, Error> {
        self.check_peer(to)?;
        let bytes = self.bytes(from);
        let message = self.state.send(self.rank, to, tag, bytes)?;
        Ok(message.map(Request::Send))
    }

    fn recv(&mut self, from: u32, tag: u32, into: Part) -> Result<Option<Request>, Error> {
        self.check_peer(from)?;
        let bytes = self.bytes(into);
        let receive = self.state.post(self.rank, from, tag, bytes)?;
        Ok(receive.map(Request::Receive))
    }

    fn copy(&mut self, from: Part, _: Part) -> Result<(), Error> {
        self.work(from, self.state.setup.machine.copy());
        Ok(())
    }

    fn reduce(&mut self, from: Part, _: Part, _: Side) -> Result<(), Error> {
        self.work(from, self.state.setup.machine.node.byte);
        Ok(())
    }

    fn size(&mut self, from: u32, tag: u32) -> Result<MessageSize, Error> {
        let bytes = self.state.unexpected_bytes(self.rank, from, tag);
        Ok(bytes.map_or(MessageSize::Pending, |bytes| {
            MessageSize::Elements(bytes / self.state.element)
        }))
    }

    fn sum(&mut self, from: Part) -> Result<Option<u64>, Error> {
        // Every number in a message is the length of one block.
        let length = self.state.block;
        let counts = length <= from.limit;
        Ok(Some(from.len() / 8 * if counts { length } else { 0 }))
    }

    fn intra_node(&mut self, act: &IntraNodeOp) -> Result<IntraNodeStart<Request>, Error> {
        let phases = self.state.join(self.rank, act)?;
        Ok(IntraNodeStart::Pending(Request::IntraNodeOp(phases)))
    }

    fn grow(&mut self, _: u64) -> Result<bool, Error> {
        Ok(true)
    }

    fn done(&mut self, request: &mut Request) -> Result<bool, Error> {
        Ok(match *request {
            Request::Receive(receive) => {
                let done = self.state.receives[receive as usize].done;
                if done {
                    self.state.receives.remove(receive as usize);
                }
                done
            }
            Request::IntraNodeOp(phases) => self.state.rank(self.rank).ended >= phases,
            Request::Send(message) => {
                let sent = self.state.messages[message as usize].sent;
                if sent {
                    self.state.release(message);
                }
                sent
            }
        })
    }
}
