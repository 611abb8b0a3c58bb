//! Headers from anyone, and a peer that sends whatever it likes to an engine at work.

use oxmpi_wire::{
    Engine, EngineConfig, Envelope, Flags, Header, Kind, Message, Mode, PathOverrides, Peer, Put,
    Request, Rx, Slot, Source, Tag, Tx,
};

use crate::conformance::EventLog;
use crate::fabric::{FabricConfig, FabricRx, FabricTx, fabric};
use crate::memory::SharedBytes;

/// The peer that keeps to no rule.
const HOSTILE: Peer = Peer(1);
/// Polls after which an operation that is still open hangs.
const MAX_STEPS: u32 = 1000;

/// Reads `data` as a header, then as what a hostile peer sends and its victim does.
///
/// # Panics
/// If a header is not printed as it was read, the engine panics, or an operation or a piece of
/// registered memory outlives the peer.
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

    /// A number that often is one that an engine made: small parts.
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

struct Victim {
    tx: FabricTx,
    rx: FabricRx,
    engine: Engine<FabricTx>,
    requests: Vec<Request>,
    claimed: Vec<Message>,
    hostile: (FabricTx, FabricRx),
    fabric: crate::fabric::Fabric,
}

impl Victim {
    fn new() -> Self {
        let config = FabricConfig {
            capacity: 8,
            ..FabricConfig::default()
        };
        let (fabric, mut ends) = fabric(2, config);
        let hostile = ends.pop().expect("two ends");
        let (mut tx, rx) = ends.pop().expect("two ends");
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
            engine: Engine::new(&mut tx, 2, config),
            tx,
            rx,
            requests: Vec::new(),
            claimed: Vec::new(),
            hostile,
            fabric,
        }
    }

    fn apply(&mut self, op: u8, script: &mut Script<'_>) {
        match op % 12 {
            0..5 => self.attack(script),
            5 => {
                let (mode, len) = (script.next(), script.next());
                let mode = [Mode::Standard, Mode::Synchronous][usize::from(mode % 2)];
                let body = SharedBytes::zeroed(usize::from(len) * 2);
                let (tx, envelope) = (&mut self.tx, script.envelope());
                let request = self.engine.send(tx, HOSTILE, envelope, mode, body);
                self.requests.push(request);
            }
            6 => {
                let (source, context, tag) = script.want();
                let body = SharedBytes::zeroed(usize::from(script.next()));
                let request = self.engine.recv(&mut self.tx, source, context, tag, body);
                self.requests.push(request);
            }
            7 => {
                let nth = usize::from(script.next());
                if let Some(&request) = self.requests.get(nth) {
                    self.engine.cancel(&mut self.tx, request);
                }
            }
            8 => {
                let (source, context, tag) = script.want();
                if let Some(Ok((message, _))) = self.engine.matched_probe(source, context, tag) {
                    self.claimed.push(message);
                }
            }
            9 => {
                let body = SharedBytes::zeroed(usize::from(script.next()));
                if let Some(message) = self.claimed.pop() {
                    let request = self.engine.matched_recv(&mut self.tx, message, body);
                    self.requests.extend(request);
                }
            }
            10 => {
                let (tx, rx) = &mut self.hostile;
                rx.poll(tx, 8, &mut EventLog::default());
            }
            _ => self.poll(),
        }
    }

    /// One frame of any kind, with any flags and any body.
    fn attack(&mut self, script: &mut Script<'_>) {
        let kinds = Kind::ALL.len();
        let shape = script.next();
        let words = usize::from(script.next() % 8);
        let odd = usize::from(shape >> 6);
        let head = Header {
            kind: Kind::ALL[usize::from(shape & 7) % kinds],
            flags: Flags::from_bits_truncate(shape >> 3 & 7),
            len: (words * 8 + odd) as u32,
            envelope: script.envelope(),
        };
        if let Ok(mut slot) = self.hostile.0.frame(Peer(0), &head, head.len as usize) {
            for _ in 0..words {
                slot.put(&script.word().to_le_bytes());
            }
            slot.put(&[1, 2, 3][..odd]);
            slot.send();
        }
    }

    fn poll(&mut self) {
        self.rx.poll(&mut self.tx, 8, &mut self.engine);
        self.engine.resume(&mut self.tx);
    }

    /// The peer dies: nothing of it may stay.
    fn end(mut self) {
        self.fabric.kill(HOSTILE);
        for message in self.claimed.drain(..) {
            let body = SharedBytes::zeroed(8);
            let request = self.engine.matched_recv(&mut self.tx, message, body);
            self.requests.extend(request);
        }
        for _ in 0..MAX_STEPS {
            self.poll();
            let engine = &mut self.engine;
            self.requests
                .retain(|request| engine.test(*request).is_none());
            let lost = self.engine.fault(HOSTILE).is_some();
            if lost && self.requests.is_empty() && self.fabric.regions() == 0 {
                return;
            }
        }
        panic!("{} requests do not end", self.requests.len());
    }
}
