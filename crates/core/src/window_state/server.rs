//! A rank as the target of origins that do not reach its memory: it does what they ask in its own calls ([`Server`]).
//!
//! It never waits. What an origin asks is done at once, unless it needs a lock that another rank has, or room for an
//! answer. Whatever the same origin asks afterwards comes after it.

use std::collections::VecDeque;
use std::sync::Arc;

use oxmpi_os::RawBytes;
use oxmpi_shm::window::{LockKind, WindowWords};
use oxmpi_wire::window::WindowMessage;
use oxmpi_wire::{Bytes, Peer, Take, Tx};

use super::super::links::LinksTx;
use super::{Accepted, Accumulation, BlockLocks, Checker, Conflict, MOST_ACCUMULATED, Peers};
use crate::bytes::{source, target};

/// What a rank does for its origins at one window.
pub(crate) struct Server {
    memory: RawBytes,
    words: Arc<WindowWords>,
    /// This rank's number on its node.
    me: u32,
    /// The ranks of its node.
    on_node: Box<[Peer]>,
    /// What has to wait for a block's lock, with its bytes, and what came after it of the same origin.
    waiting: VecDeque<(Peer, WindowMessage, Vec<u8>)>,
    /// Locks that were asked for and are not granted yet.
    tickets: Vec<Ticket>,
    /// Locks that origins have by messages.
    held: Vec<(Peer, LockKind)>,
    /// Answers that have not been sent.
    owed: VecDeque<(Peer, Owed)>,
    /// What looks for conflicts, if it is asked for.
    pub(crate) checker: Option<Checker>,
    /// Origins with an access where no memory is attached, of which they do not know yet, and its address.
    outside: Vec<(Peer, u64)>,
}

/// A place in the queue for the lock.
struct Ticket {
    of: Peer,
    answer: u64,
    number: u64,
    kind: LockKind,
}

/// An answer.
enum Owed {
    /// The `left` bytes of this rank's memory from `at` on are the answer's, of which `sent` have gone before.
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

/// Whether what an origin asked is done, or waits.
enum Served {
    Done,
    Waits,
}

const RANGE: &str = "an access is within the memory of its target";
const ELEMENTS: &str = "an accumulate has whole elements of a known kind";

impl Server {
    pub(super) fn new(
        memory: RawBytes,
        words: Arc<WindowWords>,
        (me, on_node): (u32, Box<[Peer]>),
    ) -> Self {
        Self {
            memory,
            words,
            me,
            on_node,
            waiting: VecDeque::new(),
            tickets: Vec::new(),
            held: Vec::new(),
            owed: VecDeque::new(),
            outside: Vec::new(),
            checker: None,
        }
    }

    /// Whether something waits.
    pub(super) fn is_busy(&self) -> bool {
        !(self.waiting.is_empty() && self.tickets.is_empty() && self.owed.is_empty())
    }

    /// An origin asks for something.
    ///
    /// # Errors
    /// The rule of the protocol that it broke.
    pub(super) fn ask(
        &mut self,
        tx: &mut LinksTx,
        context: u32,
        from: Peer,
        request: WindowMessage,
        body: &mut impl Take,
    ) -> Accepted {
        // An unlock, as it is the end of what the origin does, may not pass what it asked before.
        let is_behind = self.waiting.iter().any(|(origin, ..)| *origin == from);
        if let (WindowMessage::Put { at }, false, None) =
            (request, is_behind, self.words.attached())
            && self.checker.is_none()
        {
            self.place(at, body.left() as u64)?.fill(0, body);
            return Ok(());
        }
        let mut bytes = vec![0; body.left()];
        body.take(&mut bytes);
        let room = frame_room(tx, from) as u64;
        self.check(&request, bytes.len() as u64, room)?;
        let unattached = self.unattached(&request, bytes.len() as u64);
        if let Some((at, 0)) = unattached {
            // Of each origin its first.
            if self.outside.iter().all(|(origin, _)| *origin != from) {
                self.outside.push((from, at));
            }
        } else if let Some((at, answer)) = unattached {
            let outside = Owed::Plain(WindowMessage::Outside { answer, at });
            self.owed.push_back((from, outside));
        } else {
            if let Some(checker) = &mut self.checker {
                checker.note(from, &request, bytes.len() as u64);
            }
            if is_behind {
                self.waiting.push_back((from, request, bytes));
            } else if let Served::Waits = self.serve(tx, context, from, request, &bytes)? {
                self.waiting.push_back((from, request, bytes));
            }
        }
        self.pay(tx, context);
        Ok(())
    }

    /// The `len` bytes of the memory from `at` on.
    fn place(&self, at: u64, len: u64) -> Result<RawBytes, &'static str> {
        self.memory.range(at, len).ok_or(RANGE)
    }

