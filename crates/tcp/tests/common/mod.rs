//! Ranks on the loopback device, driven by one thread, and what tests do with them.

#![allow(dead_code, reason = "each test file uses its part")]

use std::time::{Duration, Instant};

use oxmpi_os::RawBytes;
use oxmpi_tcp::{BusinessCard, InterfaceFilter, JobKey, PassiveEndpoint, TcpOptions, TcpRx, TcpTx};
use oxmpi_testkit::conformance::EventLog;
use oxmpi_wire::regions::Region;
use oxmpi_wire::{
    Access, Bytes, Envelope, Flags, Header, Key, Kind, Local, Memory, Peer, Put, Remote, Rma, Rx,
    Slot, Token, Tx,
};

/// A wait that takes longer hangs.
pub(crate) const WATCHDOG: Duration = Duration::from_secs(120);

/// The secret of the job.
pub(crate) const SECRET: &[u8] = b"a secret of tests";

/// Both halves of one rank.
pub(crate) type Rank<B> = (TcpTx<B>, TcpRx<B>);

/// A rank that listens on the loopback device.
pub(crate) fn listening(options: TcpOptions) -> PassiveEndpoint {
    let loopback = InterfaceFilter::new("127.0.0.0/8", "").expect("a range");
    PassiveEndpoint::open(JobKey::new(SECRET), &loopback, options).expect("it listens")
}

/// `count` ranks, none of them connected.
pub(crate) fn ranks<B: Bytes>(count: u32, options: TcpOptions) -> Vec<Rank<B>> {
    ranks_of(&vec![options; count as usize])
}

/// A rank with each of these options, none of them connected.
pub(crate) fn ranks_of<B: Bytes>(options: &[TcpOptions]) -> Vec<Rank<B>> {
    let listening: Vec<PassiveEndpoint> = options.iter().map(|own| listening(*own)).collect();
    let cards: Vec<BusinessCard> = listening.iter().map(|rank| rank.card().clone()).collect();
    let join = |(me, rank): (u32, PassiveEndpoint)| rank.join(me, cards.clone()).expect("a rank");
    (0..).zip(listening).map(join).collect()
}

/// Polls all of `ranks` until `done`.
pub(crate) fn until<B: Bytes>(
    ranks: &mut [Rank<B>],
    what: &str,
    mut done: impl FnMut(&mut [Rank<B>], &[EventLog]) -> bool,
    logs: &mut [EventLog],
) {
    let start = Instant::now();
    while !done(ranks, logs) {
        for ((tx, rx), log) in ranks.iter_mut().zip(&mut *logs) {
            tx.flush();
            rx.poll(tx, 64, log);
        }
        assert!(start.elapsed() < WATCHDOG, "hangs: {what}");
    }
}

/// Polls `rank` until it reports a loss.
pub(crate) fn until_lost<B: Bytes>((tx, rx): &mut Rank<B>, log: &mut EventLog) {
    let start = Instant::now();
    while log.lost.is_empty() {
        rx.poll(tx, 64, log);
        assert!(start.elapsed() < WATCHDOG, "hangs: a loss is reported");
    }
}

/// Two connected ranks.
pub(crate) fn pair<B: Bytes>(options: TcpOptions) -> [Rank<B>; 2] {
    let mut ranks = ranks(2, options);
    ranks[0].0.connect(Peer(1));
    let connected = |ranks: &mut [Rank<B>], _: &[EventLog]| {
        ranks[0].0.is_connected(Peer(1)) && ranks[1].0.is_connected(Peer(0))
    };
    until(&mut ranks, "two ranks connect", connected, &mut logs(2));
    ranks.try_into().expect("two ranks")
}

/// `count` empty logs.
pub(crate) fn logs(count: usize) -> Vec<EventLog> {
    (0..count).map(|_| EventLog::default()).collect()
}

/// The header of an eager frame.
pub(crate) fn eager(tag: u32, len: u32) -> Header {
    Header {
        kind: Kind::Eager,
        flags: Flags::empty(),
        len,
        envelope: Envelope { context: 0, tag },
    }
}

/// Sends a frame whose body is its tag.
pub(crate) fn send(rank: &mut Rank<RawBytes>, to: u32, tag: u32) {
    let mut slot = rank.0.frame(Peer(to), &eager(tag, 4), 4).expect("room");
    slot.put(&tag.to_le_bytes());
    slot.send();
}

/// Memory of one rank. The test keeps it until the ranks are gone.
fn raw(memory: &mut [u8]) -> RawBytes {
    // SAFETY: the caller keeps the memory longer than the ranks, and reads it only between polls, when no
    // call of a rank runs.
    unsafe { RawBytes::new(memory.as_mut_ptr(), memory.len()) }
}

/// Registers `memory`, which `to` may read.
pub(crate) fn offer(rank: &mut Rank<RawBytes>, to: u32, memory: &mut [u8]) -> (Region, Key) {
    let tx = &mut rank.0;
    let region = tx.register(raw(memory), Access::Read, Peer(to));
    let region = region.expect("a region");
    let key = tx.key(&region, Peer(to));
    (region, key)
}

/// Gets the bytes behind `key` from rank `of`.
pub(crate) fn get(rank: &mut Rank<RawBytes>, of: u32, key: &Key, into: &mut [u8], token: u64) {
    let (tx, len) = (&mut rank.0, into.len() as u64);
    let region = tx.register(raw(into), Access::Write, Peer(of));
    let region = &region.expect("a region");
    let (from, to) = (Remote { key, at: 0, len }, Local { region, at: 0, len });
    tx.get(Peer(of), from, to, Token(token)).expect("room");
    tx.flush();
}
