//! A process without free descriptors. Alone in its file, since the limit holds for all its threads.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use common::{Rank, WATCHDOG, logs, ranks, until};
use oxmpi_os::RawBytes;
use oxmpi_tcp::TcpOptions;
use oxmpi_testkit::conformance::EventLog;
use oxmpi_wire::{Peer, Rx, Sleeper};
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
    let mut ranks = ranks::<RawBytes>(2, TcpOptions::default());
    let mut all = logs(2);
    // The connection waits in the kernel: rank 1 has not polled yet.
    ranks[0].0.connect(Peer(1));
    until(
        &mut ranks[..1],
        "it connects",
        |ranks, _| !ranks[0].0.has_local_work(),
        &mut all[..1],
    );
    let limit = getrlimit(Resource::Nofile);
    let none = Rlimit {
        current: Some(3),
        ..limit
    };
    setrlimit(Resource::Nofile, none).expect("it may be lowered");
    let start = Instant::now();
    let mut sleeps = 0;
    while sleeps < 3 {
        let (tx, rx) = &mut ranks[1];
        rx.poll(tx, 64, &mut all[1]);
        if warnings.0.load(Ordering::Relaxed) > 0 && rx.arm() {
            rx.nap(WATCHDOG);
            sleeps += 1;
        }
        assert!(start.elapsed() < WATCHDOG, "hangs: it sleeps");
    }
    setrlimit(Resource::Nofile, limit).expect("it may be raised as far as before");
    let connected = |ranks: &mut [Rank<RawBytes>], _: &[EventLog]| ranks[1].0.is_connected(Peer(0));
    until(&mut ranks, "they connect", connected, &mut all);
    assert_eq!(warnings.0.load(Ordering::Relaxed), 1);
}