    /// Where a request with so many bytes names memory that is not attached, and the number of its answer.
    fn unattached(&self, request: &WindowMessage, bytes: u64) -> Option<(u64, u64)> {
        let (at, len, answer) = match *request {
            WindowMessage::Put { at } => (at, bytes, 0),
            WindowMessage::Get { answer, at, len } => (at, len, answer),
            WindowMessage::Accumulate {
                answer, at, len, ..
            } => (at, len, answer),
            _ => return None,
        };
        (!self.words.is_attached(at, len)).then_some((at, answer))
    }

    /// Checks a request, which has so many bytes, of an origin to which a message has this room.
    fn check(&self, request: &WindowMessage, bytes: u64, room: u64) -> Accepted {
        match *request {
            WindowMessage::Put { at } => self.place(at, bytes).map(drop),
            WindowMessage::Get { at, len, .. } => self.place(at, len).map(drop),
            WindowMessage::Accumulate {
                at, len, operation, ..
            } => {
                self.place(at, len)?;
                let operation = Accumulation::of_number(operation).ok_or(ELEMENTS)?;
                let suits = operation.suits_memory(bytes, len) && len <= MOST_ACCUMULATED.min(room);
                suits.then_some(()).ok_or(ELEMENTS)
            }
            _ => Ok(()),
        }
    }

