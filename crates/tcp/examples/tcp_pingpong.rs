//! Latency and bandwidth of the transport over the loopback device, between two processes.
//!
//! The processes are pinned to the first two processors of this one. Lengths are interleaved in blocks.
//! Prints the least and the median of the blocks' mean one-way times.
//!
//! `cargo run --release -p oxmpi-tcp --example tcp_pingpong [BLOCKS]`

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use oxmpi_os::{RawBytes, affinity};
use oxmpi_tcp::{BusinessCard, InterfaceFilter, JobKey, PassiveEndpoint, TcpOptions, TcpRx, TcpTx};
use oxmpi_wire::{
    Engine, EngineConfig, Envelope, FastPoll, Mode, Network, Peer, Request, Rx, Source, Tag, Tx,
};

type Failure = Box<dyn std::error::Error>;

const LENS: [usize; 7] = [8, 1 << 10, 16 << 10, 64 << 10, 128 << 10, 1 << 20, 4 << 20];
const ENVELOPE: Envelope = Envelope { context: 0, tag: 1 };

fn main() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        Some("--second") => second(words.next().unwrap_or_default().parse()?),
        blocks => first(blocks.map_or(Ok(50), str::parse)?),
    }
}

fn pin(rank: usize) -> Result<(), Failure> {
    let cpus: Vec<usize> = affinity::cpus(&affinity::current()?).collect();
    Ok(affinity::set_current(&affinity::mask([
        cpus[rank % cpus.len()]
    ]))?)
}

fn listen() -> Result<PassiveEndpoint, Failure> {
    let loopback = InterfaceFilter::new("127.0.0.0/8", "").map_err(|_| "a range of addresses")?;
    Ok(PassiveEndpoint::open(
        JobKey::new(b"pingpong"),
        &loopback,
        TcpOptions::default(),
    )?)
}

fn first(blocks: u32) -> Result<(), Failure> {
    let listening = listen()?;
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--second", &blocks.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().ok_or("its output")?).read_line(&mut line)?;
    let mut input = child.stdin.take().ok_or("its input")?;
    writeln!(input, "{}", listening.card())?;
    pin(0)?;
    let mut rank = Rank::join(listening, 0, line.trim().parse()?)?;
    let mut times: Vec<Vec<f64>> = LENS.map(|_| Vec::new()).into();
    for _ in 0..blocks {
        for (len, times) in LENS.iter().zip(&mut times) {
            let trips = trips(*len);
            let start = Instant::now();
            for _ in 0..trips {
                rank.send(*len);
                rank.recv(*len);
            }
            let nanoseconds = start.elapsed().as_nanos() as f64;
            times.push(nanoseconds / f64::from(2 * trips));
        }
    }
    child.wait()?;
    println!(
        "{:>10} {:>12} {:>12} {:>12}",
        "bytes", "least us", "median us", "MB/s"
    );
    for (len, mut times) in LENS.into_iter().zip(times) {
        times.sort_by(f64::total_cmp);
        let (least, median) = (times[0], times[times.len() / 2]);
        let rate = len as f64 * 1000.0 / median;
        println!(
            "{len:10} {:12.2} {:12.2} {rate:12.0}",
            least / 1000.0,
            median / 1000.0
        );
    }
    Ok(())
}

fn second(blocks: u32) -> Result<(), Failure> {
    let listening = listen()?;
    println!("{}", listening.card());
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    pin(1)?;
    let mut rank = Rank::join(listening, 1, line.trim().parse()?)?;
    for _ in 0..blocks {
        for len in LENS {
            for _ in 0..trips(len) {
                rank.recv(len);
                rank.send(len);
            }
        }
    }
    Ok(())
}

/// Round trips in one block.
fn trips(len: usize) -> u32 {
    (2_000_000 / (len + 10_000)).max(2) as u32
}

/// One rank: engine and transport.
struct Rank {
    tx: TcpTx,
    rx: TcpRx,
    engine: Engine<TcpTx>,
    peer: Peer,
    memory: Vec<u8>,
}

impl Rank {
    fn join(listening: PassiveEndpoint, me: u32, other: BusinessCard) -> Result<Self, Failure> {
        let mut cards = vec![listening.card().clone(), other];
        if me == 1 {
            cards.swap(0, 1);
        }
        let (mut tx, rx) = listening.join(me, cards)?;
        let engine = Engine::new(&mut tx, 2, EngineConfig::default());
        let mut rank = Self {
            tx,
            rx,
            engine,
            peer: Peer(1 - me),
            memory: vec![1; LENS[LENS.len() - 1]],
        };
        if me == 0 {
            rank.tx.connect(rank.peer);
        }
        let start = Instant::now();
        while !rank.tx.is_connected(rank.peer) {
            rank.rx.poll(&mut rank.tx, 64, &mut rank.engine);
            if start.elapsed() > Duration::from_secs(10) {
                return Err("the other process does not answer".into());
            }
        }
        Ok(rank)
    }

    fn bytes(&mut self, len: usize) -> RawBytes {
        // SAFETY: the memory is this rank's own and lives as long as it; one operation at a time uses
        // it, and each has ended before the next one begins.
        unsafe { RawBytes::new(self.memory.as_mut_ptr(), len) }
    }

    fn send(&mut self, len: usize) {
        let bytes = self.bytes(len);
        let sent = self
            .engine
            .try_eager(&mut self.tx, self.peer, ENVELOPE, &bytes);
        if sent.is_ok() {
            return self.tx.flush();
        }
        let request = self
            .engine
            .send(&mut self.tx, self.peer, ENVELOPE, Mode::Standard, bytes);
        self.wait(request);
    }

    fn recv(&mut self, len: usize) {
        let (bytes, source, tag) = (self.bytes(len), Source::Peer(self.peer), Tag::Exact(1));
        loop {
            let (rx, tx) = (&mut self.rx, &mut self.tx);
            match (self.engine).recv_fast(rx, tx, source, ENVELOPE.context, tag, &bytes) {
                FastPoll::Received(_) => return,
                FastPoll::Nothing => {}
                FastPoll::Closed => break,
            }
        }
        let request = self
            .engine
            .recv(&mut self.tx, source, ENVELOPE.context, tag, bytes);
        self.wait(request);
    }

    fn wait(&mut self, request: Request) {
        loop {
            if let Some(outcome) = self.engine.test(request) {
                outcome.expect("both ends live");
                // Replies must not wait for the next call.
                return self.tx.flush();
            }
            self.tx.flush();
            self.rx.poll_from(&mut self.tx, self.peer, &mut self.engine);
            self.engine.resume(&mut self.tx);
        }
    }
}
