//! A task farm: rank 0 distributes ranges of numbers, and the other ranks count the primes in them.
//!
//! Rank 0 receives from any rank with any tag and answers each worker at once, so no worker waits for a
//! slower one. A job of one rank counts all primes itself.
//!
//! `oxmpi run -n 4 farm 20000`

use oxmpi::{Comm, Source, Tag, World};

const READY: u32 = 1;
const FOUND: u32 = 2;
const TASK: u32 = 3;
const STOP: u32 = 4;

/// Numbers per task.
const CHUNK: u64 = 100;

fn is_prime(n: u64) -> bool {
    n >= 2
        && (2..)
            .take_while(|d| d * d <= n)
            .all(|d| !n.is_multiple_of(d))
}

fn count(from: u64, limit: u64) -> u64 {
    (from..(from + CHUNK).min(limit))
        .filter(|&n| is_prime(n))
        .count() as u64
}

fn farmer(comm: &Comm, limit: u64) -> oxmpi::Result<u64> {
    if comm.size() == 1 {
        return Ok((0..limit)
            .step_by(CHUNK as usize)
            .map(|n| count(n, limit))
            .sum());
    }
    let (mut next, mut total, mut working) = (0, 0, comm.size() - 1);
    while working > 0 {
        let mut found = [0u64];
        let status = comm.recv(&mut found, Source::Any, Tag::Any)?;
        if status.tag == FOUND {
            total += found[0];
        }
        if next < limit {
            comm.send(&[next], status.source, TASK)?;
            next += CHUNK;
        } else {
            comm.send(&[0u64], status.source, STOP)?;
            working -= 1;
        }
    }
    Ok(total)
}

fn worker(comm: &Comm, limit: u64) -> oxmpi::Result<()> {
    comm.send(&[0u64], 0, READY)?;
    loop {
        let mut from = [0u64];
        let status = comm.recv(&mut from, 0, Tag::Any)?;
        if status.tag == STOP {
            return Ok(());
        }
        comm.send(&[count(from[0], limit)], 0, FOUND)?;
    }
}

fn main() -> oxmpi::Result<()> {
    let limit: u64 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(20_000);
    let world = World::init()?;
    let comm = world.comm();
    if comm.rank() == 0 {
        let total = farmer(comm, limit)?;
        println!("{total} primes below {limit}");
        assert_eq!(total, (0..limit).filter(|&n| is_prime(n)).count() as u64);
    } else {
        worker(comm, limit)?;
    }
    Ok(())
}
