//! What mailboxes that peers share save and cost: `cargo bench -p oxmpi-wire --bench mailboxes`.
//!
//! Every rank of a job sends to every other, over the in-process network of the testkit, whose
//! mailboxes are those of the plan for such a job. Printed are the memory that was really allocated
//! for each rank, sends that found no slot, the progress passes after which the last send was out and
//! the last message received, and the time of a message on one thread, once memory is warm. Passes
//! are what ranks that run side by side wait for.

use std::time::{Duration, Instant};

use oxmpi_testkit::memory::SharedBytes;
use oxmpi_testkit::network::{Network, NetworkRx, NetworkTx, network};
use oxmpi_wire::paths::network::{MailboxSharing, NetworkPlan, NetworkSettings};
use oxmpi_wire::{Engine, EngineConfig, Envelope, Mode, Peer, Rx, Source, Tag};

/// Messages from each rank to each other one.
const MESSAGES: u32 = 8;
/// Rounds that are timed, after one that is not.
const ROUNDS: u32 = 5;
const ENVELOPE: Envelope = Envelope { context: 0, tag: 0 };

struct Job {
    network: Network,
    ranks: Vec<(Engine<NetworkTx>, NetworkTx, NetworkRx)>,
}

/// Passes of one round.
struct Passes {
    sent: u32,
    received: u32,
}

impl Job {
    fn new(ranks: u32, sharing: MailboxSharing) -> Self {
        let wanted = NetworkSettings {
            sharing,
            ..NetworkSettings::default()
        };
        let (network, ends) = network(NetworkPlan::new(ranks.into(), wanted));
        let rank = |(mut tx, rx): (NetworkTx, NetworkRx)| {
            (Engine::new(&mut tx, ranks, EngineConfig::default()), tx, rx)
        };
        Self {
            network,
            ranks: ends.into_iter().map(rank).collect(),
        }
    }

    fn round(&mut self) -> Passes {
        let ranks = self.ranks.len() as u32;
        let mut open = Vec::new();
        for (me, (engine, tx, _)) in self.ranks.iter_mut().enumerate() {
            for _ in 0..MESSAGES * (ranks - 1) {
                let room = SharedBytes::zeroed(8);
                open.push((me, engine.recv(tx, Source::Any, 0, Tag::Any, room)));
            }
        }
        for (me, (engine, tx, _)) in self.ranks.iter_mut().enumerate() {
            for to in (1..ranks).map(|step| Peer((me as u32 + step) % ranks)) {
                for _ in 0..MESSAGES {
                    let body = SharedBytes::zeroed(8);
                    let request = engine.send(tx, to, ENVELOPE, Mode::Standard, body);
                    engine.detach(request);
                }
            }
        }
        let mut passes = Passes {
            sent: 0,
            received: 0,
        };
        while !open.is_empty() {
            passes.received += 1;
            passes.sent += u32::from(self.ranks.iter().any(|(engine, ..)| engine.has_waiting()));
            for (engine, tx, rx) in &mut self.ranks {
                rx.poll(tx, 64, engine);
                engine.resume(tx);
            }
            open.retain(|(me, request)| self.ranks[*me].0.test(*request).is_none());
        }
        passes
    }
}

fn main() {
    println!(
        "ranks  mailboxes  KiB a rank  refused a round  sent after  received after  ns a message"
    );
    for ranks in [8, 64] {
        for (name, sharing) in [
            ("peer", MailboxSharing::Peer),
            ("shared", MailboxSharing::Shared),
        ] {
            let mut job = Job::new(ranks, sharing);
            job.round();
            let mut times: Vec<Duration> = Vec::new();
            let mut last = Passes {
                sent: 0,
                received: 0,
            };
            for _ in 0..ROUNDS {
                let start = Instant::now();
                last = job.round();
                times.push(start.elapsed());
            }
            times.sort_unstable();
            let messages = f64::from(MESSAGES * ranks * (ranks - 1));
            let ns = times[times.len() / 2].as_nanos() as f64 / messages;
            let figures: Vec<_> = (0..ranks).map(|rank| job.network.counters(rank)).collect();
            let kib = (figures[0].mailboxes + figures[0].buffers) >> 10;
            let refused: u64 = figures.iter().map(|figures| figures.refused).sum();
            let refused = refused / u64::from(ROUNDS + 1);
            let Passes { sent, received } = last;
            println!(
                "{ranks:5}  {name:9}  {kib:10}  {refused:15}  {sent:10}  {received:14}  {ns:12.0}"
            );
        }
    }
}
