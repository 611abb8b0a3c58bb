//! A node with a hostile rank, which writes what it likes into the segment between acts by the rules.
//!
//! Ranks 0 and 1 are sound; they exchange messages with each other and with rank 2, which is hostile. Rank 3 only shows
//! the words. An input is a list of acts. A sound exchange shows once which words rank 2 writes by the rules, so the test
//! does not depend on the layout.

#[cfg(test)]
pub(crate) mod fire;
mod learned;
mod room;
mod script;

use std::sync::Arc;
use std::time::Duration;

use oxmpi_os::RawBytes;
use oxmpi_shm::ring::SharedWords;
use oxmpi_shm::{Node, SegmentLayout, ShmRx, ShmTx};
use oxmpi_wire::{
    Engine, EngineConfig, Envelope, Fault, Mode, PathOverrides, Peer, Request, Rx, Sleeper, Source,
    Tag, Tx,
};

use self::learned::{learned, word, write};
use self::room::FencedRoom;
use self::script::Script;

#[cfg(test)]
pub(crate) use self::learned::writes;

const HOSTILE: usize = 2;
/// The smallest sizes, so that everything wraps around and runs out of room.
const LAYOUT: SegmentLayout = SegmentLayout {
    ranks: 4,
    slots: 4,
    buffer: 128,
    buffers: 4,
};
/// Longest message of the eager paths, in bytes.
const EAGER: u32 = 100;
const RULES: EngineConfig = EngineConfig {
    // Longer messages use both rendezvous: a get up to 500 B, a put beyond.
    overrides: PathOverrides {
        get: Some(500),
        chunk: Some(200),
        ..PathOverrides::eager(EAGER)
    },
    unexpected_bytes: 600,
    unexpected_bytes_total: 1000,
    unexpected_messages: 6,
};
/// Envelope of messages between the sound ranks.
const SOUND: Envelope = Envelope { context: 1, tag: 7 };
/// Context of all other messages.
const OTHER: u32 = 0;
/// Lengths for all paths, in bytes.
const LENS: [usize; 8] = [0, 8, 48, 49, 100, 101, 700, 3000];
/// An operation that is open after so many rounds hangs.
const MAX_ROUNDS: u32 = 5000;

/// Runs the acts of `data`.
///
/// # Panics
/// If a sound rank panics, an operation does not end, a message between sound ranks is lost or changed by a
/// rank that wrote its own words only, or memory is touched that was not granted.
pub(crate) fn segment(data: &[u8]) {
    let mut script = Script(data);
    let access = match script.next() % 4 {
        3 => WordAccess::All,
        _ => WordAccess::OwnWords,
    };
    let mut run = HostileRun::new();
    while let Some(act) = script.byte() {
        run.act(act, access, &mut script);
    }
    run.end(access);
}

/// Which words the hostile rank writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordAccess {
    /// Those that it also writes in a sound job.
    OwnWords,
    /// All: then a message between other ranks may be lost, but nothing worse.
    All,
}

struct Rank {
    engine: Engine<ShmTx>,
    tx: ShmTx,
    rx: ShmRx,
    /// Operations with the hostile rank or with any rank.
    open: Vec<Request>,
    /// Sends to the other sound rank.
    sends: Vec<Request>,
    /// Receives from the other sound rank, in order, each with the index of its room.
    receives: Vec<(Request, usize)>,
}

impl Rank {
    fn new(node: Node) -> Self {
        let (mut tx, rx) = node.ends().expect("this process can watch itself");
        Self {
            engine: Engine::new(&mut tx, LAYOUT.ranks, RULES),
            tx,
            rx,
            open: Vec::new(),
            sends: Vec::new(),
            receives: Vec::new(),
        }
    }

    fn send(&mut self, to: u32, envelope: Envelope, mode: Mode, body: RawBytes) -> Request {
        let request = (self.engine).send(&mut self.tx, Peer(to), envelope, mode, body);
        self.tx.flush();
        request
    }

