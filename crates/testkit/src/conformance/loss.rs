//! Death of a peer.

use oxmpi_wire::{Engine, EngineConfig, Envelope, Failure, Fault, Mode, Peer, Rx, Source, Tag, Tx};

use super::{EventLog, KillableTransport, eager, until};
use crate::memory::pattern;

/// The survivor learns of the death once, after all frames that came whole.
pub fn a_lost_peer_is_told<S: KillableTransport>() {
    let [mut a, b] = S::join();
    let mut log = EventLog::default();
    a.poll(&mut log);
    S::kill(b);
    until("the death is told", || {
        a.poll(&mut log);
        !log.lost.is_empty()
    });
    for _ in 0..100 {
        a.poll(&mut log);
    }
    assert_eq!(log.lost, [(a.peer, Fault::PeerDead)]);
}

/// Sending into the void is refused or swallowed, never waited for.
pub fn sends_to_a_lost_peer_do_not_hang<S: KillableTransport>() {
    let [mut a, b] = S::join();
    let mut log = EventLog::default();
    S::kill(b);
    let len = a.tx.limits(a.peer).frame as usize;
    until("the death is told", || {
        a.try_send(&eager(0, len), &pattern(len, 0), false);
        a.try_send(&eager(0, 1), &[1], true);
        a.poll(&mut log);
        !log.lost.is_empty()
    });
    for _ in 0..1000 {
        a.try_send(&eager(0, len), &pattern(len, 0), false);
    }
}

/// An engine's operations with the dead peer end in its fault, and the memory comes back.
pub fn operations_end_with_their_peer<S: KillableTransport>() {
    let [mut a, b] = S::join();
    let mut engine = Engine::new(&mut a.tx, a.peer.0 + 1, EngineConfig::default());
    let envelope = Envelope { context: 1, tag: 1 };
    let (long, room) = (S::memory(pattern(1 << 20, 0)), S::memory(vec![0; 8]));
    let dead: Peer = a.peer;
    let requests = [
        engine.send(&mut a.tx, dead, envelope, Mode::Standard, S::bytes(&long)),
        engine.send(
            &mut a.tx,
            dead,
            envelope,
            Mode::Synchronous,
            S::bytes(&room),
        ),
        engine.recv(&mut a.tx, Source::Peer(dead), 1, Tag::Any, S::bytes(&room)),
        engine.recv(&mut a.tx, Source::Any, 1, Tag::Exact(1), S::bytes(&room)),
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
