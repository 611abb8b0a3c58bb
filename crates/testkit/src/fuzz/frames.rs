//! Fuzz body of frames: untrusted headers, and a hostile peer of a working engine.

use oxmpi_wire::{
    EngineConfig, Envelope, Flags, Header, Kind, Message, Mode, PathOverrides, Peer, Put, Request,
    Rx, Slot, Source, Tag, Tx,
};

use crate::conformance::EventLog;
use crate::fabric::FabricConfig;
use crate::job::{Job, Rank};
use crate::memory::Buffer;

/// The peer that breaks the protocol.
const HOSTILE: Peer = Peer(1);
/// Polls after which an open operation counts as hanging.
const MAX_STEPS: u32 = 1000;

/// Parses `data` as a header, then uses it as a script of a hostile peer and of the engine.
///
/// # Panics
/// If a parsed header has another encoding, the engine panics, or an operation or a region outlives the peer.
pub fn frames(data: &[u8]) {
    header(data);
    let mut victim = Victim::new();
    let mut script = Script(data);
    while let Some(op) = script.byte() {
        victim.apply(op, &mut script);
    }
    victim.end();
}

fn header(data: &[u8]) {
    let Ok(head) = Header::parse(data) else {
        return;
    };
    assert_eq!(head.bytes(), data[..Header::LEN]);
    assert!(!head.to_string().is_empty());
    if head.len <= u32::from(u16::MAX) {
        assert_eq!(Header::expand(head.compact(), head.envelope), Ok(head));
    }
}

/// The bytes that are not used yet.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn next(&mut self) -> u8 {
        self.byte().unwrap_or(0)
    }

    /// A number that is often an id of the engine: its parts are small.
    fn word(&mut self) -> u64 {
        let (low, high) = (u64::from(self.next()), u64::from(self.next()));
        match high {
            0..0xf0 => (high % 4) << 32 | low,
            _ => u64::MAX << (low % 64),
        }
    }

    fn envelope(&mut self) -> Envelope {
        Envelope {
            context: 0,
            tag: u32::from(self.next() % 3),
        }
    }

    fn want(&mut self) -> (Source, u32, Tag) {
        let shape = self.next();
        let source = if shape & 1 == 0 {
            Source::Any
        } else {
            Source::Peer(HOSTILE)
        };
        let tag = if shape & 2 == 0 {
            Tag::Any
        } else {
            Tag::Exact(u32::from(shape >> 2) % 3)
        };
        (source, 0, tag)
    }
}

/// A job in which rank 0 is sound and rank 1 hostile: the script plays it, without its engine.
struct Victim {
    job: Job,
    requests: Vec<Request>,
    claimed: Vec<Message>,
}

impl Victim {
    fn new() -> Self {
        let fabric_config = FabricConfig {
            capacity: 8,
            ..FabricConfig::default()
        };
        let config = EngineConfig {
            overrides: PathOverrides {
                get: Some(400),
                chunk: Some(50),
                ..PathOverrides::eager(256)
            },
            unexpected_bytes: 1000,
            unexpected_bytes_total: 1000,
            unexpected_messages: 6,
        };
        Self {
            job: Job::new(2, fabric_config, config),
            requests: Vec::new(),
            claimed: Vec::new(),
        }
    }

    fn apply(&mut self, op: u8, script: &mut Script<'_>) {
        match op % 12 {
            0..5 => self.attack(script),
            5 => {
                let (mode, len) = (script.next(), script.next());
                let mode = [Mode::Standard, Mode::Synchronous][usize::from(mode % 2)];
                let body = Buffer::zeroed(usize::from(len) * 2);
                let request = self.job.send(0, HOSTILE.0, script.envelope(), mode, body);
                self.requests.push(request);
            }
            6 => {
                let (source, context, tag) = script.want();
                let body = Buffer::zeroed(usize::from(script.next()));
                let request = self.job.recv(0, source, context, tag, &body);
                self.requests.push(request);
            }
            7 => {
                let nth = usize::from(script.next());
                if let Some(&request) = self.requests.get(nth) {
                    self.job.cancel(0, request);
                }
            }
            8 => {
                let (source, context, tag) = script.want();
                let engine = &mut self.job.ranks[0].engine;
                if let Some(Ok((message, _))) = engine.matched_probe(source, context, tag) {
                    self.claimed.push(message);
                }
            }
            9 => {
                let body = Buffer::zeroed(usize::from(script.next()));
                if let Some(message) = self.claimed.pop() {
                    self.receive(message, body);
                }
            }
            10 => {
                let Rank { tx, rx, .. } = &mut self.job.ranks[1];
                rx.poll(tx, 8, &mut EventLog::default());
            }
            _ => self.job.ranks[0].step(8),
        }
    }

    /// Receives a message that a matched probe has claimed.
    fn receive(&mut self, message: Message, body: Buffer) {
        let Rank { tx, engine, .. } = &mut self.job.ranks[0];
        let request = engine.matched_recv(tx, message, body);
        self.requests.extend(request);
    }

    /// Sends one frame of any kind, with any flags and any body.
    fn attack(&mut self, script: &mut Script<'_>) {
        let kinds = Kind::ALL.len();
        let shape = script.next();
        let words = usize::from(script.next() % 8);
        let odd = usize::from(shape >> 6);
        let kind = Kind::ALL[usize::from(shape & 7) % kinds];
        let flags = Flags::from_bits_truncate(shape >> 3 & 7);
        let len = words * 8 + odd;
        let head = Header::new(kind, flags, len as u32, script.envelope());
        if let Ok(mut slot) = self.job.ranks[1].tx.frame(Peer(0), &head, len) {
            for _ in 0..words {
                slot.put(&script.word().to_le_bytes());
            }
            slot.put(&[1, 2, 3][..odd]);
            slot.send();
        }
    }

    /// Kills the peer: all its operations and regions must end.
    fn end(mut self) {
        self.job.fabric.kill(HOSTILE);
        while let Some(message) = self.claimed.pop() {
            self.receive(message, Buffer::zeroed(8));
        }
        for _ in 0..MAX_STEPS {
            let rank = &mut self.job.ranks[0];
            rank.step(8);
            (self.requests).retain(|request| rank.engine.test(*request).is_none());
            let lost = rank.engine.fault(HOSTILE).is_some();
            if lost && self.requests.is_empty() && self.job.fabric.regions() == 0 {
                return;
            }
        }
        panic!("{} requests do not end", self.requests.len());
    }
}
