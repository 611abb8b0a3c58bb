//! Several rails: frames, reads and writes while rails fail.

use super::{HeapMemory, connected, settle, with_queues};
use crate::fake::{self, Script};
use crate::registration::{LeavePinned, RegistrationOptions};
use crate::transport::region_key::RegionKey;
use crate::transport::{EagerRings, LongMessages, VerbsOptions, VerbsRx, VerbsTx};
use oxmpi_testkit::conformance::{EventLog, TestMemory, eager};
use oxmpi_testkit::memory::pattern;
use oxmpi_wire::regions::Region;
use oxmpi_wire::{
    Access, Fault, Local, Memory, Peer, Put, Remote, Rma, Rx, Sleeper, Slot, Token, Tx,
};
use proptest::prelude::*;

/// What a test does next.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// An end sends so many bytes.
    Send(usize, usize),
    /// An end reads or writes memory of the other one.
    Access(usize, bool),
    /// An end is polled.
    Poll(usize),
    /// The next rail fails, if another one is left.
    Fail,
}

/// Bytes of the memory of each operation.
const LEN: usize = 9000;

/// A read or a write that has begun.
struct Operation {
    token: Token,
    from: HeapMemory,
    to: HeapMemory,
    /// Of both ends.
    regions: [Region; 2],
}

/// Two ends, and what they have sent to each other.
pub(super) struct Traffic {
    ends: [(VerbsTx, VerbsRx); 2],
    logs: [EventLog; 2],
    /// By end: the bodies of its frames.
    sent: [Vec<Vec<u8>>; 2],
    operations: Vec<Operation>,
    /// Devices and their ports whose rails have not failed.
    rails: Vec<(u8, u8)>,
}

impl Traffic {
    pub(super) fn new(script: Script, options: &VerbsOptions) -> Self {
        Self::of(connected(2, script, options), script)
    }

    /// Traffic of two ends of these devices.
    pub(super) fn of(ends: Vec<(VerbsTx, VerbsRx)>, script: Script) -> Self {
        let ports = (0..script.devices)
            .flat_map(|device| (1..=script.ports).map(move |port| (device, port)));
        Self {
            ends: ends.try_into().expect("two ends"),
            logs: Default::default(),
            sent: Default::default(),
            operations: Vec::new(),
            rails: ports.collect(),
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Send(from, len) => self.send(from, len),
            Step::Access(from, reads) => self.access(from, reads),
            Step::Poll(at) => self.poll(at),
            Step::Fail if self.rails.len() > 1 => {
                let (device, port) = self.rails.remove(0);
                fake::cut(device, port);
            }
            Step::Fail => {}
        }
    }

    pub(super) fn poll(&mut self, at: usize) {
        let (tx, rx) = &mut self.ends[at];
        rx.poll(tx, 3, &mut self.logs[at]);
    }

    pub(super) fn send(&mut self, from: usize, len: usize) {
        let body = pattern(len, self.sent[from].len() as u64);
        let (tx, _) = &mut self.ends[from];
        let header = eager(self.sent[from].len() as u32, len);
        let Ok(mut slot) = tx.frame(Peer(1 - from as u32), &header, len) else {
            return self.poll(from);
        };
        slot.put(&body);
        slot.send();
        self.sent[from].push(body);
    }

    pub(super) fn access(&mut self, from: usize, reads: bool) {
        self.access_of(from, reads, LEN);
    }

    pub(super) fn access_of(&mut self, from: usize, reads: bool, len: usize) {
        let token = Token(self.operations.len() as u64);
        let seed = 1000 + token.0;
        let memory = [pattern(len, seed), vec![0; len]].map(HeapMemory::new);
        let [here, there] = [Peer(from as u32), Peer(1 - from as u32)];
        let [source, target] = [&memory[0], &memory[1]].map(HeapMemory::bytes);
        let (own, other) = if reads {
            (target, source)
        } else {
            (source, target)
        };
        let access = if reads { Access::READ } else { Access::WRITE };
        let of_other = &mut self.ends[1 - from].0;
        let remote = of_other.register(other, access, here).expect("memory");
        let key = of_other.expose(&remote, here);
        let tx = &mut self.ends[from].0;
        let access = if reads { Access::WRITE } else { Access::READ };
        let region = tx.register(own, access, there).expect("memory");
        let (at, len) = (0, len as u64);
        let remote_bytes = Remote { key: &key, at, len };
        let local = Local {
            region: &region,
            at,
            len,
        };
        let begun = match reads {
            true => tx.get(there, remote_bytes, local, token),
            false => tx.put(there, local, remote_bytes, token),
        };
        let [from, to] = memory;
        if begun.is_ok() {
            let regions = [region, remote];
            self.operations.push(Operation {
                token,
                from,
                to,
                regions,
            });
        } else {
            tx.release(region, Token(u64::MAX));
            self.ends[1 - here.0 as usize]
                .0
                .release(remote, Token(u64::MAX));
            self.finish();
        }
    }