    fn receive(&mut self, from: Source, context: u32, tag: Tag, body: RawBytes) -> Request {
        let request = (self.engine).recv(&mut self.tx, from, context, tag, body);
        self.tx.flush();
        request
    }

    fn poll(&mut self) {
        self.engine.resume(&mut self.tx);
        self.rx.poll(&mut self.tx, 16, &mut self.engine);
        self.tx.flush();
    }

    /// Polls as after a sleep, which checks the peers, too.
    fn poll_and_check(&mut self) {
        self.rx.disarm();
        self.poll();
    }
}

struct HostileRun {
    ranks: Vec<Rank>,
    /// Rank 3.
    observer: Arc<Node>,
    /// The memory of all messages.
    rooms: Vec<FencedRoom>,
    /// Rooms that are only read, with the bytes that they must keep.
    sources: Vec<(usize, Vec<u8>)>,
    /// Lengths of the messages that ranks 0 and 1 sent to each other, by sender.
    sent: [Vec<usize>; 2],
    /// Own words of the hostile rank that its last act changed.
    fresh: Vec<usize>,
}

impl HostileRun {
    fn new() -> Self {
        let mut nodes = Node::in_process(LAYOUT).expect("there is memory for a small segment");
        let observer = nodes.pop().expect("rank 3");
        Self {
            ranks: nodes.into_iter().map(Rank::new).collect(),
            observer: Arc::new(observer),
            rooms: Vec::new(),
            sources: Vec::new(),
            sent: Default::default(),
            fresh: Vec::new(),
        }
    }

    fn room(&mut self, inner: &[u8]) -> RawBytes {
        self.rooms.push(FencedRoom::new(inner));
        self.rooms.last_mut().expect("just pushed").raw()
    }

    fn source(&mut self, len: usize, seed: usize) -> RawBytes {
        let bytes = pattern(len, seed);
        let raw = self.room(&bytes);
        self.sources.push((self.rooms.len() - 1, bytes));
        raw
    }

    fn act(&mut self, act: u8, access: WordAccess, script: &mut Script<'_>) {
        let rank = usize::from(act >> 7);
        match act % 16 {
            0..3 => self.write_word(access, script),
            3 => self.change_fresh_word(script),
            4..7 => self.misbehave(|run| run.operation(HOSTILE, script)),
            7 => self.send_sound(rank, script.below(LENS.len())),
            8 => self.receive_sound(rank),
            9..11 => self.operation(rank, script),
            11 => self.poll_fast(rank, script),
            12 => self.ranks[rank].poll_and_check(),
            13 => {
                let rx = &mut self.ranks[rank].rx;
                if rx.arm() {
                    rx.nap(Duration::ZERO);
                }
            }
            _ => self.ranks[rank].poll(),
        }
    }

    fn word(&self, at: usize) -> u64 {
        word(&self.observer, at)
    }

    /// The hostile rank writes one word.
    fn write_word(&mut self, access: WordAccess, script: &mut Script<'_>) {
        let learned = learned();
        let at = match (access, script.next() % 4) {
            (WordAccess::OwnWords, _) => learned.own[script.below(learned.own.len())],
            (WordAccess::All, 0) => script.below(self.observer.words().len()),
            (WordAccess::All, _) => learned.all[script.below(learned.all.len())],
        };
        write(&self.observer, at, script.word(self.word(at)));
    }

    /// The hostile rank changes a word that its last act changed.
    fn change_fresh_word(&mut self, script: &mut Script<'_>) {
        let nth = script.below(self.fresh.len());
        if let Some(&at) = self.fresh.get(nth) {
            write(&self.observer, at, script.word(self.word(at)));
        }
    }

    /// Runs an act of the hostile rank and notes which of its words it changed.
    fn misbehave(&mut self, act: impl FnOnce(&mut Self)) {
        let own = &learned().own;
        let before: Vec<u64> = own.iter().map(|&at| self.word(at)).collect();
        act(self);
        self.fresh.clear();
        for (&at, before) in own.iter().zip(before) {
            if self.word(at) != before {
                self.fresh.push(at);
            }
        }
    }

