//! Measures PingPong of 8 B between ranks 0 and 1 while all others wait in a barrier; the twin of
//! `crates/bench/peers/crowd.c`.
//!
//! Prints one line: nanoseconds one way, half the round trip, in blocks of 1 to 2 ms.

mod blocks;
mod content;
mod report;

use oxmpi::{Comm, Result, World};

const BYTES: usize = 8;

fn round_trips(comm: &Comm, out: &[u8], into: &mut [u8], times: u64) -> Result<()> {
    let (rank, other) = (comm.rank(), 1 - comm.rank());
    for _ in 0..times {
        if rank == 0 {
            comm.send(out, other, 1)?;
        }
        comm.recv(into, other, 1)?;
        if rank == 1 {
            comm.send(out, other, 1)?;
        }
    }
    Ok(())
}

fn measure(comm: &Comm) -> Result<()> {
    let (rank, other) = (comm.rank(), 1 - comm.rank());
    let (mut out, mut into) = ([0; BYTES], [0; BYTES]);
    content::write(&mut out, rank);
    let measured = blocks::measure(
        comm,
        2,
        &mut into,
        |into, times| round_trips(comm, &out, into, times),
        |into| content::write_wrong(into, other),
    )?;
    let right = content::are_right(&into, other);
    report::report("crowd", comm, BYTES, &measured, 2.0, right);
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let world = World::init()?;
    let comm = world.comm();
    if comm.size() < 2 {
        return Err("crowd: two ranks or more".into());
    }
    if comm.rank() < 2 {
        measure(comm)?;
    }
    Ok(comm.barrier()?)
}