    /// Polls until nothing happens any more.
    pub(super) fn finish(&mut self) {
        let mut idle = 0;
        while idle < 40 {
            let moved: u32 = (self.ends.iter_mut().zip(&mut self.logs))
                .map(|((tx, rx), log)| rx.poll(tx, 64, log))
                .sum();
            idle = if moved == 0 { idle + 1 } else { 0 };
            // They read their events before they sleep.
            if idle == 20 {
                self.ends.iter_mut().for_each(|(_, rx)| {
                    let _ = rx.arm();
                });
            }
        }
    }

    /// Each frame has arrived once, in order; each operation has ended once, with all bytes.
    pub(super) fn check(mut self) {
        self.finish();
        for (from, sent) in self.sent.iter().enumerate() {
            let log = &self.logs[1 - from];
            assert_eq!(log.lost, [], "a rail was left");
            let got: Vec<&Vec<u8>> = log.frames.iter().map(|(.., body)| body).collect();
            assert_eq!(got.len(), sent.len(), "frames of {from}");
            for (at, (got, sent)) in got.iter().zip(sent).enumerate() {
                assert!(*got == sent, "frame {at} of {from}");
            }
            assert!(!self.ends[from].0.has_unsent());
        }
        for operation in self.operations {
            let ends = self.logs.iter().flat_map(|log| &log.done);
            let ends: Vec<_> = ends
                .filter(|(token, _)| *token == operation.token)
                .collect();
            assert_eq!(ends, [&(operation.token, Ok(()))]);
            assert!(
                operation.from.to_vec() == operation.to.to_vec(),
                "{:?}",
                operation.token
            );
            drop(operation.regions);
        }
        drop(self.ends);
        assert_eq!(fake::registered(), 0);
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..2usize, 0..1000usize).prop_map(|(from, len)| Step::Send(from, len)),
        1 => (0..2usize, any::<bool>()).prop_map(|(from, reads)| Step::Access(from, reads)),
        6 => (0..2usize).prop_map(Step::Poll),
        2 => Just(Step::Fail),
    ];
    prop::collection::vec(step, 1..300)
}

