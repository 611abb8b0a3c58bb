//! [`Job`]: ranks on the loopback device that one thread drives, and the operations that tests do on them.

#![allow(dead_code, reason = "each test file uses its part")]

use std::ops::Range;
use std::time::{Duration, Instant};

use oxmpi_os::RawBytes;
use oxmpi_tcp::{BusinessCard, InterfaceFilter, JobKey, PassiveEndpoint, TcpOptions, TcpRx, TcpTx};
use oxmpi_testkit::conformance::{EventLog, eager};
use oxmpi_wire::regions::Region;
use oxmpi_wire::{
    Access, Bytes, Key, Local, Memory, Network, Peer, Put, Remote, Rma, Rx, Slot, Token, Tx,
};

/// A test hangs if a wait takes longer.
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

/// A rank with each of these options, none of them connected.
pub(crate) fn ranks<B: Bytes>(options: &[TcpOptions]) -> Vec<Rank<B>> {
    let listening: Vec<PassiveEndpoint> = options.iter().map(|own| listening(*own)).collect();
    let cards: Vec<BusinessCard> = listening.iter().map(|rank| rank.card().clone()).collect();
    let join = |(me, rank): (u32, PassiveEndpoint)| rank.join(me, cards.clone()).expect("a rank");
    (0..).zip(listening).map(join).collect()
}

/// Ranks with the logs of their events.
pub(crate) struct Job<B: Bytes = RawBytes> {
    pub(crate) ranks: Vec<Rank<B>>,
    pub(crate) logs: Vec<EventLog>,
}

impl<B: Bytes> Job<B> {
    /// A job of these ranks.
    pub(crate) fn of(ranks: Vec<Rank<B>>) -> Self {
        let logs = ranks.iter().map(|_| EventLog::default()).collect();
        Self { ranks, logs }
    }

    /// A job of `count` ranks, none of them connected.
    pub(crate) fn new(count: usize, options: TcpOptions) -> Self {
        Self::of(ranks(&vec![options; count]))
    }

    /// A job of two connected ranks.
    pub(crate) fn pair(options: TcpOptions) -> Self {
        Self::connected(2, options)
    }

    /// A job of `count` ranks, each connected with each other.
    pub(crate) fn connected(count: u32, options: TcpOptions) -> Self {
        let mut job = Self::new(count as usize, options);
        for (me, (tx, _)) in (0..).zip(&mut job.ranks) {
            (me + 1..count).for_each(|peer| tx.connect(Peer(peer)));
        }
        job.until("all ranks connect", |job| {
            (0..).zip(&job.ranks).all(|(me, (tx, _))| {
                let mut others = (0..count).filter(|&peer| peer != me);
                others.all(|peer| tx.is_connected(Peer(peer)))
            })
        });
        job
    }

    /// Removes rank `me` with its log. The ranks behind it move up; their numbers as peers stay.
    pub(crate) fn remove(&mut self, me: usize) -> Rank<B> {
        self.logs.remove(me);
        self.ranks.remove(me)
    }

    /// Flushes and polls rank `me` once.
    pub(crate) fn poll(&mut self, me: usize) {
        let (tx, rx) = &mut self.ranks[me];
        tx.flush();
        rx.poll(tx, 64, &mut self.logs[me]);
    }

    /// Flushes and polls every rank once.
    pub(crate) fn poll_all(&mut self) {
        (0..self.ranks.len()).for_each(|me| self.poll(me));
    }

    /// Polls all ranks until `done`.
    pub(crate) fn until(&mut self, what: &str, done: impl FnMut(&Self) -> bool) {
        self.poll_until(0..self.ranks.len(), what, done);
    }

    /// Polls rank `me` alone until `done`.
    pub(crate) fn until_alone(&mut self, me: usize, what: &str, done: impl FnMut(&Self) -> bool) {
        self.poll_until(me..me + 1, what, done);
    }

    fn poll_until(
        &mut self,
        polled: Range<usize>,
        what: &str,
        mut done: impl FnMut(&Self) -> bool,
    ) {
        let start = Instant::now();
        while !done(self) {
            polled.clone().for_each(|me| self.poll(me));
            assert!(start.elapsed() < WATCHDOG, "hangs: {what}");
        }
    }

    /// Polls rank `me` alone until it reports a loss.
    pub(crate) fn until_lost(&mut self, me: usize) {
        self.until_alone(me, "a loss is reported", |job| {
            !job.logs[me].lost.is_empty()
        });
    }

    /// The tags of the frames that rank `me` got from rank `from`, in order.
    pub(crate) fn tags(&self, me: usize, from: u32) -> Vec<u32> {
        let frames = self.logs[me].frames.iter();
        let frames = frames.filter(|(peer, _, _)| peer.0 == from);
        frames.map(|(_, head, _)| head.envelope.tag).collect()
    }

    /// Sends a frame whose body is its tag from rank `me` to peer `to`.
    pub(crate) fn send(&mut self, me: usize, to: u32, tag: u32) {
        send(&mut self.ranks[me], to, tag);
    }
}

/// Sends a frame whose body is its tag.
pub(crate) fn send<B: Bytes>(rank: &mut Rank<B>, to: u32, tag: u32) {
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
    let region = tx.register(raw(memory), Access::READ, Peer(to));
    let region = region.expect("a region");
    let key = tx.expose(&region, Peer(to));
    (region, key)
}

/// Gets the bytes behind `key` from rank `of`.
pub(crate) fn get(rank: &mut Rank<RawBytes>, of: u32, key: &Key, into: &mut [u8], token: u64) {
    let (tx, len) = (&mut rank.0, into.len() as u64);
    let region = tx.register(raw(into), Access::WRITE, Peer(of));
    let region = &region.expect("a region");
    let (from, to) = (Remote { key, at: 0, len }, Local { region, at: 0, len });
    tx.get(Peer(of), from, to, Token(token)).expect("room");
    tx.flush();
}
