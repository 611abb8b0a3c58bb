//! A node of which one rank has gone mad: between acts by the rules it writes what it likes into the
//! segment, and the others go on.
//!
//! Ranks 0 and 1 are sound and talk to each other and to rank 2, which is hostile; rank 3 does
//! nothing but show the words. An input is a list of acts. Which words rank 2 writes by the rules is
//! learned once from a sound exchange, so that nothing here depends on where things are.

#[cfg(test)]
pub(crate) mod fire;
mod script;

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use oxmpi_os::RawBytes;
use oxmpi_shm::ring::SharedWords;
use oxmpi_shm::{Node, SegmentLayout, ShmRx, ShmTx};
use oxmpi_wire::{
    Engine, Envelope, Fault, Mode, Peer, Request, Rules, Rx, Sleeper, Source, Switches, Tag, Tx,
};

use self::script::Script;

const HOSTILE: usize = 2;
/// As small as can be, so that everything wraps around and runs out of room.
const LAYOUT: SegmentLayout = SegmentLayout {
    ranks: 4,
    slots: 4,
    buffer: 128,
    buffers: 4,
};
/// Longest message of the eager paths.
const EAGER: u32 = 100;
const RULES: Rules = Rules {
    // Beyond the eager paths messages of both rendezvous: got up to 500 B, put beyond.
    switches: Switches {
        get: Some(500),
        chunk: Some(200),
        ..Switches::eager(EAGER)
    },
    kept_bytes: 600,
    kept_bytes_of_all: 1000,
    kept_messages: 6,
};
/// Of messages between the sound ranks.
const SOUND: Envelope = Envelope { context: 1, tag: 7 };
/// Of everything else.
const OTHER: u32 = 0;
/// Bytes of all paths.
const LENS: [usize; 8] = [0, 8, 48, 49, 100, 101, 700, 3000];
/// Rounds after which what is still open hangs.
const PATIENCE: u32 = 5000;
/// Bytes on both sides of a user's memory that nobody may touch.
const FENCE: usize = 64;
const FENCED: u8 = 0xa5;

/// Plays `data`.
///
/// # Panics
/// If a sound rank panics, an operation does not end, a message between sound ranks is lost or
/// changed by one that wrote its own words only, or memory is touched that was not granted.
pub(crate) fn segment(data: &[u8]) {
    let mut script = Script(data);
    let manners = if script.next() % 4 == 3 {
        Manners::None
    } else {
        Manners::OwnWords
    };
    let mut play = Play::new();
    while let Some(act) = script.byte() {
        play.act(act, manners, &mut script);
    }
    play.end(manners);
}

/// Which words the hostile rank writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manners {
    /// Those that it writes in a sound job too.
    OwnWords,
    /// All: then a message between others may be lost, but nothing worse.
    None,
}

/// A user's memory between two fences. It lives until the ranks are gone.
struct Room {
    bytes: Box<[u8]>,
}

impl Room {
    fn new(inner: &[u8]) -> Self {
        let fence = [FENCED; FENCE];
        Self {
            bytes: [&fence, inner, &fence].concat().into(),
        }
    }

    fn inner(&self) -> &[u8] {
        &self.bytes[FENCE..self.bytes.len() - FENCE]
    }

    /// The inner bytes for a transport.
    fn raw(&mut self) -> RawBytes {
        let len = self.inner().len();
        let inner = self.bytes.as_mut_ptr().wrapping_add(FENCE);
        // SAFETY: the play drops its rooms after its ranks, and reads them after everything ended.
        unsafe { RawBytes::new(inner, len) }
    }

    fn check(&self) {
        let (before, after) = (
            &self.bytes[..FENCE],
            &self.bytes[self.bytes.len() - FENCE..],
        );
        let whole = before.iter().chain(after).all(|&byte| byte == FENCED);
        assert!(whole, "bytes beside a user's memory were written");
    }
}

struct Rank {
    engine: Engine<ShmTx>,
    tx: ShmTx,
    rx: ShmRx,
    /// Operations with the hostile rank or with anyone.
    open: Vec<Request>,
    /// Sends to the other sound rank.
    sends: Vec<Request>,
    /// Receives from the other sound rank, in order, each with its room.
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

