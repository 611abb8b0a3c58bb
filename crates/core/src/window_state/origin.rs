//! What a target has not finished of what one origin asked of it: [`Origin`].

use std::collections::VecDeque;

use oxmpi_os::RawBytes;
use oxmpi_shm::window::LockKind;
use oxmpi_wire::window::WindowMessage;
use oxmpi_wire::{Peer, Tx};

use super::super::links::LinksTx;
use super::Accepted;
use crate::bytes::source;

/// Bytes that a message counts beside those that it carries.
const MESSAGE: u64 = 64;

/// Bytes of messages after which an origin waits until its target has done what it asked.
pub(crate) const MOST_ASKED: u64 = 4 << 20;

/// Most bytes that a target keeps for an origin, whose threads may each ask a little more than they should.
const MOST_KEPT: u64 = 4 * MOST_ASKED;

/// What a message with so many bytes counts towards [`MOST_ASKED`].
pub(crate) const fn cost(bytes: u64) -> u64 {
    MESSAGE + bytes
}

/// What a target has not finished of what one origin asked.
#[derive(Default)]
pub(super) struct Origin {
    /// What waits for a lock, with its bytes, and what came after it.
    waiting: VecDeque<(WindowMessage, Vec<u8>)>,
    /// The place in the queue for the lock that it asked for, if it is not granted yet.
    pub(super) ticket: Option<Ticket>,
    /// A rank that is lost and may have had a lock that accesses needed: they were not done.
    lost: Option<u32>,
    /// Whether that was the lock of the memory: nothing is done until the origin gives it back.
    is_locked_out: bool,
    /// An address where no memory is attached that it accessed, of which it does not know yet.
    outside: Option<u64>,
    /// Answers that have not been sent.
    owed: VecDeque<Owed>,
    /// Bytes that all these count.
    kept: u64,
}

/// A place in the queue for the lock.
#[derive(Clone, Copy)]
pub(super) struct Ticket {
    pub(super) number: u64,
    pub(super) kind: LockKind,
}

/// An answer.
pub(super) enum Owed {
    /// The `left` bytes of the target's memory from `at` on are the answer's, of which `sent` have gone before.
    Memory {
        answer: u64,
        at: u64,
        sent: u64,
        left: u64,
    },
    /// What was there before an accumulate.
    Before { answer: u64, bytes: Vec<u8> },
    /// No bytes.
    Plain(WindowMessage),
}

impl Owed {
    fn cost(&self) -> u64 {
        match self {
            Self::Before { bytes, .. } => cost(bytes.len() as u64),
            Self::Memory { .. } | Self::Plain(_) => cost(0),
        }
    }
}

impl Origin {
    /// Whether something is left to do or to send.
    pub(super) fn has_work(&self) -> bool {
        self.is_waiting() || !self.owed.is_empty()
    }

    /// Whether it knows all, too.
    pub(super) fn is_done(&self) -> bool {
        !self.has_work() && self.lost.is_none() && self.outside.is_none()
    }

    /// Whether what it asks next comes after something that waits.
    pub(super) fn is_waiting(&self) -> bool {
        self.ticket.is_some() || !self.waiting.is_empty()
    }

    /// Whether this request waits: an unlock, until memory that was to be read under the lock has been.
    pub(super) fn holds_up(&self, request: &WindowMessage) -> bool {
        let reads = |owed: &Owed| matches!(owed, Owed::Memory { .. });
        let is_unlock = matches!(request, WindowMessage::Unlock { .. });
        self.ticket.is_some() || is_unlock && self.owed.iter().any(reads)
    }

    fn keep(&mut self, bytes: u64) -> Accepted {
        self.kept += bytes;
        match self.kept <= MOST_KEPT {
            true => Ok(()),
            false => Err("an origin waits for what it asked before it asks more"),
        }
    }

    /// Keeps a request for later.
    ///
    /// # Errors
    /// The rule of the protocol that the origin broke.
    pub(super) fn wait(&mut self, request: WindowMessage, bytes: Vec<u8>) -> Accepted {
        let kept = cost(bytes.len() as u64);
        self.waiting.push_back((request, bytes));
        self.keep(kept)
    }

    /// Whether what has waited longest waits for the lock of a block.
    pub(super) fn waits_for_block(&self) -> bool {
        let first = self.waiting.front();
        first.is_some_and(|(request, _)| !self.holds_up(request))
    }

    /// Takes what has waited longest, unless it waits for more than the lock of a block.
    pub(super) fn next(&mut self) -> Option<(WindowMessage, Vec<u8>)> {
        if self.holds_up(&self.waiting.front()?.0) {
            return None;
        }
        let (request, bytes) = self.waiting.pop_front()?;
        self.kept -= cost(bytes.len() as u64);
        Some((request, bytes))
    }

