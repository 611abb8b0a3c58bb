//! Random operations on a job, whose outcomes are compared with those of an oracle of MPI's matching.
//!
//! Every message contains its number, so that a receive can identify it. The oracle gets the events of each
//! engine in their order, and decides which receive matches which message.

mod op;
mod outcome;

use std::collections::VecDeque;

use oxmpi_wire::{EngineConfig, Envelope, FastPoll, Mode, Peer, Request, Source, Tag};

pub use self::op::Op;

use crate::fabric::{Fabric, FabricConfig, FabricRx, FabricTx, fabric};
use crate::job::Rank;
use crate::memory::{Buffer, pattern};
use crate::oracle::{Arrival, Matcher, ReceivePattern, ReceiveResult};
use crate::spy::SpyRx;

/// Number of contexts in every scenario.
pub const CONTEXTS: u32 = 2;
/// Steps after which a scenario that should end counts as hanging.
const MAX_STEPS: u32 = 100_000;

/// A rank whose events are recorded, and the oracle of its matching.
type CheckedRank = (Rank<FabricTx, SpyRx<FabricRx>>, Matcher);

struct Sent {
    from: u32,
    to: u32,
    envelope: Envelope,
    len: u16,
    request: Option<Request>,
    cancelled: bool,
    matched: bool,
}

impl Sent {
    /// The bytes of message `number`, which start with the number.
    fn body(&self, number: usize) -> Vec<u8> {
        let mut body = pattern(self.len.into(), number as u64);
        body[..8].copy_from_slice(&(number as u64).to_le_bytes());
        body
    }
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
    room: Buffer,
    request: Option<Request>,
    expected: Expected,
}

/// A job with all operations on it and their expected outcomes.
pub struct Scenario {
    fabric: Fabric,
    ranks: Vec<CheckedRank>,
    alive: Vec<bool>,
    sent: Vec<Sent>,
    received: Vec<Received>,
    /// Sends and receives without an outcome yet.
    open_sends: Vec<usize>,
    open_receives: Vec<usize>,
    /// Number of messages that were neither matched nor cancelled.
    unmatched: usize,
    /// Messages that have not arrived yet, by sender and receiver.
    in_flight: Vec<VecDeque<usize>>,
}

/// Applies `ops` to a job of `ranks` ranks over a fabric with this configuration, then runs until all has
/// ended.
///
/// # Panics
/// If an outcome differs from the oracle's, a message is lost, duplicated or overtakes another, memory stays
/// registered, or something does not end.
pub fn run(
    ranks: u32,
    fabric_config: FabricConfig,
    config: EngineConfig,
    ops: impl IntoIterator<Item = Op>,
) {
    let mut scenario = Scenario::new(ranks, fabric_config, config);
    for op in ops {
        scenario.apply(op);
    }
    scenario.finish();
}

impl Scenario {
    /// A job of `count` ranks.
    #[must_use]
    pub fn new(count: u32, fabric_config: FabricConfig, config: EngineConfig) -> Self {
        let (fabric, ends) = fabric(count, fabric_config);
        let ends = ends.into_iter().map(|(tx, rx)| (tx, SpyRx::new(rx)));
        let ranks = Rank::all(ends, config).into_iter();
        Self {
            fabric,
            ranks: ranks.map(|rank| (rank, Matcher::default())).collect(),
            alive: vec![true; count as usize],
            sent: Vec::new(),
            received: Vec::new(),
            open_sends: Vec::new(),
            open_receives: Vec::new(),
            unmatched: 0,
            in_flight: vec![VecDeque::new(); (count * count) as usize],
        }
    }

    /// Number of ranks.
    fn size(&self) -> u32 {
        self.alive.len() as u32
    }

    /// `want` with its source reduced to a rank of the job.
    fn within(&self, want: ReceivePattern) -> ReceivePattern {
        let source = match want.source {
            Source::Peer(Peer(source)) => Source::Peer(Peer(source % self.size())),
            Source::Any => Source::Any,
        };
        ReceivePattern { source, ..want }
    }

    /// The messages from one rank to another that have not arrived yet.
    fn in_flight(&mut self, from: u32, to: u32) -> &mut VecDeque<usize> {
        let at = from * self.size() + to;
        &mut self.in_flight[at as usize]
    }

