//! Lists of operations on a job, each outcome compared with the oracle's.
//!
//! Every message carries its number, so that a receive can tell which message it got. The oracle is
//! fed with what each engine was told, in that order, and says which receive gets what.

use std::collections::VecDeque;

use oxmpi_wire::{
    Engine, Envelope, Failure, Fault, Mode, Outcome, Peer, Request, Rules, Rx, Source, Tag,
};

use crate::fabric::{Fabric, FabricRx, FabricTx, Weather, fabric};
use crate::memory::{Shared, pattern};
use crate::oracle::{Arrival, Matcher, Verdict, Want};
use crate::rng::Rng;
use crate::spy::{Event, Payload, SpyRx};

/// Ranks of every scenario.
pub const RANKS: u32 = 3;
/// Contexts of every scenario.
pub const CONTEXTS: u32 = 2;
/// Rounds after which a scenario that should end counts as hanging.
const PATIENCE: u32 = 100_000;

/// One operation. Ranks, contexts and indices wrap around.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// A send, with a request; `len` is at least 8.
    Send {
        /// The sender.
        from: u32,
        /// The receiver.
        to: u32,
        /// Context and tag.
        envelope: Envelope,
        /// When it completes.
        mode: Mode,
        /// Bytes.
        len: u16,
    },
    /// A short standard send without a request if possible.
    Short {
        /// The sender.
        from: u32,
        /// The receiver.
        to: u32,
        /// Context and tag.
        envelope: Envelope,
    },
    /// A receive.
    Recv {
        /// The receiver.
        at: u32,
        /// What it asks for.
        want: Want,
        /// Bytes of the buffer, at least 8.
        room: u16,
    },
    /// One look down the direct road, if it is open.
    Direct {
        /// The receiver.
        at: u32,
        /// The sender.
        source: u32,
        /// Context and tag.
        envelope: Envelope,
    },
    /// A probe.
    Probe {
        /// The receiver.
        at: u32,
        /// What it asks for.
        want: Want,
    },
    /// A matched probe and its receive.
    Claim {
        /// The receiver.
        at: u32,
        /// What it asks for.
        want: Want,
    },
    /// Takes the send of this index back.
    CancelSend(u16),
    /// Takes the receive of this index back.
    CancelRecv(u16),
    /// Every rank polls this often.
    Step(u8),
    /// A rank dies, unless it is the last one.
    Kill(u32),
}

impl Op {
    /// A random operation; nobody dies.
    pub fn random(rng: &mut Rng) -> Self {
        let (from, to) = (rng.below(3) as u32, rng.below(3) as u32);
        let envelope = Envelope {
            context: rng.below(2) as u32,
            tag: rng.below(3) as u32,
        };
        let want = Want {
            source: if rng.chance(40) {
                Source::Any
            } else {
                Source::Peer(Peer(from))
            },
            context: envelope.context,
            tag: if rng.chance(40) {
                Tag::Any
            } else {
                Tag::Exact(envelope.tag)
            },
        };
        let len = [8, 48, 49, 500, 2000][rng.below(5) as usize];
        match rng.below(20) {
            0..=3 => Self::Send {
                from,
                to,
                envelope,
                mode: [Mode::Standard, Mode::Synchronous, Mode::Ready][rng.below(3) as usize],
                len,
            },
            4 => Self::Short { from, to, envelope },
            5..=9 => Self::Recv {
                at: to,
                want,
                room: if rng.chance(80) { 3000 } else { len },
            },
            10 => Self::Direct {
                at: to,
                source: from,
                envelope,
            },
            11 => Self::Probe { at: to, want },
            12 => Self::Claim { at: to, want },
            13 => Self::CancelSend(rng.next() as u16),
            14 => Self::CancelRecv(rng.next() as u16),
            _ => Self::Step(rng.below(4) as u8),
        }
    }
}

struct Rank {
    tx: FabricTx,
    rx: SpyRx<FabricRx>,
    engine: Engine<FabricTx>,
    oracle: Matcher,
}

struct Sent {
    from: u32,
    to: u32,
    envelope: Envelope,
    body: Vec<u8>,
    request: Option<Request>,
    recalled: bool,
    matched: bool,
}

#[derive(Debug)]
enum Expected {
    Open,
    Message(usize),
    Cancelled,
    Lost,
}

struct Received {
    at: u32,
    room: Shared,
    request: Option<Request>,
    expected: Expected,
}

/// A job with everything that was asked of it.
pub struct Scenario {
    fabric: Fabric,
    ranks: Vec<Rank>,
    alive: Vec<bool>,
    sent: Vec<Sent>,
    received: Vec<Received>,
    /// Messages that have not arrived, by sender and receiver.
    under_way: Vec<VecDeque<usize>>,
}