    /// A sound rank sends to the other one.
    fn send_sound(&mut self, from: usize, len: usize) {
        let len = LENS[len];
        let number = self.sent[from].len();
        self.sent[from].push(len);
        let body = self.source(len, number + from);
        let mode = [Mode::Standard, Mode::Synchronous][number % 2];
        let rank = &mut self.ranks[from];
        let request = rank.send(1 - from as u32, SOUND, mode, body);
        rank.sends.push(request);
    }

    /// A sound rank receives from the other one.
    fn receive_sound(&mut self, at: usize) {
        let body = self.room(&[0; LENS[LENS.len() - 1]]);
        let room = self.rooms.len() - 1;
        let source = Source::Peer(Peer(1 - at as u32));
        let rank = &mut self.ranks[at];
        let request = rank.receive(source, SOUND.context, Tag::Exact(SOUND.tag), body);
        rank.receives.push((request, room));
    }

    /// Starts an operation by the rules: of a sound rank with the hostile one, or of the hostile one with a
    /// sound one.
    fn operation(&mut self, at: usize, script: &mut Script<'_>) {
        let (what, shape) = (script.next(), script.next());
        let peer = if at == HOSTILE {
            u32::from(shape & 1)
        } else {
            HOSTILE as u32
        };
        let (tag, len) = (u32::from(shape >> 1 & 1), LENS[usize::from(shape >> 2 & 7)]);
        let envelope = Envelope {
            context: OTHER,
            tag,
        };
        match what % 8 {
            0..3 => {
                let body = self.source(len, usize::from(shape));
                let mode = [Mode::Standard, Mode::Synchronous][usize::from(shape >> 5 & 1)];
                let rank = &mut self.ranks[at];
                let request = rank.send(peer, envelope, mode, body);
                rank.open.push(request);
            }
            3..5 => {
                let body = self.room(&vec![0; len]);
                let source = [Source::Peer(Peer(peer)), Source::Any][usize::from(shape >> 5 & 1)];
                let tag = [Tag::Exact(tag), Tag::Any][usize::from(shape >> 6 & 1)];
                let rank = &mut self.ranks[at];
                let request = rank.receive(source, OTHER, tag, body);
                rank.open.push(request);
            }
            5 => {
                let rank = &mut self.ranks[at];
                if let Some(&request) = rank.open.get(usize::from(shape)) {
                    rank.engine.cancel(&mut rank.tx, request);
                }
            }
            6 => {
                let body = self.source(len.min(EAGER as usize), 1);
                let Rank { engine, tx, .. } = &mut self.ranks[at];
                // Where the fast path is closed, nothing is sent.
                let _ = engine.try_eager(tx, Peer(peer), envelope, &body);
                tx.flush();
            }
            _ => self.ranks[at].poll(),
        }
    }

    /// A sound rank polls the hostile one by the fast path.
    fn poll_fast(&mut self, at: usize, script: &mut Script<'_>) {
        let body = self.room(&vec![0; LENS[script.below(4)]]);
        let source = Source::Peer(Peer(HOSTILE as u32));
        let Rank { engine, tx, rx, .. } = &mut self.ranks[at];
        engine.recv_fast(rx, tx, source, OTHER, Tag::Exact(0), &body);
    }

