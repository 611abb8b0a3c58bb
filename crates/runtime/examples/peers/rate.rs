//! Measures the rate of messages from rank 0 to rank 1: `rate BYTES...`; the twin of
//! `crates/bench/peers/rate.c`.
//!
//! A window of 64 sends and 64 receives, each with a buffer of its own, then a reply of one byte. Prints one
//! line for each length: nanoseconds of one message.

mod blocks;
mod buffers;
mod content;
mod report;

use buffers::Pages;
use oxmpi::{Comm, Result, World};

const WINDOW: usize = 64;

fn windows(comm: &Comm, places: &mut [u8], bytes: usize, times: u64) -> Result<()> {
    let mut answer = [0u8];
    for _ in 0..times {
        if comm.rank() == 0 {
            comm.scope(|s| {
                for place in places.chunks_exact(bytes) {
                    s.isend(place, 1, 1)?;
                }
                Ok(()) // the scope waits for all
            })?;
            comm.recv(&mut answer, 1, 2)?;
        } else {
            comm.scope(|s| {
                for place in places.chunks_exact_mut(bytes) {
                    s.irecv(place, 0, 1)?;
                }
                Ok(())
            })?;
            comm.send(&answer, 0, 2)?;
        }
    }
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let world = World::init()?;
    let comm = world.comm();
    let rank = comm.rank();
    if comm.size() != 2 {
        return Err("rate: two ranks".into());
    }
    for bytes in buffers::lengths(0)? {
        let mut places = Pages::new(WINDOW * bytes);
        let prepare = |places: &mut Pages| {
            if rank == 0 {
                content::write(places, 0);
            } else {
                content::write_wrong(places, 0);
            }
        };
        prepare(&mut places);
        let measured = blocks::measure(
            comm,
            2,
            &mut places,
            |places, times| windows(comm, places, bytes, times),
            prepare,
        )?;
        // Rank 1 checks the messages, and rank 0 prints the line.
        let mut right = [u8::from(content::are_right(&places, 0))];
        if rank == 1 {
            comm.send(&right, 0, 3)?;
        } else {
            comm.recv(&mut right, 1, 3)?;
        }
        report::report("rate", comm, bytes, &measured, WINDOW as f64, right[0] == 1);
    }
    Ok(())
}