/// Applies `ops` in this weather and lets everything end.
///
/// # Panics
/// If an outcome is not the oracle's, a message is lost, comes twice or overtakes, memory stays
/// registered, or something does not end.
pub fn run(weather: Weather, rules: Rules, ops: impl IntoIterator<Item = Op>) {
    let mut scenario = Scenario::new(weather, rules);
    for op in ops {
        scenario.apply(op);
    }
    scenario.finish();
}

impl Scenario {
    /// A job of [`RANKS`] ranks.
    #[must_use]
    pub fn new(weather: Weather, rules: Rules) -> Self {
        let (fabric, ends) = fabric(RANKS, weather);
        let ranks = ends
            .into_iter()
            .map(|(tx, rx)| Rank {
                engine: Engine::new(&tx, RANKS, rules),
                tx,
                rx: SpyRx::new(rx),
                oracle: Matcher::default(),
            })
            .collect();
        Self {
            fabric,
            ranks,
            alive: vec![true; RANKS as usize],
            sent: Vec::new(),
            received: Vec::new(),
            under_way: vec![VecDeque::new(); (RANKS * RANKS) as usize],
        }
    }

    /// Does one operation. Dead ranks do nothing.
    pub fn apply(&mut self, op: Op) {
        match op {
            Op::Send {
                from,
                to,
                envelope,
                mode,
                len,
            } => {
                if let Some(number) = self.message(from, to, envelope, len) {
                    self.send(number, mode);
                }
            }
            Op::Short { from, to, envelope } => {
                if let Some(number) = self.message(from, to, envelope, 8) {
                    let sent = &self.sent[number];
                    let Rank { tx, engine, .. } = &mut self.ranks[sent.from as usize];
                    let body = Shared::new(sent.body.clone());
                    let done = engine.try_short(tx, Peer(sent.to), envelope, &body);
                    if done.is_err() {
                        self.send(number, Mode::Standard);
                    }
                }
            }
            Op::Recv { at, want, room } => self.recv(at % RANKS, want, room.max(8)),
            Op::Direct {
                at,
                source,
                envelope,
            } => self.direct(at % RANKS, source % RANKS, envelope),
            Op::Probe { at, want } => self.probe(at % RANKS, want),
            Op::Claim { at, want } => {
                self.claim(at % RANKS, want);
            }
            Op::CancelSend(index) => self.cancel_send(index.into()),
            Op::CancelRecv(index) => self.cancel_recv(index.into()),
            Op::Step(times) => {
                for _ in 0..times {
                    self.step();
                }
            }
            Op::Kill(rank) => {
                let rank = rank % RANKS;
                if self.alive.iter().filter(|alive| **alive).count() > 1 {
                    self.alive[rank as usize] = false;
                    self.fabric.kill(Peer(rank));
                }
            }
        }
    }

    fn message(&mut self, from: u32, to: u32, envelope: Envelope, len: u16) -> Option<usize> {
        let (from, to) = (from % RANKS, to % RANKS);
        if !self.alive[from as usize] {
            return None;
        }
        let number = self.sent.len();
        let mut body = pattern(len.max(8).into(), number as u64);
        body[..8].copy_from_slice(&(number as u64).to_le_bytes());
        self.sent.push(Sent {
            from,
            to,
            envelope,
            body,
            request: None,
            recalled: false,
            matched: false,
        });
        self.under_way[(from * RANKS + to) as usize].push_back(number);
        Some(number)
    }

    fn send(&mut self, number: usize, mode: Mode) {
        let sent = &mut self.sent[number];
        let Rank { tx, engine, .. } = &mut self.ranks[sent.from as usize];
        let body = Shared::new(sent.body.clone());
        sent.request = Some(engine.send(tx, Peer(sent.to), sent.envelope, mode, body));
    }

    fn receive(&mut self, at: u32, room: Shared) -> usize {
        self.received.push(Received {
            at,
            room,
            request: None,
            expected: Expected::Open,
        });
        self.received.len() - 1
    }

    fn gets(&mut self, receive: usize, arrival: &Arrival) {
        let sent = &mut self.sent[arrival.number];
        assert!(!sent.matched, "message {} is matched twice", arrival.number);
        sent.matched = true;
        self.received[receive].expected = Expected::Message(arrival.number);
    }

    fn recv(&mut self, at: u32, want: Want, room: u16) {
        if !self.alive[at as usize] {
            return;
        }
        let room = Shared::zeroed(room.into());
        let receive = self.receive(at, room.clone());
        let Rank {
            tx, engine, oracle, ..
        } = &mut self.ranks[at as usize];
        let request = engine.recv(tx, want.source, want.context, want.tag, room);
        let verdict = oracle.recv(receive, want);
        self.received[receive].request = Some(request);
        match verdict {
            Verdict::Gets(arrival) => self.gets(receive, &arrival),
            Verdict::Fails => self.received[receive].expected = Expected::Lost,
            Verdict::Waits => {}
        }
    }

