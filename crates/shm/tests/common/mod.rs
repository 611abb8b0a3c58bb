//! Shared by the tests: a sink that logs its events ([`Log`]), a rank with both halves ([`Rank`]), nodes of threads.

use std::thread;
use std::time::{Duration, Instant};

use oxmpi_os::RawBytes;
use oxmpi_shm::heap::{HeapPreference, HeapSize};
use oxmpi_shm::{Node, NodeBarriers, NodeLeader, SegmentLayout, ShmRx, ShmTx, WaitPolicy};
use oxmpi_wire::regions::Region;
use oxmpi_wire::{
    Access, Busy, Envelope, Fault, Flags, Header, Key, Kind, Local, Memory, Peer, Put, Remote, Rma,
    Rx, Sink, Slot, Take, Token, Tx,
};

pub(crate) const KEY: [u8; 16] = *b"a key of one job";

/// An operation that takes longer hangs.
pub(crate) const WATCHDOG: Duration = Duration::from_secs(120);

/// Sleeps after the first empty poll.
pub(crate) const SLEEPER: WaitPolicy = WaitPolicy {
    spin: 0,
    yields: Duration::ZERO,
    shared: false,
};

/// Every way of waiting on shared processors.
pub(crate) const POLICIES: [WaitPolicy; 3] = [
    WaitPolicy::oversubscribed(),
    WaitPolicy::passive(10, true),
    SLEEPER,
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Frame(u32, Header, Vec<u8>),
    Done(u64, Result<(), Fault>),
    Room(u32),
    Lost(u32, Fault),
}

#[derive(Debug, Default)]
pub(crate) struct Log(pub(crate) Vec<Event>);

impl<T> Sink<T> for Log {
    fn frame(&mut self, _: &mut T, from: Peer, head: &Header, body: &mut impl Take) {
        assert_eq!(body.left(), head.len as usize);
        let mut bytes = vec![0; body.left()];
        body.take(&mut bytes);
        self.0.push(Event::Frame(from.0, *head, bytes));
    }
    fn done(&mut self, _: &mut T, token: Token, result: Result<(), Fault>) {
        self.0.push(Event::Done(token.0, result));
    }
    fn room(&mut self, _: &mut T, to: Peer) {
        self.0.push(Event::Room(to.0));
    }
    fn lost(&mut self, _: &mut T, peer: Peer, why: Fault) {
        self.0.push(Event::Lost(peer.0, why));
    }
}

/// One rank: both halves of the transport, its barriers, and a log of its events.
pub(crate) struct Rank {
    pub(crate) tx: ShmTx,
    pub(crate) rx: ShmRx,
    pub(crate) barriers: NodeBarriers,
    pub(crate) log: Log,
}

impl Rank {
    pub(crate) fn new(node: Node) -> Self {
        let (tx, rx) = node.ends().unwrap();
        Self {
            barriers: rx.node_barriers(),
            tx,
            rx,
            log: Log::default(),
        }
    }

    pub(crate) fn poll(&mut self) -> u32 {
        let n = self.rx.poll(&mut self.tx, 64, &mut self.log);
        self.tx.flush();
        n
    }

    /// Polls until the log satisfies `enough`.
    ///
    /// A dead peer is noticed once in many polls, and a yield may take milliseconds on a busy machine: so
    /// only some polls yield.
    pub(crate) fn until(&mut self, what: &str, enough: impl Fn(&[Event]) -> bool) {
        const YIELD: usize = 64;
        let (start, mut idle) = (Instant::now(), 0_usize);
        while !enough(&self.log.0) {
            if self.poll() == 0 {
                idle += 1;
                if idle.is_multiple_of(YIELD) {
                    thread::yield_now();
                }
            }
            assert!(start.elapsed() < WATCHDOG, "{what}: {:?}", self.log.0);
        }
    }

    /// Sends `body` by the path of its length; polls while there is no room.
    pub(crate) fn send(&mut self, to: u32, tag: u32, body: &[u8]) {
        let start = Instant::now();
        while self.try_send(to, tag, body).is_err() {
            self.poll();
            thread::yield_now();
            assert!(start.elapsed() < WATCHDOG, "no room to {to}");
        }
        self.tx.flush();
    }

