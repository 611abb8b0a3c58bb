//! The windows of an endpoint, as arrivals from other ranks find them: [`WindowTable`].
//!
//! The calls on windows are in [`window`](super::window). Here is what belongs to the endpoint: the [epochs] of this rank,
//! what it serves as a [target](server) to origins that do not reach its memory, and the [answers] that it waits for.

mod access_log;
mod accumulation;
mod answers;
mod asked;
mod block_locks;
mod checker;
mod epochs;
mod origin;
mod server;

use std::collections::BTreeMap;
use std::sync::Arc;

use oxmpi_os::RawBytes;
use oxmpi_shm::heap::HeapBlock;
use oxmpi_shm::window::{LockKind, WindowWords};
use oxmpi_wire::engine::Engine;
use oxmpi_wire::window::WindowMessage;
use oxmpi_wire::{Envelope, Fault, Header, Kind, Outcome, Peer, Sink, Take, Token, Tx};

pub(crate) use self::access_log::{AccessKind, Conflict};
pub use self::accumulation::AccumulateOp;
pub(crate) use self::accumulation::Accumulation;
pub(crate) use self::answers::{Answered, Answers, AwaitedBy};
pub(crate) use self::asked::Asked;
pub(crate) use self::block_locks::{BlockLocks, MOST_ACCUMULATED};
pub(crate) use self::checker::Checker;
pub(crate) use self::epochs::{Epochs, Needs, WrongEpoch};
pub(crate) use self::origin::{MOST_ASKED, cost, frame_room};
use self::server::Server;
pub(crate) use self::server::wake;
use super::links::{LinkRanks, LinksTx};
use super::request::OpenRequest;

/// The result of a peer's message; the error is the rule of the protocol that it broke.
type Accepted = Result<(), &'static str>;

/// The windows of an endpoint, by the contexts of their communicators.
#[derive(Default)]
pub(crate) struct WindowTable {
    windows: BTreeMap<u32, Box<WindowState>>,
    /// Whether a window may have something to do that no arrival announces.
    pub(crate) busy: bool,
    /// Requests of the program that have ended, until the endpoint completes them.
    ended: Vec<(OpenRequest, Outcome)>,
    /// Shared memory of the locks of windows that were freed: the next ones need not ask the system for some.
    spare: Vec<HeapBlock>,
}

/// Most blocks of memory that are kept for later windows.
const MOST_SPARE: usize = 8;

/// A place in the queue for a lock that is given back as soon as it is granted.
pub(crate) struct GivenUpTicket {
    pub(crate) words: Arc<WindowWords>,
    pub(crate) ticket: u64,
    pub(crate) kind: LockKind,
}

/// One window of this rank.
pub(crate) struct WindowState {
    pub(crate) epochs: Epochs,
    /// What this rank waits for.
    pub(crate) answers: Answers,
    pub(crate) asked: Asked,
    /// By link, locks of peers that go with the first access.
    pub(crate) locks_to_ask: BTreeMap<u32, LockKind>,
    /// Tickets for locks of ranks of this node that nobody waits for any more.
    pub(crate) given_up: Vec<GivenUpTicket>,
    /// Exposures and ended accesses that peers have announced, by link.
    pub(crate) posts: BTreeMap<u32, u32>,
    pub(crate) completes: BTreeMap<u32, u32>,
    /// Addresses at which no bytes are attached, to be detached.
    pub(crate) attached_nothing: Vec<usize>,
    pub(crate) server: Server,
    /// Whether a peer may reach this rank's memory by messages only.
    pub(crate) is_served: bool,
    /// The memory of the locks, if it is shared.
    locks: Option<HeapBlock>,
}

impl WindowState {
    /// A window with this memory of the rank and its locks; `on_node` are this rank's number on its node, and the
    /// window's ranks there.
    pub(crate) fn new(
        memory: RawBytes,
        (words, locks): (Arc<WindowWords>, Option<HeapBlock>),
        on_node: (u32, Box<[Peer]>),
    ) -> Self {
        Self {
            is_served: true,
            locks,
            epochs: Epochs::default(),
            answers: Answers::default(),
            asked: Asked::default(),
            locks_to_ask: BTreeMap::new(),
            given_up: Vec::new(),
            attached_nothing: Vec::new(),
            posts: BTreeMap::new(),
            completes: BTreeMap::new(),
            server: Server::new(memory, words, on_node),
        }
    }