    fn poll(&mut self) {
        self.engine.resume(&mut self.tx);
        self.rx.poll(&mut self.tx, 16, &mut self.engine);
        self.tx.flush();
    }

    /// Polls once more, as after a sleep, which looks at the peers too.
    fn look(&mut self) {
        self.rx.disarm();
        self.poll();
    }
}

struct Play {
    ranks: Vec<Rank>,
    /// Rank 3.
    nobody: Arc<Node>,
    /// Who sent the message of each room, and its number among theirs.
    rooms: Vec<Room>,
    /// Rooms that are only read, with what they have to hold.
    sources: Vec<(usize, Vec<u8>)>,
    /// Lengths of what each of ranks 0 and 1 has sent to the other.
    sent: [Vec<usize>; 2],
    /// Own words of the hostile rank that its last act has changed.
    fresh: Vec<usize>,
}

impl Play {
    fn new() -> Self {
        let mut nodes = Node::in_process(LAYOUT).expect("there is memory for a small segment");
        let nobody = nodes.pop().expect("rank 3");
        Self {
            ranks: nodes.into_iter().map(Rank::new).collect(),
            nobody: Arc::new(nobody),
            rooms: Vec::new(),
            sources: Vec::new(),
            sent: Default::default(),
            fresh: Vec::new(),
        }
    }

    fn room(&mut self, inner: &[u8]) -> RawBytes {
        self.rooms.push(Room::new(inner));
        self.rooms.last_mut().expect("just pushed").raw()
    }

    fn source(&mut self, len: usize, seed: usize) -> RawBytes {
        let bytes = pattern(len, seed);
        let raw = self.room(&bytes);
        self.sources.push((self.rooms.len() - 1, bytes));
        raw
    }

    fn act(&mut self, act: u8, manners: Manners, script: &mut Script<'_>) {
        let rank = usize::from(act >> 7);
        match act % 16 {
            0..3 => self.scribble(manners, script),
            3 => self.spoil_fresh(script),
            4..7 => self.misbehave(|play| play.any_act(HOSTILE, script)),
            7 => self.talk(rank, script.below(LENS.len())),
            8 => self.listen(rank),
            9..11 => self.any_act(rank, script),
            11 => self.direct(rank, script),
            12 => self.ranks[rank].look(),
            13 => {
                let Rank { rx, .. } = &mut self.ranks[rank];
                if rx.arm() {
                    rx.nap(Duration::ZERO);
                }
            }
            _ => self.ranks[rank].poll(),
        }
    }

    fn word(&self, at: usize) -> u64 {
        word(&self.nobody, at)
    }

    /// The hostile rank writes one word.
    fn scribble(&mut self, manners: Manners, script: &mut Script<'_>) {
        let learned = learned();
        let at = match (manners, script.next() % 4) {
            (Manners::OwnWords, _) => learned.own[script.below(learned.own.len())],
            (Manners::None, 0) => script.below(self.nobody.words().len()),
            (Manners::None, _) => learned.all[script.below(learned.all.len())],
        };
        write(&self.nobody, at, script.word(self.word(at)));
    }

    /// The hostile rank changes a word of what it did last.
    fn spoil_fresh(&mut self, script: &mut Script<'_>) {
        let nth = script.below(self.fresh.len());
        if let Some(&at) = self.fresh.get(nth) {
            write(&self.nobody, at, script.word(self.word(at)));
        }
    }

    /// An act of the hostile rank; remembers which of its words that changed.
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
    fn talk(&mut self, from: usize, len: usize) {
        let len = LENS[len];
        let number = self.sent[from].len();
        self.sent[from].push(len);
        let body = self.source(len, number + from);
        let Rank {
            engine, tx, sends, ..
        } = &mut self.ranks[from];
        let mode = [Mode::Standard, Mode::Synchronous][number % 2];
        sends.push(engine.send(tx, Peer(1 - from as u32), SOUND, mode, body));
        tx.flush();
    }