    fn direct(&mut self, at: u32, source: u32, envelope: Envelope) {
        if !self.alive[at as usize] || !self.ranks[at as usize].engine.direct(Peer(source)) {
            return;
        }
        let room = Shared::zeroed(64);
        let Rank { tx, rx, engine, .. } = &mut self.ranks[at as usize];
        let status = engine.recv_direct(rx, tx, Peer(source), envelope, &room);
        if let Some(status) = status {
            // As if the receive had been posted just before.
            let receive = self.receive(at, room);
            let want = Want {
                source: Source::Peer(Peer(source)),
                context: envelope.context,
                tag: Tag::Exact(envelope.tag),
            };
            let verdict = self.ranks[at as usize].oracle.recv(receive, want);
            assert_eq!(verdict, Verdict::Waits, "an earlier message was overtaken");
            self.digest(at);
            self.check_received(receive, Ok(status));
        } else {
            self.digest(at);
        }
    }

    fn probe(&mut self, at: u32, want: Want) {
        if !self.alive[at as usize] {
            return;
        }
        let Rank { engine, oracle, .. } = &self.ranks[at as usize];
        let seen = engine.probe(want.source, want.context, want.tag);
        let seen = seen
            .and_then(Result::ok)
            .map(|s| (s.source.0, s.tag, s.len));
        let expected = oracle.probe(want);
        let expected = expected.map(|a| (a.from, a.envelope.tag, a.len));
        assert_eq!(seen, expected, "a probe for {want:?}");
    }

    fn claim(&mut self, at: u32, want: Want) -> bool {
        if !self.alive[at as usize] {
            return false;
        }
        let Rank {
            tx, engine, oracle, ..
        } = &mut self.ranks[at as usize];
        let claimed = engine.claim(want.source, want.context, want.tag);
        let expected = oracle.claim(want);
        let Some(Ok((message, status))) = claimed else {
            assert_eq!(expected, None, "a matched probe for {want:?} found nothing");
            return false;
        };
        let arrival = expected.expect("the oracle knows of the message");
        assert_eq!((status.source.0, status.len), (arrival.from, arrival.len));
        let room = Shared::zeroed(status.len as usize);
        let request = engine.recv_claimed(tx, message, room.clone());
        let receive = self.receive(at, room);
        self.received[receive].request = Some(request.expect("the message is fresh"));
        self.gets(receive, &arrival);
        true
    }

    fn cancel_send(&mut self, index: usize) {
        if self.sent.is_empty() {
            return;
        }
        let index = index % self.sent.len();
        let sent = &mut self.sent[index];
        if let (Some(request), true) = (sent.request, self.alive[sent.from as usize]) {
            sent.recalled = true;
            let Rank { tx, engine, .. } = &mut self.ranks[sent.from as usize];
            engine.cancel(tx, request);
        }
    }

    fn cancel_recv(&mut self, index: usize) {
        if self.received.is_empty() {
            return;
        }
        let index = index % self.received.len();
        let Received { at, request, .. } = self.received[index];
        if let (Some(request), true) = (request, self.alive[at as usize]) {
            let Rank {
                tx, engine, oracle, ..
            } = &mut self.ranks[at as usize];
            engine.cancel(tx, request);
            if oracle.cancel(index) {
                self.received[index].expected = Expected::Cancelled;
            }
        }
    }

    fn step(&mut self) {
        for at in (0..RANKS)
            .filter(|at| self.alive[*at as usize])
            .collect::<Vec<_>>()
        {
            let Rank { tx, rx, engine, .. } = &mut self.ranks[at as usize];
            rx.poll(tx, 4, engine);
            engine.resume(tx);
            self.digest(at);
        }
        self.harvest();
    }

    /// Tells the oracle of rank `at` what its engine was told.
    fn digest(&mut self, at: u32) {
        for event in core::mem::take(&mut self.ranks[at as usize].rx.events) {
            match event {
                Event::Message {
                    from,
                    envelope,
                    len,
                    id,
                    bytes,
                } => {
                    let whole = matches!(bytes, Payload::Here(_));
                    let bytes = match bytes {
                        Payload::Here(bytes) => bytes,
                        Payload::There(key) => self
                            .fabric
                            .registered(Peer(from), &key)
                            .expect("an offered message stays registered"),
                    };
                    let number = self.arrived(from, at, envelope, &bytes);
                    let arrival = Arrival {
                        number,
                        from,
                        envelope,
                        len,
                        id,
                        whole,
                    };
                    if let Some(receive) = self.ranks[at as usize].oracle.arrive(arrival) {
                        self.gets(receive, &arrival);
                    }
                }
                Event::Recall { from, id } => self.ranks[at as usize].oracle.recall(from, id),
                Event::Lost(from) => {
                    for receive in self.ranks[at as usize].oracle.lose(from) {
                        self.received[receive].expected = Expected::Lost;
                    }
                }
            }
        }
    }