    /// Does what `from` asks, which was checked.
    fn serve(
        &mut self,
        tx: &mut LinksTx,
        context: u32,
        from: Peer,
        request: WindowMessage,
        mut bytes: &[u8],
    ) -> Result<Served, &'static str> {
        match request {
            WindowMessage::Put { at } => {
                self.place(at, bytes.len() as u64)?.fill(0, &mut bytes);
            }
            WindowMessage::Get { answer, at, len } => {
                let (sent, left) = (0, len);
                let owed = Owed::Memory {
                    answer,
                    at,
                    sent,
                    left,
                };
                self.owed.push_back((from, owed));
            }
            WindowMessage::Accumulate {
                answer,
                at,
                len,
                operation,
            } => {
                let operation = Accumulation::of_number(operation).ok_or(ELEMENTS)?;
                return self.accumulate(from, (answer, at, len), &operation, bytes);
            }
            WindowMessage::Flush { answer } => self.owe_done(from, answer),
            WindowMessage::Lock { answer, exclusive } => {
                let kind = kind(exclusive);
                let number = self.words.locks().ticket();
                let ticket = Ticket {
                    of: from,
                    answer,
                    number,
                    kind,
                };
                self.tickets.push(ticket);
                self.grant();
            }
            WindowMessage::Unlock { answer, exclusive } => {
                let lock = (from, kind(exclusive));
                let held = self.held.iter().position(|held| *held == lock);
                let held = held.ok_or("an origin gives back a lock that it has")?;
                self.held.swap_remove(held);
                let waiting = self.words.locks().release(lock.1);
                wake(tx, context, waiting, self.me);
                self.grant();
                self.owe_done(from, answer);
            }
            _ => return Err("a target is asked for what a target does"),
        }
        Ok(Served::Done)
    }

    /// Combines elements of the memory, if the locks of their blocks are free.
    fn accumulate(
        &mut self,
        from: Peer,
        (answer, at, len): (u64, u64, u64),
        operation: &Accumulation,
        operands: &[u8],
    ) -> Result<Served, &'static str> {
        let place = self.place(at, len)?;
        let Some(_locked) = BlockLocks::try_all(&self.words, at, len, self.me) else {
            return Ok(Served::Waits);
        };
        let mut elements = vec![0; len as usize];
        target(&mut elements[..]).copy_from(&place);
        let before = (answer != 0).then(|| {
            let mut before = elements.clone();
            operation.pack(&mut before);
            before
        });
        if operation.apply(operands, &mut elements) {
            place.copy_from(&source(&elements[..]));
        }
        if let Some(bytes) = before {
            self.owed.push_back((from, Owed::Before { answer, bytes }));
        }
        Ok(Served::Done)
    }

    /// Owes the end of all that an origin asked before.
    fn owe_done(&mut self, to: Peer, answer: u64) {
        let outside = self.outside.iter().find(|(origin, _)| *origin == to);
        let conflict = self.checker.as_mut().and_then(|checker| checker.take(to));
        let done = match (outside.copied(), conflict) {
            (Some((_, at)), _) => {
                self.outside.retain(|(origin, _)| *origin != to);
                WindowMessage::Outside { answer, at }
            }
            (None, Some(Conflict { at, other, kinds })) => WindowMessage::Conflict {
                answer,
                at,
                other: other.into(),
                kinds: kinds[0].number() | kinds[1].number() << 32,
            },
            (None, None) => WindowMessage::Done { answer },
        };
        self.owed.push_back((to, Owed::Plain(done)));
    }

    /// Grants the lock to those whose tickets are served.
    fn grant(&mut self) -> u32 {
        let locks = self.words.locks();
        let mut granted = 0;
        while let Some(at) =
            (self.tickets.iter()).position(|ticket| locks.is_granted(ticket.number, ticket.kind))
        {
            let Ticket {
                of, answer, kind, ..
            } = self.tickets.remove(at);
            self.held.push((of, kind));
            let done = Owed::Plain(WindowMessage::Done { answer });
            self.owed.push_back((of, done));
            granted += 1;
        }
        granted
    }

    /// Sends answers as far as there is room. Returns how many were sent.
    fn pay(&mut self, tx: &mut LinksTx, context: u32) -> u32 {
        let mut sent = 0;
        // An origin without room does not hold up the others.
        let mut full: Vec<Peer> = Vec::new();
        let mut at = 0;
        while at < self.owed.len() {
            let (to, owed) = &mut self.owed[at];
            if full.contains(to) {
                at += 1;
            } else if pay(tx, context, *to, owed, &self.memory) {
                self.owed.remove(at);
                sent += 1;
            } else {
                full.push(*to);
                at += 1;
            }
        }
        sent
    }

    /// Goes on with what waited. Returns how much moved, at least 1 while a block's lock is waited for, as nobody announces
    /// that it is free.
    pub(super) fn advance(&mut self, tx: &mut LinksTx, context: u32, peers: &Peers<'_>) -> u32 {
        self.drop_lost(peers);
        let mut moved = 0;
        let mut held_up: Vec<Peer> = Vec::new();
        for _ in 0..self.waiting.len() {
            let Some((from, request, bytes)) = self.waiting.pop_front() else {
                break;
            };
            let waits = held_up.contains(&from)
                || matches!(
                    self.serve(tx, context, from, request, &bytes),
                    Ok(Served::Waits)
                );
            if waits {
                held_up.push(from);
                self.waiting.push_back((from, request, bytes));
            } else {
                moved += 1;
            }
        }
        if !self.waiting.is_empty() {
            moved += self.give_up_waiting(peers);
        }
        moved += self.grant();
        if !self.tickets.is_empty() {
            self.refuse(peers);
            // Whoever gives the lock back on this node wakes this rank, which looks once more.
            self.words.locks().wait(self.me);
            moved += self.grant();
        }
        moved += self.pay(tx, context);
        moved.max(u32::from(!self.waiting.is_empty()))
    }

    /// Drops the requests of lost origins. One that waited for the lock counts as having it, as nobody after it is served.
    fn drop_lost(&mut self, peers: &Peers<'_>) {
        self.waiting.retain(|(from, ..)| !peers.is_gone(*from));
        self.owed.retain(|(to, _)| !peers.is_gone(*to));
        self.outside.retain(|(origin, _)| !peers.is_gone(*origin));
        let Self { tickets, held, .. } = self;
        let lost = tickets.extract_if(.., |ticket| peers.is_gone(ticket.of));
        held.extend(lost.map(|ticket| (ticket.of, ticket.kind)));
    }

    /// Drops what waits for the locks of blocks, if a rank of the node is lost, which may have one: whoever asks whether it is
    /// done learns of that rank. Returns how many.
    fn give_up_waiting(&mut self, peers: &Peers<'_>) -> u32 {
        let Some(rank) = self.on_node.iter().find_map(|peer| peers.lost(*peer)) else {
            return 0;
        };
        let dropped = self.waiting.len() as u32;
        for (from, request, _) in self.waiting.drain(..) {
            if let WindowMessage::Flush { answer }
            | WindowMessage::Lock { answer, .. }
            | WindowMessage::Unlock { answer, .. } = request
            {
                let rank = u64::from(rank);
                let refused = Owed::Plain(WindowMessage::Refused { answer, rank });
                self.owed.push_back((from, refused));
            }
        }
        dropped
    }

    /// Tells those who wait for the lock, if a rank that may have it is lost.
    fn refuse(&mut self, peers: &Peers<'_>) {
        let holder = self.held.iter().map(|(peer, _)| *peer);
        // Ranks of the node take the lock without this one's knowledge.
        let on_node = self.on_node.iter().copied();
        let Some(rank) = holder.chain(on_node).find_map(|peer| peers.lost(peer)) else {
            return;
        };
        for Ticket { of, answer, .. } in self.tickets.drain(..) {
            let rank = u64::from(rank);
            let refused = Owed::Plain(WindowMessage::Refused { answer, rank });
            self.owed.push_back((of, refused));
        }
    }
}

const fn kind(exclusive: bool) -> LockKind {
    match exclusive {
        true => LockKind::Exclusive,
        false => LockKind::Shared,
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

/// Wakes the ranks of the node that wait for a word in shared memory, a bit each.
pub(crate) fn wake(tx: &mut LinksTx, context: u32, waiting: u64, me: u32) {
    for rank in (0..u64::BITS).filter(|&rank| waiting >> rank & 1 != 0 && rank != me) {
        // A rank whose queue is full has something to receive, and does not sleep.
        let none = (&RawBytes::empty(), 0, 0);
        let _ = WindowMessage::Wake.send(tx, Peer(rank), context, none);
    }
}