    /// A sound rank receives from the other one.
    fn listen(&mut self, at: usize) {
        let body = self.room(&[0; LENS[LENS.len() - 1]]);
        let room = self.rooms.len() - 1;
        let Rank {
            engine,
            tx,
            receives,
            ..
        } = &mut self.ranks[at];
        let source = Source::Peer(Peer(1 - at as u32));
        let request = engine.recv(tx, source, SOUND.context, Tag::Exact(SOUND.tag), body);
        receives.push((request, room));
    }

    /// An operation by the rules: with the hostile rank, or its own with a sound one.
    fn any_act(&mut self, at: usize, script: &mut Script<'_>) {
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
                let Rank {
                    engine, tx, open, ..
                } = &mut self.ranks[at];
                open.push(engine.send(tx, Peer(peer), envelope, mode, body));
                tx.flush();
            }
            3..5 => {
                let body = self.room(&vec![0; len]);
                let Rank {
                    engine, tx, open, ..
                } = &mut self.ranks[at];
                let source = [Source::Peer(Peer(peer)), Source::Any][usize::from(shape >> 5 & 1)];
                let tag = [Tag::Exact(tag), Tag::Any][usize::from(shape >> 6 & 1)];
                open.push(engine.recv(tx, source, OTHER, tag, body));
                tx.flush();
            }
            5 => {
                let Rank {
                    engine, tx, open, ..
                } = &mut self.ranks[at];
                if let Some(&request) = open.get(usize::from(shape)) {
                    engine.cancel(tx, request);
                }
            }
            6 => {
                let body = self.source(len.min(EAGER as usize), 1);
                let Rank { engine, tx, .. } = &mut self.ranks[at];
                // Where the protocol is closed, nothing is sent.
                let _ = engine.try_eager(tx, Peer(peer), envelope, &body);
                tx.flush();
            }
            _ => self.ranks[at].poll(),
        }
    }

    /// A sound rank looks down the fast path to the hostile one.
    fn direct(&mut self, at: usize, script: &mut Script<'_>) {
        let body = self.room(&vec![0; LENS[script.below(4)]]);
        let source = Source::Peer(Peer(HOSTILE as u32));
        let Rank { engine, tx, rx, .. } = &mut self.ranks[at];
        engine.recv_direct(rx, tx, source, OTHER, Tag::Exact(0), &body);
    }

    /// The sound ranks end what they have with each other, the hostile one leaves, and nothing is
    /// left open.
    fn end(&mut self, manners: Manners) {
        if manners == Manners::OwnWords {
            for at in 0..2 {
                while self.ranks[at].receives.len() < self.sent[1 - at].len() {
                    self.listen(at);
                }
                for (request, _) in self.ranks[at].receives.split_off(self.sent[1 - at].len()) {
                    let Rank {
                        engine, tx, open, ..
                    } = &mut self.ranks[at];
                    engine.cancel(tx, request);
                    open.push(request);
                }
            }
            self.settle();
            self.check_received();
        }
        self.ranks[HOSTILE].tx.depart();
        if manners == Manners::None {
            // What they waited for from each other may be lost: they leave each other too.
            for rank in &mut self.ranks[..HOSTILE] {
                rank.tx.depart();
                let receives = std::mem::take(&mut rank.receives);
                rank.open
                    .extend(receives.into_iter().map(|(request, _)| request));
                rank.open.append(&mut rank.sends);
            }
        }
        for Rank {
            engine, tx, open, ..
        } in &mut self.ranks[..HOSTILE]
        {
            // A receive from anyone is not ended by one who leaves.
            for &request in &*open {
                if matches!(engine.awaited(request), Some(Source::Any)) {
                    engine.cancel(tx, request);
                }
            }
        }
        self.until_done(|rank| (&rank.open, &[]), "with the hostile rank");
        let lost = |rank: &Rank| rank.engine.fault(Peer(HOSTILE as u32));
        for _ in 0..PATIENCE {
            self.ranks[..HOSTILE].iter_mut().for_each(Rank::look);
            if self.ranks[..HOSTILE]
                .iter()
                .all(|rank| lost(rank).is_some())
            {
                break;
            }
        }
        for fault in self.ranks[..HOSTILE].iter().map(lost) {
            // A rank that takes an offer back says so in words of its own, and is believed.
            let given_up = Fault::Refused("the peer has given this rank up");
            assert!(
                matches!(fault, Some(Fault::Left | Fault::Protocol(_))) || fault == Some(given_up),
                "{fault:?}"
            );
        }
        self.check_memory();
    }

    /// Lets all that the sound ranks have with each other end.
    fn settle(&mut self) {
        self.until_done(
            |rank| (&rank.sends, &rank.receives[..]),
            "between sound ranks",
        );
    }

    /// Lets the sound ranks poll until the requests that `which` picks are complete.
    fn until_done(
        &mut self,
        which: impl Fn(&Rank) -> (&Vec<Request>, &[(Request, usize)]),
        what: &str,
    ) {
        for _ in 0..PATIENCE {
            let done = |rank: &Rank| {
                let (some, others) = which(rank);
                let others = others.iter().map(|(request, _)| request);
                (some.iter().chain(others)).all(|&request| rank.engine.is_done(request))
            };
            if self.ranks[..HOSTILE].iter().all(done) {
                return;
            }
            for rank in &mut self.ranks[..HOSTILE] {
                rank.look();
            }
        }
        panic!("operations {what} do not end");
    }

    /// Every message between the sound ranks came, in order and whole.
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
        self.rooms.iter().for_each(Room::check);
        for (room, bytes) in &self.sources {
            assert!(
                self.rooms[*room].inner() == bytes,
                "a message to send was changed"
            );
        }
    }

    /// The words of the whole segment.
    fn snapshot(&self) -> Vec<u64> {
        (0..self.nobody.words().len())
            .map(|at| self.word(at))
            .collect()
    }
}

