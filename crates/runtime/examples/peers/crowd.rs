//! The twin of `crates/bench/peers/crowd.c`: PingPong of 8 B between ranks 0 and 1 while all other
//! ranks wait in a barrier.
//!
//! One line: nanoseconds one way, half the round trip, over blocks of 1 to 2 ms, each of which begins
//! with a barrier of all ranks.

mod blocks;

use oxmpi::{Comm, World};

const BYTES: usize = 8;

/// What `rank` sends.
fn pattern(rank: usize) -> [u8; BYTES] {
    std::array::from_fn(|at| (rank * 101 + at * 31) as u8)
}

fn round_trips(comm: &Comm, out: &[u8], into: &mut [u8], times: u64) -> oxmpi::Result<()> {
    for _ in 0..times {
        if comm.rank() == 0 {
            comm.send(out, 1, 1)?;
            comm.recv(into, 1, 1)?;
        } else if comm.rank() == 1 {
            comm.recv(into, 0, 1)?;
            comm.send(out, 0, 1)?;
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let world = World::init()?;
    let comm = world.comm();
    let (rank, size) = (comm.rank(), comm.size());
    if size < 2 {
        return Err("crowd: at least two ranks".into());
    }
    let (out, mut into) = (pattern(rank), [0; BYTES]);
    let measured = blocks::measure(
        comm,
        |times| {
            comm.barrier()?;
            round_trips(comm, &out, &mut into, times)
        },
        || (),
    )?;
    comm.barrier()?;
    let right = rank > 1 || into == pattern(1 - rank);
    if rank == 0 {
        blocks::print("crowd", size, BYTES, measured, 2.0, right);
    } else if !right {
        eprintln!("crowd: wrong data");
    }
    Ok(())
}
