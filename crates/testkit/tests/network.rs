//! Conformance tests of the network, and tests that its memory and traffic are those of its plan.

use oxmpi_testkit::conformance::TestedTransport;
use oxmpi_testkit::job::Job;
use oxmpi_testkit::memory::Buffer;
use oxmpi_testkit::network::{EndCounters, Network, NetworkRx, NetworkTx, network};
use oxmpi_wire::paths::network::{ConnectTime, MailboxSharing, NetworkPlan, NetworkSettings};
use oxmpi_wire::{EngineConfig, Envelope, Mode, Request, Source, Tag};

macro_rules! subject {
    ($name:ident, $wanted:expr) => {
        struct $name;

        impl TestedTransport for $name {
            type Tx = NetworkTx;
            type Rx = NetworkRx;
            type Memory = Buffer;

            fn ends(count: u32) -> Vec<(NetworkTx, NetworkRx)> {
                let (_, ends) = network(NetworkPlan::new(count.into(), $wanted));
                ends
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

type NetworkJob = Job<Network, NetworkTx, NetworkRx>;

fn job(ranks: u64, wanted: NetworkSettings) -> NetworkJob {
    let plan = NetworkPlan::new(ranks, wanted);
    Job::over(network(plan), EngineConfig::default())
}

fn send(job: &mut NetworkJob, from: usize, to: u32, len: usize) -> Request {
    let envelope = Envelope { context: 0, tag: 0 };
    job.send(from, to, envelope, Mode::Standard, Buffer::zeroed(len))
}

fn recv(job: &mut NetworkJob, at: usize, len: usize) -> Request {
    job.recv(at, Source::Any, 0, Tag::Any, &Buffer::zeroed(len))
}

/// Sends one message from rank 0 to rank 1, and returns the counters of both.
fn one_message(wanted: NetworkSettings, len: usize) -> [EndCounters; 2] {
    let mut job = job(2, wanted);
    let sent = send(&mut job, 0, 1, len);
    let got = recv(&mut job, 1, len);
    job.settle();
    assert!(job.ranks[0].engine.is_done(sent) && job.ranks[1].engine.is_done(got));
    assert_eq!(job.fabric.regions(), 0);
    [0, 1].map(|rank| job.fabric.counters(rank))
}

#[test]
fn memory_is_as_planned() {
    for connect in [ConnectTime::FirstUse, ConnectTime::Start] {
        for sharing in [MailboxSharing::Peer, MailboxSharing::Shared] {
            for block in [None, Some(3)] {
                let wanted = NetworkSettings {
                    connect,
                    sharing,
                    block,
                    ..NetworkSettings::default()
                };
                let mut job = job(64, wanted);
                let plan = NetworkPlan::new(64, wanted);
                for senders in 1..64 {
                    send(&mut job, senders, 0, 8);
                    let figures = job.fabric.counters(0);
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
        let figures = one_message(wanted, len)[mover];
        let by_engine = if len < 2048 { 0 } else { len as u64 };
        assert_eq!(figures.by_engine, by_engine, "{len} B");
    }
    // The processor does all of path E0.
    let long = NetworkSettings {
        engine_from: 0,
        ..NetworkSettings::default()
    };
    assert_eq!(one_message(long, 8152)[0].by_engine, 0);
}

#[test]
fn long_messages_go_through_buffers_where_zero_copy_is_off() {
    for (zero_copy, copied) in [(true, 0), (false, 5_000_000)] {
        let wanted = NetworkSettings {
            zero_copy,
            ..NetworkSettings::default()
        };
        assert_eq!(
            one_message(wanted, 5_000_000)[1].copied,
            if zero_copy { 0 } else { copied }
        );
    }
}

#[test]
fn buffers_bound_the_messages_in_flight() {
    let in_flight = |buffers| {
        let wanted = NetworkSettings {
            buffers,
            short: Some(100),
            ..NetworkSettings::default()
        };
        let mut job = job(2, wanted);
        let sent: Vec<_> = (0..16).map(|_| send(&mut job, 0, 1, 4000)).collect();
        let done = |job: &NetworkJob| {
            let engine = &job.ranks[0].engine;
            sent.iter().filter(|sent| engine.is_done(**sent)).count()
        };
        let at_once = done(&job);
        for _ in 0..100 {
            job.step();
        }
        assert_eq!(done(&job), 16);
        at_once
    };
    assert_eq!(in_flight(4), 4);
    // A mailbox has eight slots.
    assert_eq!(in_flight(64), 8);
}

#[test]
fn many_peers_wait_for_a_shared_pool_but_not_for_own_mailboxes() {
    let refused = |sharing| {
        let wanted = NetworkSettings {
            sharing,
            ..NetworkSettings::default()
        };
        let mut job = job(64, wanted);
        for from in 1..64 {
            for _ in 0..8 {
                send(&mut job, from, 0, 8);
            }
        }
        let got: Vec<_> = (0..63 * 8).map(|_| recv(&mut job, 0, 8)).collect();
        job.settle();
        assert!(got.iter().all(|got| job.ranks[0].engine.is_done(*got)));
        (1..64)
            .map(|rank| job.fabric.counters(rank).refused)
            .sum::<u64>()
    };
    assert_eq!(refused(MailboxSharing::Peer), 0);
    assert!(refused(MailboxSharing::Shared) > 50);
}