/// Word `at` of the segment.
fn word(node: &Node, at: usize) -> u64 {
    let words = node.words();
    assert!(at < words.len());
    // SAFETY: in bounds by the assertion.
    unsafe { words.load(at, Ordering::Relaxed) }
}

fn write(node: &Node, at: usize, word: u64) {
    let words = node.words();
    assert!(at < words.len());
    // SAFETY: in bounds by the assertion.
    unsafe { words.store(at, word, Ordering::Relaxed) };
}

fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (at * 31 + at / 251 + seed) as u8)
        .collect()
}

/// Words that a sound exchange writes.
struct Learned {
    /// The hostile rank.
    own: Vec<usize>,
    /// Anyone.
    all: Vec<usize>,
}

/// Runs a sound exchange of all paths, once, and sees who writes what.
fn learned() -> &'static Learned {
    static LEARNED: OnceLock<Learned> = OnceLock::new();
    LEARNED.get_or_init(|| {
        let mut play = Play::new();
        let (mut own, mut all) = (BTreeSet::new(), BTreeSet::new());
        let mut before = play.snapshot();
        let mut step = |play: &mut Play, rank: usize, act: &mut dyn FnMut(&mut Play)| {
            act(play);
            for (at, before) in before.iter_mut().enumerate() {
                let now = play.word(at);
                if now != *before {
                    *before = now;
                    all.insert(at);
                    if rank == HOSTILE {
                        own.insert(at);
                    }
                }
            }
        };
        for round in 0..64u8 {
            for rank in 0..=HOSTILE {
                // A send and a receive of each length and form, to and from each peer in turn.
                let shape = round.wrapping_mul(5) & 0x3f;
                step(&mut play, rank, &mut |play| {
                    for what in [0, 3] {
                        play.any_act(rank, &mut Script(&[what, shape ^ what]));
                    }
                    if rank < HOSTILE {
                        play.talk(rank, usize::from(round) % LENS.len());
                        play.listen(rank);
                    }
                    play.ranks[rank].rx.arm();
                });
                let next = (rank + 1) % 3;
                step(&mut play, next, &mut |play| play.ranks[next].poll());
            }
        }
        for rank in 0..=HOSTILE {
            step(&mut play, rank, &mut |play| play.ranks[rank].tx.depart());
        }
        Learned {
            own: own.into_iter().collect(),
            all: all.into_iter().collect(),
        }
    })
}

/// How many words rank 2 and all ranks write by the rules.
#[cfg(test)]
pub(crate) fn writes() -> (usize, usize) {
    (learned().own.len(), learned().all.len())
}