    /// The number of the message that arrives: the oldest under way, but for those taken back.
    fn arrived(&mut self, from: u32, at: u32, envelope: Envelope, bytes: &[u8]) -> usize {
        let under_way = &mut self.under_way[(from * RANKS + at) as usize];
        while let Some(number) = under_way.pop_front() {
            let sent = &self.sent[number];
            if sent.envelope == envelope && sent.body == bytes {
                return number;
            }
            assert!(sent.recalled, "message {number} was overtaken or lost");
        }
        panic!("rank {at} got a message from {from} that was not sent");
    }

    /// Looks at all requests that became complete.
    fn harvest(&mut self) {
        for number in 0..self.sent.len() {
            let sent = &mut self.sent[number];
            if !self.alive[sent.from as usize] {
                continue;
            }
            let engine = &mut self.ranks[sent.from as usize].engine;
            if let Some(outcome) = sent.request.and_then(|request| engine.test(request)) {
                sent.request = None;
                self.check_sent(number, outcome);
            }
        }
        for receive in 0..self.received.len() {
            let Received { at, request, .. } = self.received[receive];
            if !self.alive[at as usize] {
                continue;
            }
            let engine = &mut self.ranks[at as usize].engine;
            if let Some(outcome) = request.and_then(|request| engine.test(request)) {
                self.received[receive].request = None;
                self.check_received(receive, outcome);
            }
        }
    }

    fn check_sent(&self, number: usize, outcome: Outcome) {
        let sent = &self.sent[number];
        match outcome {
            Ok(status) if status.cancelled => {
                assert!(sent.recalled, "nobody took message {number} back");
                assert!(!sent.matched, "message {number} was matched and taken back");
            }
            Ok(status) => assert_eq!(status.len, sent.body.len() as u64),
            Err(failure) => self.assert_lost(sent.to, failure),
        }
    }

    fn check_received(&self, receive: usize, outcome: Outcome) {
        let Received { room, expected, .. } = &self.received[receive];
        match (expected, outcome) {
            (Expected::Message(number), Ok(status)) => {
                let sent = &self.sent[*number];
                assert_eq!(status.source.0, sent.from);
                assert_eq!(status.tag, sent.envelope.tag);
                assert_eq!(status.len, sent.body.len() as u64);
                assert!(!status.cancelled);
                let bytes = &room.to_vec()[..sent.body.len()];
                assert!(bytes == sent.body, "message {number} was changed");
            }
            (
                Expected::Message(number),
                Err(Failure::Truncated {
                    sent: len,
                    room: fits,
                    ..
                }),
            ) => {
                let body = &self.sent[*number].body;
                assert_eq!(len, body.len() as u64);
                assert_eq!(fits, room.to_vec().len() as u64);
                assert!(
                    room.to_vec() == body[..fits as usize],
                    "message {number} was changed"
                );
            }
            (Expected::Message(number), Err(failure)) => {
                self.assert_lost(self.sent[*number].from, failure);
            }
            (Expected::Cancelled, Ok(status)) => assert!(status.cancelled),
            (Expected::Lost, Err(Failure::Fault { fault, .. })) => {
                assert_eq!(fault, Fault::PeerDead);
            }
            (expected, outcome) => {
                panic!("receive {receive}: expected {expected:?}, got {outcome:?}")
            }
        }
    }

    fn assert_lost(&self, peer: u32, failure: Failure) {
        assert!(!self.alive[peer as usize], "rank {peer} lives: {failure}");
    }

    /// Takes back open receives, receives what nobody asked for, and waits for the end.
    fn finish(mut self) {
        for receive in 0..self.received.len() {
            self.cancel_recv(receive);
        }
        for _ in 0..PATIENCE {
            self.step();
            for at in 0..RANKS {
                for context in 0..CONTEXTS {
                    let want = Want {
                        source: Source::Any,
                        context,
                        tag: Tag::Any,
                    };
                    while self.claim(at, want) {}
                }
            }
            if self.is_over() {
                return;
            }
        }
        panic!("something does not end");
    }

    fn is_over(&self) -> bool {
        let open =
            |rank: u32, request: Option<Request>| self.alive[rank as usize] && request.is_some();
        let all_alive = self.alive.iter().all(|alive| *alive);
        !self.sent.iter().any(|sent| open(sent.from, sent.request))
            && !self
                .received
                .iter()
                .any(|received| open(received.at, received.request))
            && self.fabric.regions() == 0
            && (!all_alive || self.fabric.frames() == 0)
            && (!all_alive || self.sent.iter().all(|sent| sent.matched || sent.recalled))
    }
}
