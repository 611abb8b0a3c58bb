//! A process without free descriptors. Alone in its file, since the limit holds for all its threads.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use common::{Job, WATCHDOG};
use oxmpi_tcp::TcpOptions;
use oxmpi_wire::{Network, Peer, Sleeper};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Counts warnings.
#[derive(Clone, Default)]
struct Warnings(Arc<AtomicU32>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }
    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// A rank that cannot accept a connection warns once, still sleeps, and accepts when it can again.
#[test]
fn a_rank_without_descriptors_waits_for_one() {
    let warnings = Warnings::default();
    let _counted = tracing::subscriber::set_default(warnings.clone());
    let mut job: Job = Job::new(2, TcpOptions::default());
    // The connection waits in the kernel: rank 1 has not polled yet.
    job.ranks[0].0.connect(Peer(1));
    job.until_alone(0, "rank 0 connects", |job| !job.ranks[0].0.has_local_work());
    let limit = getrlimit(Resource::Nofile);
    let none = Rlimit {
        current: Some(3),
        ..limit
    };
    setrlimit(Resource::Nofile, none).expect("a limit may be lowered");
    let start = Instant::now();
    let mut sleeps = 0;
    while sleeps < 3 {
        job.poll(1);
        let rx = &mut job.ranks[1].1;
        if warnings.0.load(Ordering::Relaxed) > 0 && rx.arm() {
            rx.nap(WATCHDOG);
            sleeps += 1;
        }
        assert!(start.elapsed() < WATCHDOG, "hangs: rank 1 sleeps");
    }
    setrlimit(Resource::Nofile, limit).expect("a limit may be raised to its old value");
    job.until("the ranks connect", |job| {
        job.ranks[1].0.is_connected(Peer(0))
    });
    assert_eq!(warnings.0.load(Ordering::Relaxed), 1);
}