    /// Whether it may have something to do that no arrival announces: to end requests of a peer that is lost, too.
    fn is_busy(&self) -> bool {
        self.server.is_busy() || self.answers.has_requests() || !self.given_up.is_empty()
    }

    /// Gives back the locks that are granted to tickets that were given up. Returns how many.
    fn release_given_up(&mut self, tx: &mut LinksTx, context: u32, me: u32) -> u32 {
        let before = self.given_up.len();
        self.given_up.retain(
            |GivenUpTicket {
                 words,
                 ticket,
                 kind,
             }| {
                let is_granted = words.locks().is_granted(*ticket, *kind);
                if is_granted {
                    words
                        .locks()
                        .release(*kind, |rank| wake(tx, context, rank, me));
                } else {
                    // Whoever gives the lock back wakes this rank.
                    words.locks().wait(me);
                }
                !is_granted
            },
        );
        (before - self.given_up.len()) as u32
    }

    fn accept(
        &mut self,
        tx: &mut LinksTx,
        from: Peer,
        head: &Header,
        body: &mut impl Take,
    ) -> Accepted {
        let message = WindowMessage::parse(head, body)?;
        match message {
            WindowMessage::Post => *self.posts.entry(from.0).or_default() += 1,
            WindowMessage::Complete => *self.completes.entry(from.0).or_default() += 1,
            WindowMessage::Wake => {}
            WindowMessage::Data { answer, at } => self.answers.data(from, answer, at, body)?,
            WindowMessage::Done { answer } => self.answers.done(from, answer)?,
            WindowMessage::Refused { answer, rank } => self.answers.refused(from, answer, rank)?,
            WindowMessage::Outside { answer, at } => self.answers.outside(from, answer, at)?,
            WindowMessage::Conflict {
                answer,
                at,
                other,
                kinds,
            } => {
                let kind = |bits: u64| AccessKind::of_number(bits & u64::from(u32::MAX));
                let conflict = Conflict {
                    at,
                    other: other as u32,
                    kinds: [kind(kinds), kind(kinds >> 32)],
                };
                self.answers.conflict(from, answer, conflict)?;
            }
            request => {
                let ends = matches!(
                    request,
                    WindowMessage::Flush { .. } | WindowMessage::Unlock { .. }
                );
                (self.server).ask(tx, head.envelope.context, from, request, body)?;
                if let (true, Some(checker)) = (ends, &mut self.server.checker) {
                    checker.end_of(from);
                }
            }
        }
        Ok(())
    }
}

impl WindowTable {
    /// The window of this context.
    pub(crate) fn get(&mut self, context: u32) -> Option<&mut WindowState> {
        self.windows.get_mut(&context).map(|window| &mut **window)
    }

    /// Whether peers reach a window of this rank by messages, so that they wait for its progress.
    pub(crate) fn are_served(&self) -> bool {
        self.windows.values().any(|window| window.is_served)
    }

    /// Adds a window.
    pub(crate) fn insert(&mut self, context: u32, window: WindowState) {
        self.windows.insert(context, Box::new(window));
    }

    /// Removes a window, which no peer uses any more.
    pub(crate) fn remove(&mut self, context: u32) {
        let removed = self.windows.remove(&context);
        if self.spare.len() < MOST_SPARE {
            self.spare.extend(removed.and_then(|window| window.locks));
        }
    }

    /// Memory of at least so many bytes, all 0, of a window that was freed.
    pub(crate) fn take_spare(&mut self, bytes: u64) -> Option<HeapBlock> {
        let at = self.spare.iter().position(|block| block.len() >= bytes)?;
        let block = self.spare.swap_remove(at);
        WindowWords::clear(&block, bytes);
        Some(block)
    }

    /// Whether [`WindowTable::advance`] has something to do.
    #[inline]
    pub(crate) const fn is_busy(&self) -> bool {
        self.busy
    }

    /// Goes on with what waited for room or for a lock. Returns how much moved, at least 1 while something waits that
    /// nobody announces.
    #[cold]
    pub(crate) fn advance(&mut self, tx: &mut LinksTx, peers: &Peers<'_>) -> u32 {
        let mut moved = 0;
        self.busy = false;
        for (&context, window) in &mut self.windows {
            moved += window.server.advance(tx, context, peers);
            moved += window.release_given_up(tx, context, peers.me);
            window.answers.end_lost(peers);
            self.ended.extend(window.answers.take_ended());
            self.busy |= window.is_busy();
        }
        moved
    }

