//! Measures the latency of a ring and of the transport over it, beside two bare ping-pongs.
//!
//! Two threads, pinned to the first two processors, run short blocks of all kinds, interleaved. Each block is tagged by the bare one-line ping-pong before and after it: `near`
//! below 130 ns one way, else `far`; a block whose tags differ is dropped.
//!
//! `cargo run --release -p oxmpi-shm --example pingpong [ROUNDS]`

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use oxmpi_os::{RawBytes, affinity};
use oxmpi_shm::ring::{MappedWords, Receiver, Sender, Storage};
use oxmpi_shm::{Node, NodeLeader, SegmentLayout, ShmRx, ShmTx};
use oxmpi_wire::{
    Access, Bytes, Envelope, Fault, Flags, Header, Key, Kind, Local, Memory, Peer, Put, Remote,
    Rma, Rx, Sink, Slot, Take, Token, Tx,
};

const KEY: [u8; 16] = [7; 16];
const TRIPS: u32 = 1000;
const FIFO_LEN: u32 = 64;
const KINDS: [&str; 11] = [
    "bare one line, PAUSE",
    "bare two lines",
    "ring",
    "transport 8 B, one peer",
    "transport 8 B, all peers",
    "transport 48 B",
    "transport 64 B",
    "transport 1 KiB",
    "transport 8 KiB",
    "rate 8 B, window 64",
    "get 1 MiB",
];

#[repr(align(128))]
struct Line(AtomicU64);

static LINES: [Line; 2] = [const { Line(AtomicU64::new(0)) }; 2];
static BODY: [u8; 8192] = [3; 8192];
static THERE: Storage<64> = Storage::new();
static BACK: Storage<64> = Storage::new();

fn main() {
    let rounds = std::env::args()
        .nth(1)
        .map_or(300, |n| n.parse().expect("rounds"));
    let there = THERE.pair().expect("first use");
    let back = BACK.pair().expect("first use");
    let host = NodeLeader::bind().expect("host");
    let name = host.name().to_owned();
    let limit = Duration::from_secs(10);
    thread::scope(|s| {
        s.spawn(move || {
            let node = Node::join(&name, 1, 2, KEY, limit).expect("join");
            End::new(1, node, back.0, there.1).run(rounds);
        });
        let node = host
            .serve(SegmentLayout::new(2), KEY, limit)
            .expect("serve");
        let times = End::new(0, node, there.0, back.1).run(rounds);
        print_times(times);
    });
}

/// Nanoseconds one way (of `rate`: per message), by kind, near and far.
type Times = [[Vec<f64>; 2]; KINDS.len()];

