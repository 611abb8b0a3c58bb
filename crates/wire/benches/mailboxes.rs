//! Benchmark of shared mailboxes, their memory and their time: `cargo bench -p oxmpi-wire --bench mailboxes`.
//!
//! Every rank of a job sends to every other, over the in-process network of the testkit with the plan for
//! such a job. It prints the memory that was allocated for each rank, the sends that found no slot, the
//! progress passes until the last send was out and the last message received, and the time of a message on
//! one thread with warm memory. Passes stand for the waiting time of ranks that run in parallel.

use std::time::{Duration, Instant};

use oxmpi_testkit::job::Job;
use oxmpi_testkit::memory::Buffer;
use oxmpi_testkit::network::{Network, NetworkRx, NetworkTx, network};
use oxmpi_wire::paths::network::{MailboxSharing, NetworkPlan, NetworkSettings};
use oxmpi_wire::{EngineConfig, Envelope, Mode, Source, Tag};

/// Messages from each rank to each other rank.
const MESSAGES: u32 = 8;
/// Timed rounds, after one without timing.
const ROUNDS: u32 = 5;
const ENVELOPE: Envelope = Envelope { context: 0, tag: 0 };

/// Passes of one round.
struct Passes {
    sent: u32,
    received: u32,
}

type NetworkJob = Job<Network, NetworkTx, NetworkRx>;

fn job(ranks: u32, sharing: MailboxSharing) -> NetworkJob {
    let wanted = NetworkSettings {
        sharing,
        ..NetworkSettings::default()
    };
    let plan = NetworkPlan::new(ranks.into(), wanted);
    Job::over(network(plan), EngineConfig::default())
}

/// Sends [`MESSAGES`] messages from every rank to every other, and receives them.
fn round(job: &mut NetworkJob) -> Passes {
    let ranks = job.ranks.len() as u32;
    let mut open = Vec::new();
    for me in 0..ranks as usize {
        for _ in 0..MESSAGES * (ranks - 1) {
            let room = Buffer::zeroed(8);
            open.push((me, job.recv(me, Source::Any, 0, Tag::Any, &room)));
        }
    }
    for me in 0..ranks {
        for to in (1..ranks).map(|step| (me + step) % ranks) {
            for _ in 0..MESSAGES {
                let body = Buffer::zeroed(8);
                let request = job.send(me as usize, to, ENVELOPE, Mode::Standard, body);
                job.ranks[me as usize].engine.detach(request);
            }
        }
    }
    let (mut sent, mut received) = (0, 0);
    while !open.is_empty() {
        received += 1;
        sent += u32::from(job.ranks.iter().any(|rank| rank.engine.has_waiting()));
        job.ranks.iter_mut().for_each(|rank| rank.step(64));
        open.retain(|(me, request)| job.ranks[*me].engine.test(*request).is_none());
    }
    Passes { sent, received }
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
            let mut job = job(ranks, sharing);
            round(&mut job);
            let mut times: Vec<Duration> = Vec::new();
            let mut last = Passes {
                sent: 0,
                received: 0,
            };
            for _ in 0..ROUNDS {
                let start = Instant::now();
                last = round(&mut job);
                times.push(start.elapsed());
            }
            times.sort_unstable();
            let messages = f64::from(MESSAGES * ranks * (ranks - 1));
            let ns = times[times.len() / 2].as_nanos() as f64 / messages;
            let figures: Vec<_> = (0..ranks).map(|rank| job.fabric.counters(rank)).collect();
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