    /// The requests of the program that have ended since the last call.
    pub(crate) fn take_ended(&mut self) -> impl Iterator<Item = (OpenRequest, Outcome)> + use<'_> {
        self.ended.drain(..)
    }

    fn accept(
        &mut self,
        tx: &mut LinksTx,
        from: Peer,
        head: &Header,
        body: &mut impl Take,
    ) -> Accepted {
        if body.left() as u64 != u64::from(head.len) {
            return Err("the length of a frame's body differs from its header");
        }
        let Some(window) = self.windows.get_mut(&head.envelope.context) else {
            // A rank that gives back a lock wakes those that it saw waiting; one of them may have had the lock, and have
            // freed the window, before the message comes.
            return match WindowMessage::parse(head, body)? {
                WindowMessage::Wake => Ok(()),
                _ => Err("a message of a window is for a window that this rank has"),
            };
        };
        window.accept(tx, from, head, body)?;
        self.ended.extend(window.answers.take_ended());
        self.busy |= window.is_busy();
        Ok(())
    }
}

/// The peers of an endpoint, as far as a target asks for them.
pub(crate) struct Peers<'a> {
    pub(crate) engine: &'a Engine<LinksTx>,
    pub(crate) ranks: Option<&'a LinkRanks>,
    /// This rank's number on its node.
    pub(crate) me: u32,
}

impl Peers<'_> {
    /// Whether nothing comes of the peer any more.
    fn is_gone(&self, peer: Peer) -> bool {
        self.engine.fault(peer).is_some()
    }

    /// The number in the endpoint of the rank at a link, if nothing comes of it any more.
    fn lost(&self, peer: Peer) -> Option<u32> {
        let rank = || self.ranks.map_or(peer.0, |ranks| ranks.rank(peer.0));
        self.is_gone(peer).then(rank)
    }
}

/// Where the arrivals of an endpoint go: to its engine, and messages of windows to these.
pub(crate) struct Arrivals<'a> {
    pub(crate) engine: &'a mut Engine<LinksTx>,
    pub(crate) windows: &'a mut WindowTable,
}

impl Sink<LinksTx> for Arrivals<'_> {
    #[inline(always)]
    fn expected(&mut self, from: Peer, envelope: Envelope, body: &mut impl Take) -> bool {
        Sink::<LinksTx>::expected(self.engine, from, envelope, body)
    }

    #[inline]
    fn frame(&mut self, tx: &mut LinksTx, from: Peer, head: &Header, body: &mut impl Take) {
        match head.kind {
            Kind::Window => self.accept(tx, from, head, body),
            _ => self.engine.frame(tx, from, head, body),
        }
    }

    fn done(&mut self, tx: &mut LinksTx, token: Token, result: Result<(), Fault>) {
        self.engine.done(tx, token, result);
    }

    fn room(&mut self, tx: &mut LinksTx, to: Peer) {
        self.engine.room(tx, to);
    }

    fn lost(&mut self, tx: &mut LinksTx, peer: Peer, why: Fault) {
        self.engine.lost(tx, peer, why);
    }
}

impl Arrivals<'_> {
    /// Hands over the frames of windows that have come to the engine, in its fast path. Returns how many.
    pub(crate) fn hand_over(&mut self, tx: &mut LinksTx) -> u32 {
        let mut handed = 0;
        while let Some((from, head, bytes)) = self.engine.take_window_frame() {
            self.accept(tx, from, &head, &mut &bytes[..]);
            handed += 1;
        }
        handed
    }

    /// A message of a window.
    #[cold]
    fn accept(&mut self, tx: &mut LinksTx, from: Peer, head: &Header, body: &mut impl Take) {
        if self.engine.fault(from).is_none()
            && let Err(rule) = self.windows.accept(tx, from, head, body)
        {
            let why = Fault::Protocol(rule);
            self.lost(tx, from, why);
            tx.give_up(from, why);
        }
        for (request, outcome) in self.windows.take_ended() {
            self.engine.complete_generalized(request, outcome);
        }
    }
}
