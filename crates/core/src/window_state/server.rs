//! A rank as the target of origins that do not reach its memory: it does what they ask in its own calls ([`Server`]).
//!
//! It never waits. What an origin asks is done at once, unless it needs a lock that another rank has, or room for an
//! answer. Whatever the same origin asks afterwards comes after it.

use std::collections::BTreeMap;
use std::sync::Arc;

use oxmpi_os::RawBytes;
use oxmpi_shm::window::{LockKind, WindowWords};
use oxmpi_wire::window::WindowMessage;
use oxmpi_wire::{Bytes, Peer, Take};

use super::super::links::LinksTx;
use super::origin::{Origin, Owed, Ticket, frame_room};
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
    /// By link, the origins of which something is not finished.
    origins: BTreeMap<u32, Origin>,
    /// Locks that origins have by messages.
    held: Vec<(Peer, LockKind)>,
    /// What looks for conflicts, if it is asked for.
    pub(crate) checker: Option<Checker>,
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
            origins: BTreeMap::new(),
            held: Vec::new(),
            checker: None,
        }
    }

    /// Whether something waits.
    pub(super) fn is_busy(&self) -> bool {
        self.origins.values().any(Origin::has_work)
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
        if let WindowMessage::Put { at } = request
            && self.takes_puts_at_once(from)
        {
            self.place(at, body.left() as u64)?.fill(0, body);
            return Ok(());
        }
        let mut bytes = vec![0; body.left()];
        body.take(&mut bytes);
        let len = bytes.len() as u64;
        self.check(&request, len, frame_room(tx, from) as u64)?;
        if let Some(checker) = &mut self.checker
            && unattached(&self.words, &request, len).is_none()
        {
            checker.note(from, &request, len);
        }
        // An unlock, as it is the end of what the origin does, may not pass what it asked before.
        let origin = self.origins.get(&from.0);
        let waits = origin.is_some_and(|one| one.is_waiting() || one.holds_up(&request));
        if waits {
            self.origin(from).wait(request, bytes)?;
        } else if let Served::Waits = self.serve(tx, context, from, request, &bytes)? {
            self.origin(from).wait(request, bytes)?;
        } else if let WindowMessage::Unlock { .. } = request {
            // Another origin may have waited for it.
            self.advance_origins(tx, context);
        }
        self.pay(tx, context, from);
        Ok(())
    }

    /// Whether nothing keeps a put of this origin from the memory.
    fn takes_puts_at_once(&self, from: Peer) -> bool {
        let is_known = self.words.attached().is_none() && self.checker.is_none();
        is_known && !self.origins.contains_key(&from.0)
    }

    fn origin(&mut self, from: Peer) -> &mut Origin {
        self.origins.entry(from.0).or_default()
    }

    /// Sends an origin its answers as far as there is room. Returns how many were sent.
    fn pay(&mut self, tx: &mut LinksTx, context: u32, to: Peer) -> u32 {
        let Some(origin) = self.origins.get_mut(&to.0) else {
            return 0;
        };
        let sent = origin.pay(tx, context, to, &self.memory);
        if origin.is_done() {
            self.origins.remove(&to.0);
        }
        sent
    }

    /// The `len` bytes of the memory from `at` on.
    fn place(&self, at: u64, len: u64) -> Result<RawBytes, &'static str> {
        self.memory.range(at, len).ok_or(RANGE)
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
        if let Some(origin) = self.origins.get_mut(&from.0)
            && origin.refuse(&request)?
        {
            return Ok(Served::Done);
        }
        // What was attached when the request came may have been detached since.
        if let Some((at, answer)) = unattached(&self.words, &request, bytes.len() as u64) {
            self.origin(from).is_outside(at, answer)?;
            return Ok(Served::Done);
        }
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
                self.origin(from).owe(owed)?;
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
            WindowMessage::Flush { answer } => self.owe_done(from, answer)?,
            WindowMessage::Lock { exclusive } => {
                let (number, kind) = (self.words.locks().ticket(), kind(exclusive));
                self.origin(from).ticket = Some(Ticket { number, kind });
                self.grant(from);
            }
            WindowMessage::Unlock { answer, exclusive } => {
                let lock = (from, kind(exclusive));
                let held = self.held.iter().position(|held| *held == lock);
                let held = held.ok_or("an origin gives back a lock that it has")?;
                self.held.swap_remove(held);
                let locks = self.words.locks();
                locks.release(lock.1, |rank| wake(tx, context, rank, self.me));
                self.owe_done(from, answer)?;
                // Another origin may have waited for it.
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
        let Some(locked) = BlockLocks::try_all(&self.words, at, len, self.me) else {
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
        drop(locked);
        if let Some(bytes) = before {
            self.origin(from).owe(Owed::Before { answer, bytes })?;
        }
        Ok(Served::Done)
    }

    /// Owes the end of all that an origin asked before.
    fn owe_done(&mut self, to: Peer, answer: u64) -> Accepted {
        let conflict = self.checker.as_mut().and_then(|checker| checker.take(to));
        let conflict = conflict.map(|Conflict { at, other, kinds }| WindowMessage::Conflict {
            answer,
            at,
            other: other.into(),
            kinds: kinds[0].number() | kinds[1].number() << 32,
        });
        let origin = self.origin(to);
        let failed = origin.failed(answer).or(conflict);
        origin.owe(Owed::Plain(
            failed.unwrap_or(WindowMessage::Done { answer }),
        ))
    }

    /// Goes on with what waited. Returns how much moved, at least 1 while a block's lock is waited for, as nobody announces
    /// that it is free.
    pub(super) fn advance(&mut self, tx: &mut LinksTx, context: u32, peers: &Peers<'_>) -> u32 {
        self.drop_lost(peers);
        let mut moved = self.advance_origins(tx, context);
        if self.origins.values().any(|origin| origin.ticket.is_some()) {
            // Whoever gives the lock back on this node wakes this rank, which looks once more.
            self.words.locks().wait(self.me);
            moved += self.advance_origins(tx, context);
        }
        if self.lock_out(peers) {
            moved += self.advance_origins(tx, context);
        }
        moved.max(u32::from(
            self.origins.values().any(Origin::waits_for_block),
        ))
    }

    /// Does what it can of what waited: what one origin gives back, another may have waited for. Returns how much moved.
    fn advance_origins(&mut self, tx: &mut LinksTx, context: u32) -> u32 {
        let links: Vec<u32> = self.origins.keys().copied().collect();
        let mut moved = 0;
        loop {
            let pass = links.iter().map(|&link| Peer(link));
            let now: u32 = pass
                .map(|from| self.advance_origin(tx, context, from))
                .sum();
            moved += now;
            if now == 0 {
                return moved;
            }
        }
    }

    /// Goes on with what waited of one origin. Returns how much moved.
    fn advance_origin(&mut self, tx: &mut LinksTx, context: u32, from: Peer) -> u32 {
        let mut moved = u32::from(self.grant(from));
        while let Some((request, bytes)) = self.origins.get_mut(&from.0).and_then(Origin::next) {
            match self.serve(tx, context, from, request, &bytes) {
                Ok(Served::Waits) => {
                    self.origin(from).put_back(request, bytes);
                    break;
                }
                // It was checked when it came, so an error is a lock that the origin does not have.
                Ok(Served::Done) | Err(_) => moved += 1,
            }
        }
        moved + self.pay(tx, context, from)
    }

    /// Grants the lock to an origin whose ticket is served. Whether it did.
    fn grant(&mut self, to: Peer) -> bool {
        let locks = self.words.locks();
        let is_granted = |ticket: &mut Ticket| locks.is_granted(ticket.number, ticket.kind);
        let origin = self.origins.get_mut(&to.0);
        let granted = origin.and_then(|origin| origin.ticket.take_if(is_granted));
        self.held.extend(granted.map(|ticket| (to, ticket.kind)));
        granted.is_some()
    }

    /// Drops the requests of lost origins. One that waited for the lock counts as having it, as nobody after it is served.
    fn drop_lost(&mut self, peers: &Peers<'_>) {
        let Self { origins, held, .. } = self;
        origins.retain(|&link, origin| {
            let is_gone = peers.is_gone(Peer(link));
            let ticket = origin.ticket.filter(|_| is_gone);
            held.extend(ticket.map(|ticket| (Peer(link), ticket.kind)));
            !is_gone
        });
    }

    /// Gives up waiting for locks that a lost rank may have: ranks of the node take them without this one's knowledge. Whether
    /// an origin waited for one.
    fn lock_out(&mut self, peers: &Peers<'_>) -> bool {
        let on_node = self.on_node.iter().find_map(|peer| peers.lost(*peer));
        let holder = || self.held.iter().find_map(|(peer, _)| peers.lost(*peer));
        let holder = on_node.or_else(holder);
        let mut locked_out = false;
        for origin in self.origins.values_mut() {
            let lost = match origin.ticket {
                Some(_) => holder,
                None => on_node.filter(|_| origin.waits_for_block()),
            };
            if let Some(lost) = lost {
                origin.lock_out(lost);
                locked_out = true;
            }
        }
        locked_out
    }
}

/// Where a request with so many bytes names memory that is not attached, and the number of its answer.
fn unattached(words: &WindowWords, request: &WindowMessage, bytes: u64) -> Option<(u64, u64)> {
    let (at, len, answer) = match *request {
        WindowMessage::Put { at } => (at, bytes, 0),
        WindowMessage::Get { answer, at, len } => (at, len, answer),
        WindowMessage::Accumulate {
            answer, at, len, ..
        } => (at, len, answer),
        _ => return None,
    };
    (!words.is_attached(at, len)).then_some((at, answer))
}

const fn kind(exclusive: bool) -> LockKind {
    match exclusive {
        true => LockKind::Exclusive,
        false => LockKind::Shared,
    }
}

/// Wakes a rank of the node that waits for a word in shared memory.
pub(crate) fn wake(tx: &mut LinksTx, context: u32, rank: u32, me: u32) {
    if rank != me {
        // A rank whose queue is full has something to receive, and does not sleep.
        let none = (&RawBytes::empty(), 0, 0);
        let _ = WindowMessage::Wake.send(tx, Peer(rank), context, none);
    }
}
