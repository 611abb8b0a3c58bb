//! Measures the latency of a ring and of the transport over it, beside two bare ping-pongs.
//!
//! Two threads, pinned to the first two processors, run short blocks of all kinds, interleaved. Each block is tagged by the
//! bare one-line ping-pong before and after it: `near` below 130 ns one way, else `far`; a block whose tags differ is dropped.
//!
//! `cargo run --release -p oxmpi-shm --example pingpong [ROUNDS]`

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use oxmpi_os::{RawBytes, affinity};
use oxmpi_shm::ring::{MappedWords, Receiver, Sender, Storage};
use oxmpi_shm::{Node, NodeLeader, SegmentLayout, ShmRx, ShmTx};
use oxmpi_wire::{
    Bytes, Envelope, Fault, Flags, Header, Kind, Peer, Put, Rx, Sink, Slot, Take, Token, Tx,
};

const KEY: [u8; 16] = [7; 16];
const LIMIT: Duration = Duration::from_secs(10);

/// Messages that one side sends before the other answers.
const WINDOW: u32 = 64;

/// Name, trips of a block, messages of a trip one way, and the trip.
type Measurement = (&'static str, u32, u32, fn(&mut End));

const KINDS: [Measurement; 10] = [
    ("bare one line, PAUSE", 1000, 1, End::one_line),
    ("bare two lines", 1000, 1, End::two_lines),
    ("ring", 1000, 1, End::ring),
    ("transport 8 B, one peer", 1000, 1, |end| end.trip(8, true)),
    ("transport 8 B, all peers", 1000, 1, |end| {
        end.trip(8, false);
    }),
    ("transport 48 B", 1000, 1, |end| end.trip(48, true)),
    ("transport 64 B", 1000, 1, |end| end.trip(64, true)),
    ("transport 1 KiB", 1000, 1, |end| end.trip(1024, true)),
    ("transport 8 KiB", 250, 1, |end| end.trip(8192, true)),
    ("rate 8 B, window 64", 100, WINDOW / 2, End::window),
];

#[repr(align(128))]
struct Line(AtomicU64);

static LINES: [Line; 2] = [const { Line(AtomicU64::new(0)) }; 2];
static BODY: [u8; 8192] = [3; 8192];
static RINGS: [Storage<64>; 2] = [const { Storage::new() }; 2];

fn main() {
    let rounds = std::env::args()
        .nth(1)
        .map_or(300, |n| n.parse().expect("rounds"));
    let [there, back] = RINGS.each_ref().map(|ring| ring.pair().expect("first use"));
    let host = NodeLeader::bind().expect("host");
    let name = host.name().to_owned();
    thread::scope(|s| {
        s.spawn(move || {
            let node = Node::join(&name, 1, 2, KEY, LIMIT).expect("join");
            End::new(1, node, (back.0, there.1)).run(rounds);
        });
        let layout = SegmentLayout::new(2);
        let node = host.serve(layout, KEY, LIMIT).expect("serve");
        print_times(End::new(0, node, (there.0, back.1)).run(rounds));
    });
}

/// Nanoseconds one way, by kind, near and far.
type Times = [[Vec<f64>; 2]; KINDS.len()];

fn print_times(times: Times) {
    println!(
        "{:28} {:>24} {:>24}",
        "ns", "near: min median (n)", "far: min median (n)"
    );
    for ((kind, ..), tags) in KINDS.iter().zip(times) {
        print!("{kind:28}");
        for mut times in tags {
            times.sort_by(f64::total_cmp);
            match times.first() {
                Some(min) => {
                    let median = times[times.len() / 2];
                    print!("{min:12.1} {median:8.1} ({:3})", times.len());
                }
                None => print!("{:>25}", "-"),
            }
        }
        println!();
    }
}

/// One side of all measurements.
struct End {
    me: usize,
    ring: (Sender<MappedWords<'static>>, Receiver<MappedWords<'static>>),
    tx: ShmTx,
    rx: ShmRx,
    received: Received,
    /// Trips over bare lines so far.
    trips: u64,
}

/// Copies each frame to a place of its own, and counts.
struct Received {
    into: Box<[u8]>,
    frames: u64,
}

impl<T> Sink<T> for Received {
    #[inline(always)]
    fn frame(&mut self, _: &mut T, _: Peer, _: &Header, body: &mut impl Take) {
        // SAFETY: the box is this sink's alone.
        let into = unsafe { RawBytes::new(self.into.as_mut_ptr(), self.into.len()) };
        into.fill(0, body);
        self.frames += 1;
    }
    fn done(&mut self, _: &mut T, _: Token, _: Result<(), Fault>) {}
    fn room(&mut self, _: &mut T, _: Peer) {}
    fn lost(&mut self, _: &mut T, peer: Peer, why: Fault) {
        panic!("{peer:?}: {why}");
    }
}

impl End {
    fn new(
        me: usize,
        node: Node,
        ring: (Sender<MappedWords<'static>>, Receiver<MappedWords<'static>>),
    ) -> Self {
        affinity::set_current(&affinity::mask([me])).expect("two processors");
        let (tx, rx) = node.ends().expect("ends");
        let received = Received {
            into: vec![1; BODY.len()].into(),
            frames: 0,
        };
        Self {
            me,
            ring,
            tx,
            rx,
            received,
            trips: 0,
        }
    }

    fn run(&mut self, rounds: u32) -> Times {
        let mut times = Times::default();
        for _ in 0..rounds {
            for ((_, trips, messages, trip), times) in KINDS.iter().zip(&mut times) {
                let before = self.probe();
                let time = self.time(*trips, *trip) / f64::from(*messages);
                let after = self.probe();
                let far = |ns: f64| usize::from(ns > 130.0);
                if far(before) == far(after) {
                    times[far(before)].push(time);
                }
            }
        }
        times
    }

    fn probe(&mut self) -> f64 {
        self.one_line();
        self.time(300, Self::one_line)
    }

    /// Nanoseconds of half a trip.
    fn time(&mut self, trips: u32, trip: fn(&mut Self)) -> f64 {
        let start = Instant::now();
        for _ in 0..trips {
            trip(self);
        }
        start.elapsed().as_nanos() as f64 / f64::from(trips) / 2.0
    }

    /// Both sides write one line alternately.
    fn one_line(&mut self) {
        let line = &LINES[0].0;
        self.trips += 1;
        if self.me == 0 {
            line.store(2 * self.trips - 1, Ordering::Release);
        }
        while line.load(Ordering::Acquire) != 2 * self.trips - self.me as u64 {
            spin_loop();
        }
        if self.me == 1 {
            line.store(2 * self.trips, Ordering::Release);
        }
    }

    /// Each side writes a line of its own.
    fn two_lines(&mut self) {
        self.trips += 1;
        let (mine, other) = (&LINES[self.me].0, &LINES[1 - self.me].0);
        if self.me == 0 {
            mine.store(2 * self.trips, Ordering::Release);
        }
        while other.load(Ordering::Acquire) != 2 * self.trips {
            black_box(());
        }
        if self.me == 1 {
            mine.store(2 * self.trips, Ordering::Release);
        }
    }

    fn ring(&mut self) {
        if self.me == 0 {
            self.ring.0.try_send(0, &[1]).expect("room");
        }
        while self.ring.1.try_recv().is_none() {
            spin_loop();
        }
        if self.me == 1 {
            self.ring.0.try_send(0, &[1]).expect("room");
        }
    }

    #[inline(always)]
    fn peer(&self) -> Peer {
        Peer(1 - self.me as u32)
    }

    #[inline(always)]
    fn send(&mut self, len: usize) {
        let head = Header {
            kind: Kind::Eager,
            flags: Flags::empty(),
            len: len as u32,
            envelope: Envelope { context: 1, tag: 2 },
        };
        let peer = self.peer();
        if len <= 48 {
            // SAFETY: a static that is only read.
            let body = unsafe { RawBytes::new(BODY.as_ptr().cast_mut(), len) };
            while self.tx.short(peer, &head, &body).is_err() {
                self.rx.poll(&mut self.tx, 64, &mut self.received);
            }
        } else {
            let mut slot = self.tx.frame(peer, &head, len).expect("room");
            slot.put(&BODY[..len]);
            slot.send();
        }
        self.tx.flush();
    }

    #[inline(always)]
    fn receive(&mut self, one_peer: bool) {
        let (next, peer) = (self.received.frames + 1, self.peer());
        loop {
            let n = match one_peer {
                true => self.rx.poll_from(&mut self.tx, peer, &mut self.received),
                false => self.rx.poll(&mut self.tx, 64, &mut self.received),
            };
            if self.received.frames >= next {
                break;
            }
            if n == 0 {
                spin_loop();
            }
        }
    }

    #[inline(always)]
    fn trip(&mut self, len: usize, one_peer: bool) {
        if self.me == 0 {
            self.send(len);
        }
        self.receive(one_peer);
        if self.me == 1 {
            self.send(len);
        }
    }

    /// A window of messages from side 0, and an answer.
    fn window(&mut self) {
        let [out, back] = if self.me == 0 {
            [WINDOW, 1]
        } else {
            [1, WINDOW]
        };
        if self.me == 0 {
            (0..out).for_each(|_| self.send(8));
        }
        (0..back).for_each(|_| self.receive(true));
        if self.me == 1 {
            (0..out).for_each(|_| self.send(8));
        }
    }
}