fn print_times(times: Times) {
    println!(
        "{:28} {:>24} {:>24}",
        "ns", "near: min median (n)", "far: min median (n)"
    );
    for (kind, tags) in KINDS.iter().zip(times) {
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

struct End {
    me: u64,
    out: Sender<MappedWords<'static>>,
    inp: Receiver<MappedWords<'static>>,
    tx: ShmTx,
    rx: ShmRx,
    received: Received,
    turn: u64,
    memory: Vec<u8>,
}

struct Received {
    into: RawBytes,
    frames: u64,
    done: u64,
}

impl<T> Sink<T> for Received {
    #[inline(always)]
    fn frame(&mut self, _: &mut T, _: Peer, _: &Header, body: &mut impl Take) {
        self.into.fill(0, body);
        self.frames += 1;
    }
    fn done(&mut self, _: &mut T, _: Token, result: Result<(), Fault>) {
        result.expect("bulk");
        self.done += 1;
    }
    fn room(&mut self, _: &mut T, _: Peer) {}
    fn lost(&mut self, _: &mut T, peer: Peer, why: Fault) {
        panic!("{peer:?}: {why}");
    }
}

impl End {
    fn new(
        me: u64,
        node: Node,
        out: Sender<MappedWords<'static>>,
        inp: Receiver<MappedWords<'static>>,
    ) -> Self {
        affinity::set_current(&affinity::mask([me as usize])).expect("two processors");
        let (tx, rx) = node.ends().expect("ends");
        let mut memory = vec![1; 2 << 20];
        let (_, upper) = memory.split_at_mut(1 << 20);
        // SAFETY: the upper half lives as long as this end and is used through this only.
        let into = unsafe { RawBytes::new(upper.as_mut_ptr(), upper.len()) };
        Self {
            me,
            out,
            inp,
            tx,
            rx,
            received: Received {
                into,
                frames: 0,
                done: 0,
            },
            turn: 0,
            memory,
        }
    }

    fn run(&mut self, rounds: u32) -> Times {
        let mut times = Times::default();
        for _ in 0..rounds {
            for (kind, times) in times.iter_mut().enumerate() {
                let before = self.probe();
                let time = self.block(kind);
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

    fn time(&mut self, trips: u32, mut trip: impl FnMut(&mut Self)) -> f64 {
        let start = Instant::now();
        for _ in 0..trips {
            trip(self);
        }
        start.elapsed().as_nanos() as f64 / f64::from(trips) / 2.0
    }

    fn block(&mut self, kind: usize) -> f64 {
        match kind {
            0 => self.time(TRIPS, Self::one_line),
            1 => self.time(TRIPS, Self::two_lines),
            2 => self.time(TRIPS, Self::ring),
            3 => self.time(TRIPS, |end| end.frames(8, true)),
            4 => self.time(TRIPS, |end| end.frames(8, false)),
            5 => self.time(TRIPS, |end| end.frames(48, true)),
            6 => self.time(TRIPS, |end| end.frames(64, true)),
            7 => self.time(TRIPS, |end| end.frames(1024, true)),
            8 => self.time(TRIPS / 4, |end| end.frames(8192, true)),
            9 => self.time(TRIPS / 10, Self::window) * 2.0 / f64::from(FIFO_LEN),
            _ => self.get(1 << 20),
        }
    }

    /// Both sides write one line alternately.
    fn one_line(&mut self) {
        let line = &LINES[0].0;
        self.turn += 1;
        if self.me == 0 {
            line.store(2 * self.turn - 1, Ordering::Release);
        }
        while line.load(Ordering::Acquire) != 2 * self.turn - (self.me) {
            spin_loop();
        }
        if self.me == 1 {
            line.store(2 * self.turn, Ordering::Release);
        }
    }

    /// Each side writes a line of its own.
    fn two_lines(&mut self) {
        self.turn += 1;
        let (mine, other) = (&LINES[self.me as usize].0, &LINES[1 - self.me as usize].0);
        if self.me == 0 {
            mine.store(2 * self.turn, Ordering::Release);
        }
        while other.load(Ordering::Acquire) != 2 * self.turn {
            std::hint::black_box(());
        }
        if self.me == 1 {
            mine.store(2 * self.turn, Ordering::Release);
        }
    }

    fn ring(&mut self) {
        if self.me == 0 {
            self.out.try_send(0, &[1]).expect("room");
        }
        while self.inp.try_recv().is_none() {
            spin_loop();
        }
        if self.me == 1 {
            self.out.try_send(0, &[1]).expect("room");
        }
    }

    #[inline(always)]
    fn send(&mut self, len: usize) {
        let head = Header {
            kind: Kind::Eager,
            flags: Flags::empty(),
            len: len as u32,
            envelope: Envelope { context: 1, tag: 2 },
        };
        let peer = Peer(1 - self.me as u32);
        // SAFETY: the lower half lives as long as this end and is only read.
        let body = unsafe { RawBytes::new(self.memory.as_mut_ptr(), len) };
        if len <= 48 {
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
    fn receive(&mut self, one: bool) {
        let next = self.received.frames + 1;
        let peer = Peer(1 - self.me as u32);
        loop {
            let n = if one {
                self.rx.poll_from(&mut self.tx, peer, &mut self.received)
            } else {
                self.rx.poll(&mut self.tx, 64, &mut self.received)
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
    fn frames(&mut self, len: usize, one: bool) {
        if self.me == 0 {
            self.send(len);
        }
        self.receive(one);
        if self.me == 1 {
            self.send(len);
        }
    }

    fn window(&mut self) {
        if self.me == 0 {
            for _ in 0..FIFO_LEN {
                self.send(8);
            }
            self.receive(true);
        } else {
            for _ in 0..FIFO_LEN {
                self.receive(true);
            }
            self.send(8);
        }
    }

    /// Side 0 gets from side 1.
    fn get(&mut self, len: u64) -> f64 {
        let peer = Peer(1 - self.me as u32);
        // SAFETY: the lower half lives as long as this end; nothing else uses it meanwhile.
        let bytes = unsafe { RawBytes::new(self.memory.as_mut_ptr(), len as usize) };
        let access = if self.me == 0 {
            Access::Write
        } else {
            Access::Read
        };
        let region = self.tx.register(bytes, access, Peer(0)).expect("region");
        if self.me == 1 {
            let key = self.tx.key(&region, peer);
            self.memory[..32].copy_from_slice(&key.0);
            self.send(32);
            self.receive(true);
            self.tx.release(region, Token(0));
            return 0.0;
        }
        self.receive(true);
        let mut raw = [0; 32];
        // SAFETY: this end's own memory, which nothing else uses now.
        raw.copy_from_slice(unsafe { std::slice::from_raw_parts(self.received.into.start(), 32) });
        let key = Key(raw);
        let mut best = f64::MAX;
        for token in 0..5 {
            let want = self.received.done + 1;
            let start = Instant::now();
            let remote = Remote {
                key: &key,
                at: 0,
                len,
            };
            let local = Local {
                region: &region,
                at: 0,
                len,
            };
            self.tx
                .get(peer, remote, local, Token(token))
                .expect("room");
            while self.received.done < want {
                if self.rx.poll_from(&mut self.tx, peer, &mut self.received) == 0 {
                    spin_loop();
                }
            }
            best = best.min(start.elapsed().as_nanos() as f64);
        }
        self.send(8);
        self.tx.release(region, Token(9));
        best
    }
}
