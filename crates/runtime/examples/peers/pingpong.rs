//! The twin of `crates/bench/peers/pingpong.c`: PingPong between two ranks, `pingpong BYTES...`.
//!
//! One line for each length: nanoseconds one way, half the round trip, over blocks of 1 to 2 ms.

mod blocks;

use oxmpi::{Comm, World};

/// Alignment of buffers.
const PAGE: usize = 4096;

/// The byte at place `at` of what `rank` sends in messages of `bytes`.
fn pattern(rank: usize, bytes: usize, at: usize) -> u8 {
    (at * 31 + rank * 101 + bytes) as u8
}

fn round_trips(comm: &Comm, out: &[u8], into: &mut [u8], times: u64) -> oxmpi::Result<()> {
    if comm.rank() == 0 {
        for _ in 0..times {
            comm.send(out, 1, 1)?;
            comm.recv(into, 1, 1)?;
        }
    } else {
        for _ in 0..times {
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
    if size != 2 {
        return Err("pingpong: two ranks".into());
    }
    let lengths = std::env::args()
        .skip(1)
        .map(|word| word.parse())
        .collect::<Result<Vec<usize>, _>>()?;
    let largest = lengths.iter().max().copied().unwrap_or(0);
    let (mut out, mut into) = (vec![0; largest + PAGE], vec![0; largest + PAGE]);
    let (out_at, into_at) = (
        out.as_ptr().align_offset(PAGE),
        into.as_ptr().align_offset(PAGE),
    );

    for bytes in lengths {
        let out = &mut out[out_at..][..bytes];
        let into = std::cell::RefCell::new(&mut into[into_at..][..bytes]);
        for (at, byte) in out.iter_mut().enumerate() {
            *byte = pattern(rank, bytes, at);
        }
        let measured = blocks::measure(
            comm,
            |times| round_trips(comm, out, &mut into.borrow_mut(), times),
            || {
                for (at, byte) in into.borrow_mut().iter_mut().enumerate() {
                    *byte = !pattern(1 - rank, bytes, at);
                }
            },
        )?;
        let right = (0..bytes).all(|at| into.borrow()[at] == pattern(1 - rank, bytes, at));
        if rank == 0 {
            blocks::print("pingpong", size, bytes, measured, 2.0, right);
        } else if !right {
            eprintln!("pingpong: wrong data at {bytes} bytes");
        }
    }
    Ok(())
}
