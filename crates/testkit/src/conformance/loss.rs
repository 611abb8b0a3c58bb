//! Conformance tests of the death of a peer.

use oxmpi_wire::{Engine, EngineConfig, Envelope, Failure, Fault, Mode, Peer, Rx, Source, Tag, Tx};

use super::{EventLog, KillableTransport, TestMemory, eager, until};
use crate::memory::pattern;

/// The loss is reported once.
pub fn a_lost_peer_is_reported<S: KillableTransport>() {
    let [mut a, b] = S::join();
    let mut log = EventLog::default();
    a.poll(&mut log);
    S::kill(b);
    until("the loss is reported", || {
        a.poll(&mut log);
        !log.lost.is_empty()
    });
    for _ in 0..100 {
        a.poll(&mut log);
    }
    assert_eq!(log.lost, [(a.peer, Fault::PeerDead)]);
}

/// Sends to a lost peer are refused or dropped, and never hang.
pub fn sends_to_a_lost_peer_do_not_hang<S: KillableTransport>() {
    let [mut a, b] = S::join();
    let mut log = EventLog::default();
    S::kill(b);
    let len = a.tx.limits(a.peer).frame as usize;
    until("the loss is reported", || {
        a.try_send(&eager(0, len), &pattern(len, 0), false);
        a.try_send(&eager(0, 1), &[1], true);
        a.poll(&mut log);
        !log.lost.is_empty()
    });
    for _ in 0..1000 {
        a.try_send(&eager(0, len), &pattern(len, 0), false);
    }
}

/// An engine's operations with the lost peer fail, and their memory is released.
pub fn operations_end_with_their_peer<S: KillableTransport>() {
    let [mut a, b] = S::join();
    let mut engine = Engine::new(&mut a.tx, a.peer.0 + 1, EngineConfig::default());
    let envelope = Envelope { context: 1, tag: 1 };
    let (long, room) = (
        S::Memory::new(pattern(1 << 20, 0)),
        S::Memory::new(vec![0; 8]),
    );
    let dead: Peer = a.peer;
    let requests = [
        engine.send(&mut a.tx, dead, envelope, Mode::Standard, long.bytes()),
        engine.send(&mut a.tx, dead, envelope, Mode::Synchronous, room.bytes()),
        engine.recv(&mut a.tx, Source::Peer(dead), 1, Tag::Any, room.bytes()),
        engine.recv(&mut a.tx, Source::Any, 1, Tag::Exact(1), room.bytes()),
    ];
    S::kill(b);
    for request in requests {
        let mut outcome = None;
        until("the operation ends", || {
            a.tx.flush();
            a.rx.poll(&mut a.tx, 64, &mut engine);
            engine.resume(&mut a.tx);
            outcome = engine.test(request);
            outcome.is_some()
        });
        let fault = Failure::Fault {
            peer: dead,
            fault: Fault::PeerDead,
        };
        assert_eq!(outcome, Some(Err(fault)));
    }
}