    /// The sound ranks finish their messages, the hostile one leaves, and no operation stays open.
    fn end(&mut self, access: WordAccess) {
        if access == WordAccess::OwnWords {
            for at in 0..2 {
                while self.ranks[at].receives.len() < self.sent[1 - at].len() {
                    self.receive_sound(at);
                }
                for (request, _) in self.ranks[at].receives.split_off(self.sent[1 - at].len()) {
                    let rank = &mut self.ranks[at];
                    rank.engine.cancel(&mut rank.tx, request);
                    rank.open.push(request);
                }
            }
            self.settle();
            self.check_received();
        }
        self.ranks[HOSTILE].tx.depart();
        if access == WordAccess::All {
            // Messages between the sound ranks may be lost: these leave, too.
            for rank in &mut self.ranks[..HOSTILE] {
                rank.tx.depart();
                let receives = std::mem::take(&mut rank.receives);
                rank.open
                    .extend(receives.into_iter().map(|(request, _)| request));
                rank.open.append(&mut rank.sends);
            }
        }
        for rank in &mut self.ranks[..HOSTILE] {
            // The loss of a rank does not end a receive from any source.
            for &request in &rank.open {
                if matches!(rank.engine.awaited(request), Some(Source::Any)) {
                    rank.engine.cancel(&mut rank.tx, request);
                }
            }
        }
        self.until_done(|rank| (&rank.open, &[]), "with the hostile rank");
        let lost = |rank: &Rank| rank.engine.fault(Peer(HOSTILE as u32));
        for _ in 0..MAX_ROUNDS {
            self.ranks[..HOSTILE]
                .iter_mut()
                .for_each(Rank::poll_and_check);
            if self.ranks[..HOSTILE]
                .iter()
                .all(|rank| lost(rank).is_some())
            {
                break;
            }
        }
        for fault in self.ranks[..HOSTILE].iter().map(lost) {
            // A rank that takes an offer back says so in words of its own, and its peer believes it.
            let given_up = Fault::Refused("the peer has given this rank up");
            assert!(
                matches!(fault, Some(Fault::Left | Fault::Protocol(_))) || fault == Some(given_up),
                "{fault:?}"
            );
        }
        self.check_memory();
    }

    /// Completes the operations between the sound ranks.
    fn settle(&mut self) {
        self.until_done(
            |rank| (&rank.sends, &rank.receives[..]),
            "between sound ranks",
        );
    }

    /// Polls the sound ranks until the requests that `which` picks are complete.
    fn until_done(
        &mut self,
        which: impl Fn(&Rank) -> (&Vec<Request>, &[(Request, usize)]),
        what: &str,
    ) {
        for _ in 0..MAX_ROUNDS {
            let done = |rank: &Rank| {
                let (some, others) = which(rank);
                let others = others.iter().map(|(request, _)| request);
                (some.iter().chain(others)).all(|&request| rank.engine.is_done(request))
            };
            if self.ranks[..HOSTILE].iter().all(done) {
                return;
            }
            for rank in &mut self.ranks[..HOSTILE] {
                rank.poll_and_check();
            }
        }
        panic!("operations {what} do not end");
    }

    /// Checks that every message between the sound ranks came, in order and unchanged.
    fn check_received(&mut self) {
        for at in 0..2 {
            let receives = std::mem::take(&mut self.ranks[at].receives);
            for (number, (request, room)) in receives.into_iter().enumerate() {
                let outcome = self.ranks[at].engine.test(request);
                let len = self.sent[1 - at][number];
                let status = outcome.expect("it is done").expect("its sender is sound");
                assert_eq!(
                    (status.source, status.len),
                    (Peer(1 - at as u32), len as u64)
                );
                let came = &self.rooms[room].inner()[..len];
                assert!(
                    came == pattern(len, number + 1 - at),
                    "message {number} was changed"
                );
            }
            let Rank { engine, sends, .. } = &mut self.ranks[at];
            for request in sends.drain(..) {
                let outcome = engine.test(request).expect("it is done");
                assert!(outcome.is_ok(), "{outcome:?}");
            }
        }
    }

    fn check_memory(&self) {
        self.rooms.iter().for_each(FencedRoom::check);
        for (room, bytes) in &self.sources {
            assert!(
                self.rooms[*room].inner() == bytes,
                "a message to send was changed"
            );
        }
    }

    /// The words of the whole segment.
    fn snapshot(&self) -> Vec<u64> {
        (0..self.observer.words().len())
            .map(|at| self.word(at))
            .collect()
    }
}

fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (at * 31 + at / 251 + seed) as u8)
        .collect()
}
