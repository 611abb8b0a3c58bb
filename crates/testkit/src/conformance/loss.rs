//! Conformance tests of the death of a peer.

use oxmpi_wire::{
    Access, Atomic, Engine, EngineConfig, Envelope, Failure, Fault, Local, Memory, Mode, Peer,
    Remote, Rma, Rx, Source, Tag, Token, Tx,
};

use super::{EventLog, KillableTransport, TestMemory, TransportEnd, eager, until};
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

/// Operations on memory that a loss interrupts, and those that are started later, end once, and before the loss is
/// reported.
pub fn each_access_ends_once<S: KillableTransport>() {
    let [mut a, mut b] = S::join();
    let both = Access::READ | Access::WRITE;
    let (here, there) = (S::Memory::new(vec![1; 4096]), S::Memory::new(vec![2; 4096]));
    let region = a.tx.register(here.bytes(), both, a.peer).expect("memory");
    let there_region = b.tx.register(there.bytes(), both, b.peer);
    let key = b.tx.expose(&there_region.expect("memory"), b.peer);
    let start = |a: &mut TransportEnd<S>, token: u64| {
        let (at, len) = (token * 8, 8);
        let (remote, local) = (
            Remote { key: &key, at, len },
            Local {
                region: &region,
                at,
                len,
            },
        );
        match token % 4 {
            0 => a.tx.get(a.peer, remote, local, Token(token)),
            1 => a.tx.put(a.peer, local, remote, Token(token)),
            2 => {
                a.tx.atomic(a.peer, remote, Atomic::Add(1), local, Token(token))
            }
            _ => a.tx.flush_peer(a.peer, Token(token)),
        }
    };
    let mut started = 0;
    while started < 10 && start(&mut a, started).is_ok() {
        started += 1;
    }
    S::kill(b);
    let mut log = EventLog::default();
    until("the loss is reported", || {
        a.poll(&mut log);
        !log.lost.is_empty()
    });
    assert_eq!(
        log.done.len() as u64,
        started,
        "all have ended before the loss"
    );
    for token in started..20 {
        assert_eq!(
            start(&mut a, token),
            Ok(()),
            "the loss refuses no operation"
        );
    }
    until("later operations end", || {
        a.poll(&mut log);
        log.done.len() == 20
    });
    let mut tokens: Vec<_> = log.done.iter().map(|(token, _)| token.0).collect();
    tokens.sort_unstable();
    assert_eq!(tokens, (0..20).collect::<Vec<_>>());
    let later = log.done.iter().filter(|(token, _)| token.0 >= started);
    assert!(
        later.clone().all(|(_, result)| result.is_err()),
        "{:?}",
        log.done
    );
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
