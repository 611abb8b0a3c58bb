//! The network is a transport like any other, and takes what its plan predicts.

use oxmpi_testkit::conformance::{TestedTransport, TransportEnd};
use oxmpi_testkit::memory::SharedBytes;
use oxmpi_testkit::network::{EndCounters, Network, NetworkRx, NetworkTx, network};
use oxmpi_wire::paths::network::{ConnectTime, MailboxSharing, NetworkPlan, NetworkSettings};
use oxmpi_wire::{Engine, EngineConfig, Envelope, Mode, Peer, Request, Rx, Source, Tag};

fn join<S>(wanted: NetworkSettings) -> [TransportEnd<S>; 2]
where
    S: TestedTransport<Tx = NetworkTx, Rx = NetworkRx>,
{
    let (_, ends) = network(NetworkPlan::new(2, wanted));
    TransportEnd::two(ends)
}

macro_rules! subject {
    ($name:ident, $wanted:expr) => {
        struct $name;

        impl TestedTransport for $name {
            type Tx = NetworkTx;
            type Rx = NetworkRx;
            type Memory = SharedBytes;

            fn join() -> [TransportEnd<Self>; 2] {
                join($wanted)
            }

            fn memory(bytes: Vec<u8>) -> SharedBytes {
                SharedBytes::new(bytes)
            }

            fn bytes(memory: &SharedBytes) -> SharedBytes {
                memory.clone()
            }

            fn read(memory: &SharedBytes) -> Vec<u8> {
                memory.to_vec()
            }
        }
    };
}

subject!(Usual, NetworkSettings::default());
subject!(
    SharedPool,
    NetworkSettings {
        sharing: MailboxSharing::Shared,
        short: Some(100),
        eager: 128 << 10,
        ..NetworkSettings::default()
    }
);
subject!(
    Copying,
    NetworkSettings {
        zero_copy: false,
        connect: ConnectTime::Start,
        buffers: 4,
        ..NetworkSettings::default()
    }
);

oxmpi_testkit::conformance!(usual, Usual);
oxmpi_testkit::conformance!(shared_pool, SharedPool);
oxmpi_testkit::conformance!(copying, Copying);

/// Ranks over a network.
struct Job {
    network: Network,
    ranks: Vec<(NetworkTx, NetworkRx, Engine<NetworkTx>)>,
}

impl Job {
    fn new(ranks: u64, wanted: NetworkSettings) -> Self {
        let (network, ends) = network(NetworkPlan::new(ranks, wanted));
        let rank = |(mut tx, rx): (NetworkTx, NetworkRx)| {
            let engine = Engine::new(&mut tx, ranks as u32, EngineConfig::default());
            (tx, rx, engine)
        };
        Self {
            network,
            ranks: ends.into_iter().map(rank).collect(),
        }
    }

    fn send(&mut self, from: usize, to: u32, len: usize) -> Request {
        let (tx, _, engine) = &mut self.ranks[from];
        let envelope = Envelope { context: 0, tag: 0 };
        engine.send(
            tx,
            Peer(to),
            envelope,
            Mode::Standard,
            SharedBytes::zeroed(len),
        )
    }

    fn recv(&mut self, at: usize, len: usize) -> Request {
        let (tx, _, engine) = &mut self.ranks[at];
        engine.recv(tx, Source::Any, 0, Tag::Any, SharedBytes::zeroed(len))
    }

    fn step(&mut self) {
        for (tx, rx, engine) in &mut self.ranks {
            rx.poll(tx, 64, engine);
            engine.resume(tx);
        }
    }

    /// Sends one message from rank 0 to rank 1 and gives rank 0's figures.
    fn one(wanted: NetworkSettings, len: usize) -> [EndCounters; 2] {
        let mut job = Self::new(2, wanted);
        let sent = job.send(0, 1, len);
        let got = job.recv(1, len);
        for _ in 0..1000 {
            job.step();
        }
        assert!(job.ranks[0].2.is_done(sent) && job.ranks[1].2.is_done(got));
        assert_eq!(job.network.regions(), 0);
        [0, 1].map(|rank| job.network.counters(rank))
    }
}

