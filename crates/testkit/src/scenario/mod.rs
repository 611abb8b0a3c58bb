//! Lists of operations on a job, each outcome compared with the oracle's.
//!
//! Every message carries its number, so that a receive can tell which message it got. The oracle is
//! fed with what each engine was told, in that order, and says which receive gets what.

mod op;
mod outcome;

use std::collections::VecDeque;

use oxmpi_wire::{Engine, Envelope, Mode, Peer, Request, Rules, Rx, Source, Tag};

pub use self::op::Op;

use crate::fabric::{Fabric, FabricRx, FabricTx, Weather, fabric};
use crate::memory::{Shared, pattern};
use crate::oracle::{Arrival, Matcher, Verdict, Want};
use crate::spy::SpyRx;

/// Ranks of every scenario.
pub const RANKS: u32 = 3;
/// Contexts of every scenario.
pub const CONTEXTS: u32 = 2;
/// Rounds after which a scenario that should end counts as hanging.
const PATIENCE: u32 = 100_000;

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