    /// What [`Origin::next`] gave has to wait longer.
    pub(super) fn put_back(&mut self, request: WindowMessage, bytes: Vec<u8>) {
        self.kept += cost(bytes.len() as u64);
        self.waiting.push_front((request, bytes));
    }

    /// Owes an answer.
    ///
    /// # Errors
    /// As [`Origin::wait`].
    pub(super) fn owe(&mut self, owed: Owed) -> Accepted {
        let kept = owed.cost();
        self.owed.push_back(owed);
        self.keep(kept)
    }

    /// An access at this address, with this number or none, is not done, as no memory is attached there.
    pub(super) fn is_outside(&mut self, at: u64, answer: u64) -> Accepted {
        match answer {
            0 => {
                // It learns of its first.
                self.outside.get_or_insert(at);
                Ok(())
            }
            answer => self.owe(Owed::Plain(WindowMessage::Outside { answer, at })),
        }
    }

    /// Why not all that the origin asked before was done, which it learns with the answer that has this number.
    pub(super) fn failed(&mut self, answer: u64) -> Option<WindowMessage> {
        if let Some(rank) = self.lost {
            if !self.is_locked_out {
                self.lost = None;
            }
            let rank = rank.into();
            return Some(WindowMessage::Refused { answer, rank });
        }
        let at = self.outside.take()?;
        Some(WindowMessage::Outside { answer, at })
    }

    /// This rank is lost, which may have the lock that the next requests need: until the origin asks whether they are done,
    /// or gives the lock back if it is that of the memory, none is.
    pub(super) fn lock_out(&mut self, lost: u32) {
        self.lost = Some(lost);
        self.is_locked_out = self.ticket.take().is_some();
    }

    /// Refuses a request, if a rank that may have a lock is lost. Whether it did.
    pub(super) fn refuse(&mut self, request: &WindowMessage) -> Result<bool, &'static str> {
        let Some(rank) = self.lost.map(u64::from) else {
            return Ok(false);
        };
        let answer = match *request {
            WindowMessage::Unlock { answer, .. } if self.is_locked_out => {
                (self.lost, self.is_locked_out) = (None, false);
                answer
            }
            // The origin learns it with the answer.
            WindowMessage::Flush { .. } | WindowMessage::Unlock { .. } => return Ok(false),
            WindowMessage::Lock { .. } if !self.is_locked_out => return Ok(false),
            WindowMessage::Get { answer, .. } | WindowMessage::Accumulate { answer, .. } => answer,
            _ => 0,
        };
        if answer != 0 {
            self.owe(Owed::Plain(WindowMessage::Refused { answer, rank }))?;
        }
        Ok(true)
    }

    /// Sends answers as far as there is room. Returns how many were sent.
    pub(super) fn pay(
        &mut self,
        tx: &mut LinksTx,
        context: u32,
        to: Peer,
        memory: &RawBytes,
    ) -> u32 {
        let mut sent = 0;
        while let Some(owed) = self.owed.front_mut() {
            let kept = owed.cost();
            if !pay(tx, context, to, owed, memory) {
                break;
            }
            self.owed.pop_front();
            self.kept -= kept;
            sent += 1;
        }
        sent
    }
}

/// Sends an answer, or as much of it as there is room for. Whether all of it was sent.
fn pay(tx: &mut LinksTx, context: u32, to: Peer, owed: &mut Owed, memory: &RawBytes) -> bool {
    let room = frame_room(tx, to);
    match owed {
        Owed::Plain(message) => {
            let none = (&RawBytes::empty(), 0, 0);
            message.send(tx, to, context, none).is_ok()
        }
        Owed::Before { answer, bytes } => {
            // An accumulate comes in one frame, and so does its answer.
            let (answer, at) = (*answer, 0);
            let all = (&source(&bytes[..]), 0, bytes.len());
            let data = WindowMessage::Data { answer, at };
            data.send(tx, to, context, all).is_ok()
        }
        Owed::Memory {
            answer,
            at,
            sent,
            left,
        } => {
            while *left > 0 {
                let now = room.min(*left as usize);
                let data = WindowMessage::Data {
                    answer: *answer,
                    at: *sent,
                };
                if (data.send(tx, to, context, (memory, *at + *sent, now))).is_err() {
                    return false;
                }
                *sent += now as u64;
                *left -= now as u64;
            }
            true
        }
    }
}

/// Most bytes that a message to a peer carries.
pub(crate) fn frame_room(tx: &LinksTx, to: Peer) -> usize {
    tx.limits(to).frame as usize - WindowMessage::LEN
}