#[test]
fn memory_is_what_the_plan_says() {
    for connect in [ConnectTime::FirstUse, ConnectTime::Start] {
        for sharing in [MailboxSharing::Peer, MailboxSharing::Shared] {
            for block in [None, Some(3)] {
                let wanted = NetworkSettings {
                    connect,
                    sharing,
                    block,
                    ..NetworkSettings::default()
                };
                let mut job = Job::new(64, wanted);
                let plan = NetworkPlan::new(64, wanted);
                for senders in 1..64 {
                    job.send(senders, 0, 8);
                    let figures = job.network.counters(0);
                    let memory = plan.memory(senders as u64);
                    assert_eq!(figures.mailboxes, memory.mailboxes, "{wanted:?} {senders}");
                    assert_eq!(figures.buffers, memory.buffers);
                }
            }
        }
    }
}

#[test]
fn the_processor_moves_what_is_below_the_threshold() {
    let wanted = NetworkSettings {
        short: Some(100),
        engine_from: 2048,
        eager: 8192,
        ..NetworkSettings::default()
    };
    for (len, mover) in [(100, 0), (2047, 0), (2048, 0), (9000, 1)] {
        let figures = Job::one(wanted, len)[mover];
        let by_engine = if len < 2048 { 0 } else { len as u64 };
        assert_eq!(figures.by_engine, by_engine, "{len} B");
    }
    // E0 is the processor's, however long.
    let long = NetworkSettings {
        engine_from: 0,
        ..NetworkSettings::default()
    };
    assert_eq!(Job::one(long, 8152)[0].by_engine, 0);
}

#[test]
fn long_messages_go_through_buffers_where_zero_copy_is_off() {
    for (zero_copy, copied) in [(true, 0), (false, 5_000_000)] {
        let wanted = NetworkSettings {
            zero_copy,
            ..NetworkSettings::default()
        };
        assert_eq!(
            Job::one(wanted, 5_000_000)[1].copied,
            if zero_copy { 0 } else { copied }
        );
    }
}

#[test]
fn buffers_bound_what_is_under_way() {
    let under_way = |buffers| {
        let wanted = NetworkSettings {
            buffers,
            short: Some(100),
            ..NetworkSettings::default()
        };
        let mut job = Job::new(2, wanted);
        let sent: Vec<_> = (0..16).map(|_| job.send(0, 1, 4000)).collect();
        let done = |job: &Job| {
            let engine = &job.ranks[0].2;
            sent.iter().filter(|sent| engine.is_done(**sent)).count()
        };
        let at_once = done(&job);
        for _ in 0..100 {
            job.step();
        }
        assert_eq!(done(&job), 16);
        at_once
    };
    assert_eq!(under_way(4), 4);
    // A mailbox has eight slots.
    assert_eq!(under_way(64), 8);
}

#[test]
fn a_crowd_waits_for_a_shared_pool_and_not_for_its_own_mailboxes() {
    let refused = |sharing| {
        let wanted = NetworkSettings {
            sharing,
            ..NetworkSettings::default()
        };
        let mut job = Job::new(64, wanted);
        for from in 1..64 {
            for _ in 0..8 {
                job.send(from, 0, 8);
            }
        }
        let got: Vec<_> = (0..63 * 8).map(|_| job.recv(0, 8)).collect();
        for _ in 0..1000 {
            job.step();
        }
        assert!(got.iter().all(|got| job.ranks[0].2.is_done(*got)));
        (1..64)
            .map(|rank| job.network.counters(rank).refused)
            .sum::<u64>()
    };
    assert_eq!(refused(MailboxSharing::Peer), 0);
    assert!(refused(MailboxSharing::Shared) > 50);
}