    /// Applies one operation. Dead ranks do nothing.
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
            Op::Eager {
                from,
                to,
                envelope,
                len,
            } => {
                if let Some(number) = self.message(from, to, envelope, len) {
                    let sent = &self.sent[number];
                    let (Rank { tx, engine, .. }, _) = &mut self.ranks[sent.from as usize];
                    let body = Buffer::new(sent.body(number));
                    let to = Peer(sent.to);
                    let done = engine.put_short(tx, to, envelope, &body)
                        || engine.try_eager(tx, to, envelope, &body).is_ok();
                    if !done {
                        self.send(number, Mode::Standard);
                    }
                }
            }
            Op::Recv { at, want, room } => {
                self.recv(at % self.size(), self.within(want), room.max(8));
            }
            Op::FastRecv {
                at,
                source,
                envelope,
            } => self.fast_recv(at % self.size(), source % self.size(), envelope),
            Op::Probe { at, want } => self.probe(at % self.size(), self.within(want)),
            Op::MatchedProbe { at, want } => {
                self.matched_probe(at % self.size(), self.within(want));
            }
            Op::CancelSend(index) => self.cancel_send(index.into()),
            Op::CancelRecv(index) => self.cancel_recv(index.into()),
            Op::Step(times) => {
                for _ in 0..times {
                    self.step();
                }
            }
            Op::Kill(rank) => {
                let rank = rank % self.size();
                if self.alive.iter().filter(|alive| **alive).count() > 1 {
                    self.alive[rank as usize] = false;
                    self.fabric.kill(Peer(rank));
                }
            }
        }
    }

    fn message(&mut self, from: u32, to: u32, envelope: Envelope, len: u16) -> Option<usize> {
        let (from, to) = (from % self.size(), to % self.size());
        if !self.alive[from as usize] {
            return None;
        }
        let number = self.sent.len();
        self.sent.push(Sent {
            from,
            to,
            envelope,
            len: len.max(8),
            request: None,
            cancelled: false,
            matched: false,
        });
        self.unmatched += 1;
        self.in_flight(from, to).push_back(number);
        Some(number)
    }

    fn send(&mut self, number: usize, mode: Mode) {
        let sent = &mut self.sent[number];
        let (Rank { tx, engine, .. }, _) = &mut self.ranks[sent.from as usize];
        let body = Buffer::new(sent.body(number));
        self.open_sends.push(number);
        sent.request = Some(engine.send(tx, Peer(sent.to), sent.envelope, mode, body));
    }

    fn receive(&mut self, at: u32, room: Buffer) -> usize {
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
        self.unmatched -= usize::from(!sent.cancelled);
        self.received[receive].expected = Expected::Message(arrival.number);
    }

    fn recv(&mut self, at: u32, want: ReceivePattern, room: u16) {
        if !self.alive[at as usize] {
            return;
        }
        let room = Buffer::zeroed(room.into());
        let receive = self.receive(at, room.clone());
        let (Rank { tx, engine, .. }, oracle) = &mut self.ranks[at as usize];
        let request = engine.recv(tx, want.source, want.context, want.tag, room);
        let verdict = oracle.recv(receive, want);
        self.received[receive].request = Some(request);
        self.open_receives.push(receive);
        match verdict {
            ReceiveResult::Matched(arrival) => self.gets(receive, &arrival),
            ReceiveResult::Failed => self.received[receive].expected = Expected::Lost,
            ReceiveResult::Posted => {}
        }
    }

    fn fast_recv(&mut self, at: u32, source: u32, envelope: Envelope) {
        let (Rank { tx, rx, engine }, _) = &mut self.ranks[at as usize];
        let (source, tag) = (Source::Peer(Peer(source)), Tag::Exact(envelope.tag));
        if !self.alive[at as usize] {
            return;
        }
        let room = Buffer::zeroed(64);
        let polled = engine.recv_fast(rx, tx, source, envelope.context, tag, &room);
        if let FastPoll::Received(status) = polled {
            // As if the receive had been posted just before.
            let receive = self.receive(at, room);
            let want = ReceivePattern {
                source,
                context: envelope.context,
                tag,
            };
            let verdict = self.ranks[at as usize].1.recv(receive, want);
            assert_eq!(
                verdict,
                ReceiveResult::Posted,
                "an earlier message was overtaken"
            );
            self.digest(at);
            self.check_received(receive, Ok(status));
        } else {
            self.digest(at);
        }
    }

    fn probe(&mut self, at: u32, want: ReceivePattern) {
        if !self.alive[at as usize] {
            return;
        }
        let (Rank { engine, .. }, oracle) = &self.ranks[at as usize];
        let seen = engine.probe(want.source, want.context, want.tag);
        let seen = seen
            .and_then(Result::ok)
            .map(|s| (s.source.0, s.tag, s.len));
        let expected = oracle.probe(want);
        let expected = expected.map(|a| (a.from, a.envelope.tag, a.len));
        assert_eq!(seen, expected, "a probe for {want:?}");
    }

    fn matched_probe(&mut self, at: u32, want: ReceivePattern) -> bool {
        if !self.alive[at as usize] {
            return false;
        }
        let (Rank { tx, engine, .. }, oracle) = &mut self.ranks[at as usize];
        let claimed = engine.matched_probe(want.source, want.context, want.tag);
        let expected = oracle.matched_probe(want);
        let Some(Ok((message, status))) = claimed else {
            assert_eq!(expected, None, "a matched probe for {want:?} found nothing");
            return false;
        };
        let arrival = expected.expect("the oracle knows of the message");
        assert_eq!((status.source.0, status.len), (arrival.from, arrival.len));
        let room = Buffer::zeroed(status.len as usize);
        let request = engine.matched_recv(tx, message, room.clone());
        let receive = self.receive(at, room);
        self.received[receive].request = Some(request.expect("the message is fresh"));
        self.open_receives.push(receive);
        self.gets(receive, &arrival);
        true
    }

    /// Cancels one of the open sends.
    fn cancel_send(&mut self, index: usize) {
        let Some(at) = index.checked_rem(self.open_sends.len()) else {
            return;
        };
        let sent = &mut self.sent[self.open_sends[at]];
        if let (Some(request), true) = (sent.request, self.alive[sent.from as usize]) {
            self.unmatched -= usize::from(!sent.cancelled && !sent.matched);
            sent.cancelled = true;
            let (Rank { tx, engine, .. }, _) = &mut self.ranks[sent.from as usize];
            engine.cancel(tx, request);
        }
    }

    /// Cancels one of the open receives.
    fn cancel_recv(&mut self, index: usize) {
        let Some(at) = index.checked_rem(self.open_receives.len()) else {
            return;
        };
        let index = self.open_receives[at];
        let Received { at, request, .. } = self.received[index];
        if let (Some(request), true) = (request, self.alive[at as usize]) {
            let (Rank { tx, engine, .. }, oracle) = &mut self.ranks[at as usize];
            engine.cancel(tx, request);
            if oracle.cancel(index) {
                self.received[index].expected = Expected::Cancelled;
            }
        }
    }

    fn step(&mut self) {
        for at in 0..self.size() {
            if !self.alive[at as usize] {
                continue;
            }
            self.ranks[at as usize].0.step(4);
            self.digest(at);
        }
        self.harvest();
    }

    /// Cancels open receives, receives all unexpected messages, and waits until all has ended.
    fn finish(mut self) {
        for at in 0..self.open_receives.len() {
            self.cancel_recv(at);
        }
        for _ in 0..MAX_STEPS {
            self.step();
            for at in 0..self.size() {
                for context in 0..CONTEXTS {
                    let want = ReceivePattern {
                        source: Source::Any,
                        context,
                        tag: Tag::Any,
                    };
                    while self.matched_probe(at, want) {}
                }
            }
            if self.is_over() {
                return;
            }
        }
        panic!("something does not end");
    }

    fn is_over(&self) -> bool {
        let all_alive = self.alive.iter().all(|alive| *alive);
        self.open_sends.is_empty()
            && self.open_receives.is_empty()
            && self.fabric.regions() == 0
            && (!all_alive || (self.fabric.frames() == 0 && self.unmatched == 0))
    }
}