    pub(crate) fn try_send(&mut self, to: u32, tag: u32, body: &[u8]) -> Result<(), Busy> {
        let head = head(tag, body.len());
        if body.len() <= self.tx.limits(Peer(to)).short as usize {
            return self.tx.short(Peer(to), &head, &source(body));
        }
        let mut slot = self.tx.frame(Peer(to), &head, body.len())?;
        let (one, two) = body.split_at(body.len() / 3);
        slot.put(one);
        slot.put(two);
        slot.send();
        Ok(())
    }

    /// Registers `body` for transfers. The test keeps it until they are over.
    pub(crate) fn register(&mut self, body: &mut [u8], access: Access) -> Region {
        self.tx.register(target(body), access, Peer(0)).unwrap()
    }

    /// Starts operation `token`: gets `len` bytes from byte `from` of what `peer` offers by `key`, to byte `to` of
    /// `region`.
    pub(crate) fn try_get(
        &mut self,
        peer: u32,
        (key, from): (&Key, u64),
        (region, to): (&Region, u64),
        len: u64,
        token: u64,
    ) -> Result<(), Busy> {
        let (remote, local) = (
            Remote { key, at: from, len },
            Local {
                region,
                at: to,
                len,
            },
        );
        self.tx.get(Peer(peer), remote, local, Token(token))
    }

    /// Starts a get from the first byte on, for which there is room.
    pub(crate) fn get(&mut self, peer: u32, key: &Key, region: &Region, len: usize, token: u64) {
        let started = self.try_get(peer, (key, 0), (region, 0), len as u64, token);
        started.unwrap();
    }

    /// Polls until operation `token` has ended with this result.
    pub(crate) fn until_done(&mut self, token: u64, result: Result<(), Fault>) {
        let done = Event::Done(token, result);
        self.until("the end of an operation", |log| log.contains(&done));
    }

    /// Releases `region` and waits for the end of that.
    pub(crate) fn release(&mut self, region: Region, token: u64) {
        self.tx.release(region, Token(token));
        self.until_done(token, Ok(()));
    }
}

pub(crate) fn head(tag: u32, len: usize) -> Header {
    Header {
        kind: Kind::Eager,
        flags: Flags::empty(),
        len: len as u32,
        envelope: Envelope { context: 9, tag },
    }
}

/// Bytes to send.
pub(crate) fn source(body: &[u8]) -> RawBytes {
    // SAFETY: used while `body` lives, and only read.
    unsafe { RawBytes::new(body.as_ptr().cast_mut(), body.len()) }
}

/// Bytes to receive, or of a region.
pub(crate) fn target(body: &mut [u8]) -> RawBytes {
    // SAFETY: used while `body` lives, by one call or region at a time.
    unsafe { RawBytes::new(body.as_mut_ptr(), body.len()) }
}

pub(crate) fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 31 + i / 251 + seed) as u8).collect()
}

/// A node of one rank, with memory to allocate from.
pub(crate) fn alone_with_heap() -> Node {
    let preference = HeapPreference {
        size: HeapSize::Bytes(8 << 20),
        ..HeapPreference::default()
    };
    let node = Node::alone(SegmentLayout::new(1)).unwrap();
    node.with_heap(preference)
}

/// Runs `work` as each rank of a node whose ranks are threads of this process.
pub(crate) fn threads(layout: SegmentLayout, work: impl Fn(u32, Rank) + Sync) {
    nodes(layout, |rank, node| work(rank, Rank::new(node)));
}

/// Runs `work` with each rank's node, in a thread of its own.
pub(crate) fn nodes(layout: SegmentLayout, work: impl Fn(u32, Node) + Sync) {
    let host = NodeLeader::bind().unwrap();
    let name = host.name().to_owned();
    thread::scope(|s| {
        for rank in 1..layout.ranks {
            let (name, work) = (&name, &work);
            s.spawn(move || {
                let node = Node::join(name, rank, layout.ranks, KEY, WATCHDOG).unwrap();
                work(rank, node);
            });
        }
        work(0, host.serve(layout, KEY, WATCHDOG).unwrap());
    });
}
