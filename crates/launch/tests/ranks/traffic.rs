//! Tests of random traffic among all ranks, compared with an oracle: every rank derives all messages from the
//! seed.

use std::collections::BTreeMap;

use oxmpi::{Request, Result, Scope, Source, Status, Tag, World};
use oxmpi_testkit::rng::Rng;

use crate::job::{Job, SIZES};

const ROUNDS: u64 = 25;
const TAGS: u32 = 3;
const LENGTHS: [usize; 8] = [8, 9, 48, 49, 500, 8192, 8193, 70_000];
const LONGEST: usize = 70_000;

/// One message that is sent in a round.
#[derive(Debug)]
struct Planned {
    from: usize,
    to: usize,
    tag: u32,
    synchronous: bool,
    bytes: Vec<u8>,
}

/// Plans the messages of a round. Each message begins with its number among those of its sender, receiver and
/// tag.
fn plan(rng: &mut Rng, ranks: usize) -> Vec<Planned> {
    let mut numbers = BTreeMap::new();
    let pick = |rng: &mut Rng, bound: usize| rng.below(bound as u64) as usize;
    let count = pick(rng, 10 * ranks.min(4)) + 1;
    let messages = (0..count).map(|_| {
        let (from, to) = (pick(rng, ranks), pick(rng, ranks));
        let tag = rng.below(u64::from(TAGS)) as u32;
        let number: &mut u64 = numbers.entry((from, to, tag)).or_default();
        let mut bytes = vec![*number as u8 ^ tag as u8; LENGTHS[pick(rng, LENGTHS.len())]];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        *number += 1;
        Planned {
            from,
            to,
            tag,
            synchronous: rng.chance(20),
            bytes,
        }
    });
    messages.collect()
}

/// Source and tag of the receive of a message. All receives of a round use the same `kind` of wildcards, so
/// that none takes a message that another receive needs.
fn pattern(kind: u64, message: &Planned) -> (Source, Tag) {
    let (source, tag) = (Source::Rank(message.from), Tag::Is(message.tag));
    match kind {
        0 => (source, tag),
        1 => (Source::Any, tag),
        2 => (source, Tag::Any),
        _ => (Source::Any, Tag::Any),
    }
}

fn round(world: &World, planned: &[Planned], rng: &mut Rng) -> Result<()> {
    let comm = world.comm();
    let me = comm.rank();
    let sent: Vec<&Planned> = planned
        .iter()
        .filter(|message| message.from == me)
        .collect();
    let due: Vec<&Planned> = planned.iter().filter(|message| message.to == me).collect();
    let kind = rng.below(4);
    // Some receives are posted before the sends, some after them; the rest are blocking.
    let before = rng.below(due.len() as u64 + 1) as usize;
    let after = before + rng.below((due.len() - before) as u64 + 1) as usize;
    let mut rooms = vec![vec![0u8; LONGEST]; due.len()];
    let mut statuses: Vec<Status> = Vec::new();
    comm.scope(|s| {
        let mut receives = Vec::new();
        let mut rest = Vec::new();
        for (i, (room, message)) in rooms.iter_mut().zip(&due).enumerate() {
            if i == before {
                send_all(s, &sent)?;
            }
            let (source, tag) = pattern(kind, message);
            if i < after {
                receives.push(s.irecv(room, source, tag)?.any());
            } else {
                rest.push((room, source, tag));
            }
        }
        if before == due.len() {
            send_all(s, &sent)?;
        }
        let blocking: Result<Vec<Status>> = rest
            .into_iter()
            .map(|(room, source, tag)| comm.recv(room, source, tag))
            .collect();
        let blocking = blocking?;
        statuses.extend(
            Request::wait_all(receives)?
                .iter()
                .map(|(_, status)| status),
        );
        statuses.extend(blocking);
        Ok(())
    })?;
    check_order(&due, &rooms, &statuses);
    // The messages of a later round must not match the receives of this round.
    comm.barrier()
}

fn send_all<'s, 'e>(s: &'s Scope<'s, 'e, oxmpi::Single>, sent: &'e [&Planned]) -> Result<()> {
    for message in sent {
        if message.synchronous {
            s.issend(&message.bytes, message.to, message.tag)?;
        } else {
            s.isend(&message.bytes, message.to, message.tag)?;
        }
    }
    Ok(())
}

/// Checks that receives, in the order in which they were posted, got the planned messages of each sender and
/// tag in their order.
fn check_order(due: &[&Planned], rooms: &[Vec<u8>], statuses: &[Status]) {
    let mut expected: BTreeMap<(usize, u32), Vec<&Planned>> = BTreeMap::new();
    for message in due.iter().rev() {
        expected
            .entry((message.from, message.tag))
            .or_default()
            .push(message);
    }
    assert_eq!(statuses.len(), due.len());
    for (status, room) in statuses.iter().zip(rooms) {
        let queue = expected.get_mut(&(status.source, status.tag));
        let message = queue.and_then(Vec::pop).expect("a message that was sent");
        assert_eq!(status.bytes, message.bytes.len() as u64, "{status:?}");
        assert!(
            room[..message.bytes.len()] == message.bytes,
            "{status:?}: its bytes"
        );
    }
}

#[test]
fn random_traffic_agrees_with_the_oracle() {
    for (ranks, seed) in SIZES.into_iter().zip(1u64..).chain([(2, 77), (4, 78)]) {
        Job::of(ranks)
            .with("SEED", &seed.to_string())
            .succeed(|world| {
                let seed = std::env::var("SEED")
                    .expect("set")
                    .parse()
                    .expect("a number");
                let mut common = Rng::new(seed);
                let mut own = Rng::new(seed ^ (world.comm().rank() as u64 + 1) << 32);
                for _ in 0..ROUNDS {
                    let planned = plan(&mut common, world.comm().size());
                    round(world, &planned, &mut own)?;
                }
                Ok(())
            });
    }
}