/// Queues of each kind; operations of several pieces, which are registered by themselves if memory does not stay so.
pub(super) fn options(rings: u32, leave_pinned: LeavePinned) -> VerbsOptions {
    let usual = with_queues("P,100,8:S,1000,32,16,8");
    VerbsOptions {
        piece: 1000,
        long: LongMessages {
            first: Some(500),
            last: 0,
            ..usual.long
        },
        registration: RegistrationOptions {
            leave_pinned,
            copied: 0,
            ..RegistrationOptions::default()
        },
        rings: EagerRings {
            threshold: 4,
            peers: rings,
            slots: 4,
            size: 500,
        },
        ..usual
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    /// Rails fail at random among random messages: nothing is lost, doubled or reordered.
    #[test]
    fn messages_survive_the_failure_of_rails(
        (devices, ports) in prop_oneof![Just((1, 2)), Just((2, 1)), Just((2, 2)), Just((3, 1))],
        seed in 1..u64::MAX,
        inline in prop_oneof![Just(0), Just(256)],
        rings in 0..2u32,
        leave_pinned in prop_oneof![Just(LeavePinned::On), Just(LeavePinned::Off)],
        steps in steps(),
    ) {
        let script = Script { devices, ports, inline, late: Some(seed), ..Script::GOOD };
        let mut traffic = Traffic::new(script, &options(rings, leave_pinned));
        for step in steps {
            traffic.step(step);
        }
        traffic.check();
    }
}

/// Peers are dealt to the rails in turn.
#[test]
fn frames_to_several_peers_take_all_rails() {
    let script = Script {
        devices: 2,
        ..Script::GOOD
    };
    let mut ends = connected(3, script, &with_queues("P,1000,4"));
    let mut log = EventLog::default();
    let (tx, _) = &mut ends[0];
    for (peer, rails) in [(1, 1), (2, 2)] {
        let mut slot = tx.frame(Peer(peer), &eager(0, 500), 500).expect("room");
        slot.put(&[7; 500]);
        slot.send();
        let used = [0, 1]
            .into_iter()
            .filter(|device| fake::carried(*device, 1) > 500);
        assert_eq!(used.count(), rails);
    }
    settle(&mut ends.iter_mut().collect::<Vec<_>>(), &mut log);
    assert_eq!(log.frames.len(), 2);
}

/// The last rail that fails loses the peer, once.
#[test]
fn a_peer_without_a_rail_is_lost() {
    let script = Script {
        devices: 2,
        ..Script::GOOD
    };
    let mut ends = connected(2, script, &with_queues("P,1000,4"));
    let mut log = EventLog::default();
    for device in [0, 1] {
        fake::cut(device, 1);
    }
    let (tx, _) = &mut ends[0];
    let mut slot = tx.frame(Peer(1), &eager(0, 8), 8).expect("room");
    slot.put(&[7; 8]);
    slot.send();
    settle(&mut [&mut ends[0]], &mut log);
    assert_eq!(log.lost, [(Peer(1), Fault::Silent)]);
}

/// Sends a frame of 100 bytes, for which there is room.
fn send((tx, _): &mut (VerbsTx, VerbsRx), to: u32) {
    let mut slot = tx.frame(Peer(to), &eager(0, 100), 100).expect("room");
    slot.put(&[7; 100]);
    slot.send();
}

fn poll((tx, rx): &mut (VerbsTx, VerbsRx), log: &mut EventLog) {
    rx.poll(tx, 64, log);
}

/// The peer's device refuses an access, and the peer leaves the rail before this rank learns why.
#[test]
fn a_refused_access_on_a_rail_that_was_left_loses_the_peer() {
    let script = Script {
        devices: 2,
        ..Script::GOOD
    };
    let mut ends = connected(3, script, &with_queues("P,1000,4"));
    let mut logs = [EventLog::default(), EventLog::default()];
    let memory = [HeapMemory::new(vec![1; 64]), HeapMemory::new(vec![2; 64])];
    let here = memory[0].bytes();
    let here = (ends[0].0.register(here, Access::WRITE, Peer(1))).expect("memory");
    let there = memory[1].bytes();
    let there = (ends[1].0.register(there, Access::READ, Peer(0))).expect("memory");
    let mut void = RegionKey::from_key(&ends[1].0.expose(&there, Peer(0)));
    void.start.rkeys = void.start.rkeys.map(|rkey| Some(rkey? ^ 1));
    let (key, at, len) = (void.key(), 0, 8);
    // The second rail has been the busy one: it is polled first.
    send(&mut ends[0], 2);
    poll(&mut ends[0], &mut logs[0]);
    for token in [Token(0), Token(1)] {
        let local = Local {
            region: &here,
            at,
            len,
        };
        let remote = Remote { key: &key, at, len };
        (ends[0].0.get(Peer(1), remote, local, token)).expect("room");
    }
    poll(&mut ends[1], &mut logs[1]);
    poll(&mut ends[0], &mut logs[0]);
    let void = Fault::Refused("an access by a void key has broken the connection");
    assert_eq!(logs[0].lost, [(Peer(1), void)]);
    let expected = [
        (Token(0), Err(Fault::NOT_REGISTERED)),
        (Token(1), Err(void)),
    ];
    assert_eq!(logs[0].done, expected);
}

/// What a failed rail leaves to be sent anew waits for the buffers that messages to another peer hold, and no longer.
#[test]
fn frames_are_repeated_when_messages_to_others_free_their_buffers() {
    let script = Script {
        devices: 2,
        ..Script::GOOD
    };
    let mut ends = connected(3, script, &with_queues("S,1000,2,2,8"));
    let mut logs = [(); 3].map(|()| EventLog::default());
    // Rank 2 has no receive left on the second rail, so messages of rank 0 to it keep both buffers there.
    for (from, to) in [(1, 2), (1, 2), (0, 2), (0, 2)] {
        send(&mut ends[from], to);
    }
    fake::cut(0, 1);
    for _ in 0..2 {
        send(&mut ends[0], 1);
    }
    for _ in 0..3 {
        poll(&mut ends[0], &mut logs[0]);
    }
    assert!(ends[0].0.has_unsent());
    for _ in 0..20 {
        for (end, log) in ends.iter_mut().zip(&mut logs) {
            poll(end, log);
        }
    }
    let got = logs
        .each_ref()
        .map(|log| (log.frames.len(), log.lost.len()));
    assert_eq!(got, [(0, 0), (2, 0), (4, 0)]);
    assert!(!ends[0].0.has_unsent());
}

/// The answer to the offer of a ring comes when its receiver has left the ring's rail: it sleeps nevertheless.
#[test]
fn a_ring_of_a_rail_that_was_left_keeps_nobody_awake() {
    let script = Script {
        devices: 2,
        ..Script::GOOD
    };
    let ends = connected(2, script, &options(1, LeavePinned::On));
    let [mut a, mut b]: [_; 2] = ends.try_into().expect("two ends");
    let mut log = EventLog::default();
    for _ in 0..4 {
        send(&mut a, 1);
    }
    poll(&mut b, &mut log);
    poll(&mut b, &mut log);
    send(&mut b, 0);
    poll(&mut a, &mut log);
    fake::cut(0, 1);
    poll(&mut b, &mut log);
    settle(&mut [&mut a, &mut b], &mut log);
    assert_eq!((log.frames.len(), log.lost.len()), (5, 0));
    let sleeps = (0..100).any(|_| {
        poll(&mut b, &mut log);
        poll(&mut a, &mut log);
        b.1.arm()
    });
    assert!(sleeps);
}
